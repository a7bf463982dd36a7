//! Creation of veth pairs for new links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groundwave_netlink::route::{
    RouteRequest, VethEnd, add_address, add_neighbour, create_veth_pair, set_controller, set_up,
};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    LinkDirection, NamespaceAssignment, Observation, Protocol, Wiring,
};

use super::actions::Action;
use super::batman;
use super::error::TestbedError;
use super::names::{hardware, index, interface, link_local};
use super::network::{DesiredDirection, TestbedNetwork, VethState};
use crate::veth_qdiscs::{Means, VethQdiscs, group_filter};

/// MTU of a link without a mesh protocol, bytes.
const MTU_BYTES: u32 = 1500;

impl TestbedNetwork {
    /// Creates the missing veth pairs of `desired`.
    pub(super) fn create_links(
        &mut self,
        desired: &[DesiredDirection],
        failures: &mut BTreeMap<LinkDirection, String>,
    ) -> Result<(), TestbedError> {
        let missing = |(side, ..): &&DesiredDirection| !self.wires.contains_key(side);
        let mut fresh: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
        for (side, number, _) in desired.iter().filter(missing) {
            fresh.insert((side.from.min(side.to), side.from.max(side.to)), *number);
        }
        let mut actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        for (&(a, b), &number) in &fresh {
            let (Some(near), Some(far)) = (self.assignments.get(&a), self.assignments.get(&b))
            else {
                let side = LinkDirection { from: a, to: b };
                failures.extend(self.absence(side).map(|absence| (side, absence)));
                continue;
            };
            let mtu_bytes = self.mtu_bytes(&LinkDirection { from: a, to: b });
            let end = |peer: &NamespaceAssignment, back| VethEnd {
                name: interface(peer),
                index: index(number),
                hardware: hardware(number, back),
                mtu_bytes,
                alias: format!("groundwave {}", self.names.testbed),
            };
            let (one, other) = (end(&far.assignment, false), end(&near.assignment, true));
            let act = create_veth_pair(&one, &other, far.namespace.descriptor());
            let side = LinkDirection { from: a, to: b };
            actions.entry(a).or_default().push((side, Action::Route(act)));
        }
        self.execute(actions, failures)?;
        let mut guided: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let mut actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        for (&(a, b), &number) in &fresh {
            // One request makes both ends.
            if let Some(failure) = failures.get(&LinkDirection { from: a, to: b }).cloned() {
                failures.insert(LinkDirection { from: b, to: a }, failure);
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let side = LinkDirection { from, to };
                let Some(peer) = self.assignments.get(&to) else {
                    continue;
                };
                guided.entry(from).or_default().push(interface(&peer.assignment));
                let setup = self.setup_of(side, number).into_iter();
                let of_node = actions.entry(from).or_default();
                of_node.extend(setup.map(|setup| (side, Action::Route(setup))));
                let qdiscs = Some(VethQdiscs::default());
                self.wires.insert(side, VethState { number, qdiscs });
            }
        }
        self.execute(actions, failures)?;
        for (node, interfaces) in guided {
            self.start_routing(node, &interfaces)?;
        }
        Ok(())
    }

    /// Creates the veth pairs again that are missing because something was in their place, with the routes over
    /// them; outcome of the directions that exist now.
    ///
    /// # Errors
    /// As [`Self::shape`].
    pub fn retry_links(&mut self) -> Result<Vec<Observation>, TestbedError> {
        let missing = self.missing();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut outcome = self.shape(&missing)?;
        // Those that are still missing have a failure already.
        outcome.retain(|observation| self.wires.contains_key(&observation.side));
        let nodes: BTreeSet<NodeId> =
            outcome.iter().map(|observation| observation.side.from).collect();
        for node in nodes {
            self.route_again(node)?;
        }
        Ok(outcome)
    }

    /// Desired directions without a veth pair.
    pub(super) fn missing(&self) -> Vec<DesiredDirection> {
        if self.wiring == Wiring::Segment {
            return Vec::new();
        }
        self.desired(|side| !self.wires.contains_key(side))
    }

