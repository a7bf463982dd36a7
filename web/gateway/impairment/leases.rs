//! Leases of the impairment daemon: changes that end by themselves.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Method;
use groundwave_http::json_body::StrictJson;
use groundwave_http::{Path, Problem};
use groundwave_impaird::wire::{LeaseRecord, NewLease};

use crate::access::{Admin, Viewer};
use crate::services::local_service::{Answered, ImpairmentDaemon, Passed};
use crate::services::playback::{Playback, lease_owner};

/// List the leases of the impairment daemon, in the order in which they began
#[utoipa::path(get, path = "/v1/impairment/leases", tag = "impairment",
    responses(
        (status = 200, description = "Leases in force")))]
pub async fn impairment_leases(
    _: Viewer,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<Vec<LeaseRecord>>, Problem> {
    Ok(daemon.pass(request, "/v1/leases").await?.into())
}

/// Begin a lease: an impairment that ends by itself
///
/// It lies over the state that is set without leases and over the leases before it. At its end its
/// fields return to what lies beneath, whatever became of the page, the gateway and the daemon. Without
/// `owner` the holder is the account that asked.
#[utoipa::path(post, path = "/v1/impairment/leases", tag = "impairment",
    responses(
        (status = 200, description = "The lease, in force"),
        (status = 400, description = "Refused by the daemon: a direction, duration or owner that it does not allow"),
        (status = 403, description = "Insufficient role, or the daemon lacks CAP_NET_ADMIN"),
        (status = 409, description = "A playback changes a direction, or too many leases"),
        (status = 422, description = "Malformed body, unsupported, or refused by the kernel; the previous impairment stays"),
        (status = 502, description = "The answer of the daemon broke off"),
        (status = 503, description = "No impairment daemon configured, or it does not answer"),
        (status = 504, description = "The daemon did not answer in time")))]
pub async fn impairment_lease_begin(
    Admin(caller): Admin,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    State(playback): State<Arc<Playback>>,
    StrictJson(mut new): StrictJson<NewLease>,
) -> Result<Answered<LeaseRecord>, Problem> {
    for direction in new.changes.directions() {
        playback.leaves(direction)?;
    }
    new.owner.get_or_insert_with(|| lease_owner(&caller.username, None));
    let request = Passed::<ImpairmentDaemon, ()>::json(Method::POST, &new)?;
    Ok(daemon.pass(request, "/v1/leases").await?.into())
}

/// End a lease now
///
/// The lease of a playback ends with it.
#[utoipa::path(delete, path = "/v1/impairment/leases/{id}", tag = "impairment",
    params(("id" = u64, Path, description = "Number of the lease")),
    responses(
        (status = 200, description = "The lease as it was"),
        (status = 400, description = "Malformed number"),
        (status = 404, description = "No such lease: it has ended")))]
pub async fn impairment_lease_cancel(
    _: Admin,
    State(daemon): State<Arc<ImpairmentDaemon>>,
    State(playback): State<Arc<Playback>>,
    Path(id): Path<u64>,
    request: Passed<ImpairmentDaemon>,
) -> Result<Answered<LeaseRecord>, Problem> {
    playback.leaves_lease(id)?;
    Ok(daemon.pass(request, &format!("/v1/leases/{id}")).await?.into())
}
