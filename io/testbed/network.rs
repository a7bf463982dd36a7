//! State of a testbed in the kernel, and its changes.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use groundwave_kernel::{Handle, Request, Verb};
use groundwave_netlink::ReadySockets;
use groundwave_netlink::route::{HostRoute, RouteRequest, add_address, set_up};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    LinkDirection, NamespaceAssignment, Observation, Protocol, Reading, Settings, Shape, Side,
    TestbedView, Wiring,
};

use super::actions::{Action, send_all};
use super::babel::RoutingProcess;
use super::bridge_segment::Segment;
use super::dump::LinkState;
use super::error::TestbedError;
use super::names::{Names, RADIO_INDEX, index};
use super::namespace::Namespace;
use super::node_view::hosts_file;
use super::state::State;
use super::{batman, dump};
use crate::link_counters::LinkCounters;
use crate::veth_check::not_emulated;
use crate::veth_qdiscs::{Means, QdiscLayout, VethQdiscs, group_filter};

/// Index of the loopback interface.
const LOOPBACK: u32 = 1;

/// Key of the notifications of the segment; nodes are numbered from 1.
pub(super) const SEGMENT_KEY: u32 = 0;

/// Namespace of a node.
#[derive(Debug)]
pub(super) struct NodeNamespace {
    pub(super) assignment: NamespaceAssignment,
    pub(super) protocol: Protocol,
    pub(super) namespace: Namespace,
    pub(super) routes: BTreeMap<NodeId, HostRoute>,
    /// Neighbour by destination, as last requested.
    pub(super) next_hops: BTreeMap<NodeId, NodeId>,
}

/// A node whose namespace could not be created.
#[derive(Debug)]
pub(super) struct AbsentNode {
    pub(super) assignment: NamespaceAssignment,
    pub(super) protocol: Protocol,
    /// The failure, in words.
    pub(super) cause: String,
    /// Neighbour by destination, for when it is there.
    pub(super) next_hops: BTreeMap<NodeId, NodeId>,
}

/// State of a veth end.
#[derive(Debug, Clone, Copy)]
pub(super) struct VethState {
    pub(super) number: u32,
    /// Queueing disciplines; `None` when they must be read.
    pub(super) qdiscs: Option<VethQdiscs>,
}

/// State of a testbed in the kernel.
#[derive(Debug)]
pub struct TestbedNetwork {
    pub(super) names: Names,
    pub(super) folder: PathBuf,
    pub(super) means: Option<Means>,
    pub(super) assignments: BTreeMap<NodeId, NodeNamespace>,
    /// Nodes whose namespace could not be created.
    pub(super) absent: BTreeMap<NodeId, AbsentNode>,
    /// Nodes whose routing daemon was seen running.
    pub(super) routing: BTreeSet<NodeId>,
    /// Routing daemons that this controller has started.
    pub(super) daemons: BTreeMap<NodeId, RoutingProcess>,
    /// Interfaces that the routing daemon of a node did not take yet.
    pub(super) unserved: BTreeMap<NodeId, BTreeSet<String>>,
    /// Times that the routing daemon of a node was started again.
    pub(super) restarts: BTreeMap<NodeId, u32>,
    pub(super) wires: BTreeMap<LinkDirection, VethState>,
    /// Last desired state of each direction.
    pub(super) goals: BTreeMap<LinkDirection, (u32, Side)>,
    /// Changes of other programs to the interface of a direction, which are left, in words.
    pub(super) link_faults: BTreeMap<LinkDirection, String>,
    /// Nodes whose routes may lack some that another program deleted.
    pub(super) route_suspects: BTreeSet<NodeId>,
    pub(super) counters: BTreeMap<LinkDirection, LinkCounters>,
    pub(super) wiring: Wiring,
    /// Encapsulation by a mesh protocol on a segment.
    pub(super) wrapped: bool,
    pub(super) segment: Option<Segment>,
    /// Notifications of the namespaces: by number of the node, [`SEGMENT_KEY`] for the segment.
    pub(super) notifications: ReadySockets,
}

/// Link direction, link number, desired state.
pub type DesiredDirection = (LinkDirection, u32, Side);

impl TestbedNetwork {
    /// An empty network; routing daemons keep their files in `folder`.
    ///
    /// # Errors
    /// When the system gives no descriptor.
    pub fn new(names: Names, folder: &Path) -> io::Result<Self> {
        Ok(Self {
            names,
            folder: folder.to_owned(),
            means: None,
            assignments: BTreeMap::new(),
            absent: BTreeMap::new(),
            routing: BTreeSet::new(),
            daemons: BTreeMap::new(),
            unserved: BTreeMap::new(),
            restarts: BTreeMap::new(),
            wires: BTreeMap::new(),
            goals: BTreeMap::new(),
            link_faults: BTreeMap::new(),
            route_suspects: BTreeSet::new(),
            counters: BTreeMap::new(),
            wiring: Wiring::Link,
            wrapped: false,
            segment: None,
            notifications: ReadySockets::new()?,
        })
    }

