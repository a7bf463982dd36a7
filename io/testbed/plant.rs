//! What is there of a testbed, and how it is brought to what should be.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{
    Counted, Heard, Protocol, Seat, Shape, Side, Sighting, TestbedView, WireSide,
};

use super::babel::Babel;
use super::error::TestbedError;
use super::message::{End, Route, Setup, address, enslave, group, pair, up};
use super::names::{Names, hardware, index, interface, of_hardware};
use super::space::Space;
use super::{batman, qdiscs};
use crate::kernel::batch::Message;
use crate::kernel::wire::{Ends, Means, counted};
use crate::kernel::{Handle, KernelError, Request, Verb};

/// Number of the loopback interface.
const LOOPBACK: u32 = 1;
/// MTU of a wire that no mesh protocol wraps, bytes.
const MTU_BYTES: u32 = 1500;

/// A message of either sort, so that one batch carries both in order.
#[derive(Debug, Clone)]
enum Act {
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
struct Seated {
    seat: Seat,
    protocol: Protocol,
    space: Space,
    routes: BTreeMap<NodeId, Route>,
}

/// An end of a wire that is there.
#[derive(Debug, Clone, Copy)]
struct Laid {
    number: u32,
    /// What its disciplines are; `None` when that must be looked up.
    ends: Option<Ends>,
}

/// What is there of a testbed.
#[derive(Debug)]
pub struct Plant {
    names: Names,
    folder: PathBuf,
    means: Option<Means>,
    seats: BTreeMap<NodeId, Seated>,
    wires: BTreeMap<WireSide, Laid>,
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
        }
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
            let steps = before.steps(&goal, index(laid.number), wish.shape.burst_bytes());
            laid.ends = Some(goal);
            if steps.is_empty() {
                continue;
            }
            let of_node = acts.entry(side.from).or_default();
            of_node.extend(steps.into_iter().map(|step| (*side, Act::Shape(step))));
            if goal.bands && !before.bands {
                of_node.push((*side, Act::Setup(group(index(laid.number)))));
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

    /// Lays the wires among `wishes` that are not there.
    fn lay(
        &mut self,
        wishes: &[Wish],
        failures: &mut BTreeMap<WireSide, String>,
    ) -> Result<(), TestbedError> {
        let missing = |(side, ..): &&Wish| !self.wires.contains_key(side);
        let mut fresh: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
        for (side, number, _) in wishes.iter().filter(missing) {
            fresh.insert((side.from.min(side.to), side.from.max(side.to)), *number);
        }
        let mut acts: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        for (&(a, b), &number) in &fresh {
            let (Some(near), Some(far)) = (self.seats.get(&a), self.seats.get(&b)) else {
                continue;
            };
            let wrapped = [near, far]
                .iter()
                .any(|end| end.protocol == Protocol::Batman);
            let end = |peer: &Seat, back| End {
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
            let act = pair(&one, &other, far.space.descriptor());
            let side = WireSide { from: a, to: b };
            acts.entry(a).or_default().push((side, Act::Setup(act)));
        }
        self.carry_out(acts, failures)?;
        let mut acts: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        let mut guided: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        for (&(a, b), &number) in &fresh {
            if failures.contains_key(&WireSide { from: a, to: b }) {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let (Some(own), Some(peer)) = (self.seats.get(&from), self.seats.get(&to)) else {
                    continue;
                };
                let side = WireSide { from, to };
                let index = index(number);
                let mut setup = vec![up(index)];
                match own.protocol {
                    Protocol::Batman => setup.push(enslave(index, batman::INDEX)),
                    _ => setup.push(address(index, self.names.address(own.seat.number), 32)),
                }
                let of_node = acts.entry(from).or_default();
                of_node.extend(setup.into_iter().map(|setup| (side, Act::Setup(setup))));
                let ends = Some(Ends::default());
                self.wires.insert(side, Laid { number, ends });
                guided.entry(from).or_default().push(interface(&peer.seat));
            }
        }
        self.carry_out(acts, failures)?;
        for (node, interfaces) in guided {
            self.guide(node, &interfaces)?;
        }
        Ok(())
    }

    /// Tells the program that finds ways at a node of new interfaces, or, when it does not run, of
    /// all.
    fn guide(&self, node: NodeId, fresh: &[String]) -> Result<(), TestbedError> {
        let Some(seated) = self.seats.get(&node) else {
            return Ok(());
        };
        if seated.protocol != Protocol::Babel {
            return Ok(());
        }
        let babel = self.babel(seated);
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
        babel.serve(self.names.address(seated.seat.number), &interfaces)
    }

    fn babel(&self, seated: &Seated) -> Babel {
        let netns = self.names.path(&seated.seat.name);
        Babel::of(&self.folder, &netns, &seated.seat.name)
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
                let ends = Ends::read(there).map_err(TestbedError::kernel("read disciplines"))?;
                laid.ends = Some(ends);
            }
        }
        Ok(())
    }

