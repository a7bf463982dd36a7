//! The machine's network: interfaces, neighbours, routes, wireless interfaces and their stations.

use axum::extract::State;
use groundwave_io::readings::links::Interface;
use groundwave_io::readings::neighbours::Neighbour;
use groundwave_io::readings::routes::Route;
use groundwave_io::readings::wireless::{AssocRow, WirelessRow};
use groundwave_io::readings::{Root, RouteSocket};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::gateway::access::Viewer;
use crate::gateway::services::kernel::{
    InterfaceQuery, Known, Row, check_ifname, known, of_network, radios, rows,
};
use crate::gateway::services::world::{World, missing};
use crate::http::problem::FieldCode;
use crate::http::{Json, Path, Problem, Query};

// The document knows shapes by plain names.
type RowInterface = Row<Interface>;
type KnownNeighbour = Known<Neighbour>;
type RowRoute = Row<Route>;
type RowWirelessRow = Row<WirelessRow>;
type KnownAssocRow = Known<AssocRow>;

async fn all() -> Result<Vec<Interface>, Problem> {
    of_network(|socket| socket.interfaces(&Root::default())).await
}

/// Interfaces with their addresses and counters
#[utoipa::path(get, path = "/v1/network/interfaces", tag = "network",
    responses((status = 200, description = "By number")))]
pub async fn network_interfaces(_: Viewer) -> Result<Json<Vec<RowInterface>>, Problem> {
    Ok(Json(rows(all().await?)))
}

/// An interface
#[utoipa::path(get, path = "/v1/network/interfaces/{ifname}", tag = "network",
    params(("ifname" = String, Path, description = "Its name", pattern = "^[!-.0-9;-~]{1,15}$")),
    responses((status = 200, description = "As it is now"),
        (status = 404, description = "There is none")))]
pub async fn network_interface(
    _: Viewer,
    Path(ifname): Path<String>,
) -> Result<Json<RowInterface>, Problem> {
    check_ifname(&ifname)?;
    let found = all().await?;
    let own = found.into_iter().find(|one| one.name == ifname);
    let own = own.ok_or_else(|| missing("interface", ifname))?;
    Ok(Json(Row(own)))
}

/// Which neighbours are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NeighbourQuery {
    /// Only on this interface
    #[param(pattern = "^[!-.0-9;-~]{1,15}$")]
    pub ifname: Option<String>,
    /// Only addresses of IPv4 or of IPv6: 4 or 6
    #[param(minimum = 4, maximum = 6, multiple_of = 2)]
    pub family: Option<u8>,
}

/// Who answers to which address
#[utoipa::path(get, path = "/v1/network/arp", tag = "network", params(NeighbourQuery),
    responses((status = 200, description = "By interface and address")))]
pub async fn network_arp(
    _: Viewer,
    State(world): State<World>,
    Query(asked): Query<NeighbourQuery>,
) -> Result<Json<Vec<KnownNeighbour>>, Problem> {
    let NeighbourQuery { ifname, family } = asked;
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
    let mut found = of_network(RouteSocket::neighbours).await?;
    found.retain(|row| {
        ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname)
            && four.is_none_or(|four| row.ip.is_ipv4() == four)
    });
    Ok(Json(known(&world.view(), found, |row| row.mac)))
}

/// Which routes are wanted.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RouteQuery {
    /// Only of the table with this number: 254 is `main`, 255 `local`
    #[param(value_type = Option<i64>, minimum = 0, maximum = 4_294_967_295_i64)]
    pub table: Option<u32>,
}

/// Routes
#[utoipa::path(get, path = "/v1/network/routes", tag = "network", params(RouteQuery),
    responses((status = 200, description = "In the kernel's order")))]
pub async fn network_routes(
    _: Viewer,
    Query(asked): Query<RouteQuery>,
) -> Result<Json<Vec<RowRoute>>, Problem> {
    let mut found = of_network(RouteSocket::routes).await?;
    found.retain(|row| asked.table.is_none_or(|table| row.table == table));
    Ok(Json(rows(found)))
}

/// Wireless interfaces
#[utoipa::path(get, path = "/v1/network/wireless", tag = "network",
    responses((status = 200, description = "By number")))]
pub async fn network_wireless(_: Viewer) -> Result<Json<Vec<RowWirelessRow>>, Problem> {
    Ok(Json(rows(radios().await?.wireless())))
}

/// Stations of wireless interfaces
#[utoipa::path(get, path = "/v1/network/assoclist", tag = "network", params(InterfaceQuery),
    responses((status = 200, description = "By interface; of all interfaces if none is named")))]
pub async fn network_assoclist(
    _: Viewer,
    State(world): State<World>,
    Query(asked): Query<InterfaceQuery>,
) -> Result<Json<Vec<KnownAssocRow>>, Problem> {
    let ifname = asked.checked()?;
    let mut found = radios().await?.associations();
    found.retain(|row| ifname.as_ref().is_none_or(|ifname| row.ifname == *ifname));
    Ok(Json(known(&world.view(), found, |row| Some(row.mac))))
}
