//! Tables of batman-adv.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::{Json, Problem, Query};
use groundwave_netlink::batadv::{
    BlaClaim, DatEntry, Gateway as WayOut, HardInterface, Neighbor, Originator, TransGlobal,
    TransLocal,
};

use crate::access::Viewer;
use crate::services::kernel::{InterfaceQuery, Known, Row, of_batman, rows, with_nodes};
use crate::services::world::World;
use crate::settings::Settings;

// Schemas of the document have names without paths.
type KnownOriginator = Known<Originator>;
type KnownNeighbor = Known<Neighbor>;
type KnownWayOut = Known<WayOut>;
type KnownTransLocal = Known<TransLocal>;
type KnownTransGlobal = Known<TransGlobal>;
type KnownDatEntry = Known<DatEntry>;
type KnownBlaClaim = Known<BlaClaim>;
type RowHardInterface = Row<HardInterface>;

/// List batman-adv originators
#[utoipa::path(get, path = "/v1/mesh/batman/originators", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order; the selected next hop has `best`")))]
pub async fn batman_originators(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownOriginator>>, Problem> {
    let originators =
        of_batman(&settings, query, |batman, ifname| batman.originators(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), originators, |row| Some(row.orig_address))))
}

/// List batman-adv neighbors
#[utoipa::path(get, path = "/v1/mesh/batman/neighbors", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_neighbors(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownNeighbor>>, Problem> {
    let neighbors = of_batman(&settings, query, |batman, ifname| batman.neighbors(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), neighbors, |row| Some(row.neigh_address))))
}

/// List batman-adv gateways
#[utoipa::path(get, path = "/v1/mesh/batman/gateways", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order; the selected gateway has `best`")))]
pub async fn batman_gateways(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownWayOut>>, Problem> {
    let gateways = of_batman(&settings, query, |batman, ifname| batman.gateways(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), gateways, |row| Some(row.orig_address))))
}

/// List local translation table entries
#[utoipa::path(get, path = "/v1/mesh/batman/translocal", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_translocal(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownTransLocal>>, Problem> {
    let clients = of_batman(&settings, query, |batman, ifname| batman.trans_local(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), clients, |row| Some(row.tt_address))))
}

/// List global translation table entries; `node_id` is the node of the client
#[utoipa::path(get, path = "/v1/mesh/batman/transglobal", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_transglobal(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownTransGlobal>>, Problem> {
    let clients = of_batman(&settings, query, |batman, ifname| batman.trans_global(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), clients, |row| Some(row.tt_address))))
}

/// List distributed ARP table entries
#[utoipa::path(get, path = "/v1/mesh/batman/dat_cache", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_dat_cache(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownDatEntry>>, Problem> {
    let entries = of_batman(&settings, query, |batman, ifname| batman.dat_cache(ifname)).await?;
    let whose = |row: &DatEntry| Some(row.dat_cache_hwaddress);
    Ok(Json(with_nodes(&world.view(), entries, whose)))
}

/// List bridge loop avoidance claims
#[utoipa::path(get, path = "/v1/mesh/batman/bla_claims", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_bla_claims(
    _: Viewer,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownBlaClaim>>, Problem> {
    let claims = of_batman(&settings, query, |batman, ifname| batman.bla_claims(ifname)).await?;
    Ok(Json(with_nodes(&world.view(), claims, |row| Some(row.bla_address))))
}

/// List batman-adv hard interfaces
#[utoipa::path(get, path = "/v1/mesh/batman/hardifs", tag = "mesh", params(InterfaceQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn batman_hardifs(
    _: Viewer,
    State(settings): State<Arc<Settings>>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<RowHardInterface>>, Problem> {
    let ask = |batman: &mut groundwave_netlink::batadv::Batman, ifname: &str| {
        batman.hard_interfaces(ifname)
    };
    Ok(Json(rows(of_batman(&settings, query, ask).await?)))
}
