//! What is there of a testbed, and how it is brought to what should be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{
    Protocol, Seat, Settings, Shape, Side, Sighting, TestbedView, WireSide, Wiring,
};

use super::error::TestbedError;
use super::message::{Route, Setup, address, group, up};
use super::names::{Names, RADIO_INDEX, index};
use super::segment::Segment;
use super::space::Space;
use super::{batman, qdiscs};
use crate::kernel::batch::Message;
use crate::kernel::wire::{Ends, Means, Place};
use crate::kernel::{Handle, KernelError, Request, Verb};

/// Number of the loopback interface.
const LOOPBACK: u32 = 1;

/// A message of either sort, so that one batch carries both in order.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Setup(Setup),
    Shape(Request),
}

impl Message for Act {
    fn encode(&self, sequence: u32, acknowledged: bool, out: &mut Vec<u8>) {
        match self {
            Self::Setup(setup) => setup.encode(sequence, acknowledged, out),
            Self::Shape(request) => request.encode(sequence, acknowledged, out),
        }
    }

    fn refusal(&self, errno: i32, words: Option<String>) -> KernelError {
        match self {
            Self::Setup(setup) => setup.refusal(errno, words),
            Self::Shape(request) => request.refusal(errno, words),
        }
    }
}

/// A node that is there.
#[derive(Debug)]
pub(super) struct Seated {
    pub(super) seat: Seat,
    pub(super) protocol: Protocol,
    pub(super) space: Space,
    pub(super) routes: BTreeMap<NodeId, Route>,
}

/// An end of a wire that is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Laid {
    pub(super) number: u32,
    /// What its disciplines are; `None` when that must be looked up.
    pub(super) ends: Option<Ends>,
}

/// What is there of a testbed.
#[derive(Debug)]
pub struct Plant {
    pub(super) names: Names,
    pub(super) folder: PathBuf,
    pub(super) means: Option<Means>,
    pub(super) seats: BTreeMap<NodeId, Seated>,
    pub(super) wires: BTreeMap<WireSide, Laid>,
    wiring: Wiring,
    /// Whether a mesh protocol wraps packets on a segment.
    pub(super) wrapped: bool,
    pub(super) segment: Option<Segment>,
}

/// A direction and what it should do.
pub type Wish = (WireSide, u32, Side);

