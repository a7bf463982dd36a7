//! WireGuard peer and address endpoints.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::onboarding::{
    FreeLease, Lease, LeaseState, ReleaseLease, RevokeRegistration,
};
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::PublicKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::dhcp::DhcpServer;
use crate::services::tunnel;
use crate::services::world::{World, blocking, missing};
use crate::settings::Settings;

/// WireGuard peer, without private and preshared keys.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PeerView {
    /// Node id.
    pub node_id: Uuid,
    /// Public key.
    pub public_key: PublicKey,
    /// Source address of the last packet.
    pub endpoint: Option<String>,
    /// Allowed source addresses.
    pub allowed_ips: Vec<String>,
    /// Time of the last handshake, RFC 3339.
    pub latest_handshake: Option<String>,
    /// Received bytes.
    pub rx_bytes: Option<u64>,
    /// Sent bytes.
    pub tx_bytes: Option<u64>,
    /// Persistent keepalive, s.
    pub persistent_keepalive: Option<u16>,
    /// Handshake within the last three minutes; absent without access to the kernel.
    pub connected: Option<bool>,
}

/// List WireGuard peers
#[utoipa::path(get, path = "/v1/mesh/peers", tag = "mesh", params(Paging),
    responses((status = 200, description = "Sorted by node id")))]
pub async fn mesh_peers(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<PeerView>>, Problem> {
    let by_kernel = tunnel::peers(&settings).await;
    let view = world.view();
    let now_s = world.now_s() as i64;
    let mut all: Vec<_> = view
        .onboarding
        .peers()
        .filter_map(|(registration, ip)| {
            Some((registration.node?.uuid().to_string(), (registration, ip)))
        })
        .collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let page = paging.of(all.into_iter(), |(registration, ip)| {
        let by_kernel = by_kernel.as_ref().map(|by_kernel| by_kernel.get(&registration.public_key));
        let peer = by_kernel.flatten();
        let handshake_s = peer.and_then(|peer| peer.latest_handshake);
        let text = |s: i64| rfc3339(u64::try_from(s).unwrap_or(0).saturating_mul(1_000_000_000));
        PeerView {
            node_id: registration.node.map_or_else(Uuid::nil, |node| node.uuid()),
            public_key: registration.public_key,
            endpoint: peer.and_then(|peer| peer.endpoint).map(|at| at.to_string()),
            allowed_ips: vec![format!("{ip}/32")],
            latest_handshake: handshake_s.map(text),
            rx_bytes: peer.map(|peer| peer.rx_bytes),
            tx_bytes: peer.map(|peer| peer.tx_bytes),
            persistent_keepalive: peer.map(|peer| peer.persistent_keepalive),
            connected: by_kernel.map(|_| handshake_s.is_some_and(|s| now_s - s < 180)),
        }
    })?;
    Ok(Json(page))
}

/// Delete a WireGuard peer and revoke its registration
#[utoipa::path(delete, path = "/v1/mesh/peers/{node_id}", tag = "mesh",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such peer")))]
pub async fn mesh_peer_delete(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let node = world.node(id)?;
    let view = world.view();
    let (registration, _) = view
        .onboarding
        .registrations
        .iter()
        .find(|(_, registration)| {
            registration.node == Some(node.id) && registration.overlay_ip.is_some()
        })
        .ok_or_else(|| missing("peer", id))?;
    let command = RevokeRegistration {
        registration: *registration,
        reason: Some("peer deleted".to_owned()),
        by: caller.username.clone(),
        forget: false,
    };
    world.submit(command).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Address pool.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PoolView {
    /// `overlay` or `underlay`.
    pub name: String,
    /// CIDR.
    pub cidr: String,
    /// Usable addresses.
    pub size: u32,
    /// Addresses reserved for manual assignment.
    pub reserved: u32,
    /// Allocated addresses.
    pub allocated: u32,
    /// Quarantined addresses.
    pub quarantined: u32,
    /// Free addresses, without the reserved ones and those fixed for nodes registered ahead.
    pub free: u32,
}

/// Address pools.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pools {
    /// Overlay, assigned by the gateway, and underlay, assigned by the DHCP server.
    pub pools: Vec<PoolView>,
}

/// List address pools
#[utoipa::path(get, path = "/v1/mesh/ipam", tag = "mesh",
    responses((status = 200, description = "Address pools")))]