    /// Applies the settings, before the first node.
    pub fn set_up(&mut self, settings: &Settings) {
        self.wiring = settings.wiring;
        let all = settings.routing_of.values().chain([&settings.routing]);
        self.wrapped = all.into_iter().any(|one| *one == Protocol::Batman);
    }

    /// Capability of the kernel, known after the first node.
    #[must_use]
    pub fn means(&self) -> Option<Means> {
        self.means
    }

    /// Creates the namespace of a node, or adopts an existing one.
    ///
    /// # Errors
    /// When the kernel refuses; then the node has none.
    pub fn assignment(
        &mut self,
        node: NodeId,
        assignment: &NamespaceAssignment,
        protocol: Protocol,
    ) -> Result<(), TestbedError> {
        // It was removed and added again before its removal was seen.
        let earlier = self.assignments.get(&node).map(|own| own.assignment.clone());
        if let Some(earlier) = earlier.filter(|earlier| earlier != assignment) {
            self.release(node, &earlier)?;
        }
        let path = self.names.path(&assignment.name);
        let mut namespace = Namespace::open_or_create(&path)?;
        if self.means.is_none() {
            self.means = Some(means(&mut namespace)?);
        }
        // Also of an existing namespace: its controller may have been killed before this.
        let own = self.names.address(assignment.number);
        let mut actions = vec![set_up(LOOPBACK, None)];
        let links =
            dump::links(&mut namespace.batch).map_err(TestbedError::kernel("read interfaces"))?;
        match protocol {
            Protocol::Batman if links.contains_key(&batman::INDEX) => {}
            Protocol::Batman => actions.extend(batman::setup(own)),
            _ => actions.push(add_address(LOOPBACK, own.into(), 32)),
        }
        send_all(&mut namespace, &actions, &assignment.name)?;
        if protocol == Protocol::Batman {
            batman::tune(&path)?;
        }
        match self.wiring {
            Wiring::Segment => self.attach_to_segment(assignment, protocol, &mut namespace)?,
            Wiring::Link => {}
        }
        if protocol == Protocol::Static {
            namespace.watch_routes()?;
        }
        namespace.watch_with(&mut self.notifications, assignment.number)?;
        let assignment = assignment.clone();
        let node_namespace = NodeNamespace {
            assignment,
            protocol,
            namespace,
            routes: BTreeMap::new(),
            next_hops: BTreeMap::new(),
        };
        self.assignments.insert(node, node_namespace);
        Ok(())
    }

