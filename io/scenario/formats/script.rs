//! A dataset as the commands of a log.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_engine::{Clock, Recorded};
use groundwave_model::radio::Station;
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::link::{Limits, SetLimits};
use groundwave_simulation::measure::{MEASUREMENTS_MAX, Measurement, ObserveLinks};
use groundwave_simulation::motion::{Follow, GoTo, StopMotion, Waypoint};
use groundwave_simulation::site::{
    AddNode, AddUnplaced, FailNode, MoveNode, NodeId, RemoveNode, RestoreNode, UpdateNode,
};
use serde::Serialize;

use super::Format;
use super::climb::Waypoint as Climbing;
use super::dataset::{Dataset, Event, Height};
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
    /// Nodes without a position: on a ring around 0 N 0 E, with the measured links alone.
    pub unplaced: usize,
    /// Nodes that come with their first fix, each with its height where that is not one above ground.
    absent: BTreeMap<u32, (AddNode, Option<UpdateNode>)>,
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
            update_distance_m: self.update_distance_m,
            probe: self.probe,
            ..Limits::default()
        };
        out.put(1, SetLimits(limits));
        let (positions, used) = self.first_positions();
        let heights = self.heights();
        let ids = self.ids();
        let count = used.iter().filter(|used| **used).count();
        for (index, node) in self.nodes.iter().enumerate().filter(|(index, _)| used[*index]) {
            let position = positions[index];
            out.unplaced += usize::from(position.is_none());
            out.nodes += 1;
            let mut station = self.station(index, default);
            let mut over_sea = None;
            match heights[index] {
                Some(Height::Ground(agl_m)) => station.height_agl_m = agl_m,
                height => over_sea = height.map(|height| at_height(ids[index], height)),
            }
            let add = AddNode {
                node: ids[index],
                name: node.name.clone(),
                role: node.role,
                position: position.unwrap_or_else(|| ring(out.nodes - 1, count)),
                station,
                deployment: None,
            };
            match node.comes_and_goes && position.is_some() {
                true => drop(out.absent.insert(index as u32, (add, over_sea))),
                false => {
                    match position {
                        Some(_) => out.put(1, add),
                        None => out.put(1, AddUnplaced(add)),
                    }
                    over_sea.into_iter().for_each(|update| out.put(1, update));
                }
            }
        }
        self.script_events(&mut out, heights);
        Ok(out)
    }

    fn script_events(&self, out: &mut Script, mut heights: Vec<Option<Height>>) {
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
        let ids = self.ids();
        let id = |number: u32| ids[number as usize];
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
                    if let Some((add, over_sea)) = out.absent.remove(&number) {
                        out.put(tick, add);
                        over_sea.into_iter().for_each(|update| out.put(tick, update));
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
                        let height = climbs.get(&number).and_then(|climb| climb.height(begin_s));
                        if let Some(height) =
                            height.filter(|height| heights[number as usize] != Some(*height))
                        {
                            out.put(tick, at_height(node, height));
                        }
                        let end = course.last().and_then(|(.., height)| *height);
                        if let Some(height) = end.or(height) {
                            heights[number as usize] = Some(height);
                        }
                        let waypoint = |(at_s, position, height): Climbing| {
                            let (height_agl_m, height_msl_m) = metres(height);
                            let at_ns = (at_s * 1e9).round() as u64;
                            Waypoint { at_ns, position, height_agl_m, height_msl_m }
                        };
                        // A height above sea level holds from the fix on, also below the ground.
                        let begin = height.filter(|height| matches!(height, Height::Sea(_)));
                        let begin = begin.filter(|_| !course.is_empty());
                        let begin = begin.map(|height| (begin_s, position, Some(height)));
                        let waypoints: Vec<_> =
                            begin.into_iter().chain(course).map(waypoint).collect();
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
                Event::Height(number, height) => {
                    let last = heights[number as usize].replace(height);
                    if last != Some(height) && !out.absent.contains_key(&number) {
                        out.put(tick, at_height(id(number), height));
                    }
                }
                Event::Point(number, pointing) => {
                    let node = id(number);
                    let pointing = Some(pointing);
                    out.put(tick, UpdateNode { pointing, ..UpdateNode::of(node) });
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
                    // What was measured until then is about a node that is there.
                    out.observe(&mut measured);
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

    /// Ids of nodes in a log: of the keys by which the document identifies them, so that a name may change; without
    /// one, of the names.
    fn ids(&self) -> Vec<NodeId> {
        let mut ids = vec![None; self.nodes.len()];
        let mut used = BTreeSet::new();
        for (key, index) in &self.index {
            let id = NodeId::named(key);
            if used.insert(id) {
                ids[*index as usize] = Some(id);
            }
        }
        let mut of_name = |name: &str| {
            let mut name = name.to_owned();
            // A key may be the name of a node without one.
            while !used.insert(NodeId::named(&name)) {
                name += "'";
            }
            NodeId::named(&name)
        };
        let all = ids.into_iter().zip(&self.nodes);
        all.map(|(id, node)| id.unwrap_or_else(|| of_name(&node.name))).collect()
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
                Event::GoTo(node, ..)
                | Event::Height(node, _)
                | Event::Point(node, _)
                | Event::Leave(node) => used[node as usize] = true,
                Event::Observe(from, to, _) => {
                    (used[from as usize], used[to as usize]) = (true, true);
                }
            }
        }
        (positions, used)
    }
}

/// Heights above ground and above mean sea level, m: one of them.
const fn metres(height: Option<Height>) -> (Option<f64>, Option<f64>) {
    match height {
        Some(Height::Ground(agl_m)) => (Some(agl_m), None),
        Some(Height::Sea(msl_m)) => (None, Some(msl_m)),
        Some(Height::Ellipsoid(_)) | None => (None, None),
    }
}

/// The command that puts an antenna at a height.
fn at_height(node: NodeId, height: Height) -> UpdateNode {
    let (height_agl_m, height_msl_m) = metres(Some(height));
    UpdateNode { height_agl_m, height_msl_m, ..UpdateNode::of(node) }
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