impl Plant {
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
        let mut space = if there {
            Space::open(&path)?
        } else {
            Space::make(&path)?
        };
        if self.means.is_none() {
            self.means = Some(means(&mut space)?);
        }
        if !there {
            let own = self.names.address(seat.number);
            let mut acts = vec![up(LOOPBACK)];
            match protocol {
                Protocol::Batman => acts.extend(batman::setup(own)),
                _ => acts.push(address(LOOPBACK, own, 32)),
            }
            strictly(&mut space, &acts, &seat.name)?;
            if protocol == Protocol::Batman {
                batman::tune(&path)?;
            }
        }
        if self.wiring == Wiring::Segment {
            self.join(seat, protocol, &mut space)?;
        }
        let seat = seat.clone();
        let seated = Seated {
            seat,
            protocol,
            space,
            routes: BTreeMap::new(),
        };
        self.seats.insert(node, seated);
        Ok(())
    }

    /// Takes over what is there of what `view` wishes, and makes what is not. Disciplines that
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
        self.doubt_air(view.sides().map(|(_, side)| WireSide {
            from: side.from,
            to: side.to,
        }));
        let mut there: BTreeMap<NodeId, BTreeSet<u32>> = BTreeMap::new();
        for (node, seated) in &mut self.seats {
            let links = qdiscs::links(&mut seated.space.batch);
            there.insert(
                *node,
                links.map_err(TestbedError::kernel("look at interfaces"))?,
            );
        }
        let mut wishes = Vec::new();
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
                self.wires.insert(key, Laid { number, ends: None });
            }
            let (generation, shape) = (side.generation, side.shape);
            wishes.push((key, number, Side { generation, shape }));
        }
        let sightings = self.shape(&wishes)?;
        for seat in &view.seats {
            self.route(seat.node, &seat.next_hops)?;
            self.guide(seat.node, &[])?;
        }
        Ok(sightings)
    }

    /// Puts wishes into force; wires that are not there are laid.
    ///
    /// # Errors
    /// When the kernel cannot be talked to. What it refuses is in the sightings.
    pub fn shape(&mut self, wishes: &[Wish]) -> Result<Vec<Sighting>, TestbedError> {
        if self.wiring == Wiring::Segment {
            return self.shape_air(wishes);
        }
        let mut failures: BTreeMap<WireSide, String> = BTreeMap::new();
        self.lay(wishes, &mut failures)?;
        let means = self.means.unwrap_or(Means::Rate);
        let mut acts: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        self.look_up(wishes)?;
        for (side, _, wish) in wishes {
            let Some(laid) = self.wires.get_mut(side) else {
                continue;
            };
            let before = laid.ends.unwrap_or_default();
            let goal = Ends::of(&wish.shape, means);
            let index = index(laid.number);
            let steps = before.steps(&goal, &Place::WIRE, index, wish.shape.burst_bytes());
            laid.ends = Some(goal);
            if steps.is_empty() {
                continue;
            }
            let of_node = acts.entry(side.from).or_default();
            of_node.extend(steps.into_iter().map(|step| (*side, Act::Shape(step))));
            if goal.bands && !before.bands {
                of_node.push((*side, Act::Setup(group(index))));
            }
        }
        self.carry_out(acts, &mut failures)?;
        for side in failures.keys() {
            if let Some(laid) = self.wires.get_mut(side) {
                laid.ends = None;
            }
        }
        let sighted = wishes.iter().map(|(side, _, wish)| Sighting {
            side: *side,
            generation: wish.generation,
            failure: failures.remove(side),
        });
        Ok(sighted.collect())
    }

    /// Looks at the disciplines of ends that are there but not known.
    fn look_up(&mut self, wishes: &[Wish]) -> Result<(), TestbedError> {
        let unknown =
            |(side, ..): &&Wish| self.wires.get(side).is_some_and(|laid| laid.ends.is_none());
        let sides: Vec<WireSide> = wishes
            .iter()
            .filter(unknown)
            .map(|(side, ..)| *side)
            .collect();
        let nodes: BTreeSet<NodeId> = sides.iter().map(|side| side.from).collect();
        for node in nodes {
            let Some(seated) = self.seats.get_mut(&node) else {
                continue;
            };
            let found = qdiscs::all(&mut seated.space.batch);
            let found = found.map_err(TestbedError::kernel("look at disciplines"))?;
            for side in sides.iter().filter(|side| side.from == node) {
                let laid = self.wires.get_mut(side).expect("just seen");
                let there = found
                    .get(&index(laid.number))
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let ends = Ends::read(there, &Place::WIRE);
                laid.ends = Some(ends.map_err(TestbedError::kernel("read disciplines"))?);
            }
        }
        Ok(())
    }

    /// One batch a namespace. The first refusal of each direction is noted.
    pub(super) fn carry_out(
        &mut self,
        acts: BTreeMap<NodeId, Vec<(WireSide, Act)>>,
        failures: &mut BTreeMap<WireSide, String>,
    ) -> Result<(), TestbedError> {
        for (node, acts) in acts {
            let Some(seated) = self.seats.get_mut(&node) else {
                continue;
            };
            let (sides, acts): (Vec<WireSide>, Vec<Act>) = acts.into_iter().unzip();
            let refused = seated.space.batch.send(&acts);
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
        let number = |id: &NodeId| self.seats.get(id).map(|seated| seated.seat.number);
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
                    Route {
                        to,
                        via,
                        index,
                        from: own,
                    },
                );
            }
        }
        let seated = self.seats.get_mut(&node).expect("just seen");
        if seated.protocol != Protocol::Static {
            return Ok(());
        }
        let gone = seated
            .routes
            .iter()
            .filter(|(to, _)| !goal.contains_key(to));
        let mut acts: Vec<Setup> = gone.map(|(_, route)| route.forget()).collect();
        let fresh = goal
            .iter()
            .filter(|(to, route)| seated.routes.get(to) != Some(route));
        acts.extend(fresh.map(|(_, route)| route.set()));
        seated.routes = goal;
        let name = seated.seat.name.clone();
        strictly(&mut seated.space, &acts, &name)
    }
}

impl Plant {
    /// Number of the interface that a direction leaves through, where it is there.
    fn leads(&self, side: WireSide) -> Option<u32> {
        match (&self.segment, self.wires.get(&side)) {
            (Some(segment), _) => segment.holds(side).then_some(RADIO_INDEX),
            (None, laid) => laid.map(|laid| index(laid.number)),
        }
    }
}

/// Sends messages that must all succeed.
pub(super) fn strictly<M: Message>(
    space: &mut Space,
    acts: &[M],
    node: &str,
) -> Result<(), TestbedError> {
    if acts.is_empty() {
        return Ok(());
    }
    let what = format!("set up {node}");
    let refused = space
        .batch
        .send(acts)
        .map_err(TestbedError::kernel(&*what))?;
    match refused.into_iter().next() {
        Some((_, refusal)) => Err(TestbedError::kernel(what)(refusal)),
        None => Ok(()),
    }
}

/// Finds out what the kernel can do, on the loopback interface of a fresh namespace.
fn means(space: &mut Space) -> Result<Means, TestbedError> {
    let full = Ends::of(&Shape::DOWN, Means::Full);
    let burst = Shape::DOWN.burst_bytes();
    let steps = Ends::default().steps(&full, &Place::WIRE, LOOPBACK, burst);
    let mut acts: Vec<Act> = steps.into_iter().map(Act::Shape).collect();
    acts.push(Act::Setup(group(LOOPBACK)));
    let refused = space
        .batch
        .send(&acts)
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
    let _ = space.batch.send(&[undo]);
    if let Some((_, refusal)) = refused.first() {
        tracing::warn!(%refusal, "wires shape the rate alone, without loss and delay");
    }
    Ok(if refused.is_empty() {
        Means::Full
    } else {
        Means::Rate
    })
}