    /// Writes the hosts file of programs that run in nodes: once the nodes of a change are there, because it lists
    /// all of them.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_hosts(&self) -> Result<(), TestbedError> {
        let mut nodes: Vec<&NamespaceAssignment> =
            self.assignments.values().map(|own| &own.assignment).collect();
        nodes.sort_by_key(|assignment| assignment.number);
        let lines = nodes.iter().map(|own| (self.names.address(own.number), own.name.as_str()));
        let hosts = State::of(&self.names.testbed)?.hosts();
        let written = fs::create_dir_all(hosts.parent().unwrap_or(&hosts))
            .and_then(|()| fs::write(&hosts, hosts_file(lines)));
        written.map_err(TestbedError::file("write", &hosts))
    }

    /// Adopts the existing part of `view` and creates the rest. Equal disciplines are left alone.
    ///
    /// # Errors
    /// When the kernel's state cannot be read or changed.
    pub fn adopt(&mut self, view: &TestbedView) -> Result<Vec<Observation>, TestbedError> {
        for assignment in &view.assignments {
            let place =
                NamespaceAssignment { number: assignment.number, name: assignment.name.clone() };
            self.assignment(assignment.node, &place, assignment.protocol)?;
            let program = assignment.program.as_ref();
            let restarts = program.map(|dated| (assignment.node, dated.program.restarts_total));
            self.restarts.extend(restarts);
        }
        self.remove_strays(view)?;
        self.write_hosts()?;
        self.forget_segment_state(
            view.sides().map(|(_, side)| LinkDirection { from: side.from, to: side.to }),
        );
        let mut there: BTreeMap<NodeId, BTreeMap<u32, LinkState>> = BTreeMap::new();
        for (node, node_namespace) in &mut self.assignments {
            let links = dump::links(&mut node_namespace.namespace.batch);
            there.insert(*node, links.map_err(TestbedError::kernel("read interfaces"))?);
        }
        let mut desired = Vec::new();
        for (wire, side) in view.sides() {
            let key = LinkDirection { from: side.from, to: side.to };
            let number = wire.number;
            if there.get(&side.from).is_some_and(|links| links.contains_key(&index(number))) {
                self.wires.insert(key, VethState { number, qdiscs: None });
            }
            let (generation, shape) = (side.generation, side.shape);
            desired.push((key, number, Side { generation, shape }));
        }
        self.complete_links()?;
        let sightings = self.shape(&desired)?;
        for assignment in &view.assignments {
            if let Err(err) = self.route(assignment.node, &assignment.next_hops) {
                let cause = err.source().map(ToString::to_string);
                tracing::warn!(node = assignment.name, %err, cause, "routes are not in force");
            }
            self.start_routing(assignment.node, &[])?;
        }
        Ok(sightings)
    }

    /// Applies desired states and reads them back; missing veth pairs are created.
    ///
    /// # Errors
    /// When the kernel's state cannot be changed or read. Refusals are part of the result.
    pub fn shape(
        &mut self,
        desired: &[DesiredDirection],
    ) -> Result<Vec<Observation>, TestbedError> {
        let goals = desired.iter();
        self.goals.extend(goals.map(|(side, number, state)| (*side, (*number, *state))));
        if self.wiring == Wiring::Segment {
            return self.shape_segment(desired);
        }
        let mut failures: BTreeMap<LinkDirection, String> = BTreeMap::new();
        self.create_links(desired, &mut failures)?;
        let means = self.means.unwrap_or(Means::Rate);
        let mut actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        self.query_qdiscs(desired)?;
        let mut touched = BTreeSet::new();
        for (side, _, state) in desired {
            let Some(veth) = self.wires.get_mut(side) else {
                continue;
            };
            let before = veth.qdiscs.unwrap_or_default();
            let goal = VethQdiscs::of(&state.shape, means);
            let index = index(veth.number);
            let steps = before.steps(&goal, &QdiscLayout::VETH, index, state.shape.burst_bytes());
            veth.qdiscs = Some(goal);
            if steps.is_empty() {
                continue;
            }
            touched.insert(*side);
            let of_node = actions.entry(side.from).or_default();
            of_node.extend(steps.into_iter().map(|step| (*side, Action::Qdisc(step))));
            if goal.bands && !before.bands {
                of_node.push((*side, Action::Route(group_filter(index))));
            }
        }
        self.execute(actions, &mut failures)?;
        let readings = self.read_back(&touched, &mut failures)?;
        for side in failures.keys() {
            if let Some(veth) = self.wires.get_mut(side) {
                veth.qdiscs = None;
            }
        }
        self.add_link_faults(desired, &mut failures);
        Ok(observations(desired, means, &mut failures, readings))
    }

    /// Adds the faults of the interfaces of directions, and absent ends, to failures.
    pub(super) fn add_link_faults(
        &self,
        desired: &[DesiredDirection],
        failures: &mut BTreeMap<LinkDirection, String>,
    ) {
        for (side, ..) in desired {
            let fault = self.link_faults.get(side).cloned().or_else(|| self.absence(*side));
            if let Some(fault) = fault {
                failures.entry(*side).or_insert(fault);
            }
        }
    }

    /// Reads unknown queueing disciplines of existing veth ends.
    fn query_qdiscs(&mut self, desired: &[DesiredDirection]) -> Result<(), TestbedError> {
        let unknown = |(side, ..): &&DesiredDirection| {
            self.wires.get(side).is_some_and(|veth| veth.qdiscs.is_none())
        };
        let sides: Vec<LinkDirection> =
            desired.iter().filter(unknown).map(|(side, ..)| *side).collect();
        let nodes: BTreeSet<NodeId> = sides.iter().map(|side| side.from).collect();
        for node in nodes {
            let Some(node_namespace) = self.assignments.get_mut(&node) else {
                continue;
            };
            let found = dump::qdiscs(&mut node_namespace.namespace.batch)
                .map_err(TestbedError::kernel("read queueing disciplines"))?;
            for side in sides.iter().filter(|side| side.from == node) {
                let veth = self.wires.get_mut(side).expect("just seen");
                let there = found.get(&index(veth.number)).map(Vec::as_slice).unwrap_or_default();
                let qdiscs = VethQdiscs::read(there, &QdiscLayout::VETH);
                veth.qdiscs =
                    Some(qdiscs.map_err(TestbedError::kernel("read queueing disciplines"))?);
            }
        }
        Ok(())
    }

    /// Sends one batch for each namespace; keeps the first refusal of each direction.
    pub(super) fn execute(
        &mut self,
        actions: BTreeMap<NodeId, Vec<(LinkDirection, Action)>>,
        failures: &mut BTreeMap<LinkDirection, String>,
    ) -> Result<(), TestbedError> {
        for (node, actions) in actions {
            let Some(node_namespace) = self.assignments.get_mut(&node) else {
                continue;
            };
            let (sides, actions): (Vec<LinkDirection>, Vec<Action>) = actions.into_iter().unzip();
            let refused = node_namespace.namespace.batch.execute(&actions);
            for (place, refusal) in refused.map_err(TestbedError::kernel("send a batch"))? {
                failures.entry(sides[place]).or_insert_with(|| refusal.to_string());
            }
        }
        Ok(())
    }

    /// Sets the last desired routes of a node again, also those whose links or destinations were missing.
    ///
    /// # Errors
    /// As [`Self::route`].
    pub(super) fn route_again(&mut self, node: NodeId) -> Result<(), TestbedError> {
        let own = self.assignments.get(&node);
        let next_hops = own.map(|own| own.next_hops.clone()).unwrap_or_default();
        self.route(node, &next_hops)
    }

    /// Sets the routes of a node, and removes its other routes.
    ///
    /// # Errors
    /// When the kernel refuses a route or the socket fails.
    pub fn route(
        &mut self,
        node: NodeId,
        next_hops: &BTreeMap<NodeId, NodeId>,
    ) -> Result<(), TestbedError> {
        let number = |id: &NodeId| {
            self.assignments.get(id).map(|node_namespace| node_namespace.assignment.number)
        };
        let host = |id: &NodeId| number(id).map(|number| self.names.address(number));
        let Some(own) = host(&node) else {
            if let Some(absent) = self.absent.get_mut(&node) {
                absent.next_hops.clone_from(next_hops);
            }
            return Ok(());
        };
        let mut goal = BTreeMap::new();
        for (destination, via) in next_hops {
            let side = LinkDirection { from: node, to: *via };
            if let (Some(to), Some(via), Some(index)) =
                (host(destination), host(via), self.leads(side))
            {
                goal.insert(*destination, HostRoute { to, via, index, from: own });
            }
        }
        let node_namespace = self.assignments.get_mut(&node).expect("just seen");
        node_namespace.next_hops.clone_from(next_hops);
        if node_namespace.protocol != Protocol::Static {
            return Ok(());
        }
        let gone = node_namespace.routes.iter().filter(|(to, _)| !goal.contains_key(to));
        let mut actions: Vec<RouteRequest> = gone.map(|(_, route)| route.remove()).collect();
        let fresh = goal.iter().filter(|(to, route)| node_namespace.routes.get(to) != Some(route));
        actions.extend(fresh.map(|(_, route)| route.add()));
        node_namespace.routes = goal;
        let name = node_namespace.assignment.name.clone();
        send_all(&mut node_namespace.namespace, &actions, &name)
    }
}

