//! The gateway's own network: who is behind which address.

use std::net::IpAddr;

use groundwave_io::netlink::batadv::Batman;
use groundwave_io::readings::{ReadingError, RouteSocket, leases};
use groundwave_systems::onboarding::Mac;

use crate::gateway::state::Gateway;

/// Whether the kernel has learnt the hardware address `mac` for `source`: by the neighbour table
/// of the mesh interface, by batman's table of hosts behind nodes, and, where there is a DHCP
/// server, by its lease. A claim that only stands in a request is text.
pub async fn verify_mac(gateway: &Gateway, source: IpAddr, mac: Mac) -> bool {
    let ifname = gateway.settings.mesh_ifname.clone();
    let lease_file = gateway.settings.leases.clone();
    let look = move || -> Result<bool, ReadingError> {
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
        let held = leases::read(&lease_file)?.leases;
        Ok(held
            .iter()
            .any(|lease| IpAddr::V4(lease.ip) == source && lease.mac.0 == mac.0))
    };
    let found = tokio::task::spawn_blocking(look).await;
    matches!(found, Ok(Ok(true)))
}

/// Underlay addresses that the DHCP server has given out.
pub async fn leased(gateway: &Gateway) -> u32 {
    let Some(path) = gateway.settings.leases.clone() else {
        return 0;
    };
    let pool = gateway.settings.underlay;
    let look = move || {
        let held = leases::read(&path)
            .map(|held| held.leases)
            .unwrap_or_default();
        held.iter().filter(|lease| pool.holds(lease.ip)).count()
    };
    let count = tokio::task::spawn_blocking(look).await.unwrap_or(0);
    u32::try_from(count).unwrap_or(u32::MAX)
}
