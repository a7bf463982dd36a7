//! Links of the gateway itself: its hardware addresses and its mesh neighbors, for outages.

use std::collections::BTreeSet;

use groundwave_files::Root;
use groundwave_gateway::outage::ObserveGatewayLinks;
use groundwave_protocol::{HardwareAddress, Mac};

use super::kernel::{InterfaceQuery, of_batman, of_network};
use crate::settings::Settings;

/// Maximum number of addresses of each list, that of the command.
const MACS_MAX: usize = 1_024;

fn macs(addresses: impl Iterator<Item = HardwareAddress>) -> BTreeSet<Mac> {
    let is_unicast = |mac: &Mac| mac.0 != [0; 6] && mac.0[0] & 1 == 0;
    addresses.map(|address| Mac(address.0)).filter(is_unicast).take(MACS_MAX).collect()
}

/// Links as the kernel has them; those that it does not show are absent.
pub async fn read(settings: &Settings) -> ObserveGatewayLinks {
    let interfaces = of_network(|socket| socket.interfaces(&Root::default())).await;
    let interfaces = interfaces.unwrap_or_default().into_iter().filter_map(|one| one.mac);
    let query = InterfaceQuery::default();
    let neighbors = of_batman(settings, query, |batman, ifname| batman.neighbors(ifname)).await;
    let neighbors = neighbors.unwrap_or_default().into_iter().map(|one| one.neigh_address);
    ObserveGatewayLinks { macs: macs(interfaces), neighbors: macs(neighbors) }
}