impl TestbedNetwork {
    /// Index of the output interface of a direction, if it exists.
    fn leads(&self, side: LinkDirection) -> Option<u32> {
        match (&self.segment, self.wires.get(&side)) {
            (Some(segment), _) => segment.holds(side).then_some(RADIO_INDEX),
            (None, veth) => veth.map(|veth| index(veth.number)),
        }
    }
}

/// Outcome of each desired state: its failure, or the part that the kernel does not emulate, and its values as
/// read.
pub(super) fn observations(
    desired: &[DesiredDirection],
    means: Means,
    failures: &mut BTreeMap<LinkDirection, String>,
    mut readings: BTreeMap<LinkDirection, Reading>,
) -> Vec<Observation> {
    let outcome = |(side, _, state): &DesiredDirection| Observation {
        side: *side,
        generation: state.generation,
        failure: failures.remove(side).or_else(|| not_emulated(&state.shape, means)),
        repaired: None,
        reading: readings.remove(side),
    };
    desired.iter().map(outcome).collect()
}

/// Capability of the kernel, tested on the loopback interface of a new namespace.
fn means(namespace: &mut Namespace) -> Result<Means, TestbedError> {
    let full = VethQdiscs::of(&Shape::DOWN, Means::Full);
    let burst = Shape::DOWN.burst_bytes();
    let steps = VethQdiscs::default().steps(&full, &QdiscLayout::VETH, LOOPBACK, burst);
    let mut actions: Vec<Action> = steps.into_iter().map(Action::Qdisc).collect();
    actions.push(Action::Route(group_filter(LOOPBACK)));
    let refused = namespace
        .batch
        .execute(&actions)
        .map_err(TestbedError::kernel("test the queueing disciplines"))?;
    let undo = Request {
        verb: Verb::Delete,
        index: LOOPBACK,
        handle: Handle::new(1, 0),
        parent: Handle::ROOT,
        kind: "prio",
        options: None,
    };
    // Without a created discipline there is nothing to delete.
    let _ = namespace.batch.execute(&[undo]);
    if let Some((_, refusal)) = refused.first() {
        tracing::warn!(%refusal, "links have a rate limit only, without loss and delay");
    }
    Ok(if refused.is_empty() { Means::Full } else { Means::Rate })
}
