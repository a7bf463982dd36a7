//! Heights of antennas along the courses of their nodes: linear between the times at which a document states them.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::course::Fix;
use super::dataset::{Dataset, Event, Height};

/// A waypoint: time, s, position and height.
pub(super) type Waypoint = (f64, GeoPoint, Option<Height>);

/// Heights of a node whose course has fixes only.
#[derive(Debug, Default)]
pub(super) struct Climb {
    /// Times, s, and heights, by time.
    heights: Vec<(f64, Height)>,
    /// Times of the first and the last fix, s: between them the heights are those of the course.
    span_s: Option<[f64; 2]>,
}

impl Dataset {
    /// The climbs of nodes, by node. Nodes that jump or head for places have none: their heights change at once.
    pub(super) fn climbs(&self) -> BTreeMap<u32, Climb> {
        let mut climbs: BTreeMap<u32, Option<Climb>> = BTreeMap::new();
        for (at_s, event) in &self.events {
            let at_s = self.elapsed_s(*at_s);
            let (Event::Fix(node, _)
            | Event::Height(node, _)
            | Event::Move(node, _)
            | Event::GoTo(node, ..)) = *event
            else {
                continue;
            };
            let entry = climbs.entry(node).or_insert_with(|| Some(Climb::default()));
            let Some(climb) = entry else { continue };
            match *event {
                Event::Fix(..) => climb.span_s.get_or_insert([at_s; 2])[1] = at_s,
                Event::Height(_, height) => climb.heights.push((at_s, height)),
                _ => *entry = None,
            }
        }
        let climbs = climbs.into_iter().filter_map(|(node, climb)| Some((node, climb?)));
        climbs.filter(|(_, climb)| climb.is_level() == Some(false)).collect()
    }
}

impl Climb {
    /// `true` with one height above ground throughout; `None` without a height or a course. One above sea level
    /// is another above ground wherever the ground is.
    fn is_level(&self) -> Option<bool> {
        let (_, first) = self.heights.first().filter(|_| self.span_s.is_some())?;
        let is_first = |(_, height): &(f64, Height)| height == first;
        Some(matches!(first, Height::Ground(_)) && self.heights.iter().all(is_first))
    }

    /// True for a time between the first and the last fix, s.
    pub(super) fn covers(&self, at_s: f64) -> bool {
        self.span_s.is_some_and(|[from_s, to_s]| (from_s..=to_s).contains(&at_s))
    }

    /// Height at a time, s: before the first and after the last, that one; between two of different datums the
    /// earlier one.
    pub(super) fn height(&self, at_s: f64) -> Option<Height> {
        // Of several heights of one time the last one counts.
        let next = self.heights.partition_point(|(stated_s, _)| *stated_s <= at_s);
        let before = next.checked_sub(1).and_then(|index| self.heights.get(index));
        match (before, self.heights.get(next)) {
            (Some((from_s, from)), Some((to_s, to))) => {
                let share = (at_s - from_s) / (to_s - from_s);
                let between = |from_m: f64, to_m: f64| from_m + share * (to_m - from_m);
                Some(match (*from, *to) {
                    (Height::Ground(from_m), Height::Ground(to_m)) => {
                        Height::Ground(between(from_m, to_m))
                    }
                    (Height::Sea(from_m), Height::Sea(to_m)) => Height::Sea(between(from_m, to_m)),
                    (from, _) => from,
                })
            }
            (one, other) => one.or(other).map(|(_, height)| *height),
        }
    }

    /// The waypoints of a course from `from` on, with their heights, and with one more wherever the rate of climb
    /// changes between two of them.
    pub(super) fn waypoints(&self, from: Fix, course: &[Fix]) -> Vec<Waypoint> {
        let mut waypoints = Vec::with_capacity(course.len());
        let mut last = from;
        for (at_s, position) in course.iter().copied() {
            let leg = geodesic::inverse(last.1, position);
            let begin = self.heights.partition_point(|(stated_s, _)| *stated_s <= last.0);
            let between = self.heights[begin..].iter().take_while(|(stated_s, _)| *stated_s < at_s);
            for (stated_s, height) in between {
                let distance_m = leg.distance_m * (stated_s - last.0) / (at_s - last.0);
                let place = geodesic::direct(last.1, leg.azimuth_deg, distance_m);
                waypoints.push((*stated_s, place.unwrap_or(position), Some(*height)));
            }
            waypoints.push((at_s, position, self.height(at_s)));
            last = (at_s, position);
        }
        waypoints
    }
}
