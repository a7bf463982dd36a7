//! A segment that all nodes are on, each with one interface, as a radio has one antenna.
//!
//! The segment is a bridge in a namespace of its own. Whatever a node sends reaches every other
//! node's port; the port's disciplines say what the node behind it hears of each sender
//! ([`crate::kernel::air`]), and nothing of those it has no link from. So one frame to everybody is lost
//! for each receiver by itself, as on air.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{Counted, Protocol, Seat, Sighting, WireSide};

use super::error::TestbedError;
use super::message::{End, address, behind, bridge, control, enslave, neighbour, pair, up};
use super::names::{AIR, RADIO, RADIO_INDEX, index, interface, link_local, radio_hardware};
use super::plant::{Act, Plant, Wish, strictly};
use super::space::Space;
use super::{batman, qdiscs};
use crate::kernel::Qdisc;
use crate::kernel::air::{self, SENDERS_BARE_MAX, SENDERS_MAX};
use crate::kernel::wire::{Ends, Means, Place, counted};

/// Number of the bridge in its namespace.
const BRIDGE: u32 = 900;
/// MTU of the segment where nothing wraps packets, bytes.
const MTU_BYTES: u32 = 1500;

/// A segment that is there.
#[derive(Debug)]
pub(super) struct Segment {
    space: Space,
    /// Numbers of the interfaces in it.
    links: BTreeSet<u32>,
    /// Directions that have their classes; what these do is `None` when that must be looked up.
    sides: BTreeMap<WireSide, Option<Ends>>,
}

impl Segment {
    /// Makes the segment with this path, or opens the one that is there.
    fn open(path: &Path) -> Result<Self, TestbedError> {
        let mut space = if path.exists() {
            Space::open(path)?
        } else {
            Space::make(path)?
        };
        let links = qdiscs::links(&mut space.batch);
        let links = links.map_err(TestbedError::kernel("look at the segment"))?;
        let mut segment = Self {
            space,
            links,
            sides: BTreeMap::new(),
        };
        if segment.links.insert(BRIDGE) {
            let acts = [Act::Setup(bridge("air", BRIDGE)), Act::Setup(up(BRIDGE))];
            strictly(&mut segment.space, &acts, "the segment")?;
        }
        Ok(segment)
    }

    /// Whether a direction has its classes.
    pub(super) fn holds(&self, side: WireSide) -> bool {
        self.sides.contains_key(&side)
    }
}

/// Whether the kernel speaks IPv6.
fn speaks_ipv6() -> bool {
    Path::new("/proc/sys/net/ipv6").exists()
}

impl Plant {
    /// The segment; made or found at the first use.
    fn segment(&mut self) -> Result<&mut Segment, TestbedError> {
        let segment = match self.segment.take() {
            Some(segment) => segment,
            None => Segment::open(&self.names.path(AIR))?,
        };
        Ok(self.segment.insert(segment))
    }

    /// Puts a node on the segment where it is not: its port hears nobody yet.
    pub(super) fn join(
        &mut self,
        seat: &Seat,
        protocol: Protocol,
        space: &mut Space,
    ) -> Result<(), TestbedError> {
        let most = match self.means.unwrap_or(Means::Rate) {
            Means::Full => SENDERS_MAX,
            Means::Rate => SENDERS_BARE_MAX,
        };
        if seat.number > most {
            return Err(TestbedError::Crowded {
                node: seat.name.clone(),
                most,
            });
        }
        let own = self.names.address(seat.number);
        let alias = format!("groundwave {}", self.names.testbed);
        let (port, wrapped) = (index(seat.number), self.wrapped);
        let mtu_bytes = if wrapped {
            batman::MTU_BYTES
        } else {
            MTU_BYTES
        };
        let hardware = radio_hardware(seat.number);
        let segment = self.segment()?;
        if segment.links.insert(port) {
            let far = End {
                name: RADIO.to_owned(),
                index: RADIO_INDEX,
                hardware,
                mtu_bytes,
                alias,
            };
            // The bridge would take a port's address for its own.
            let [_, tail @ ..] = hardware;
            let [a, b, c, d, e] = tail;
            let near = End {
                name: interface(seat),
                index: port,
                hardware: [0x06, a, b, c, d, e],
                ..far.clone()
            };
            let acts = [
                Act::Setup(pair(&near, &far, space.descriptor())),
                Act::Shape(air::deaf_root(port)),
                Act::Setup(control(air::deaf_class(port), "make a class")),
                Act::Shape(air::deaf_queue(port)),
                Act::Setup(enslave(port, BRIDGE)),
                Act::Setup(behind(port, hardware)),
                Act::Setup(up(port)),
            ];
            strictly(&mut segment.space, &acts, &seat.name)?;
        }
        let mut acts = vec![Act::Setup(up(RADIO_INDEX))];
        acts.push(Act::Setup(match protocol {
            Protocol::Batman => enslave(RADIO_INDEX, batman::INDEX),
            // Nobody sets routes: neighbours are those who answer.
            Protocol::None => address(RADIO_INDEX, own, 16),
            Protocol::Static | Protocol::Babel => address(RADIO_INDEX, own, 32),
        }));
        strictly(space, &acts, &seat.name)
    }

