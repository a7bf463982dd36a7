//! Creation of veth pairs for new links.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{LinkDirection, Protocol, Seat};

use super::actions::Action;
use super::babel::Babel;
use super::batman;
use super::error::TestbedError;
use super::names::{hardware, index, interface, link_local};
use super::network::{DesiredDirection, NodeNamespace, TestbedNetwork, VethState};
use crate::kernel::veth_qdiscs::VethQdiscs;
use crate::netlink::route::{
    VethEnd, add_address, add_neighbour, create_veth_pair, set_controller, set_up,
};

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
            let (Some(near), Some(far)) = (self.seats.get(&a), self.seats.get(&b)) else {
                continue;
            };
            let wrapped = [near, far]
                .iter()
                .any(|end| end.protocol == Protocol::Batman);
            let end = |peer: &Seat, back| VethEnd {
                name: interface(peer),
                index: index(number),
                hardware: hardware(number, back),
                mtu_bytes: if wrapped {
                    batman::MTU_BYTES
                } else {
                    MTU_BYTES
                },
                alias: format!("groundwave {}", self.names.testbed),
            };
            let (one, other) = (end(&far.seat, false), end(&near.seat, true));
            let act = create_veth_pair(&one, &other, far.namespace.descriptor());
            let side = LinkDirection { from: a, to: b };
            actions
                .entry(a)
                .or_default()
                .push((side, Action::Route(act)));
        }
        self.execute(actions, failures)?;
        let mut actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        let mut guided: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let speaks_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        for (&(a, b), &number) in &fresh {
            if failures.contains_key(&LinkDirection { from: a, to: b }) {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let (Some(own), Some(peer)) = (self.seats.get(&from), self.seats.get(&to)) else {
                    continue;
                };
                let side = LinkDirection { from, to };
                let index = index(number);
                let mut setup = vec![set_up(index, None)];
                if speaks_ipv6 {
                    // Radios learn addresses from beacons; a lost neighbour solicitation must not
                    // disturb measurements of one link.
                    let far = hardware(number, from == a);
                    setup.push(add_neighbour(index, link_local(far), far));
                }
                match own.protocol {
                    Protocol::Batman => setup.push(set_controller(index, batman::INDEX)),
                    _ => setup.push(add_address(
                        index,
                        self.names.address(own.seat.number).into(),
                        32,
                    )),
                }
                let of_node = actions.entry(from).or_default();
                of_node.extend(setup.into_iter().map(|setup| (side, Action::Route(setup))));
                let qdiscs = Some(VethQdiscs::default());
                self.wires.insert(side, VethState { number, qdiscs });
                guided.entry(from).or_default().push(interface(&peer.seat));
            }
        }
        self.execute(actions, failures)?;
        for (node, interfaces) in guided {
            self.start_routing(node, &interfaces)?;
        }
        Ok(())
    }

    /// Adds new interfaces to the routing daemon of a node, or starts it on all interfaces.
    pub(super) fn start_routing(&self, node: NodeId, fresh: &[String]) -> Result<(), TestbedError> {
        let Some(node_namespace) = self.seats.get(&node) else {
            return Ok(());
        };
        if node_namespace.protocol != Protocol::Babel {
            return Ok(());
        }
        let babel = self.babel(node_namespace);
        let all = || self.wires.keys().filter(|side| side.from == node);
        let all = || all().filter_map(|side| Some(interface(&self.seats.get(&side.to)?.seat)));
        let interfaces: Vec<String> = if babel.runs() {
            fresh.to_vec()
        } else {
            all().collect()
        };
        if interfaces.is_empty() {
            return Ok(());
        }
        babel.serve(self.names.address(node_namespace.seat.number), &interfaces)
    }

    pub(super) fn babel(&self, node_namespace: &NodeNamespace) -> Babel {
        let netns = self.names.path(&node_namespace.seat.name);
        Babel::of(&self.folder, &netns, &node_namespace.seat.name)
    }
}
