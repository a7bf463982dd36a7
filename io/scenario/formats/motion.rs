//! Tracks: thinned, and as a scenario of moving nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location};
use super::{Format, report::Report};
use crate::limits::{DURATION_S_MAX, WAYPOINTS_MAX};

/// Step of a scenario of tracks, ns.
const SCENARIO_STEP_NS: u64 = 1_000_000_000;
/// Longest scenario of tracks, ticks.
const SCENARIO_TICKS_MAX: u64 = DURATION_S_MAX as u64;

/// A position and its time, s.
type Fix = (f64, GeoPoint);

impl Dataset {
    /// Counts time from the first event.
    pub(super) fn count_from_first(&mut self) {
        let times = self.events.iter().map(|event| event.0);
        let begin_s = times.fold(f64::INFINITY, f64::min);
        for event in &mut self.events {
            event.0 -= begin_s;
        }
        self.extremes.count_from(begin_s);
        self.begin_unix_s = None;
    }

    /// The positions of each node in the order of time. Of several at one time the last one
    /// counts; those between equal positions are left out.
    pub(super) fn tracks(&self) -> (BTreeMap<u32, Vec<Fix>>, usize) {
        let mut tracks: BTreeMap<u32, Vec<Fix>> = BTreeMap::new();
        for (at_s, event) in &self.events {
            if let Event::Move(node, position) = event {
                tracks.entry(*node).or_default().push((*at_s, *position));
            }
        }
        let mut dropped = 0;
        for track in tracks.values_mut() {
            track.sort_by(|a, b| a.0.total_cmp(&b.0));
            let all = track.len();
            let mut fixes: Vec<Fix> = Vec::with_capacity(all);
            for fix in track.drain(..) {
                if let [.., before, last] = fixes[..]
                    && before.1 == last.1
                    && last.1 == fix.1
                {
                    fixes.pop();
                }
                if fixes.last().is_some_and(|last| last.0 == fix.0) {
                    fixes.pop();
                }
                fixes.push(fix);
            }
            dropped += all - fixes.len();
            *track = fixes;
        }
        (tracks, dropped)
    }

    /// Replaces movements by the thinned tracks.
    pub(super) fn thin_tracks(&mut self) {
        let (tracks, dropped) = self.tracks();
        tell_thinned(&mut self.report, dropped);
        self.events.retain(|(_, event)| !matches!(event, Event::Move(..)));
        for (node, track) in tracks {
            let moves =
                track.into_iter().map(|(at_s, position)| (at_s, Event::Move(node, position)));
            self.events.extend(moves);
        }
    }

    /// A scenario in which a node follows each track, and the number of nodes. Stations are
    /// assumptions, written once for each node, to be edited.
    ///
    /// # Errors
    /// A dataset without tracks, or with a track longer than a scenario allows.
    pub fn motion_scenario(
        mut self,
        format: &Format,
    ) -> Result<(String, usize, Report), FormatError> {
        let invalid = |actual: String, allowed: String| {
            Err(Fault::new("", actual, allowed).at(format, Location::default()))
        };
        self.events.retain(|(_, event)| match event {
            Event::Move(..) => true,
            Event::GoTo(..) => {
                let what = "a destination: dropped, a scenario names the ns-2 file itself";
                self.report.add(what, Location::default);
                false
            }
            Event::Observe(..) => {
                let what = "measurement: dropped, a scenario holds none";
                self.report.add(what, Location::default);
                false
            }
        });
        self.count_from_first();
        self.check_span(format, SCENARIO_STEP_NS, SCENARIO_TICKS_MAX)?;
        let (tracks, dropped) = self.tracks();
        tell_thinned(&mut self.report, dropped);
        if tracks.is_empty() {
            let actual = format!("no track ({})", self.report.summary());
            return invalid(actual, "at least one".to_owned());
        }
        if let Some(track) = tracks.values().find(|track| track.len() > WAYPOINTS_MAX) {
            let actual = format!("{} positions of one node", track.len());
            return invalid(actual, format!("up to {WAYPOINTS_MAX}"));
        }
        let count = tracks.len();
        let by_name = tracks.into_iter().map(|(node, track)| {
            let name = self.nodes[node as usize].name.as_str();
            (name, track)
        });
        let text = write(self.title.as_deref(), &by_name.collect());
        Ok((text, count, self.report))
    }
}

fn tell_thinned(report: &mut Report, dropped: usize) {
    if dropped > 0 {
        let what = "a position between others that adds nothing: left out";
        report.add_many(what, dropped, Location::default);
    }
}

fn write(title: Option<&str>, tracks: &BTreeMap<&str, Vec<Fix>>) -> String {
    let last_s =
        tracks.values().filter_map(|track| track.last()).map(|fix| fix.0).fold(0.0, f64::max);
    let mut out = format!(
        "# Made from a recording. Stations are assumptions: recordings of positions do not tell them.\n\
         \n[scenario]\ntitle = {}\nstep_s = 1\nduration_s = {}\n",
        quoted(title.unwrap_or("Imported tracks")),
        last_s.ceil().max(1.0)
    );
    let mut names = BTreeSet::new();
    for (label, track) in tracks {
        let name = identifier(label, &mut names);
        let Some((_, first)) = track.first() else {
            continue;
        };
        let _ = write!(
            out,
            "\n[[node]]\nname = \"{name}\"\nlabel = {}\nrole = \"team\"\nlat_deg = {}\nlon_deg = {}\n\
             height_agl_m = 2\nradio = \"wifi_5g_mesh\"\nantenna = \"omni_9\"\n",
            quoted(label),
            first.lat_deg(),
            first.lon_deg(),
        );
        if track.len() < 2 {
            continue;
        }
        let _ = write!(out, "\n[[motion]]\nnode = \"{name}\"\nwaypoints = [\n");
        for (at_s, position) in track {
            let (lat, lon) = (position.lat_deg(), position.lon_deg());
            let _ = writeln!(out, "  {{ at_s = {at_s}, lat_deg = {lat}, lon_deg = {lon} }},");
        }
        out.push_str("]\n");
    }
    out
}

/// Name of a node in a scenario: letters, digits, and dashes for everything else.
fn identifier(label: &str, names: &mut BTreeSet<String>) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let plain: String = label.chars().map(safe).take(50).collect();
    let plain = plain.trim_matches('-');
    let plain = if plain.is_empty() { "track" } else { plain };
    let mut name = plain.to_owned();
    let mut count = 1;
    while !names.insert(name.clone()) {
        count += 1;
        name = format!("{plain}-{count}");
    }
    name
}

/// A basic string: what JSON escapes, TOML reads alike.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