pub async fn ipam(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(dhcp): State<Arc<DhcpServer>>,
) -> Json<Pools> {
    let view = world.view();
    let count =
        |state| view.onboarding.leases.values().filter(|lease| lease.state == state).count() as u32;
    let (allocated, quarantined) = (count(LeaseState::Allocated), count(LeaseState::Quarantined));
    let overlay = view.onboarding.pool;
    let (size, reserved) = (overlay.usable(), overlay.reserved());
    let ahead = view.fleet.nodes.values().filter_map(|node| node.record.preregistration.as_ref());
    let ahead = ahead.filter_map(|expected| expected.overlay_ip);
    let in_use = view.onboarding.leases.values().map(|lease| lease.ip).chain(ahead).collect();
    let underlay = settings.underlay;
    let leased = blocking(move || Ok(dhcp.leased(underlay))).await.unwrap_or(0);
    Json(Pools {
        pools: vec![
            PoolView {
                name: "overlay".to_owned(),
                cidr: overlay.to_string(),
                size,
                reserved,
                allocated,
                quarantined,
                free: overlay.free(&in_use),
            },
            PoolView {
                name: "underlay".to_owned(),
                cidr: underlay.to_string(),
                size: underlay.usable(),
                reserved: 0,
                allocated: leased,
                quarantined: 0,
                free: underlay.usable().saturating_sub(leased),
            },
        ],
    })
}

/// Overlay address lease.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeaseView {
    /// The address.
    pub ip: Ipv4Addr,
    /// Pool.
    pub pool: String,
    /// Node id.
    pub node_id: Option<Uuid>,
    /// Public key of the lease.
    pub public_key: PublicKey,
    /// State.
    pub state: LeaseState,
    /// Start of the state, RFC 3339.
    pub since: String,
}

impl From<&Lease> for LeaseView {
    fn from(lease: &Lease) -> Self {
        Self {
            ip: lease.ip,
            pool: "overlay".to_owned(),
            node_id: lease.node.map(|node| node.uuid()),
            public_key: lease.public_key,
            state: lease.state,
            since: rfc3339(lease.since_ns),
        }
    }
}

/// Filter of leases.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct LeaseQuery {
    /// Pool: `overlay`
    pub pool: Option<String>,
}

/// List overlay address leases
#[utoipa::path(get, path = "/v1/mesh/ipam/leases", tag = "mesh", params(LeaseQuery, Paging),
    responses((status = 200, description = "Sorted by address")))]
pub async fn ipam_leases(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<LeaseQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<LeaseView>>, Problem> {
    if query.pool.as_deref().is_some_and(|pool| pool != "overlay") {
        let message =
            "invalid pool: allowed `overlay`; underlay leases are at /v1/network/dhcp/leases";
        return Err(Problem::field("/pool", FieldCode::NotAllowed, message));
    }
    let view = world.view();
    // As numbers sort: 10.42.0.9 before 10.42.0.10.
    let all =
        view.onboarding.leases.values().map(|lease| (format!("{:010}", lease.ip.to_bits()), lease));
    Ok(Json(paging.of(all, LeaseView::from)?))
}

/// Quarantine an unused overlay address
#[utoipa::path(delete, path = "/v1/mesh/ipam/leases/{ip}", tag = "mesh",
    params(("ip" = String, Path, description = "Address", format = "ipv4")),
    responses((status = 204, description = "Quarantined"),
        (status = 404, description = "No such lease"),
        (status = 409, description = "Address in use, or already quarantined")))]
pub async fn ipam_lease_delete(
    _: Admin,
    State(world): State<World>,
    Path(ip): Path<Ipv4Addr>,
) -> Result<StatusCode, Problem> {
    world.submit(ReleaseLease { ip }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End the quarantine of an overlay address
///
/// Peers that still have it would send their packets to its next owner: for addresses whose last owner is
/// gone.
#[utoipa::path(post, path = "/v1/mesh/ipam/leases/{ip}/free", tag = "mesh",
    params(("ip" = String, Path, description = "Address", format = "ipv4")),
    responses((status = 204, description = "Free"),
        (status = 404, description = "No such lease"),
        (status = 409, description = "Not in quarantine")))]
pub async fn ipam_lease_free(
    _: Admin,
    State(world): State<World>,
    Path(ip): Path<Ipv4Addr>,
) -> Result<StatusCode, Problem> {
    world.submit(FreeLease { ip }).await?;
    Ok(StatusCode::NO_CONTENT)
}
