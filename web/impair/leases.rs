//! Lease endpoints.

use axum::Extension;
use axum::extract::State;
use groundwave_http::{Json, JsonBody, Path, Problem};
use groundwave_io_impair::leases::{Moment, Owner};

use super::wire::{LeaseRecord, NewLease, RenewedLease};
use super::{Daemon, Peer, audit};

/// Peer of a connection; a request without one has none.
fn peer_of(peer: Option<Extension<Peer>>) -> Peer {
    peer.map_or_else(Peer::default, |Extension(peer)| peer)
}

/// List the leases, in the order in which they began
#[utoipa::path(get, path = "/v1/leases", tag = "leases",
    responses((status = 200, description = "Leases in force")))]
pub async fn list_leases(State(daemon): State<Daemon>) -> Json<Vec<LeaseRecord>> {
    let (leases, now) = (daemon.leases().await, Moment::now());
    let records = leases.all().iter();
    Json(records.map(|lease| LeaseRecord::of(lease, &now)).collect())
}

/// Begin a lease: a change that ends by itself
///
/// It lies over the state that is set without leases and over the leases before it. At its end its
/// fields return to what lies beneath, whatever became of the process that asked and of the daemon.
#[utoipa::path(post, path = "/v1/leases", tag = "leases",
    responses(
        (status = 200, description = "The lease, in force"),
        (status = 400, description = "Malformed body"),
        (status = 403, description = "Missing capability CAP_NET_ADMIN"),
        (status = 409, description = "Too many leases"),
        (status = 422, description = "Unsupported, or refused by the kernel; the previous impairment stays")))]
pub async fn begin_lease(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    JsonBody(new): JsonBody<NewLease>,
) -> Result<Json<LeaseRecord>, Problem> {
    let peer = peer_of(peer);
    let owner = Owner { name: new.owner, uid: peer.uid, pid: peer.pid };
    let changes = new.changes.by_direction();
    let outcome = daemon.begin_lease(owner, new.duration_ns, changes).await;
    let lease = audit::lease(peer, "begun", None, outcome)?;
    Ok(Json(LeaseRecord::of(&lease, &Moment::now())))
}

/// Renew a lease, with other changes if there are any
#[utoipa::path(put, path = "/v1/leases/{id}", tag = "leases",
    params(("id" = u64, Path, description = "Number of the lease")),
    responses(
        (status = 200, description = "The lease, in force"),
        (status = 400, description = "Malformed body"),
        (status = 404, description = "No such lease: it has ended"),
        (status = 422, description = "Unsupported, or refused by the kernel; the lease stays as it was")))]
pub async fn renew_lease(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    Path(id): Path<u64>,
    JsonBody(renewed): JsonBody<RenewedLease>,
) -> Result<Json<LeaseRecord>, Problem> {
    let changes = renewed.changes.by_direction();
    // Players renew without changes all the time.
    let is_change = !changes.is_empty();
    let outcome = daemon.renew_lease(id, renewed.duration_ns, changes).await;
    let lease = match is_change {
        true => audit::lease(peer_of(peer), "renewed", Some(id), outcome)?,
        false => outcome?,
    };
    Ok(Json(LeaseRecord::of(&lease, &Moment::now())))
}

/// End a lease now
#[utoipa::path(delete, path = "/v1/leases/{id}", tag = "leases",
    params(("id" = u64, Path, description = "Number of the lease")),
    responses(
        (status = 200, description = "The lease as it was"),
        (status = 400, description = "Malformed number"),
        (status = 404, description = "No such lease: it has ended")))]
pub async fn cancel_lease(
    State(daemon): State<Daemon>,
    peer: Option<Extension<Peer>>,
    Path(id): Path<u64>,
) -> Result<Json<LeaseRecord>, Problem> {
    let outcome = daemon.end_lease(id).await;
    let lease = audit::lease(peer_of(peer), "cancelled", Some(id), outcome)?;
    Ok(Json(LeaseRecord::of(&lease, &Moment::now())))
}
