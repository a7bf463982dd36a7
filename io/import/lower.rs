//! A recording as commands.

use groundwave_engine::{Clock, Recorded};
use groundwave_systems::link::{Limits, SetLimits};
use groundwave_systems::measure::{MEASUREMENTS_MAX, Measurement, ObserveLinks};
use groundwave_systems::motion::{GoTo, StopMotion};
use groundwave_systems::radio::{Role, Station};
use groundwave_systems::site::{AddNode, MoveNode, NodeId};
use groundwave_systems::terrain::{GeoPoint, geodesic};
use serde::Serialize;

use super::{Recording, What};

/// Radius of the ring of nodes that nobody knows the place of, m.
const RING_M: f64 = 500.0;

/// Commands by tick, in the order they are applied.
#[derive(Debug, Default)]
pub struct Lowered {
    /// Tick, name and body as named msgpack.
    pub commands: Vec<(u64, &'static str, Vec<u8>)>,
    /// The last tick.
    pub last_tick: u64,
    /// Nodes that nobody knows the place of.
    pub unplaced: usize,
}

impl Recording {
    /// The commands that make it happen in a world with steps of its `step_s`; nodes without a
    /// station get `default`.
    #[must_use]
    pub fn lower(&self, default: &Station) -> Lowered {
        let mut out = Lowered::default();
        let limits = Limits {
            link_range_max_m: self.range_m.unwrap_or(100_000.0).clamp(1.0, 1_000_000.0),
            ..Limits::default()
        };
        out.put(1, SetLimits(limits));
        let first_moves = self.first_places();
        for (number, spot) in self.nodes.iter().enumerate() {
            let position = spot.position.or(first_moves[number]);
            out.unplaced += usize::from(position.is_none());
            out.put(
                1,
                AddNode {
                    node: NodeId::named(&spot.name),
                    name: spot.name.clone(),
                    role: Role::default(),
                    position: position.unwrap_or_else(|| ring(number, self.nodes.len())),
                    station: spot.station.clone().unwrap_or_else(|| default.clone()),
                    deployment: None,
                },
            );
        }
        self.lower_events(&mut out);
        out
    }

    fn lower_events(&self, out: &mut Lowered) {
        let clock = Clock::new(self.step_ns());
        let begin_s = self.begin_unix_s.unwrap_or(0.0);
        let id = |number: u32| NodeId::named(&self.nodes[number as usize].name);
        let mut measured: (u64, Vec<Measurement>) = (0, Vec::new());
        for (at_s, what) in &self.events {
            let at_ns = ((at_s - begin_s).max(0.0) * 1e9).round() as u64;
            // Nodes are added in the first tick; what happens at once comes right after them.
            let tick = clock.tick_at(at_ns);
            if measured.0 != tick || measured.1.len() >= MEASUREMENTS_MAX {
                out.observe(&mut measured);
                measured.0 = tick;
            }
            match *what {
                What::Observe(from, to, values) => {
                    let (from, to) = (id(from), id(to));
                    measured.1.push(Measurement { from, to, values });
                }
                What::Move(node, position) => {
                    let node = id(node);
                    out.put(tick, MoveNode { node, position });
                }
                What::GoTo(node, destination, speed_m_s) if speed_m_s > 0.0 => {
                    let node = id(node);
                    out.put(
                        tick,
                        GoTo {
                            node,
                            destination,
                            speed_m_s,
                        },
                    );
                }
                What::GoTo(node, ..) => out.put(tick, StopMotion { node: id(node) }),
            }
            out.last_tick = out.last_tick.max(tick);
        }
        out.observe(&mut measured);
    }

    /// Length of a step, ns.
    #[must_use]
    pub fn step_ns(&self) -> u64 {
        ((self.step_s * 1e9).round() as u64).max(1_000)
    }

    fn first_places(&self) -> Vec<Option<GeoPoint>> {
        let mut places = vec![None; self.nodes.len()];
        for (_, what) in &self.events {
            if let What::Move(node, position) = what {
                places[*node as usize].get_or_insert(*position);
            }
        }
        places
    }
}

fn ring(number: usize, count: usize) -> GeoPoint {
    let origin = GeoPoint::new(0.0, 0.0).expect("the origin is a place");
    let azimuth_deg = 360.0 * number as f64 / count.max(1) as f64;
    geodesic::direct(origin, azimuth_deg, RING_M).unwrap_or(origin)
}

impl Lowered {
    fn put<C: Recorded + Serialize>(&mut self, tick: u64, command: C) {
        let body = rmp_serde::to_vec_named(&command).expect("a command is plain data");
        self.commands.push((tick, C::NAME, body));
        self.last_tick = self.last_tick.max(tick);
    }

    fn observe(&mut self, measured: &mut (u64, Vec<Measurement>)) {
        let measurements = std::mem::take(&mut measured.1);
        if !measurements.is_empty() {
            self.put(measured.0, ObserveLinks { measurements });
        }
    }
}
