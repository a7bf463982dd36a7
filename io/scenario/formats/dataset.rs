//! Content of a document, independent of its format: a plan, positions, tracks, measurements.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_engine::{Clock, Refusal};
use groundwave_model::link::Probe;
use groundwave_model::radio::station::{HEIGHT_AGL_M_MAX, HEIGHT_MSL_M};
use groundwave_model::radio::{Pointing, Role, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;
use groundwave_simulation::site::{NAME_CHARS_MAX, NODES_MAX};

use super::error::{Fault, FormatError, Location};
use super::extremes::Extremes;
use super::limits::EVENTS_MAX;
use super::parts::Part;
use super::plan::collect::{NAME_DEFAULT, unnamed};
use super::plan::{PlanFile, PlanNode, name_of};
use super::plausible::Suspects;
use super::report::Report;
use super::{Format, positions};

/// Programs write a loss of 0 dB where nothing was computed; no path loses less than this, dB.
const LOSS_DB_MIN: f64 = 1.0;

/// Note on nodes without a station of their own.
const DEFAULT_STATION: &str = "no station given: the default one is taken";

/// A node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Node {
    /// Name, 1 to 64 characters, none of them a control character.
    pub name: String,
    /// Purpose.
    pub role: Role,
    /// First known position.
    pub position: Option<GeoPoint>,
    /// Station, where the document states one.
    pub station: Option<Station>,
    /// The document states when the node is there: from its first fix to each [`Event::Leave`].
    pub comes_and_goes: bool,
    /// Latitude and longitude as written, degrees, until [`Dataset::finish`] checks them.
    pub(super) raw_deg: Option<[f64; 2]>,
    /// Path in the document, where it has one.
    pub(super) path: String,
}

impl Node {
    /// A node of which nothing but the name is known; an invalid name becomes empty.
    pub(super) fn named(name: &str) -> Self {
        Self { name: name_of(name).unwrap_or_default(), ..Self::default() }
    }
}

/// Height of an antenna above its datum, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Height {
    /// Above ground, [0, 20000].
    Ground(f64),
    /// Above mean sea level, [-500, 29000].
    Sea(f64),
    /// Above the ellipsoid of WGS84, until [`Dataset::heights_over_geoid`].
    Ellipsoid(f64),
}

/// An event; nodes are indices of [`Dataset::nodes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// A position of a node on its way: it goes straight from one to the next.
    Fix(u32, GeoPoint),
    /// A node jumps to a position.
    Move(u32, GeoPoint),
    /// Height of the antenna of a node from then on.
    Height(u32, Height),
    /// Direction of the antenna of a node from then on.
    Point(u32, Pointing),
    /// A node heads for a position at a speed, m/s; 0 stops it.
    GoTo(u32, GeoPoint, f64),
    /// A node is away from then on, until its next fix.
    Leave(u32),
    /// A measurement from a sender to a receiver.
    Observe(u32, u32, Measured),
}

/// The contents of a document.
#[derive(Debug, Default)]
pub struct Dataset {
    /// Title, where the document has one.
    pub title: Option<String>,
    /// Time of second 0, s since the Unix epoch, if the document states it.
    pub begin_unix_s: Option<f64>,
    /// Times are those of the day, until [`Self::begin_with_time_of_day`].
    pub(super) has_times_of_day: bool,
    /// Time between two ticks of a recording, s; 1 unless the document states another.
    pub step_s: Option<f64>,
    /// Time of the end, s, where it is later than the last event.
    pub end_s: Option<f64>,
    /// Longest link the model evaluates, m.
    pub range_m: Option<f64>,
    /// Distance beyond which links of a moving node are computed again, m, [0, 10000].
    pub update_distance_m: f64,
    /// Probe by which routing protocols measure links; `None` without one.
    pub probe: Option<Probe>,
    /// A deployment with complete nodes.
    pub plan: Option<PlanFile>,
    /// Nodes in the order of the document; empty beside a plan.
    pub nodes: Vec<Node>,
    /// Events by time, s.
    pub events: Vec<(f64, Event)>,
    /// Links of the document, measured or not.
    pub links: usize,
    /// Notes on dropped or completed parts of the document.
    pub report: Report,
    pub(super) index: BTreeMap<String, u32>,
    pub(super) extremes: Extremes,
    pub(super) suspects: Suspects,
    pub(super) parts: Vec<Part>,
}

