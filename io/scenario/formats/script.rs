//! A dataset as the commands of a log.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_engine::{Clock, Recorded};
use groundwave_model::radio::Station;
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::link::{Limits, SetLimits};
use groundwave_simulation::measure::{MEASUREMENTS_MAX, Measurement, ObserveLinks};
use groundwave_simulation::motion::{Follow, GoTo, StopMotion, Waypoint};
use groundwave_simulation::site::{
    AddNode, FailNode, MoveNode, NodeId, RemoveNode, RestoreNode, UpdateNode,
};
use serde::Serialize;

use super::Format;
use super::climb::Waypoint as Climbing;
use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location};
use super::limits::TICKS_MAX;

/// Radius of the ring of nodes without a position, m.
const RING_M: f64 = 500.0;

/// Commands of a log in the order they are applied.
#[derive(Debug, Default)]
pub struct Script {
    /// Tick, name and body as named msgpack.
    pub commands: Vec<(u64, &'static str, Vec<u8>)>,
    /// The last tick.
    pub last_tick: u64,
    /// Number of nodes.
    pub nodes: usize,
    /// Nodes without a position: on a ring around 0 N 0 E.
    pub unplaced: usize,
    /// Nodes that come with their first fix.
    absent: BTreeMap<u32, AddNode>,
}

impl Dataset {
    /// The commands that replay the dataset in a world with steps of [`Self::step_ns`]; nodes
    /// without a station get `default`.
    ///
    /// # Errors
    /// A dataset without events; `format` names it in the message.
    pub fn script(&self, format: &Format, default: &Station) -> Result<Script, FormatError> {
        if self.events.is_empty() {
            let actual = format!("no measurement and no movement{}", self.report.summary());
            let fault = Fault::new("", actual, "at least one of both");
            return Err(fault.at(format, Location::default()));
        }
        self.check_span(format, self.step_ns(), TICKS_MAX)?;
        let mut out = Script::default();
        let limits = Limits {
            link_range_max_m: self.range_m.unwrap_or(100_000.0).clamp(1.0, 1_000_000.0),
            ..Limits::default()
        };
        out.put(1, SetLimits(limits));
        let (positions, used) = self.first_positions();
        let heights = self.heights();
        let count = used.iter().filter(|used| **used).count();
        for (index, node) in self.nodes.iter().enumerate().filter(|(index, _)| used[*index]) {
            let position = positions[index];
            out.unplaced += usize::from(position.is_none());
            out.nodes += 1;
            let mut station = self.station(index, default);
            station.height_agl_m = heights[index].unwrap_or(station.height_agl_m);
            let add = AddNode {
                node: NodeId::named(&node.name),
                name: node.name.clone(),
                role: node.role,
                position: position.unwrap_or_else(|| ring(out.nodes - 1, count)),
                station,
                deployment: None,
            };
            match node.comes_and_goes && position.is_some() {
                true => drop(out.absent.insert(index as u32, add)),
                false => out.put(1, add),
            }
        }
        self.script_events(&mut out, heights);
        Ok(out)
    }