    /// Desired states of the directions that are wanted.
    pub(super) fn desired(
        &self,
        is_wanted: impl Fn(&LinkDirection) -> bool,
    ) -> Vec<DesiredDirection> {
        let goals = self.goals.iter().filter(|(side, _)| is_wanted(side));
        goals.map(|(side, (number, state))| (*side, *number, *state)).collect()
    }

    /// MTU of both ends of a link, bytes.
    pub(super) fn mtu_bytes(&self, side: &LinkDirection) -> u32 {
        let mut ends =
            [side.from, side.to].into_iter().filter_map(|end| self.assignments.get(&end));
        let is_wrapped = ends.any(|end| end.protocol == Protocol::Batman);
        if is_wrapped { batman::MTU_BYTES } else { MTU_BYTES }
    }

    /// Requests that set one end of a veth pair up. Repeating them changes nothing.
    fn setup_of(&self, side: LinkDirection, number: u32) -> Vec<RouteRequest> {
        let Some(own) = self.assignments.get(&side.from) else {
            return Vec::new();
        };
        let index = index(number);
        let mut setup = vec![set_up(index, None)];
        if Path::new("/proc/sys/net/ipv6").exists() {
            // Radios learn addresses from beacons; a lost neighbour solicitation must not disturb
            // measurements of one link.
            let far = hardware(number, side.from < side.to);
            setup.push(add_neighbour(index, link_local(far), far));
        }
        setup.push(match own.protocol {
            Protocol::Batman => set_controller(index, batman::INDEX),
            _ => add_address(index, self.names.address(own.assignment.number).into(), 32),
        });
        setup
    }

    /// Requests that an end which is as before needs again: neighbours go with an interface that goes down.
    pub(super) fn link_setup(&self, side: LinkDirection) -> Vec<Action> {
        let number = self.wires.get(&side).map(|veth| veth.number);
        let setup = number.map(|number| self.setup_of(side, number)).unwrap_or_default();
        setup.into_iter().map(Action::Route).collect()
    }

    /// Sets existing links up: a controller may have been killed after it created them.
    pub(super) fn complete_links(&mut self) -> Result<(), TestbedError> {
        let mut actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        for (side, veth) in &self.wires {
            let setup = self.setup_of(*side, veth.number).into_iter();
            let of_node = actions.entry(side.from).or_default();
            of_node.extend(setup.map(|setup| (*side, Action::Route(setup))));
            if self.means == Some(Means::Full) {
                // Refused where it exists, and where its discipline is still to be created.
                let filter = Action::Route(group_filter(index(veth.number)));
                of_node.push((*side, filter));
            }
        }
        // What is not set up shows when it is read back, or when a route is refused.
        self.execute(actions, &mut BTreeMap::new())
    }
}

#[cfg(test)]
mod tests {
    use groundwave_simulation::testbed::{Shape, Side};

    use super::*;
    use crate::Names;

    #[test]
    fn link_without_a_veth_pair_is_not_in_force_and_has_no_values() {
        let folder = tempfile::tempdir().unwrap();
        let names = Names { testbed: "links".to_owned(), network: [10, 77] };
        let mut network = TestbedNetwork::new(names, folder.path()).unwrap();
        let [from, to] = ["a", "b"].map(NodeId::named);
        let sides = [LinkDirection { from, to }, LinkDirection { from: to, to: from }];
        let state = Side { generation: 1, shape: Shape { up: true, ..Shape::DOWN } };
        let outcome = network.shape(&sides.map(|side| (side, 1, state))).unwrap();
        for (side, observation) in sides.into_iter().zip(&outcome) {
            assert_eq!((observation.side, &observation.reading), (side, &None));
            let failure = observation.failure.as_deref().unwrap();
            assert!(failure.contains("has no namespace"), "{failure}");
        }
        let read = network.count().unwrap().readings;
        assert_eq!(read, sides.map(|side| (side, None)).into());
        assert_eq!(network.retry_links().unwrap(), [], "known already");
    }
}
