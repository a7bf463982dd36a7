//! Tracks as a scenario of moving nodes.

use std::collections::BTreeMap;
use std::fmt::Write;

use groundwave_model::radio::{Pointing, Station};
use groundwave_simulation::deployment::Outline;
use groundwave_toml_document::limits::FILE_BYTES_MAX;
use jiff::Timestamp;

use super::climb::Waypoint as Climbing;
use super::course::Fix;
use super::dataset::{Dataset, Event, Height};
use super::error::{Fault, FormatError, Location};
use super::plan::{PlanFile, PlanNode, name_of};
use super::scenario::Stay;
use super::{Format, report::Report, scenario};
use crate::limits::{DURATION_S_MAX, WAYPOINTS_MAX};

/// Step of a scenario of tracks, ns.
const SCENARIO_STEP_NS: u64 = 1_000_000_000;
/// Longest scenario of tracks, ticks.
const SCENARIO_TICKS_MAX: u64 = DURATION_S_MAX as u64;

impl Dataset {
    /// A scenario in which a node follows each track, and the number of nodes. Nodes without a
    /// station get `default`.
    ///
    /// # Errors
    /// A dataset without tracks, or with a track longer than a scenario allows.
    pub fn motion_scenario(
        mut self,
        format: &Format,
        default: &Station,
    ) -> Result<(String, usize, Report), FormatError> {
        let invalid = |actual: String, allowed: String| {
            Err(Fault::new("", actual, allowed).at(format, Location::default()))
        };
        let measurements = self.measurements();
        if measurements > 0 {
            let what = "measurement: dropped, a scenario holds none";
            self.report.add_many(what, measurements, Location::default);
        }
        self.check_span(format, SCENARIO_STEP_NS, SCENARIO_TICKS_MAX)?;
        self.note_stations();
        let climbs = self.climbs();
        let climbing = |(node, course): (u32, Vec<Fix>)| {
            let course: Vec<Climbing> = match (climbs.get(&node), course.first()) {
                (Some(climb), Some(first)) => climb.waypoints(*first, &course),
                _ => course.into_iter().map(|(at_s, at)| (at_s, at, None)).collect(),
            };
            (node, course)
        };
        let mut courses: BTreeMap<u32, Vec<Climbing>> =
            self.courses().into_iter().map(climbing).collect();
        if !courses.is_empty() || measurements > 0 {
            // Nodes that stand beside those that move, or of which links were measured.
            for (number, node) in (0..).zip(&self.nodes) {
                let Some(position) = node.position else { continue };
                courses.entry(number).or_insert_with(|| vec![(0.0, position, None)]);
            }
        }
        if courses.is_empty() && measurements > 0 {
            let nodes = self.nodes.len();
            let actual =
                format!("{measurements} measurements of links of {nodes} nodes without positions");
            let allowed = "nodes with positions (--places FILE), from which a scenario computes its links, or a log \
                           (NAME.gwlog), which holds measurements";
            return invalid(actual, allowed.to_owned());
        }
        if courses.is_empty() {
            let actual = format!("no track{}", self.report.summary());
            return invalid(actual, "at least one".to_owned());
        }
        if let Some(course) = courses.values().find(|course| course.len() > WAYPOINTS_MAX) {
            let actual = format!("{} positions of one node", course.len());
            return invalid(actual, format!("up to {WAYPOINTS_MAX}"));
        }
        let unplaced = self.nodes.len() - courses.len();
        if unplaced > 0 {
            let what = "a node without a position: left out";
            self.report.add_many(what, unplaced, Location::default);
        }
        let text = self.moving(&courses.into_iter().collect::<Vec<_>>(), default);
        let (text, nodes) = text.map_err(|fault| fault.at(format, Location::default()))?;
        if text.len() as u64 > FILE_BYTES_MAX {
            let actual = format!("a scenario of {} bytes", text.len());
            return invalid(actual, format!("up to {FILE_BYTES_MAX}; a log has no limit"));
        }
        Ok((text, nodes, self.report))
    }

