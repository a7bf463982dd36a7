//! Addresses of the underlay: those the DHCP server gave, those kept for somebody.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::PoisonError;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_io::host;
use groundwave_io::readings::leases::{self, Lease};
use groundwave_io::readings::reservations::{Reservation, Reservations};
use groundwave_systems::onboarding::{Mac, is_hostname};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::gateway::access::{Admin, Viewer};
use crate::gateway::services::kernel::{Known, absent, known, unread};
use crate::gateway::state::Gateway;
use crate::gateway::state::missing;
use crate::http::json_body::StrictJson;
use crate::http::page::{Page, Paging};
use crate::http::problem::FieldCode;
use crate::http::{Json, Path, Problem, Query};

// The document knows shapes by plain names.
type KnownReservation = Known<Reservation>;

/// Addresses that the DHCP server gave
#[utoipa::path(get, path = "/v1/network/dhcp/leases", tag = "network", params(Paging),
    responses((status = 200, description = "In order of the address; names that are none are left out")))]
pub async fn dhcp_leases(
    _: Viewer,
    State(gateway): State<Gateway>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Known<Lease>>>, Problem> {
    paging.size()?;
    let path = gateway.settings.leases.clone();
    let path = path.ok_or_else(|| absent("the gateway was not told of a file of leases"))?;
    let found = gateway.block(move || leases::read(&path).map_err(unread));
    let mut found = found.await?.leases;
    found.sort_by_key(|lease| lease.ip);
    let found = known(&gateway, found, |lease| Some(lease.mac));
    // As numbers sort: 10.41.0.9 before 10.41.0.10.
    let keyed = found.into_iter();
    let keyed = keyed.map(|lease| (format!("{:010}", lease.row.ip.to_bits()), lease));
    Ok(Json(paging.of(keyed, |lease| lease)?))
}

/// An address to keep for somebody.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReservation {
    /// For whom.
    pub mac: Mac,
    /// Which: one of the underlay that a node can have.
    pub ip: Ipv4Addr,
    /// The name it goes by (RFC 1123), if any.
    #[serde(default)]
    #[schemars(length(min = 1, max = 63))]
    pub hostname: Option<String>,
}

fn folder(gateway: &Gateway) -> Result<Reservations, Problem> {
    let path = gateway.settings.reservations.as_deref();
    let path =
        path.ok_or_else(|| absent("the gateway was not told of a folder of reservations"))?;
    Ok(Reservations::at(path))
}

/// Whether a new reservation stands in nobody's way.
fn check(new: &Reservation, kept: &[Reservation], given: &[Lease]) -> Result<(), Problem> {
    let conflict = |detail: String| Err(Problem::new(StatusCode::CONFLICT, detail));
    if kept.iter().any(|one| one.mac == new.mac) {
        return conflict(format!("an address is kept for {} already", new.mac));
    }
    if let Some(other) = kept.iter().find(|one| one.ip == new.ip) {
        return conflict(format!("{} is kept for {}", new.ip, other.mac));
    }
    let named = |one: &&Reservation| new.hostname.is_some() && one.hostname == new.hostname;
    if let Some(other) = kept.iter().find(named) {
        return conflict(format!("{} goes by that name", other.mac));
    }
    let using = |one: &&Lease| one.ip == new.ip && one.mac != new.mac;
    if let Some(other) = given.iter().find(using) {
        return conflict(format!("{} has {} at the moment", other.mac, new.ip));
    }
    Ok(())
}

/// Keep an address for somebody
#[utoipa::path(post, path = "/v1/network/dhcp/reservations", tag = "network",
    responses((status = 201, description = "Kept"),
        (status = 409, description = "The address or the name is another's, or one is kept already")))]
pub async fn dhcp_reservation_create(
    _: Admin,
    State(gateway): State<Gateway>,
    StrictJson(new): StrictJson<NewReservation>,
) -> Result<(StatusCode, Json<KnownReservation>), Problem> {
    let underlay = gateway.settings.underlay;
    if !underlay.holds(new.ip) {
        let message = format!(
            "{} is not allowed; allowed: a node's address in {underlay}",
            new.ip
        );
        return Err(Problem::field("/ip", FieldCode::NotAllowed, message));
    }
    let hostname = new.hostname.map(|name| name.to_ascii_lowercase());
    // dnsmasq takes one label; dots would make it a name in somebody's domain.
    let label = |name: &String| name.len() <= 63 && !name.contains('.') && is_hostname(name);
    if hostname.as_ref().is_some_and(|name| !label(name)) {
        let message = "it is no host name: 1 to 63 letters, digits and hyphens (RFC 1123)";
        return Err(Problem::field("/hostname", FieldCode::NotAllowed, message));
    }
    let folder = folder(&gateway)?;
    let wanted = Reservation {
        mac: host::Mac(new.mac.0),
        ip: new.ip,
        hostname,
    };
    let lease_file: Option<PathBuf> = gateway.settings.leases.clone();
    let held = gateway.clone();
    let work = move || {
        let _alone = held
            .reserving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let kept = folder.all().map_err(unread)?;
        let given = lease_file.and_then(|path| leases::read(&path).ok());
        check(&wanted, &kept, &given.unwrap_or_default().leases)?;
        folder.put(&wanted).map_err(unread)?;
        Ok(wanted)
    };
    let kept = gateway.block(work).await?;
    let mut told = known(&gateway, vec![kept], |one| Some(one.mac));
    let told = told
        .pop()
        .ok_or_else(|| Problem::internal("a row was lost"))?;
    Ok((StatusCode::CREATED, Json(told)))
}

/// Keep an address for somebody no longer
#[utoipa::path(delete, path = "/v1/network/dhcp/reservations/{mac}", tag = "network",
    params(("mac" = String, Path, description = "For whom", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 204, description = "Gone"),
        (status = 404, description = "None is kept")))]
pub async fn dhcp_reservation_delete(
    _: Admin,
    State(gateway): State<Gateway>,
    Path(mac): Path<Mac>,
) -> Result<StatusCode, Problem> {
    let folder = folder(&gateway)?;
    let held = gateway.clone();
    let work = move || {
        let _alone = held
            .reserving
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        folder.remove(host::Mac(mac.0)).map_err(unread)
    };
    match gateway.block(work).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(missing("reservation", mac)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(last: u8, ip: u8, name: Option<&str>) -> Reservation {
        Reservation {
            mac: host::Mac([2, 0, 0, 0, 0, last]),
            ip: Ipv4Addr::new(10, 41, 0, ip),
            hostname: name.map(str::to_owned),
        }
    }

    #[test]
    fn nobody_is_put_in_anothers_place() {
        let held = [kept(1, 51, Some("hill")), kept(2, 52, None)];
        let given = leases::parse(b"0 02:00:00:00:00:09 10.41.0.59 * *\n").leases;
        let told = |new: Reservation| check(&new, &held, &given).map_err(|told| told.status);
        assert_eq!(told(kept(3, 53, None)), Ok(()));
        assert_eq!(told(kept(9, 59, Some("dale"))), Ok(()));
        for bad in [
            kept(1, 54, None),
            kept(3, 52, None),
            kept(3, 53, Some("hill")),
            kept(3, 59, None),
        ] {
            assert_eq!(told(bad.clone()), Err(409), "{bad:?}");
        }
    }
}