    /// Puts wishes into force on the segment.
    pub(super) fn shape_air(&mut self, wishes: &[Wish]) -> Result<Vec<Sighting>, TestbedError> {
        let mut failures: BTreeMap<WireSide, String> = BTreeMap::new();
        let means = self.means.unwrap_or(Means::Rate);
        let found = self.look_up_air(wishes)?;
        let mut acts: Vec<(WireSide, Act)> = Vec::new();
        let mut known: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        for (side, _, wish) in wishes {
            let Some([from, to]) = self.numbers(*side) else {
                continue;
            };
            let segment = self.segment()?;
            let (port, place) = (index(to), Place::of_sender(from));
            let there = segment.sides.get(side).copied().flatten();
            let fresh = there.is_none();
            let before = there.or(found.get(side).copied()).unwrap_or_default();
            let goal = Ends::of(&wish.shape, means);
            segment.sides.insert(*side, Some(goal));
            if fresh {
                let made = air::classes(port, from, means).into_iter();
                let made = made.map(|class| control(class, "make a class of a sender"));
                acts.extend(made.map(|setup| (*side, Act::Setup(setup))));
            }
            let steps = before.steps(&goal, &place, port, wish.shape.burst_bytes());
            acts.extend(steps.into_iter().map(|step| (*side, Act::Shape(step))));
            if fresh {
                // Last: what a filter leads to is complete.
                let hardware = radio_hardware(from);
                let made = air::filters(port, from, hardware, means).into_iter();
                let made = made.map(|filter| control(filter, "tell a sender apart"));
                acts.extend(made.map(|setup| (*side, Act::Setup(setup))));
                if speaks_ipv6() {
                    let far = radio_hardware(to);
                    let met = neighbour(RADIO_INDEX, link_local(far), far);
                    let of_node = known.entry(side.from).or_default();
                    of_node.push((*side, Act::Setup(met)));
                }
            }
        }
        self.send_air(acts, &mut failures)?;
        self.carry_out(known, &mut failures)?;
        let nodes: BTreeSet<NodeId> = wishes.iter().map(|(side, ..)| side.from).collect();
        for node in nodes {
            self.guide_air(node)?;
        }
        let sighted = wishes.iter().map(|(side, _, wish)| Sighting {
            side: *side,
            generation: wish.generation,
            failure: failures.remove(side),
        });
        Ok(sighted.collect())
    }

    /// Numbers of both ends of a direction.
    fn numbers(&self, side: WireSide) -> Option<[u32; 2]> {
        let number = |node| Some(self.seats.get(&node)?.seat.number);
        Some([number(side.from)?, number(side.to)?])
    }

    /// One batch for all ports. The first refusal of each direction is noted, and what it has is
    /// looked up next time.
    fn send_air(
        &mut self,
        acts: Vec<(WireSide, Act)>,
        failures: &mut BTreeMap<WireSide, String>,
    ) -> Result<(), TestbedError> {
        let (sides, acts): (Vec<WireSide>, Vec<Act>) = acts.into_iter().unzip();
        let segment = self.segment()?;
        let refused = segment.space.batch.send(&acts);
        for (place, refusal) in refused.map_err(TestbedError::kernel("send a batch"))? {
            let side = sides[place];
            segment.sides.insert(side, None);
            let why = || refusal.to_string();
            failures.entry(side).or_insert_with(why);
        }
        Ok(())
    }

    /// What directions do that have classes but are not known.
    fn look_up_air(&mut self, wishes: &[Wish]) -> Result<BTreeMap<WireSide, Ends>, TestbedError> {
        let mut ends = BTreeMap::new();
        let unknown = |side: &WireSide| {
            let segment = self.segment.as_ref()?;
            segment.sides.get(side)?.is_none().then_some(*side)
        };
        let sides: Vec<WireSide> = wishes
            .iter()
            .filter_map(|(side, ..)| unknown(side))
            .collect();
        if sides.is_empty() {
            return Ok(ends);
        }
        let found = self.all_air()?;
        for side in sides {
            let Some([from, to]) = self.numbers(side) else {
                continue;
            };
            let there = found.get(&index(to)).map(Vec::as_slice).unwrap_or_default();
            let read = Ends::read(there, &Place::of_sender(from));
            ends.insert(
                side,
                read.map_err(TestbedError::kernel("read disciplines"))?,
            );
        }
        Ok(ends)
    }

    /// Forgets what directions do that may be there from before.
    pub(super) fn doubt_air(&mut self, sides: impl Iterator<Item = WireSide>) {
        if let Some(segment) = &mut self.segment {
            segment.sides.extend(sides.map(|side| (side, None)));
        }
    }

    /// Starts the program that finds ways at a node, if it does not run.
    fn guide_air(&self, node: NodeId) -> Result<(), TestbedError> {
        let Some(seated) = self.seats.get(&node) else {
            return Ok(());
        };
        let babel = self.babel(seated);
        if seated.protocol != Protocol::Babel || babel.runs() {
            return Ok(());
        }
        let own = self.names.address(seated.seat.number);
        babel.serve(own, &[RADIO.to_owned()])
    }

    /// The counters of all directions on the segment.
    pub(super) fn count_air(&mut self) -> Result<Vec<Counted>, TestbedError> {
        let found = self.all_air()?;
        let Some(segment) = &self.segment else {
            return Ok(Vec::new());
        };
        let of = |side: &WireSide| {
            let [from, to] = self.numbers(*side)?;
            let qdiscs = found.get(&index(to))?;
            Some(counted(*side, qdiscs, &Place::of_sender(from)))
        };
        Ok(segment.sides.keys().filter_map(of).collect())
    }

    /// All disciplines of the segment, by the number of the port.
    fn all_air(&mut self) -> Result<BTreeMap<u32, Vec<Qdisc>>, TestbedError> {
        let segment = self.segment()?;
        let found = qdiscs::all(&mut segment.space.batch);
        found.map_err(TestbedError::kernel("look at disciplines"))
    }
}
