//! What is there of a testbed, and how it is brought to what should be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{
    Protocol, Seat, Settings, Shape, Side, Sighting, TestbedView, WireSide, Wiring,
};

use super::error::TestbedError;
use super::names::{Names, RADIO_INDEX, index};
use super::namespace::Namespace;
use super::segment::Segment;
use super::{batman, dump};
use crate::kernel::batch::Message;
use crate::kernel::veth_qdiscs::{Means, QdiscLayout, VethQdiscs, group_filter};
use crate::kernel::{Handle, KernelError, Request, Verb};
use crate::netlink::route::{HostRoute, RouteRequest, add_address, set_up};
use crate::netlink::{NetlinkError, NetlinkRequest};

/// Number of the loopback interface.
const LOOPBACK: u32 = 1;

/// A request of a batch that sets up links or queueing disciplines, in order.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Route(RouteRequest),
    Qdisc(Request),
}

impl NetlinkRequest for Action {
    fn header(&self) -> (u16, u16) {
        match self {
            Self::Route(request) => request.header(),
            Self::Qdisc(request) => request.header(),
        }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        match self {
            Self::Route(request) => request.write_body(out),
            Self::Qdisc(request) => request.write_body(out),
        }
    }
}

impl Message for Action {
    fn refused(&self, refusal: NetlinkError) -> KernelError {
        match self {
            Self::Route(request) => request.refused(refusal),
            Self::Qdisc(request) => request.refused(refusal),
        }
    }
}

/// A node that is there.
#[derive(Debug)]
pub(super) struct NodeNamespace {
    pub(super) seat: Seat,
    pub(super) protocol: Protocol,
    pub(super) namespace: Namespace,
    pub(super) routes: BTreeMap<NodeId, HostRoute>,
}

/// An end of a wire that is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct VethState {
    pub(super) number: u32,
    /// What its disciplines are; `None` when that must be looked up.
    pub(super) qdiscs: Option<VethQdiscs>,
}

/// What is there of a testbed.
#[derive(Debug)]
pub struct TestbedNetwork {
    pub(super) names: Names,
    pub(super) folder: PathBuf,
    pub(super) means: Option<Means>,
    pub(super) seats: BTreeMap<NodeId, NodeNamespace>,
    pub(super) wires: BTreeMap<WireSide, VethState>,
    wiring: Wiring,
    /// Whether a mesh protocol wraps packets on a segment.
    pub(super) wrapped: bool,
    pub(super) segment: Option<Segment>,
}

/// A direction and what it should do.
pub type DesiredDirection = (WireSide, u32, Side);

impl TestbedNetwork {
    /// Nothing yet; files of its programs go to `folder`.
    #[must_use]
    pub fn new(names: Names, folder: &Path) -> Self {
        Self {
            names,
            folder: folder.to_owned(),
            means: None,
            seats: BTreeMap::new(),
            wires: BTreeMap::new(),
            wiring: Wiring::Link,
            wrapped: false,
            segment: None,
        }
    }

    /// Hears how the testbed is set up, before the first seat.
    pub fn set_up(&mut self, settings: &Settings) {
        self.wiring = settings.wiring;
        let all = settings.routing_of.values().chain([&settings.routing]);
        self.wrapped = all.into_iter().any(|one| *one == Protocol::Batman);
    }

    /// What the kernel can do for wires, once there is a node to try it in.
    #[must_use]
    pub fn means(&self) -> Option<Means> {
        self.means
    }

    /// Gives a node its seat, or takes the one that is there.
    ///
    /// # Errors
    /// When the kernel refuses; then the node has none.
    pub fn seat(
        &mut self,
        node: NodeId,
        seat: &Seat,
        protocol: Protocol,
    ) -> Result<(), TestbedError> {
        let path = self.names.path(&seat.name);
        // Somebody's file in the folder, or our own namespace from before.
        let there = path.exists();
        let mut namespace = if there {
            Namespace::open(&path)?
        } else {
            Namespace::create(&path)?
        };
        if self.means.is_none() {
            self.means = Some(means(&mut namespace)?);
        }
        if !there {
            let own = self.names.address(seat.number);
            let mut actions = vec![set_up(LOOPBACK, None)];
            match protocol {
                Protocol::Batman => actions.extend(batman::setup(own)),
                _ => actions.push(add_address(LOOPBACK, own.into(), 32)),
            }
            send_all(&mut namespace, &actions, &seat.name)?;
            if protocol == Protocol::Batman {
                batman::tune(&path)?;
            }
        }
        if self.wiring == Wiring::Segment {
            self.attach_to_segment(seat, protocol, &mut namespace)?;
        }
        let seat = seat.clone();
        let node_namespace = NodeNamespace {
            seat,
            protocol,
            namespace,
            routes: BTreeMap::new(),
        };
        self.seats.insert(node, node_namespace);
        Ok(())
    }

