//! Heights of antennas along the courses of their nodes: linear between the times at which a document states them.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::course::Fix;
use super::dataset::{Dataset, Event};

/// A waypoint: time, s, position and height above ground, m.
pub(super) type Waypoint = (f64, GeoPoint, Option<f64>);

/// Heights of a node whose course has fixes only.
#[derive(Debug, Default)]
pub(super) struct Climb {
    /// Times, s, and heights above ground, m, by time.
    heights: Vec<(f64, f64)>,
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
            | Event::GoTo(node, ..)
            | Event::Leave(node)) = *event
            else {
                continue;
            };
            let entry = climbs.entry(node).or_insert_with(|| Some(Climb::default()));
            let Some(climb) = entry else { continue };
            match *event {
                Event::Fix(..) => climb.span_s.get_or_insert([at_s; 2])[1] = at_s,
                Event::Height(_, height_agl_m) => climb.heights.push((at_s, height_agl_m)),
                _ => *entry = None,
            }
        }
        let climbs = climbs.into_iter().filter_map(|(node, climb)| Some((node, climb?)));
        climbs.filter(|(_, climb)| climb.is_level() == Some(false)).collect()
    }
}

impl Climb {
    /// `true` with one height throughout; `None` without a height or a course.
    fn is_level(&self) -> Option<bool> {
        let (_, first_m) = self.heights.first().filter(|_| self.span_s.is_some())?;
        Some(self.heights.iter().all(|(_, height_m)| height_m == first_m))
    }

    /// True for a time between the first and the last fix, s.
    pub(super) fn covers(&self, at_s: f64) -> bool {
        self.span_s.is_some_and(|[from_s, to_s]| (from_s..=to_s).contains(&at_s))
    }

    /// Height at a time, s, m above ground: before the first and after the last, that one.
    pub(super) fn height_agl_m(&self, at_s: f64) -> Option<f64> {
        // Of several heights of one time the last one counts.
        let next = self.heights.partition_point(|(stated_s, _)| *stated_s <= at_s);
        let before = next.checked_sub(1).and_then(|index| self.heights.get(index));
        match (before, self.heights.get(next)) {
            (Some((from_s, from_m)), Some((to_s, to_m))) => {
                let share = (at_s - from_s) / (to_s - from_s);
                Some(from_m + share * (to_m - from_m))
            }
            (one, other) => one.or(other).map(|(_, height_m)| *height_m),
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
            for (stated_s, height_m) in between {
                let distance_m = leg.distance_m * (stated_s - last.0) / (at_s - last.0);
                let place = geodesic::direct(last.1, leg.azimuth_deg, distance_m);
                waypoints.push((*stated_s, place.unwrap_or(position), Some(*height_m)));
            }
            waypoints.push((at_s, position, self.height_agl_m(at_s)));
            last = (at_s, position);
        }
        waypoints
    }
}
