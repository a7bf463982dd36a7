//! A segment shared by all nodes, each with one interface, like one antenna for each radio.
//!
//! The segment is a bridge in a namespace of its own. Every frame reaches the ports of all other
//! nodes; the queueing disciplines of a port apply the link from each sender
//! ([`crate::bridge_port_qdiscs`]) and drop frames of nodes without a link. A broadcast
//! frame is therefore lost for each receiver independently, as on a radio channel.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groundwave_kernel::Qdisc;
use groundwave_netlink::route::{
    VethEnd, add_address, add_forwarding_entry, create_veth_pair, set_controller, set_up,
};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{LinkDirection, NamespaceAssignment, Observation, Protocol};

use super::actions::{Action, send_all};
use super::bridge_segment::{BRIDGE, Segment};
use super::error::TestbedError;
use super::link_reading::reading;
use super::names::{RADIO, RADIO_INDEX, SEGMENT, index, interface, radio_hardware};
use super::namespace::Namespace;
use super::network::{DesiredDirection, SEGMENT_KEY, TestbedNetwork, observations};
use super::observe::LinkStates;
use super::{batman, dump};
use crate::bridge_port_qdiscs;
use crate::bridge_port_qdiscs::{SENDERS_MAX, SENDERS_WITHOUT_NETEM_MAX};
use crate::veth_qdiscs::{Means, QdiscLayout, VethQdiscs};

/// MTU of a segment without a mesh protocol, bytes.
const MTU_BYTES: u32 = 1500;

/// IPv6 support of the kernel.
pub(super) fn speaks_ipv6() -> bool {
    Path::new("/proc/sys/net/ipv6").exists()
}

impl TestbedNetwork {
    /// The segment; created or opened at the first use.
    pub(super) fn segment(&mut self) -> Result<&mut Segment, TestbedError> {
        let segment = match self.segment.take() {
            Some(segment) => segment,
            None => {
                let segment = Segment::open(&self.names.path(SEGMENT))?;
                let namespace = &segment.namespace;
                namespace.watch_with(&mut self.notifications, SEGMENT_KEY)?;
                segment
            }
        };
        Ok(self.segment.insert(segment))
    }

    /// Attaches a node to the segment; its port drops everything at first.
    pub(super) fn attach_to_segment(
        &mut self,
        assignment: &NamespaceAssignment,
        protocol: Protocol,
        namespace: &mut Namespace,
    ) -> Result<(), TestbedError> {
        let most = match self.means.unwrap_or(Means::Rate) {
            Means::Full => SENDERS_MAX,
            Means::Rate => SENDERS_WITHOUT_NETEM_MAX,
        };
        if assignment.number > most {
            return Err(TestbedError::Crowded { node: assignment.name.clone(), most });
        }
        let own = self.names.address(assignment.number);
        let alias = format!("groundwave {}", self.names.testbed);
        let port = index(assignment.number);
        let mtu_bytes = self.radio_mtu_bytes();
        let hardware = radio_hardware(assignment.number);
        let segment = self.segment()?;
        if segment.links.insert(port) {
            let far =
                VethEnd { name: RADIO.to_owned(), index: RADIO_INDEX, hardware, mtu_bytes, alias };
            // The bridge would adopt the address of a port.
            let [_, tail @ ..] = hardware;
            let [a, b, c, d, e] = tail;
            let near = VethEnd {
                name: interface(assignment),
                index: port,
                hardware: [0x06, a, b, c, d, e],
                ..far.clone()
            };
            let actions = [
                Action::Route(create_veth_pair(&near, &far, namespace.descriptor())),
                Action::Qdisc(bridge_port_qdiscs::empty_root(port)),
                Action::Route(bridge_port_qdiscs::unheard_class(port)),
                Action::Qdisc(bridge_port_qdiscs::unheard_queue(port)),
                Action::Route(set_controller(port, BRIDGE)),
                Action::Route(add_forwarding_entry(port, hardware)),
                Action::Route(set_up(port, None)),
            ];
            send_all(&mut segment.namespace, &actions, &assignment.name)?;
        }
        let mut actions = vec![Action::Route(set_up(RADIO_INDEX, None))];
        actions.push(Action::Route(match protocol {
            Protocol::Batman => set_controller(RADIO_INDEX, batman::INDEX),
            // Without routes only neighbours are reachable.
            Protocol::None => add_address(RADIO_INDEX, own.into(), 16),
            Protocol::Static | Protocol::Babel => add_address(RADIO_INDEX, own.into(), 32),
        }));
        send_all(namespace, &actions, &assignment.name)
    }

    /// MTU of the radios, bytes.
    pub(super) fn radio_mtu_bytes(&self) -> u32 {
        if self.wrapped { batman::MTU_BYTES } else { MTU_BYTES }
    }

