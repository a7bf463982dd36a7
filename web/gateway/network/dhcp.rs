//! DHCP lease and reservation endpoints.

use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::{Mac, is_hostname};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::{Admin, Viewer};
use crate::services::dhcp::{DhcpServer, Lease, Reservation};
use crate::services::kernel::{Known, with_nodes};
use crate::services::world::{World, blocking, missing};
use crate::settings::Settings;

// Schemas of the document have names without paths.
type KnownReservation = Known<Reservation>;

/// List DHCP leases
#[utoipa::path(get, path = "/v1/network/dhcp/leases", tag = "network", params(Paging),
    responses((status = 200, description = "Sorted by address; invalid host names are left out")))]
pub async fn dhcp_leases(
    _: Viewer,
    State(world): State<World>,
    State(dhcp): State<Arc<DhcpServer>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Known<Lease>>>, Problem> {
    paging.size()?;
    let leases = blocking(move || dhcp.leases()).await?;
    let leases = with_nodes(&world.view(), leases, |lease| Some(lease.mac));
    // As numbers sort: 10.41.0.9 before 10.41.0.10.
    let keyed = leases.into_iter().map(|lease| (format!("{:010}", lease.row.ip.to_bits()), lease));
    Ok(Json(paging.of(keyed, |lease| lease)?))
}

/// New reservation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReservation {
    /// MAC address.
    pub mac: Mac,
    /// Usable address of the underlay.
    pub ip: Ipv4Addr,
    /// Host name, RFC 1123.
    #[serde(default)]
    #[schemars(length(min = 1, max = 63))]
    pub hostname: Option<String>,
}

/// Create a DHCP reservation
#[utoipa::path(post, path = "/v1/network/dhcp/reservations", tag = "network",
    responses((status = 201, description = "Created"),
        (status = 409, description = "Conflict with a reservation or a lease")))]
pub async fn dhcp_reservation_create(
    _: Admin,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(dhcp): State<Arc<DhcpServer>>,
    StrictJson(new): StrictJson<NewReservation>,
) -> Result<(StatusCode, Json<KnownReservation>), Problem> {
    let underlay = settings.underlay;
    if !underlay.holds(new.ip) {
        let message =
            format!("invalid address: found {}, allowed a usable address of {underlay}", new.ip);
        return Err(Problem::field("/ip", FieldCode::NotAllowed, message));
    }
    let hostname = new.hostname.map(|name| name.to_ascii_lowercase());
    // dnsmasq takes one label; dots would make it a name in another domain.
    let label = |name: &String| name.len() <= 63 && !name.contains('.') && is_hostname(name);
    if hostname.as_ref().is_some_and(|name| !label(name)) {
        let message = "invalid host name: allowed 1 to 63 letters, digits and hyphens (RFC 1123)";
        return Err(Problem::field("/hostname", FieldCode::NotAllowed, message));
    }
    dhcp.folder()?;
    let reservation = Reservation {
        mac: groundwave_protocol::HardwareAddress::from(new.mac),
        ip: new.ip,
        hostname,
    };
    let reserved = blocking(move || dhcp.reserve(reservation)).await?;
    let mut rows = with_nodes(&world.view(), vec![reserved], |one| Some(one.mac));
    let row = rows.pop().ok_or_else(|| Problem::internal("a row was lost"))?;
    Ok((StatusCode::CREATED, Json(row)))
}

/// Delete a DHCP reservation
#[utoipa::path(delete, path = "/v1/network/dhcp/reservations/{mac}", tag = "network",
    params(("mac" = String, Path, description = "MAC address", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such reservation")))]
pub async fn dhcp_reservation_delete(
    _: Admin,
    State(dhcp): State<Arc<DhcpServer>>,
    Path(mac): Path<Mac>,
) -> Result<StatusCode, Problem> {
    match blocking(move || dhcp.release(mac)).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(missing("reservation", mac)),
    }
}