    /// Takes over what is there of what `view` desired, and makes what is not. Disciplines that
    /// agree are not touched.
    ///
    /// # Errors
    /// When the kernel cannot be talked to.
    pub fn adopt(&mut self, view: &TestbedView) -> Result<Vec<Sighting>, TestbedError> {
        for seat in &view.seats {
            let place = Seat {
                number: seat.number,
                name: seat.name.clone(),
            };
            self.seat(seat.node, &place, seat.protocol)?;
        }
        self.forget_segment_state(view.sides().map(|(_, side)| WireSide {
            from: side.from,
            to: side.to,
        }));
        let mut there: BTreeMap<NodeId, BTreeSet<u32>> = BTreeMap::new();
        for (node, node_namespace) in &mut self.seats {
            let links = dump::links(&mut node_namespace.namespace.batch);
            there.insert(
                *node,
                links.map_err(TestbedError::kernel("observe at interfaces"))?,
            );
        }
        let mut desired = Vec::new();
        for (wire, side) in view.sides() {
            let key = WireSide {
                from: side.from,
                to: side.to,
            };
            let number = wire.number;
            if there
                .get(&side.from)
                .is_some_and(|links| links.contains(&index(number)))
            {
                self.wires.insert(
                    key,
                    VethState {
                        number,
                        qdiscs: None,
                    },
                );
            }
            let (generation, shape) = (side.generation, side.shape);
            desired.push((key, number, Side { generation, shape }));
        }
        let sightings = self.shape(&desired)?;
        for seat in &view.seats {
            self.route(seat.node, &seat.next_hops)?;
            self.start_routing(seat.node, &[])?;
        }
        Ok(sightings)
    }

    /// Puts desired into force; wires that are not there are veth.
    ///
    /// # Errors
    /// When the kernel cannot be talked to. What it refuses is in the sightings.
    pub fn shape(&mut self, desired: &[DesiredDirection]) -> Result<Vec<Sighting>, TestbedError> {
        if self.wiring == Wiring::Segment {
            return self.shape_segment(desired);
        }
        let mut failures: BTreeMap<WireSide, String> = BTreeMap::new();
        self.create_links(desired, &mut failures)?;
        let means = self.means.unwrap_or(Means::Rate);
        let mut actions: BTreeMap<NodeId, Vec<(WireSide, Action)>> = BTreeMap::new();
        self.query_qdiscs(desired)?;
        for (side, _, wish) in desired {
            let Some(veth) = self.wires.get_mut(side) else {
                continue;
            };
            let before = veth.qdiscs.unwrap_or_default();
            let goal = VethQdiscs::of(&wish.shape, means);
            let index = index(veth.number);
            let steps = before.steps(&goal, &QdiscLayout::VETH, index, wish.shape.burst_bytes());
            veth.qdiscs = Some(goal);
            if steps.is_empty() {
                continue;
            }
            let of_node = actions.entry(side.from).or_default();
            of_node.extend(steps.into_iter().map(|step| (*side, Action::Qdisc(step))));
            if goal.bands && !before.bands {
                of_node.push((*side, Action::Route(group_filter(index))));
            }
        }
        self.execute(actions, &mut failures)?;
        for side in failures.keys() {
            if let Some(veth) = self.wires.get_mut(side) {
                veth.qdiscs = None;
            }
        }
        let sighted = desired.iter().map(|(side, _, wish)| Sighting {
            side: *side,
            generation: wish.generation,
            failure: failures.remove(side),
        });
        Ok(sighted.collect())
    }

    /// Looks at the disciplines of qdiscs that are there but not known.
    fn query_qdiscs(&mut self, desired: &[DesiredDirection]) -> Result<(), TestbedError> {
        let unknown = |(side, ..): &&DesiredDirection| {
            self.wires
                .get(side)
                .is_some_and(|veth| veth.qdiscs.is_none())
        };
        let sides: Vec<WireSide> = desired
            .iter()
            .filter(unknown)
            .map(|(side, ..)| *side)
            .collect();
        let nodes: BTreeSet<NodeId> = sides.iter().map(|side| side.from).collect();
        for node in nodes {
            let Some(node_namespace) = self.seats.get_mut(&node) else {
                continue;
            };
            let found = dump::qdiscs(&mut node_namespace.namespace.batch);
            let found = found.map_err(TestbedError::kernel("observe at disciplines"))?;
            for side in sides.iter().filter(|side| side.from == node) {
                let veth = self.wires.get_mut(side).expect("just seen");
                let there = found
                    .get(&index(veth.number))
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let qdiscs = VethQdiscs::read(there, &QdiscLayout::VETH);
                veth.qdiscs = Some(qdiscs.map_err(TestbedError::kernel("read disciplines"))?);
            }
        }
        Ok(())
    }