impl Dataset {
    /// A dataset of a complete plan.
    pub(super) fn of_plan((plan, report): (PlanFile, Report)) -> Self {
        Self { plan: Some(plan), report, ..Self::default() }
    }

    /// Counts something dropped on a line.
    pub(super) fn drop(&mut self, what: &str, line: usize) {
        self.report.add(what, || Location::line(line));
    }

    /// The index of the node with a key, added when new; `None`, with a note, beyond
    /// [`NODES_MAX`] and for an empty key.
    pub(super) fn node(&mut self, key: &str, line: usize) -> Option<u32> {
        let index = self.named(key, key);
        if index.is_none() {
            self.drop("one node too many, or an empty name", line);
        }
        index
    }

    /// As [`Self::node`], with a name for people.
    pub(super) fn named(&mut self, key: &str, name: &str) -> Option<u32> {
        if let Some(index) = self.index.get(key) {
            return Some(*index);
        }
        let index = self.push(Node::named(name))?;
        self.index.insert(key.to_owned(), index);
        Some(index)
    }

    /// Adds a node without a key, unless its name is empty or there are [`NODES_MAX`].
    pub(super) fn push(&mut self, node: Node) -> Option<u32> {
        let index = u32::try_from(self.nodes.len()).ok()?;
        if self.nodes.len() >= NODES_MAX || node.name.is_empty() {
            return None;
        }
        self.nodes.push(node);
        Some(index)
    }

    /// Adds a measurement between two nodes by their keys, if its values are valid.
    pub(super) fn observe(
        &mut self,
        at_s: f64,
        link: (&str, &str),
        mut values: Measured,
        line: usize,
    ) {
        if link.0 == link.1 {
            return self.drop("a link from a node to itself", line);
        }
        if values.path_loss_db.is_some_and(|db| db < LOSS_DB_MIN) {
            self.drop("a path loss below 1 dB: not measured", line);
            values.path_loss_db = None;
            if (Measured { tx_power_dbm: None, frequency_mhz: None, ..values }).is_empty() {
                return;
            }
        }
        let (values, refusals) = values.valid();
        if values.is_empty() && refusals.is_empty() {
            return self.drop("a measurement without a value", line);
        }
        for refusal in &refusals {
            if let Refusal::Invalid { key, allowed, .. } = refusal {
                self.drop(&format!("{key} beyond {allowed}: not used"), line);
            }
        }
        // Settings of the transmitter alone are not a measurement.
        let reading = Measured { tx_power_dbm: None, frequency_mhz: None, ..values };
        if !refusals.is_empty() && reading.is_empty() {
            return;
        }
        if let (Some(from), Some(to)) = (self.node(link.0, line), self.node(link.1, line)) {
            self.event(at_s, Event::Observe(from, to, values), line);
        }
    }

    /// Adds a height above ground, if the world takes it.
    pub(super) fn height(&mut self, at_s: f64, node: u32, height_agl_m: f64, line: usize) {
        if !(0.0..=HEIGHT_AGL_M_MAX).contains(&height_agl_m) {
            let what = format!("a height above ground beyond 0 to {HEIGHT_AGL_M_MAX} m: not used");
            return self.drop(&what, line);
        }
        self.event(at_s, Event::Height(node, Height::Ground(height_agl_m)), line);
    }

    /// Adds a height above its datum, if the world takes it.
    pub(super) fn altitude(&mut self, at_s: f64, node: u32, height: Height, line: usize) {
        let m = match height {
            Height::Ground(agl_m) => return self.height(at_s, node, agl_m, line),
            Height::Sea(m) | Height::Ellipsoid(m) => m,
        };
        let (least_m, greatest_m) = HEIGHT_MSL_M;
        if !(least_m..=greatest_m).contains(&m) {
            let what = format!("an altitude beyond {least_m} to {greatest_m} m: not used");
            return self.drop(&what, line);
        }
        self.event(at_s, Event::Height(node, height), line);
    }

