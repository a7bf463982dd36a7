//! Snapshots of running meshes as JSON: one document, one a line, or the files of a folder.

mod age;
mod place;
mod radios;

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::dataset::{Dataset, Event};
use super::error::{Fault, FormatError, Location};
use super::presence::{Presence, ends};
use super::stated::Stated;
use super::text as document;
use super::{Format, ReadOptions, Sample, Source, merged};
use place::Place;

use super::json_values::time;
pub(super) use super::json_values::{entries, number, position, rows, text};

/// Key of the node whose table a document is, where the document does not name it.
pub(super) const SELF: &str = "self";

/// Positions of nodes in a snapshot, degrees.
type Places = Vec<(u32, [f64; 2])>;

/// Note on a node without a position.
pub(super) const NO_POSITION: &str = "no position given";

/// Note on the altitude of a node that does not move.
pub(super) const ALTITUDE: &str =
    "the altitude of a node: that of the ground and the height of its antenna count (--height)";

/// One snapshot of a mesh.
#[derive(Debug, Default)]
pub(super) struct MeshSnapshot {
    /// Title of the map.
    pub title: Option<String>,
    /// Nodes.
    pub nodes: Vec<MeshNode>,
    /// Measured links: keys of sender and receiver.
    pub links: Vec<(String, String, Measured)>,
    /// Links listed, measured or not.
    pub listed_links: usize,
    /// Time, s since the Unix epoch.
    pub at_unix_s: Option<f64>,
    /// Key of the node whose table the document is; `None` for a document of the whole mesh.
    pub observer: Option<String>,
    /// Radios of nodes by their keys, where no document states them.
    pub radios: Vec<(String, Stated)>,
    /// Addresses of interfaces and other identifiers, with the keys of their nodes.
    pub aliases: Vec<(String, String)>,
    /// Reasons for what was dropped, with the path in the document.
    pub dropped: Vec<(String, String)>,
}

/// A node of a snapshot.
#[derive(Debug, Default)]
pub(super) struct MeshNode {
    /// Identifier used by links.
    pub key: String,
    /// Display name.
    pub name: Option<String>,
    /// Purpose.
    pub role: Role,
    /// Latitude and longitude, degrees.
    pub at_deg: Option<[f64; 2]>,
    /// Radio, antenna and height, as far as the document states them.
    pub stated: Stated,
    /// The document states that the node is not there.
    pub is_offline: bool,
    /// Path in the document.
    pub path: String,
}

impl MeshSnapshot {
    /// Counts something dropped.
    pub fn drop(&mut self, what: &str) {
        self.dropped.push((what.to_owned(), String::new()));
    }

    /// Takes the nodes, addresses and time of another document about the same mesh.
    fn complete(&mut self, other: Self) {
        let keys: BTreeSet<&String> = other.nodes.iter().map(|node| &node.key).collect();
        self.nodes.retain(|node| !keys.contains(&node.key));
        self.nodes.splice(0..0, other.nodes);
        self.aliases.extend(other.aliases);
        self.dropped.extend(other.dropped);
        self.title = self.title.take().or(other.title);
        self.at_unix_s = self.at_unix_s.or(other.at_unix_s);
    }

    /// Takes the first of `stamps` that is a time as that of the snapshot.
    pub fn date<'v>(&mut self, stamps: impl IntoIterator<Item = &'v Value>) {
        let Some((at_s, has_zone)) = stamps.into_iter().find_map(time) else { return };
        self.at_unix_s = Some(at_s);
        if !has_zone {
            self.drop("a time without a zone: taken as UTC");
        }
    }

    /// Adds what was measured from a sender to a receiver.
    pub fn link(&mut self, from: &str, to: &str, values: Measured) {
        self.links.push((from.to_owned(), to.to_owned(), values));
    }
}