    /// One batch a namespace. The first refusal of each direction is noted.
    pub(super) fn execute(
        &mut self,
        actions: BTreeMap<NodeId, Vec<(WireSide, Action)>>,
        failures: &mut BTreeMap<WireSide, String>,
    ) -> Result<(), TestbedError> {
        for (node, actions) in actions {
            let Some(node_namespace) = self.seats.get_mut(&node) else {
                continue;
            };
            let (sides, actions): (Vec<WireSide>, Vec<Action>) = actions.into_iter().unzip();
            let refused = node_namespace.namespace.batch.execute(&actions);
            for (place, refusal) in refused.map_err(TestbedError::kernel("send a batch"))? {
                failures
                    .entry(sides[place])
                    .or_insert_with(|| refusal.to_string());
            }
        }
        Ok(())
    }

    /// Sets the routes of a node, and forgets those that are not among them.
    ///
    /// # Errors
    /// When the kernel cannot be talked to, or refuses a route.
    pub fn route(
        &mut self,
        node: NodeId,
        next_hops: &BTreeMap<NodeId, NodeId>,
    ) -> Result<(), TestbedError> {
        let number = |id: &NodeId| {
            self.seats
                .get(id)
                .map(|node_namespace| node_namespace.seat.number)
        };
        let host = |id: &NodeId| number(id).map(|number| self.names.address(number));
        let Some(own) = host(&node) else {
            return Ok(());
        };
        let mut goal = BTreeMap::new();
        for (destination, via) in next_hops {
            let side = WireSide {
                from: node,
                to: *via,
            };
            if let (Some(to), Some(via), Some(index)) =
                (host(destination), host(via), self.leads(side))
            {
                goal.insert(
                    *destination,
                    HostRoute {
                        to,
                        via,
                        index,
                        from: own,
                    },
                );
            }
        }
        let node_namespace = self.seats.get_mut(&node).expect("just seen");
        if node_namespace.protocol != Protocol::Static {
            return Ok(());
        }
        let gone = node_namespace
            .routes
            .iter()
            .filter(|(to, _)| !goal.contains_key(to));
        let mut actions: Vec<RouteRequest> = gone.map(|(_, route)| route.remove()).collect();
        let fresh = goal
            .iter()
            .filter(|(to, route)| node_namespace.routes.get(to) != Some(route));
        actions.extend(fresh.map(|(_, route)| route.add()));
        node_namespace.routes = goal;
        let name = node_namespace.seat.name.clone();
        send_all(&mut node_namespace.namespace, &actions, &name)
    }
}

impl TestbedNetwork {
    /// Number of the interface that a direction leaves through, where it is there.
    fn leads(&self, side: WireSide) -> Option<u32> {
        match (&self.segment, self.wires.get(&side)) {
            (Some(segment), _) => segment.holds(side).then_some(RADIO_INDEX),
            (None, veth) => veth.map(|veth| index(veth.number)),
        }
    }
}

/// Sends messages that must all succeed.
pub(super) fn send_all<M: Message>(
    namespace: &mut Namespace,
    actions: &[M],
    node: &str,
) -> Result<(), TestbedError> {
    if actions.is_empty() {
        return Ok(());
    }
    let what = format!("set up {node}");
    let refused = namespace
        .batch
        .execute(actions)
        .map_err(TestbedError::kernel(&*what))?;
    match refused.into_iter().next() {
        Some((_, refusal)) => Err(TestbedError::kernel(what)(refusal)),
        None => Ok(()),
    }
}

/// Finds out what the kernel can do, on the loopback interface of a fresh namespace.
fn means(namespace: &mut Namespace) -> Result<Means, TestbedError> {
    let full = VethQdiscs::of(&Shape::DOWN, Means::Full);
    let burst = Shape::DOWN.burst_bytes();
    let steps = VethQdiscs::default().steps(&full, &QdiscLayout::VETH, LOOPBACK, burst);
    let mut actions: Vec<Action> = steps.into_iter().map(Action::Qdisc).collect();
    actions.push(Action::Route(group_filter(LOOPBACK)));
    let refused = namespace
        .batch
        .execute(&actions)
        .map_err(TestbedError::kernel("try a wire"))?;
    let undo = Request {
        verb: Verb::Delete,
        index: LOOPBACK,
        handle: Handle::new(1, 0),
        parent: Handle::ROOT,
        kind: "prio",
        options: None,
    };
    // Where nothing could be made, there is nothing to take away.
    let _ = namespace.batch.execute(&[undo]);
    if let Some((_, refusal)) = refused.first() {
        tracing::warn!(%refusal, "wires shape the rate alone, without loss and delay");
    }
    Ok(if refused.is_empty() {
        Means::Full
    } else {
        Means::Rate
    })
}