    fn script_events(&self, out: &mut Script, mut heights: Vec<Option<f64>>) {
        let mut runs = self.runs();
        let climbs = self.climbs();
        let mut last_fixes: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, (_, event)) in self.events.iter().enumerate() {
            if let Event::Fix(node, _) | Event::Move(node, _) = event {
                last_fixes.insert(*node, index);
            }
        }
        let mut away = BTreeSet::new();
        // Nodes without a position of their own are added at that of their first fix.
        let mut is_on_run: Vec<bool> =
            self.nodes.iter().map(|node| node.position.is_none()).collect();
        let clock = Clock::new(self.step_ns());
        let id = |number: u32| NodeId::named(&self.nodes[number as usize].name);
        let mut measured: (u64, Vec<Measurement>) = (0, Vec::new());
        let ns = |at_s: f64| (self.elapsed_s(at_s) * 1e9).round() as u64;
        for (index, (at_s, event)) in self.events.iter().enumerate() {
            let at_ns = ns(*at_s);
            // Nodes are added in the first tick, events of second 0 right after them.
            let tick = clock.tick_at(at_ns);
            if measured.0 != tick || measured.1.len() >= MEASUREMENTS_MAX {
                out.observe(&mut measured);
                measured.0 = tick;
            }
            match *event {
                Event::Observe(from, to, values) => {
                    let (from, to) = (id(from), id(to));
                    measured.1.push(Measurement { from, to, values });
                }
                Event::Fix(number, position) => {
                    let node = id(number);
                    if let Some(add) = out.absent.remove(&number) {
                        out.put(tick, add);
                    }
                    if away.remove(&number) {
                        out.put(tick, RestoreNode { node });
                    }
                    if let Some(run) = runs.remove(&index) {
                        if !std::mem::replace(&mut is_on_run[number as usize], true) {
                            out.put(tick, MoveNode { node, position });
                        }
                        let elapsed_s = |at_s| self.elapsed_s(at_s);
                        let run: Vec<_> =
                            run.into_iter().map(|(s, at)| (elapsed_s(s), at)).collect();
                        let begin_s = elapsed_s(*at_s);
                        let course: Vec<Climbing> = match climbs.get(&number) {
                            Some(climb) => climb.waypoints((begin_s, position), &run),
                            None => run.into_iter().map(|(s, at)| (s, at, None)).collect(),
                        };
                        let height_agl_m =
                            climbs.get(&number).and_then(|climb| climb.height_agl_m(begin_s));
                        if height_agl_m.is_some() && heights[number as usize] != height_agl_m {
                            out.put(tick, UpdateNode { height_agl_m, ..UpdateNode::of(node) });
                        }
                        let end_m = course.last().and_then(|(.., height_agl_m)| *height_agl_m);
                        if let Some(height_agl_m) = end_m.or(height_agl_m) {
                            heights[number as usize] = Some(height_agl_m);
                        }
                        let waypoint = |(at_s, position, height_agl_m): Climbing| Waypoint {
                            at_ns: (at_s * 1e9).round() as u64,
                            position,
                            height_agl_m,
                        };
                        let waypoints: Vec<_> = course.into_iter().map(waypoint).collect();
                        if !waypoints.is_empty() {
                            out.put(tick, Follow { node, waypoints, at_ns: Some(at_ns) });
                        }
                    }
                }
                Event::Move(number, position) => {
                    let node = id(number);
                    is_on_run[number as usize] = false;
                    out.put(tick, MoveNode { node, position });
                }
                Event::Height(number, _)
                    if climbs
                        .get(&number)
                        .is_some_and(|climb| climb.covers(self.elapsed_s(*at_s))) => {}
                Event::Height(number, height_agl_m) => {
                    let last_m = heights[number as usize].replace(height_agl_m);
                    if last_m != Some(height_agl_m) {
                        let node = id(number);
                        let height_agl_m = Some(height_agl_m);
                        out.put(tick, UpdateNode { height_agl_m, ..UpdateNode::of(node) });
                    }
                }
                Event::GoTo(number, destination, speed_m_s) if speed_m_s > 0.0 => {
                    let node = id(number);
                    is_on_run[number as usize] = false;
                    out.put(tick, GoTo { node, destination, speed_m_s, at_ns: Some(at_ns) });
                }
                Event::Leave(number) => {
                    is_on_run[number as usize] = false;
                    let is_last = last_fixes.get(&number).is_none_or(|last| *last < index);
                    let node = id(number);
                    match is_last {
                        true => out.put(tick, RemoveNode { node }),
                        false if away.insert(number) => out.put(tick, FailNode { node }),
                        false => {}
                    }
                }
                Event::GoTo(number, ..) => {
                    let (node, at_ns) = (id(number), Some(at_ns));
                    is_on_run[number as usize] = false;
                    out.put(tick, StopMotion { node, at_ns });
                }
            }
            out.last_tick = out.last_tick.max(tick);
        }
        out.observe(&mut measured);
        if let Some(end_s) = self.end_s {
            let end_ns = ns(end_s);
            out.last_tick = out.last_tick.max(clock.tick_at(end_ns));
        }
    }

    /// Length of a step, ns.
    #[must_use]
    pub fn step_ns(&self) -> u64 {
        ((self.step_s.unwrap_or(1.0) * 1e9).round() as u64).max(1_000)
    }

    /// First positions of nodes, and which nodes have a position or an event.
    pub(super) fn first_positions(&self) -> (Vec<Option<GeoPoint>>, Vec<bool>) {
        let mut positions: Vec<_> = self.nodes.iter().map(|node| node.position).collect();
        let mut used: Vec<bool> = positions.iter().map(Option::is_some).collect();
        for (_, event) in &self.events {
            match *event {
                Event::Fix(node, position) | Event::Move(node, position) => {
                    positions[node as usize].get_or_insert(position);
                    used[node as usize] = true;
                }
                Event::GoTo(node, ..) | Event::Height(node, _) | Event::Leave(node) => {
                    used[node as usize] = true
                }
                Event::Observe(from, to, _) => {
                    (used[from as usize], used[to as usize]) = (true, true);
                }
            }
        }
        (positions, used)
    }
}

/// True if a position is a placeholder of [`Dataset::script`]: on the ring around 0 N 0 E, to the
/// millimetre.
#[must_use]
pub fn is_placeholder(position: GeoPoint) -> bool {
    let origin = GeoPoint::new(0.0, 0.0).expect("the origin is a place");
    (geodesic::inverse(origin, position).distance_m - RING_M).abs() < 0.001
}

fn ring(number: usize, count: usize) -> GeoPoint {
    let origin = GeoPoint::new(0.0, 0.0).expect("the origin is a place");
    let azimuth_deg = 360.0 * number as f64 / count.max(1) as f64;
    geodesic::direct(origin, azimuth_deg, RING_M).unwrap_or(origin)
}

impl Script {
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
