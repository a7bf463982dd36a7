//! Courses of nodes: the positions they pass, with straight motion between them.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::dataset::{Dataset, Event};
use super::limits::LEGS_MAX;

/// A position and its time, s.
pub(super) type Fix = (f64, GeoPoint);

/// Time between the end of a stay and a jump that ends it, s.
const JUMP_S: f64 = 1e-6;

/// Minimum time between two waypoints, s: times of a world are whole nanoseconds.
const APART_S: f64 = 1e-8;

impl Dataset {
    /// Leaves out fixes between equal positions; of several at one time the last one counts.
    pub(super) fn thin_fixes(&mut self) {
        // Of each node, the last two fixes of its present run: index and position.
        let mut runs: BTreeMap<u32, [Option<usize>; 2]> = BTreeMap::new();
        let mut surplus = vec![false; self.events.len()];
        let mut elsewhere = 0_usize;
        for (index, (at_s, event)) in self.events.iter().enumerate() {
            match event {
                Event::Fix(node, position) => {
                    let run = runs.entry(*node).or_default();
                    let at = |index: Option<usize>| {
                        index.and_then(|index| match self.events[index] {
                            (at_s, Event::Fix(_, position)) => Some((at_s, position)),
                            _ => None,
                        })
                    };
                    if let (Some(last), Some((last_s, place))) = (run[1], at(run[1]))
                        && last_s == *at_s
                    {
                        surplus[last] = true;
                        elsewhere += usize::from(place != *position);
                        *run = [None, run[0]];
                    }
                    if let (Some((_, before)), Some((_, last))) = (at(run[0]), at(run[1]))
                        && before == last
                        && last == *position
                    {
                        surplus[run[1].expect("it has a position")] = true;
                        run[1] = run[0];
                    }
                    *run = [run[1], Some(index)];
                }
                Event::Move(node, _) | Event::GoTo(node, ..) | Event::Leave(node) => {
                    runs.remove(node);
                }
                Event::Height(..) | Event::Point(..) | Event::Observe(..) => {}
            }
        }
        let count = surplus.iter().filter(|surplus| **surplus).count();
        if count == 0 {
            return;
        }
        let mut surplus = surplus.into_iter();
        self.events.retain(|_| !surplus.next().unwrap_or_default());
        let what = "a position between others that adds nothing: left out";
        self.report.add_many(what, count - elsewhere, Default::default);
        let what = "another position of a node at one time: the last one counts";
        self.report.add_many(what, elsewhere, Default::default);
    }

    /// The waypoints of each node, by time from second 0: fixes are joined by straight motion, jumps
    /// come after a stay until then, and a destination is reached at the speed of its event unless
    /// another event comes before.
    pub(super) fn courses(&self) -> BTreeMap<u32, Vec<Fix>> {
        let mut courses: BTreeMap<u32, Course> = BTreeMap::new();
        for (at_s, event) in &self.events {
            let at_s = self.elapsed_s(*at_s);
            match event {
                Event::Fix(node, position) => {
                    let course = courses.entry(*node).or_default();
                    if !course.is_of_fixes {
                        course.jump(at_s, *position);
                    }
                    course.pass(at_s, *position);
                    course.is_of_fixes = true;
                }
                Event::Move(node, position) => {
                    courses.entry(*node).or_default().jump(at_s, *position);
                }
                Event::GoTo(node, position, speed_m_s) => {
                    // A node without a position does not move.
                    if let Some(course) = courses.get_mut(node) {
                        course.head(at_s, *position, *speed_m_s);
                    }
                }
                Event::Leave(node) => {
                    if let Some(course) = courses.get_mut(node) {
                        course.arrive(at_s);
                    }
                }
                Event::Height(..) | Event::Point(..) | Event::Observe(..) => {}
            }
        }
        let end = |(node, course): (u32, Course)| (node, course.end());
        courses.into_iter().map(end).collect()
    }

    /// Fixes that follow each other without another motion of the node between them, in parts of at
    /// most [`LEGS_MAX`]: by the event after which they come.
    pub(super) fn runs(&self) -> BTreeMap<usize, Vec<Fix>> {
        let mut runs: BTreeMap<usize, Vec<Fix>> = BTreeMap::new();
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        for (index, (at_s, event)) in self.events.iter().enumerate() {
            match event {
                Event::Fix(node, position) => {
                    let run = open.get(node).and_then(|begin| runs.get_mut(begin));
                    let is_full = run.is_none_or(|run| {
                        run.push((*at_s, *position));
                        run.len() >= LEGS_MAX
                    });
                    if is_full {
                        open.insert(*node, index);
                        runs.insert(index, Vec::new());
                    }
                }
                Event::Move(node, _) | Event::GoTo(node, ..) | Event::Leave(node) => {
                    open.remove(node);
                }
                Event::Height(..) | Event::Point(..) | Event::Observe(..) => {}
            }
        }
        runs
    }
}

/// The course of a node while its events are read.
#[derive(Debug, Default)]
struct Course {
    waypoints: Vec<Fix>,
    /// A destination and the time of arrival, s, where the node is heading for one.
    arrival: Option<Fix>,
    /// True while the last event was a fix.
    is_of_fixes: bool,
}

impl Course {
    /// Adds a waypoint; one of the same time is replaced.
    fn pass(&mut self, at_s: f64, position: GeoPoint) {
        if self.waypoints.last().is_some_and(|last| last.0 + APART_S > at_s) {
            self.waypoints.pop();
        }
        self.waypoints.push((at_s, position));
    }

    /// Position at a time after the last waypoint.
    fn here(&self, at_s: f64) -> Option<GeoPoint> {
        let (since_s, from) = *self.waypoints.last()?;
        let Some((until_s, to)) = self.arrival else { return Some(from) };
        if at_s >= until_s {
            return Some(to);
        }
        let leg = geodesic::inverse(from, to);
        let share = (at_s - since_s) / (until_s - since_s);
        geodesic::direct(from, leg.azimuth_deg, leg.distance_m * share.clamp(0.0, 1.0)).ok()
    }

    /// Completes the present leg until `at_s`.
    fn arrive(&mut self, at_s: f64) {
        let here = self.here(at_s);
        if let (Some((until_s, to)), Some(here)) = (self.arrival.take(), here) {
            match until_s <= at_s {
                true => self.pass(until_s, to),
                false => self.pass(at_s, here),
            }
        }
        self.is_of_fixes = false;
    }

    fn jump(&mut self, at_s: f64, position: GeoPoint) {
        let before_s = at_s - JUMP_S;
        self.arrive(before_s);
        if let Some((last_s, here)) = self.waypoints.last().copied()
            && last_s < before_s
            && here != position
        {
            self.pass(before_s, here);
        }
        self.pass(at_s, position);
    }

    fn head(&mut self, at_s: f64, to: GeoPoint, speed_m_s: f64) {
        self.arrive(at_s);
        let Some((_, here)) = self.waypoints.last().copied() else { return };
        self.pass(at_s, here);
        if speed_m_s > 0.0 {
            let leg_s = geodesic::inverse(here, to).distance_m / speed_m_s;
            self.arrival = Some((at_s + leg_s, to));
        }
    }

    fn end(mut self) -> Vec<Fix> {
        self.arrive(f64::INFINITY);
        self.waypoints
    }
}