    /// The text of a scenario, and the number of its nodes.
    fn moving(
        &self,
        courses: &[(u32, Vec<Climbing>)],
        default: &Station,
    ) -> Result<(String, usize), Fault> {
        let last = courses.iter().filter_map(|(_, course)| course.last());
        // A climb or a turn may come after the last step.
        let is_height =
            |event: &&(f64, Event)| matches!(event.1, Event::Height(..) | Event::Point(..));
        let heights_s = self.events.iter().filter(is_height).map(|event| self.elapsed_s(event.0));
        let (stays, absences) = self.stays(courses);
        let ends_s = stays.iter().filter_map(|stay| stay.until_s);
        let last_s = last.map(|fix| fix.0).chain(heights_s).chain(ends_s).fold(0.0, f64::max);
        // Without motion a run is as long as the measurements.
        let measured_s = self.events.last().filter(|_| !self.has_motion()).map(|event| event.0);
        let ends_s = self.end_s.into_iter().chain(measured_s).map(|end_s| self.elapsed_s(end_s));
        let end_s = ends_s.fold(0.0, f64::max);
        let heights = self.heights();
        let plan = PlanFile {
            outline: Outline {
                name: self
                    .title
                    .as_deref()
                    .and_then(name_of)
                    .unwrap_or_else(|| "Imported tracks".to_owned()),
                center: None,
                region: None,
                environment: Default::default(),
            },
            names_model: false,
            nodes: courses
                .iter()
                .filter_map(|(node, course)| {
                    let (node, first) = (*node as usize, course.first()?);
                    let mut station = self.station(node, default);
                    let mut height_msl_m = None;
                    match heights[node] {
                        Some(Height::Ground(agl_m)) => station.height_agl_m = agl_m,
                        Some(Height::Sea(msl_m)) => height_msl_m = Some(msl_m),
                        Some(Height::Ellipsoid(_)) | None => {}
                    }
                    let Self { nodes, .. } = self;
                    let (name, role) = (nodes[node].name.clone(), nodes[node].role);
                    let position = first.1;
                    Some(PlanNode { id: None, name, role, position, height_msl_m, station })
                })
                .collect(),
        };
        plan.check()?;
        let begin_ns = self.begin_unix_s.map(|begin_s| (begin_s * 1e9).round() as i128);
        let begin = begin_ns.and_then(|begin_ns| Timestamp::from_nanosecond(begin_ns).ok());
        let head = scenario::Head {
            begin: begin.map(|begin| begin.to_string()),
            step_s: Some(SCENARIO_STEP_NS as f64 / 1e9),
            mesh: scenario::Mesh::of(self),
            duration_s: last_s.max(end_s).ceil().max(1.0),
            stays,
        };
        let (mut text, names) = scenario::text(&plan, head)
            .map_err(|error| Fault::new("", error.to_string(), "what TOML can represent"))?;
        let is_moving = |course: &[Climbing]| course.len() > 1;
        for ((_, course), name) in courses.iter().zip(&names).filter(|(one, _)| is_moving(&one.1)) {
            let _ = write!(text, "\n[[motion]]\nnode = \"{name}\"\nwaypoints = [\n");
            for (at_s, position, height) in course {
                let (lat, lon) = (position.lat_deg(), position.lon_deg());
                let height = height.and_then(key_of);
                let height = height.map_or_else(String::new, |(key, m)| format!(", {key} = {m}"));
                let _ = writeln!(
                    text,
                    "  {{ at_s = {at_s}, lat_deg = {lat}, lon_deg = {lon}{height} }},"
                );
            }
            text.push_str("]\n");
        }
        for (course, from_s, until_s) in absences {
            let name = &names[course];
            let _ = write!(
                text,
                "\n[[failure]]\nnode = \"{name}\"\nat_s = {from_s}\nuntil_s = {until_s}\n"
            );
        }
        let name_of_node = |node: u32| {
            let index = courses.binary_search_by_key(&node, |course| course.0).ok()?;
            Some(names[index].as_str())
        };
        let climbs = self.climbs();
        let mut last = heights;
        for (at_s, event) in &self.events {
            if let Event::Point(node, Pointing { azimuth_deg, elevation_deg }) = *event
                && let Some(name) = name_of_node(node)
            {
                let at_s = self.elapsed_s(*at_s);
                let _ = write!(
                    text,
                    "\n[[command]]\nat_s = {at_s}\ncommand = \"node.update\"\nnode = \"{name}\"\n\
                     pointing = {{ azimuth_deg = {azimuth_deg:?}, elevation_deg = {elevation_deg:?} }}\n"
                );
            }
            let Event::Height(node, height) = *event else { continue };
            if climbs.get(&node).is_some_and(|climb| climb.covers(self.elapsed_s(*at_s))) {
                continue;
            }
            let last = &mut last[node as usize];
            let is_new = *last != Some(height);
            if let (true, Some(name), Some((key, m))) = (is_new, name_of_node(node), key_of(height))
            {
                *last = Some(height);
                let at_s = self.elapsed_s(*at_s);
                let _ = write!(
                    text,
                    "\n[[command]]\nat_s = {at_s}\ncommand = \"node.update\"\nnode = \"{name}\"\n\
                     {key} = {m:?}\n"
                );
            }
        }
        Ok((text, names.len()))
    }

    /// When the nodes of courses are there, and the times between at which they are away: course, from and until, s.
    fn stays(&self, courses: &[(u32, Vec<Climbing>)]) -> (Vec<Stay>, Vec<(usize, f64, f64)>) {
        let of = |node: u32| courses.binary_search_by_key(&node, |course| course.0).ok();
        let mut stays = vec![Stay::default(); courses.len()];
        let mut absences = Vec::new();
        for (at_s, event) in &self.events {
            let at_s = self.elapsed_s(*at_s);
            match *event {
                Event::Leave(node) => {
                    let Some(course) = of(node) else { continue };
                    stays[course].until_s.get_or_insert(at_s);
                }
                Event::Fix(node, _) if self.nodes[node as usize].comes_and_goes => {
                    let Some(course) = of(node) else { continue };
                    // Waypoints are not before the step in which their node joins.
                    stays[course].from_s.get_or_insert(at_s.floor());
                    if let Some(left_s) = stays[course].until_s.take() {
                        absences.push((course, left_s, at_s));
                    }
                }
                _ => {}
            }
        }
        for stay in &mut stays {
            stay.from_s = stay.from_s.filter(|from_s| *from_s > 0.0);
        }
        (stays, absences)
    }

    /// The first height of each node, where it has one.
    pub(super) fn heights(&self) -> Vec<Option<Height>> {
        let mut heights = vec![None; self.nodes.len()];
        for (_, event) in &self.events {
            if let Event::Height(node, height) = event {
                heights[*node as usize].get_or_insert(*height);
            }
        }
        heights
    }

    /// The station of a node; `default` where the document has none.
    pub(super) fn station(&self, node: usize, default: &Station) -> Station {
        self.nodes[node].station.clone().unwrap_or_else(|| default.clone())
    }
}

/// Key and value of a height in a scenario, m; `None` for one above the ellipsoid.
const fn key_of(height: Height) -> Option<(&'static str, f64)> {
    match height {
        Height::Ground(agl_m) => Some(("height_agl_m", agl_m)),
        Height::Sea(msl_m) => Some(("height_msl_m", msl_m)),
        Height::Ellipsoid(_) => None,
    }
}