    /// Adds an event.
    pub(super) fn event(&mut self, at_s: f64, event: Event, line: usize) {
        if !at_s.is_finite() {
            return self.drop("invalid time", line);
        }
        if self.events.len() >= EVENTS_MAX {
            return self.drop("one event too many", line);
        }
        self.extremes.note(at_s, line);
        if let Event::Fix(node, position) = event {
            self.suspects.note(node, at_s, position, line);
        }
        self.events.push((at_s, event));
    }

    /// Checks raw positions, makes names unique and sorts events by time; those of one time stay
    /// in the order of the document.
    pub(super) fn finish(mut self) -> Self {
        let (nodes, report) = (&mut self.nodes, &mut self.report);
        let raw: Vec<_> = nodes.iter_mut().map(|node| node.raw_deg.take()).collect();
        let checked = positions::checked(&raw, |index, what| {
            report.add(what, || Location::path(nodes[index].path.as_str()));
        });
        for (node, position) in nodes.iter_mut().zip(checked) {
            node.position = node.position.or(position);
        }
        self.number_names();
        self.events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        self.thin_fixes();
        self.report_replaced();
        self
    }

    /// Reports values that a later one of the same link and tick replaces: a state has the last one only. Without a step,
    /// of the same time.
    fn report_replaced(&mut self) {
        let clock = self.step_s.map(|_| Clock::new(self.step_ns()));
        let tick = |at_s: f64| match &clock {
            Some(clock) => clock.tick_at((self.elapsed_s(at_s) * 1e9).round() as u64),
            // Zero has one sign.
            None => (at_s + 0.0).to_bits(),
        };
        let mut last: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let (mut replaced, mut interval_s) = (0, f64::INFINITY);
        for (at_s, event) in &self.events {
            let Event::Observe(from, to, _) = *event else { continue };
            let Some(before_s) = last.insert((from, to), *at_s) else { continue };
            if tick(before_s) == tick(*at_s) {
                replaced += 1;
                interval_s = interval_s.min(at_s - before_s);
            }
        }
        if replaced > 0 {
            let what = match self.step_s {
                Some(step_s) => format!(
                    "a value replaced by a later one of the same tick of {step_s} s (the least interval is {} s)",
                    (interval_s * 1e3).round() / 1e3
                ),
                None => "a value replaced by a later one of the same time".to_owned(),
            };
            self.report.add_many(&what, replaced, Location::default);
        }
    }

    /// Makes names unique: of several equal ones all but the first get a number.
    fn number_names(&mut self) {
        let mut names = BTreeSet::new();
        // The number last tried for a name, so that thousands of one name take linear time.
        let mut tried: BTreeMap<String, usize> = BTreeMap::new();
        // Positioned nodes keep their names first: only they become part of a plan.
        let (mut order, rest): (Vec<usize>, Vec<usize>) =
            (0..self.nodes.len()).partition(|index| self.nodes[*index].position.is_some());
        order.extend(rest);
        for index in order {
            let node = &mut self.nodes[index];
            if names.insert(node.name.clone()) {
                continue;
            }
            let number = tried.entry(node.name.clone()).or_insert(1);
            let name = loop {
                *number += 1;
                let end = format!(" {number}");
                let stem = node.name.chars().take(NAME_CHARS_MAX - end.len());
                let name = stem.collect::<String>() + &end;
                if names.insert(name.clone()) {
                    break name;
                }
            };
            node.name = name;
            let what = "a name that another node has: numbered";
            self.report.add(what, || Location::path(node.path.as_str()));
        }
    }

