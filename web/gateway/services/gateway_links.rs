//! Links of the gateway itself: its hardware addresses and its mesh neighbors, for outages.

use std::collections::BTreeSet;
use std::time::Duration;

use groundwave_files::Root;
use groundwave_files::wall::monotonic_ns;
use groundwave_gateway::outage::ObserveGatewayLinks;
use groundwave_protocol::{HardwareAddress, Mac};

use super::kernel::{InterfaceQuery, of_batman, of_network};
use crate::state::Gateway;

/// Period of reading.
const PERIOD: Duration = Duration::from_secs(10);
/// Maximum number of addresses of each list, that of the command.
const MACS_MAX: usize = 1_024;

fn macs(addresses: impl Iterator<Item = HardwareAddress>) -> BTreeSet<Mac> {
    let is_unicast = |mac: &Mac| mac.0 != [0; 6] && mac.0[0] & 1 == 0;
    addresses.map(|address| Mac(address.0)).filter(is_unicast).take(MACS_MAX).collect()
}

/// Links as the kernel has them; those that it does not show are absent.
async fn read(gateway: &Gateway) -> ObserveGatewayLinks {
    let interfaces = of_network(|socket| socket.interfaces(&Root::default())).await;
    let interfaces = interfaces.unwrap_or_default().into_iter().filter_map(|one| one.mac);
    let query = InterfaceQuery::default();
    let neighbors =
        of_batman(&gateway.settings, query, |batman, ifname| batman.neighbors(ifname)).await;
    let neighbors = neighbors.unwrap_or_default().into_iter().map(|one| one.neigh_address);
    ObserveGatewayLinks { macs: macs(interfaces), neighbors: macs(neighbors) }
}

/// Records the links of this machine where they changed, until the gateway stops.
pub async fn observe_gateway_links(gateway: Gateway) {
    let mut recorded = None;
    loop {
        let began_ns = monotonic_ns();
        let links = read(&gateway).await;
        let state = (links.macs.clone(), links.neighbors.clone());
        let mut failed = false;
        if recorded.as_ref() != Some(&state) {
            failed = gateway.world.submit(links).await.is_err();
            recorded = (!failed).then_some(state);
        }
        gateway.background_tasks.record("links", monotonic_ns() - began_ns, 0, failed);
        tokio::select! {
            () = gateway.stop.cancelled() => return,
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}
