//! Interfaces of nodes on a segment that another program has changed: reported and left, as those of links.

use std::collections::BTreeSet;

use groundwave_netlink::route::add_neighbour;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, Protocol};

use super::actions::Action;
use super::dump;
use super::error::TestbedError;
use super::link_fault::{Expected, FarEnd};
use super::names::{NETNS, RADIO_INDEX, link_local, radio_hardware};
use super::network::TestbedNetwork;
use super::repair::restore_bat0;
use super::segment::speaks_ipv6;

/// Fault of a radio that is not there.
const REMOVED: &str = "its interface was removed; `testbed down` and `up` create it";

impl TestbedNetwork {
    /// Notes the faults of radios that other programs changed, and adds to `configured` the directions whose fault is
    /// another now. Returns the nodes whose `bat0` was removed, and is there again.
    pub(super) fn changed_radios(
        &mut self,
        configured: &mut Vec<LinkDirection>,
    ) -> Result<Vec<NodeId>, TestbedError> {
        let ready = self
            .notifications
            .ready()
            .map_err(TestbedError::file("watch the namespaces in", NETNS))?;
        let ready: BTreeSet<u64> = ready.into_iter().collect();
        let mut nodes = Vec::new();
        let mut without_bat0 = Vec::new();
        for (node, own) in &mut self.assignments {
            if !ready.contains(&own.assignment.number.into()) {
                continue;
            }
            let changes = own.namespace.changes()?;
            if changes.routes || changes.overrun {
                self.route_suspects.insert(*node);
            }
            let members = std::iter::once(RADIO_INDEX);
            if restore_bat0(&self.names, own, &changes, members)? {
                without_bat0.push(*node);
            }
            let is_radio = changes.overrun
                || changes.configured.contains(&RADIO_INDEX)
                || changes.removed.contains(&RADIO_INDEX);
            if is_radio {
                nodes.push(*node);
            }
        }
        for node in nodes {
            let fault = self.radio_fault(node)?;
            let sides = self.segment.iter().flat_map(|segment| segment.sides.keys());
            let own = sides.copied().filter(|side| side.from == node);
            let own: Vec<LinkDirection> =
                own.filter(|side| self.link_faults.get(side) != fault.as_ref()).collect();
            for side in &own {
                match &fault {
                    Some(fault) => self.link_faults.insert(*side, fault.clone()),
                    None => self.link_faults.remove(side),
                };
            }
            configured.extend(own);
        }
        Ok(without_bat0)
    }

    /// Difference of the radio of a node from the expected one, in words.
    fn radio_fault(&mut self, node: NodeId) -> Result<Option<String>, TestbedError> {
        let mtu_bytes = self.radio_mtu_bytes();
        let Some(own) = self.assignments.get_mut(&node) else { return Ok(None) };
        let address = self.names.address(own.assignment.number);
        let batch = &mut own.namespace.batch;
        let reading = || TestbedError::kernel("read interfaces");
        let links = dump::links(batch).map_err(reading())?;
        let addresses = dump::addresses(batch).map_err(reading())?;
        let Some(link) = links.get(&RADIO_INDEX) else {
            return Ok(Some(REMOVED.to_owned()));
        };
        let expected = Expected {
            index: RADIO_INDEX,
            mtu_bytes,
            address: (own.protocol != Protocol::Batman).then_some(address),
            far_end: FarEnd::Port,
        };
        Ok(expected.fault(link, &addresses))
    }

    /// Requests that a radio which is as before needs again: neighbours go with an interface that goes down.
    pub(super) fn radio_setup(&self, side: LinkDirection) -> Option<Action> {
        let [_, to] = self.numbers(side)?;
        let far = radio_hardware(to);
        let neighbour = || Action::Route(add_neighbour(RADIO_INDEX, link_local(far), far));
        speaks_ipv6().then(neighbour)
    }
}