    /// One batch a namespace. The first refusal of each direction is noted.
    fn carry_out(
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
            if let (Some(to), Some(via), Some(laid)) =
                (host(destination), host(via), self.wires.get(&side))
            {
                let index = index(laid.number);
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

    /// The counters of all wires.
    ///
    /// # Errors
    /// When the kernel cannot be asked.
    pub fn count(&mut self) -> Result<Vec<Counted>, TestbedError> {
        let mut all = Vec::new();
        for (node, seated) in &mut self.seats {
            let found = qdiscs::all(&mut seated.space.batch);
            let found = found.map_err(TestbedError::kernel("look at disciplines"))?;
            let own = self.wires.iter().filter(|(side, _)| side.from == *node);
            all.extend(
                own.filter_map(|(side, laid)| {
                    Some(counted(*side, found.get(&index(laid.number))?))
                }),
            );
        }
        Ok(all)
    }

    /// What the protocols found, by node; nodes without one are left out.
    ///
    /// # Errors
    /// The first that could not be asked.
    pub fn hear(&self) -> Result<BTreeMap<NodeId, Vec<Heard>>, TestbedError> {
        let mut heard = BTreeMap::new();
        for (node, seated) in &self.seats {
            let found = match seated.protocol {
                Protocol::Babel if self.babel(seated).runs() => self.hear_babel(*node, seated)?,
                Protocol::Batman => self.hear_batman(*node, seated)?,
                _ => continue,
            };
            heard.insert(*node, found);
        }
        Ok(heard)
    }

    fn hear_babel(&self, node: NodeId, seated: &Seated) -> Result<Vec<Heard>, TestbedError> {
        let found = self.babel(seated).routes()?;
        let heard = found.into_iter().filter_map(|found| {
            let address: Ipv4Addr = found.host.parse().ok()?;
            let number = self.names.number(address)?;
            Some(Heard {
                destination: self.numbered(number)?,
                next_hop: self.behind(node, &found.interface)?,
                metric: found.metric.into(),
            })
        });
        Ok(sorted(heard.collect()))
    }

    fn hear_batman(&self, node: NodeId, seated: &Seated) -> Result<Vec<Heard>, TestbedError> {
        let found = batman::routes(&self.names.path(&seated.seat.name))?;
        let heard = found.into_iter().filter_map(|found| {
            let (number, back) = of_hardware(&found.orig_address)?;
            let ends = |side: &WireSide| (side.from > side.to) == back;
            let mut of_wire = self.wires.iter().filter(|(_, laid)| laid.number == number);
            let (side, _) = of_wire.find(|(side, _)| ends(side))?;
            Some(Heard {
                destination: side.from,
                next_hop: self.behind(node, &found.hard_ifname)?,
                metric: found.tq,
            })
        });
        Ok(sorted(heard.collect()))
    }

    /// The node with this number.
    fn numbered(&self, number: u32) -> Option<NodeId> {
        let mut seats = self.seats.iter();
        seats
            .find(|(_, seated)| seated.seat.number == number)
            .map(|(id, _)| *id)
    }

    /// The node behind an interface of `node`.
    fn behind(&self, node: NodeId, name: &str) -> Option<NodeId> {
        let mut own = self.wires.keys().filter(|side| side.from == node);
        let leads = |side: &&WireSide| {
            self.seats
                .get(&side.to)
                .is_some_and(|peer| interface(&peer.seat) == name)
        };
        own.find(leads).map(|side| side.to)
    }
}

fn sorted(mut heard: Vec<Heard>) -> Vec<Heard> {
    heard.sort_by_key(|heard| heard.destination);
    heard
}

/// Sends messages that must all succeed.
fn strictly(space: &mut Space, acts: &[Setup], node: &str) -> Result<(), TestbedError> {
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
    let steps = Ends::default().steps(&full, LOOPBACK, Shape::DOWN.burst_bytes());
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