    /// Applies desired states on the segment.
    pub(super) fn shape_segment(
        &mut self,
        desired: &[DesiredDirection],
    ) -> Result<Vec<Observation>, TestbedError> {
        let mut failures: BTreeMap<LinkDirection, String> = BTreeMap::new();
        let means = self.means.unwrap_or(Means::Rate);
        let found = self.query_segment(desired)?;
        let mut actions: Vec<(LinkDirection, Action)> = Vec::new();
        let mut touched = BTreeSet::new();
        let mut known: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        for (side, _, state) in desired {
            let Some([from, to]) = self.numbers(*side) else {
                continue;
            };
            let segment = self.segment()?;
            let (port, place) = (index(to), QdiscLayout::of_sender(from));
            let there = segment.sides.get(side).copied().flatten();
            let fresh = there.is_none();
            let before = there.or(found.get(side).copied()).unwrap_or_default();
            let goal = VethQdiscs::of(&state.shape, means);
            segment.sides.insert(*side, Some(goal));
            if fresh {
                let made = bridge_port_qdiscs::classes(port, from, means).into_iter();
                actions.extend(made.map(|request| (*side, Action::Route(request))));
            }
            let steps = before.steps(&goal, &place, port, state.shape.burst_bytes());
            if fresh || !steps.is_empty() {
                touched.insert(*side);
            }
            actions.extend(steps.into_iter().map(|step| (*side, Action::Qdisc(step))));
            if fresh {
                // Last: a filter must lead to a complete class.
                let hardware = radio_hardware(from);
                let made = bridge_port_qdiscs::filters(port, from, hardware, means).into_iter();
                actions.extend(made.map(|request| (*side, Action::Route(request))));
                let of_node = known.entry(side.from).or_default();
                of_node.extend(self.radio_setup(*side).map(|setup| (*side, setup)));
            }
        }
        self.send_segment(actions, &mut failures)?;
        self.execute(known, &mut failures)?;
        let readings = self.read_back(&touched, &mut failures)?;
        let nodes: BTreeSet<NodeId> = desired.iter().map(|(side, ..)| side.from).collect();
        for node in nodes {
            self.start_routing(node, &[])?;
        }
        self.add_link_faults(desired, &mut failures);
        Ok(observations(desired, means, &mut failures, readings))
    }

    /// Numbers of both nodes of a direction.
    pub(super) fn numbers(&self, side: LinkDirection) -> Option<[u32; 2]> {
        let number = |node| Some(self.assignments.get(&node)?.assignment.number);
        Some([number(side.from)?, number(side.to)?])
    }

    /// Sends one batch for all ports; keeps the first refusal of each direction, whose disciplines
    /// are read next time.
    fn send_segment(
        &mut self,
        actions: Vec<(LinkDirection, Action)>,
        failures: &mut BTreeMap<LinkDirection, String>,
    ) -> Result<(), TestbedError> {
        let (sides, actions): (Vec<LinkDirection>, Vec<Action>) = actions.into_iter().unzip();
        let segment = self.segment()?;
        let refused = segment.namespace.batch.execute(&actions);
        for (place, refusal) in refused.map_err(TestbedError::kernel("send a batch"))? {
            let side = sides[place];
            segment.sides.insert(side, None);
            let why = || refusal.to_string();
            failures.entry(side).or_insert_with(why);
        }
        Ok(())
    }

    /// Disciplines of directions with classes but unknown state.
    fn query_segment(
        &mut self,
        desired: &[DesiredDirection],
    ) -> Result<BTreeMap<LinkDirection, VethQdiscs>, TestbedError> {
        let mut qdiscs = BTreeMap::new();
        let unknown = |side: &LinkDirection| {
            let segment = self.segment.as_ref()?;
            segment.sides.get(side)?.is_none().then_some(*side)
        };
        let sides: Vec<LinkDirection> =
            desired.iter().filter_map(|(side, ..)| unknown(side)).collect();
        if sides.is_empty() {
            return Ok(qdiscs);
        }
        let found = self.segment_qdiscs()?;
        for side in sides {
            let Some([from, to]) = self.numbers(side) else {
                continue;
            };
            let there = found.get(&index(to)).map(Vec::as_slice).unwrap_or_default();
            let read = VethQdiscs::read(there, &QdiscLayout::of_sender(from));
            qdiscs.insert(side, read.map_err(TestbedError::kernel("read queueing disciplines"))?);
        }
        Ok(qdiscs)
    }

    /// Marks the state of directions as unknown.
    pub(super) fn forget_segment_state(&mut self, sides: impl Iterator<Item = LinkDirection>) {
        if let Some(segment) = &mut self.segment {
            segment.sides.extend(sides.map(|side| (side, None)));
        }
    }

    /// Counters and values of all directions on the segment.
    pub(super) fn count_segment(&mut self) -> Result<LinkStates, TestbedError> {
        let found = self.segment_qdiscs()?;
        let Some(segment) = &self.segment else {
            return Ok(LinkStates::default());
        };
        let sides: Vec<LinkDirection> = segment.sides.keys().copied().collect();
        let mut all = LinkStates::default();
        for side in sides {
            let Some([from, to]) = self.numbers(side) else {
                continue;
            };
            let layout = QdiscLayout::of_sender(from);
            let qdiscs = found.get(&index(to));
            if let Some(qdiscs) = qdiscs {
                let counters = self.counters.entry(side).or_default();
                all.counted.push(counters.add(side, qdiscs, &layout));
            }
            let qdiscs = qdiscs.map_or(&[][..], Vec::as_slice);
            all.readings.insert(side, reading(qdiscs, &layout));
        }
        Ok(all)
    }

    /// All disciplines of the segment, by the index of the port.
    pub(super) fn segment_qdiscs(&mut self) -> Result<BTreeMap<u32, Vec<Qdisc>>, TestbedError> {
        let segment = self.segment()?;
        let found = dump::qdiscs(&mut segment.namespace.batch);
        found.map_err(TestbedError::kernel("read queueing disciplines"))
    }
}