/// Documents of another format that state the nodes of snapshots, and their parser.
pub(super) type Companion = (&'static Format, fn(&Value, &mut MeshSnapshot));

/// Reads the snapshots of `source`. Those without a time are `options.step_s` apart, those of single nodes by
/// node; a link that a later snapshot of the mesh, or of the same node, does not list has a delivery of 0
/// from then on.
pub(super) fn read(
    format: &Format,
    parse: fn(&Value, &mut MeshSnapshot),
    source: &Source,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    read_with(format, parse, &[], source, options)
}

/// As [`read`]; the documents of companions state the nodes of the snapshots, in the same order.
pub(super) fn read_with(
    format: &Format,
    parse: fn(&Value, &mut MeshSnapshot),
    companions: &[Companion],
    source: &Source,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    let mut series = Series::new(options);
    for (index, bytes) in source.documents.iter().enumerate() {
        let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        let documents = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        let mut count = 0_usize;
        for document in documents {
            let place = series.place(source, index, count);
            count += 1;
            match document {
                Ok(document) => {
                    let sample = Sample::of_json(&document);
                    let is_own = (format.sniff)(&sample);
                    let companion = companion(companions, &sample).filter(|_| !is_own);
                    let mut snapshot = MeshSnapshot::default();
                    companion.unwrap_or(parse)(&document, &mut snapshot);
                    match (is_own, companion) {
                        (true, _) => series.snapshots.push((place, snapshot)),
                        (false, Some(_)) => series.companions.push((place, snapshot)),
                        (false, None) => {
                            series.leave_out(other_than(format), place, || Ok(snapshot));
                        }
                    }
                }
                Err(error) => {
                    let what = match is_json {
                        true => "a document of invalid JSON".to_owned(),
                        false => other_than(format),
                    };
                    let place = Place { line: error.line(), ..place };
                    let location = place.at("");
                    series.leave_out(what, place, || {
                        let fault = Fault::new("", error.to_string(), "JSON (RFC 8259)");
                        Err(fault.at(format, location))
                    });
                    break;
                }
            }
        }
        if count == 0 && source.documents.len() > 1 {
            let place = series.place(source, index, 0);
            series.others.push((EMPTY.to_owned(), place));
        }
    }
    let mut dataset = series.join()?;
    if dataset.begin_unix_s.is_some() {
        dataset.drop_unset_clocks();
    }
    Ok(dataset)
}

/// Reads the snapshots of `source`, a text each, `options.step_s` apart.
pub(super) fn read_text(
    format: &Format,
    parse: fn(&str, &mut MeshSnapshot),
    source: &Source,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    let mut series = Series::new(options);
    for (index, bytes) in source.documents.iter().enumerate() {
        let place = series.place(source, index, 0);
        let snapshot = || {
            let mut snapshot = MeshSnapshot::default();
            parse(document::text(format, bytes)?, &mut snapshot);
            Ok(snapshot)
        };
        match (format.sniff)(&Sample::of(bytes)) {
            true => series.snapshots.push((place, snapshot()?)),
            false => series.leave_out(other_than(format), place, snapshot),
        }
    }
    series.join()
}

/// The parser of a document of a companion.
fn companion(
    companions: &[Companion],
    sample: &Sample<'_>,
) -> Option<fn(&Value, &mut MeshSnapshot)> {
    let mut own = companions.iter().filter(|(format, _)| (format.sniff)(sample));
    own.next().map(|(_, parse)| *parse)
}

/// Note on a document of another format.
fn other_than(format: &Format) -> String {
    format!("a document that is not {}", format.label)
}

/// Note on a file without a document.
const EMPTY: &str = "an empty document";

/// Snapshots read so far.
struct Series {
    dataset: Dataset,
    /// Station of nodes, to complete what documents state.
    station: Station,
    snapshots: Vec<(Place, MeshSnapshot)>,
    /// Documents that state the nodes of snapshots.
    companions: Vec<(Place, MeshSnapshot)>,
    /// Reasons for leaving out documents.
    others: Vec<(String, Place)>,
    /// The first of them, which is read where there is nothing else.
    other: Option<Result<MeshSnapshot, FormatError>>,
    documents: usize,
}

impl Series {
    /// Nothing yet.
    fn new(options: &ReadOptions) -> Self {
        let dataset = Dataset { step_s: Some(options.step_s), ..Dataset::default() };
        let (snapshots, companions) = (Vec::new(), Vec::new());
        let (station, others) = (options.station.clone(), Vec::new());
        Self { dataset, station, snapshots, companions, others, other: None, documents: 0 }
    }

    /// The next document: one of a folder has the name of its file, one behind others in a file its number.
    fn place(&mut self, source: &Source, index: usize, before: usize) -> Place {
        self.documents += 1;
        let number = self.documents;
        let name = match source.documents.len() > 1 {
            true => source.name(index),
            false if before > 0 => format!("document {number}"),
            false => String::new(),
        };
        Place { number, name, line: 0 }
    }

    /// Counts a document that is not of the format.
    fn leave_out(
        &mut self,
        what: String,
        place: Place,
        read: impl FnOnce() -> Result<MeshSnapshot, FormatError>,
    ) {
        if self.snapshots.is_empty() && self.other.is_none() {
            self.other = Some(read());
        }
        self.others.push((what, place));
    }

    /// The snapshots as one dataset: an address is the node that states it anywhere.
    fn join(mut self) -> Result<Dataset, FormatError> {
        let mut snapshots = std::mem::take(&mut self.snapshots);
        let mut others = std::mem::take(&mut self.others);
        if let (true, Some(other)) = (snapshots.is_empty(), self.other.take()) {
            let first = others.iter().position(|(what, _)| what != EMPTY).unwrap_or(0);
            snapshots.push((others.remove(first).1, other?));
        }
        for (index, (_, companion)) in std::mem::take(&mut self.companions).into_iter().enumerate()
        {
            let last = snapshots.len().saturating_sub(1);
            if let Some((_, snapshot)) = snapshots.get_mut(index.min(last)) {
                snapshot.complete(companion);
            }
        }
        for (what, place) in others {
            self.dataset.report.add(&what, || place.at(""));
        }
        // `None` for addresses of several nodes.
        let mut owners: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (address, key) in snapshots.iter().flat_map(|(_, snapshot)| &snapshot.aliases) {
            let owner = owners.entry(address.clone()).or_insert_with(|| Some(key.clone()));
            if owner.as_ref().is_some_and(|owner| owner != key) {
                *owner = None;
            }
        }
        let nodes = snapshots.iter().flat_map(|(_, snapshot)| &snapshot.nodes);
        for key in nodes.map(|node| &node.key) {
            owners.remove(key);
        }
        let times = snapshots.iter().filter_map(|(_, snapshot)| snapshot.at_unix_s);
        self.dataset.begin_unix_s = times.reduce(f64::min);
        // All nodes first: a link may be to a node that a later document names.
        let mut places: Vec<Places> = Vec::with_capacity(snapshots.len());
        let mut presence = Presence::default();
        self.name_observers(&mut snapshots);
        for (place, snapshot) in &mut snapshots {
            let (mut keys, mut offline) = (BTreeSet::new(), BTreeSet::new());
            let mut of_snapshot = Places::new();
            for node in std::mem::take(&mut snapshot.nodes) {
                offline.extend(node.is_offline.then(|| node.key.clone()));
                if !keys.insert(node.key.clone()) {
                    let what = "a node that the document lists before: its first entry counts";
                    self.dataset.report.add(what, || place.at(&node.path));
                }
                let at_deg = node.at_deg;
                of_snapshot.extend(self.node(node).zip(at_deg));
            }
            let linked = ends(&snapshot.links, &owners);
            presence.push(snapshot.observer.is_none(), keys, offline, linked);
            places.push(of_snapshot);
        }
        let mut counts = BTreeMap::new();
        let dated = snapshots.into_iter().enumerate().map(|(index, (place, snapshot))| {
            let count = counts.entry(snapshot.observer.clone()).or_default();
            (self.at_s(&snapshot, index, count), place, snapshot)
        });
        let mut dated: Vec<_> = dated.collect();
        let times: Vec<_> = dated.iter().map(|(at_s, place, _)| (*at_s, place.number)).collect();
        presence.note(&mut self.dataset, &times);
        let places = times.into_iter().zip(places).collect();
        // Links end with the snapshot that follows, which the order of names need not give.
        dated.sort_by(|(a_s, ..), (b_s, ..)| a_s.total_cmp(b_s));
        let (mut views, mut radios) = (BTreeMap::new(), Vec::new());
        for (at_s, place, mut snapshot) in dated {
            radios.append(&mut snapshot.radios);
            let links = views.entry(snapshot.observer.clone()).or_default();
            let before = std::mem::take(&mut self.dataset.report);
            self.take(snapshot, (at_s, place.number), links, &owners);
            let report = std::mem::replace(&mut self.dataset.report, before);
            for note in report.notes {
                let at = || place.at(&note.first.path);
                self.dataset.report.add_many(&note.what, note.count, at);
            }
            self.dataset.report.more += report.more;
        }
        self.complete_radios(radios, &owners);
        self.moves(places);
        self.dataset.merge_links();
        Ok(self.dataset)
    }

    /// Names the tables of nodes that do not say whose they are after the folders of their files, or after the
    /// files: those whose names differ by more than digits are of different nodes.
    fn name_observers(&mut self, snapshots: &mut [(Place, MeshSnapshot)]) {
        let is_unnamed = |snapshot: &MeshSnapshot| {
            let is_own = |(from, to, _): &(String, String, Measured)| from == SELF || to == SELF;
            snapshot.observer.is_none() && snapshot.links.iter().any(is_own)
        };
        let names: Vec<Option<(String, String)>> = snapshots
            .iter()
            .map(|(place, snapshot)| is_unnamed(snapshot).then(|| place.node()).flatten())
            .collect();
        let different: BTreeSet<&String> = names.iter().flatten().map(|(_, kind)| kind).collect();
        if different.len() < 2 {
            let count = names.iter().flatten().count();
            if count > 1 {
                let what = "a table that does not name its node: taken as one of the same node; a folder for each node \
                            names them";
                self.dataset.report.add_many(what, count, Location::default);
            }
            return;
        }
        for ((place, snapshot), name) in snapshots.iter_mut().zip(&names) {
            let Some((name, _)) = name else { continue };
            let what = "a table that does not name its node: named after its file or folder";
            self.dataset.report.add(what, || place.at(""));
            for end in snapshot.links.iter_mut().flat_map(|(from, to, _)| [from, to]) {
                if end == SELF {
                    end.clone_from(name);
                }
            }
            snapshot.observer = Some(name.clone());
        }
    }

    /// Fixes of nodes whose positions differ between snapshots.
    fn moves(&mut self, places: Vec<((f64, usize), Places)>) {
        let mut courses: BTreeMap<u32, Vec<(f64, usize, [f64; 2])>> = BTreeMap::new();
        for ((at_s, number), of_snapshot) in places {
            for (node, at_deg) in of_snapshot {
                courses.entry(node).or_default().push((at_s, number, at_deg));
            }
        }
        for (node, course) in courses {
            let (first_s, _, first_deg) = course[0];
            if !course.iter().any(|(at_s, _, at_deg)| *at_s != first_s && *at_deg != first_deg) {
                continue;
            }
            for (at_s, number, [lat_deg, lon_deg]) in course {
                if let Ok(position) = GeoPoint::new(lat_deg, lon_deg) {
                    self.dataset.event(at_s, Event::Fix(node, position), number);
                }
            }
        }
    }

    /// Time of a snapshot, s: its own; without one, a step after the snapshot before it, of an observer after
    /// `count` of that observer.
    fn at_s(&self, snapshot: &MeshSnapshot, index: usize, count: &mut usize) -> f64 {
        let before = match snapshot.observer {
            Some(_) => *count,
            None => index,
        };
        *count += 1;
        let elapsed_s = before as f64 * self.dataset.step_s.unwrap_or(1.0);
        let begin_s = self.dataset.begin_unix_s.unwrap_or(0.0);
        snapshot.at_unix_s.unwrap_or(begin_s + elapsed_s)
    }

    fn take(
        &mut self,
        snapshot: MeshSnapshot,
        (at_s, number): (f64, usize),
        links_before: &mut BTreeSet<(String, String)>,
        owners: &BTreeMap<String, Option<String>>,
    ) {
        let dataset = &mut self.dataset;
        for (what, path) in snapshot.dropped {
            dataset.report.add(&what, || Location::path(path));
        }
        dataset.title = dataset.title.take().or(snapshot.title);
        dataset.links += snapshot.listed_links;
        let mut links = BTreeSet::new();
        for (from, to, values) in snapshot.links {
            let (from, to) = (owner(owners, &from).to_owned(), owner(owners, &to).to_owned());
            self.dataset.observe(at_s, (&from, &to), values, number);
            links.insert((from, to));
        }
        let absent = Measured { delivery_prob: Some(merged::ABSENT), ..Measured::default() };
        for (from, to) in links_before.difference(&links) {
            self.dataset.observe(at_s, (from, to), absent, number);
        }
        *links_before = links;
    }

    /// Adds a node, or finds that of its key.
    fn node(&mut self, node: MeshNode) -> Option<u32> {
        let dataset = &mut self.dataset;
        let before = dataset.nodes.len();
        let path = || Location::path(node.path.as_str());
        let name = node.name.as_deref().unwrap_or(&node.path);
        let index = dataset.named(&node.key, name);
        let Some(index) = index else {
            let what = "one node too many, or an empty name";
            dataset.report.add(what, path);
            return None;
        };
        let new = dataset.nodes.len() > before;
        let entry = &mut dataset.nodes[index as usize];
        if new {
            entry.role = node.role;
            entry.path.clone_from(&node.path);
            if node.name.is_none() {
                let what = "no name given: the path in the document is taken";
                dataset.report.add(what, path);
            }
            if node.at_deg.is_none() {
                dataset.report.add(NO_POSITION, path);
            }
        }
        entry.raw_deg = entry.raw_deg.or(node.at_deg);
        if entry.station.is_none() {
            entry.station = node.stated.station(&self.station);
        }
        Some(index)
    }
}

/// The node that an address is of, or the key itself.
fn owner<'k>(owners: &'k BTreeMap<String, Option<String>>, key: &'k str) -> &'k str {
    owners.get(key).and_then(Option::as_deref).unwrap_or(key)
}

/// A measured quality, 0 to 1.
pub(super) fn quality(quality: f64) -> Measured {
    Measured { quality: Some(quality), ..Measured::default() }
}
