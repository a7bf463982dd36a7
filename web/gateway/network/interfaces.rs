//! Network endpoints: interfaces, neighbours, routes, wireless interfaces, stations.

use axum::extract::State;
use groundwave_files::Root;
use groundwave_host::readings::RouteSocket;
use groundwave_host::readings::links::Interface;
use groundwave_host::readings::neighbours::Neighbour;
use groundwave_host::readings::routes::Route;
use groundwave_host::readings::wireless::{AssocRow, WirelessRow};
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Viewer;
use crate::services::kernel::{
    InterfaceQuery, Known, Row, check_ifname, of_network, radios, rows, with_nodes,
};
use crate::services::world::{World, missing};

// Schemas of the document have names without paths.
type RowInterface = Row<Interface>;
type KnownNeighbour = Known<Neighbour>;
type RowRoute = Row<Route>;
type RowWirelessRow = Row<WirelessRow>;
type KnownAssocRow = Known<AssocRow>;

async fn all() -> Result<Vec<Interface>, Problem> {
    of_network(|socket| socket.interfaces(&Root::default())).await
}

/// List network interfaces
#[utoipa::path(get, path = "/v1/network/interfaces", tag = "network",
    responses((status = 200, description = "Sorted by index")))]
pub async fn network_interfaces(_: Viewer) -> Result<Json<Vec<RowInterface>>, Problem> {
    Ok(Json(rows(all().await?)))
}

/// Get a network interface
#[utoipa::path(get, path = "/v1/network/interfaces/{ifname}", tag = "network",
    params(("ifname" = String, Path, description = "Interface name", pattern = "^[!-.0-9;-~]{1,15}$")),
    responses((status = 200, description = "Present state"),
        (status = 404, description = "No such interface")))]
pub async fn network_interface(
    _: Viewer,
    Path(ifname): Path<String>,
) -> Result<Json<RowInterface>, Problem> {
    check_ifname(&ifname)?;
    let interfaces = all().await?;
    let own = interfaces
        .into_iter()
        .find(|one| one.name == ifname)
        .ok_or_else(|| missing("interface", ifname))?;
    Ok(Json(Row(own)))
}

/// Filter of neighbours.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NeighbourQuery {
    /// Interface name
    #[param(pattern = "^[!-.0-9;-~]{1,15}$")]
    pub ifname: Option<String>,
    /// IP version: 4 or 6
    #[param(minimum = 4, maximum = 6, multiple_of = 2)]
    pub family: Option<u8>,
}

/// List ARP and NDP neighbours
#[utoipa::path(get, path = "/v1/network/arp", tag = "network", params(NeighbourQuery),
    responses((status = 200, description = "Sorted by interface and address")))]
pub async fn network_arp(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<NeighbourQuery>,
) -> Result<Json<Vec<KnownNeighbour>>, Problem> {
    let NeighbourQuery { ifname, family } = query;
    let ifname = InterfaceQuery { ifname }.checked()?;
    let four = match family {
        None => None,
        Some(4) => Some(true),
        Some(6) => Some(false),
        Some(other) => {
            let message = format!("invalid family: found {other}, allowed 4 or 6");
            return Err(Problem::field("/family", FieldCode::NotAllowed, message));
        }
    };
    let mut neighbours = of_network(RouteSocket::neighbours).await?;
    neighbours.retain(|row| {
        ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname)
            && four.is_none_or(|four| row.ip.is_ipv4() == four)
    });
    Ok(Json(with_nodes(&world.view(), neighbours, |row| row.mac)))
}

/// Filter of routes.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RouteQuery {
    /// Number of the routing table: 254 is `main`, 255 `local`
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub table: Option<u32>,
}

/// List routes
#[utoipa::path(get, path = "/v1/network/routes", tag = "network", params(RouteQuery),
    responses((status = 200, description = "In kernel order")))]
pub async fn network_routes(
    _: Viewer,
    Query(query): Query<RouteQuery>,
) -> Result<Json<Vec<RowRoute>>, Problem> {
    let mut routes = of_network(RouteSocket::routes).await?;
    routes.retain(|row| query.table.is_none_or(|table| row.table == table));
    Ok(Json(rows(routes)))
}

/// List wireless interfaces
#[utoipa::path(get, path = "/v1/network/wireless", tag = "network",
    responses((status = 200, description = "Sorted by index")))]
pub async fn network_wireless(_: Viewer) -> Result<Json<Vec<RowWirelessRow>>, Problem> {
    Ok(Json(rows(radios().await?.wireless())))
}

/// List associated stations
#[utoipa::path(get, path = "/v1/network/assoclist", tag = "network", params(InterfaceQuery),
    responses((status = 200, description = "Sorted by interface; all interfaces unless one is named")))]
pub async fn network_assoclist(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownAssocRow>>, Problem> {
    let ifname = query.checked()?;
    let mut stations = radios().await?.associations();
    stations.retain(|row| ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname));
    Ok(Json(with_nodes(&world.view(), stations, |row| Some(row.mac))))
}