    /// Names a document without a name of its own after its file; a stem that is not valid as a name is left out.
    pub fn name_after(&mut self, stem: &str) {
        let Some(name) = name_of(stem) else { return };
        match &mut self.plan {
            Some(plan) if plan.outline.name == NAME_DEFAULT => {
                let (before, after) = (unnamed(NAME_DEFAULT), unnamed(&name));
                for note in self.report.notes.iter_mut().filter(|note| note.what == before) {
                    note.what.clone_from(&after);
                }
                plan.outline.name = name;
            }
            Some(_) => {}
            None => drop(self.title.get_or_insert(name)),
        }
    }

    /// True if an event is one of motion, not a measurement.
    #[must_use]
    pub fn has_motion(&self) -> bool {
        self.events.iter().any(|(_, event)| !matches!(event, Event::Observe(..)))
    }

    /// Number of nodes that move.
    #[must_use]
    pub fn moving_nodes(&self) -> usize {
        let mut last: BTreeMap<u32, GeoPoint> = BTreeMap::new();
        let mut moving = BTreeSet::new();
        for (_, event) in &self.events {
            let node = match *event {
                Event::Fix(node, at) | Event::Move(node, at) => {
                    last.insert(node, at).filter(|before| *before != at).map(|_| node)
                }
                Event::GoTo(node, ..) => Some(node),
                _ => None,
            };
            moving.extend(node);
        }
        moving.len()
    }

    /// Number of measurements.
    #[must_use]
    pub fn measurements(&self) -> usize {
        let observed = |event: &&(f64, Event)| matches!(event.1, Event::Observe(..));
        self.events.iter().filter(observed).count()
    }

    /// Reports nodes of the recording whose station no document states.
    pub fn note_stations(&mut self) {
        let (_, used) = self.first_positions();
        let nodes = self.nodes.iter().zip(used);
        let unknown = nodes.filter(|(node, used)| *used && node.station.is_none()).count();
        if unknown > 0 {
            self.report.add_many(DEFAULT_STATION, unknown, Location::default);
        }
    }

    /// The dataset as a plan: nodes with a position, and `station` where they have none of their
    /// own.
    ///
    /// # Errors
    /// A dataset without positions; `format` names it in the message.
    pub fn into_plan(
        mut self,
        format: &Format,
        station: &Station,
    ) -> Result<(PlanFile, Report), FormatError> {
        let mut report = std::mem::take(&mut self.report);
        let document = Location::default;
        if let Some(plan) = self.plan {
            return Ok((plan, report));
        }
        if self.links > 0 {
            let what = "link: dropped, a plan computes its own";
            report.add_many(what, self.links, document);
        }
        if !self.events.is_empty() {
            let what = "measurement or movement: dropped, a plan holds none";
            report.add_many(what, self.events.len(), document);
        }
        let is_of_links = self.measurements() > 0;
        let (positions, _) = self.first_positions();
        for (node, position) in self.nodes.iter_mut().zip(positions) {
            if node.position.is_none() && position.is_some() {
                node.position = position;
                report.add("a node that moves: at its first position", document);
            }
        }
        self.nodes.retain(|node| node.position.is_some());
        if self.nodes.is_empty() {
            let actual = format!("no node with a position{}", report.summary());
            let allowed = match is_of_links {
                true => "at least one; measurements of links become a log (NAME.gwlog)",
                false => "at least one",
            };
            return Err(Fault::new("", actual, allowed).at(format, document()));
        }
        let unknown = self.nodes.iter().filter(|node| node.station.is_none()).count();
        if unknown > 0 {
            report.add_many(DEFAULT_STATION, unknown, document);
        }
        let name = self
            .title
            .as_deref()
            .and_then(name_of)
            .unwrap_or_else(|| format!("{} map", format.label));
        let nodes = self.nodes.into_iter().filter_map(|node| {
            Some(PlanNode {
                id: None,
                name: name_of(&node.name)?,
                role: node.role,
                position: node.position?,
                height_msl_m: None,
                station: node.station.unwrap_or_else(|| station.clone()),
            })
        });
        let plan = PlanFile {
            outline: groundwave_simulation::deployment::Outline {
                name,
                center: None,
                region: None,
                environment: Default::default(),
            },
            names_model: false,
            nodes: nodes.collect(),
        };
        Ok((plan, report))
    }
}
