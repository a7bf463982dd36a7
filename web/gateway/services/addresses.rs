//! MAC addresses of the kernel's neighbour table.

use std::net::IpAddr;

use groundwave_files::ReadingError;
use groundwave_host::readings::{RouteSocket, leases};
use groundwave_netlink::batadv::Batman;
use groundwave_protocol::Mac;

use crate::settings::Settings;

/// `true` if the kernel has learnt `mac` for `source`: in the neighbour table of the mesh
/// interface, in the global translation table of batman-adv and, with a DHCP server, in its leases.
pub async fn verify_mac(settings: &Settings, source: IpAddr, mac: Mac) -> bool {
    let ifname = settings.mesh_ifname.clone();
    let lease_file = settings.leases.clone();
    let query = move || -> Result<bool, ReadingError> {
        let learnt = RouteSocket::open(None)?.hardware_of(&ifname, source)?;
        if learnt.map(|learnt| learnt.0) != Some(mac.0) {
            return Ok(false);
        }
        let behind = Batman::open(None)?.trans_global(&ifname)?;
        if !behind.iter().any(|host| host.tt_address.0 == mac.0) {
            return Ok(false);
        }
        let Some(lease_file) = lease_file else {
            return Ok(true);
        };
        let leases = leases::read(&lease_file)?.leases;
        Ok(leases.iter().any(|lease| IpAddr::V4(lease.ip) == source && lease.mac.0 == mac.0))
    };
    let outcome = tokio::task::spawn_blocking(query).await;
    matches!(outcome, Ok(Ok(true)))
}
