//! Snapshots of running meshes as JSON: one document, one a line, or the files of a folder.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::Role;
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::text as document;
use super::{Format, ReadOptions, Sample, Source, clock};

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
    /// Path in the document.
    pub path: String,
}

impl MeshSnapshot {
    /// Counts something dropped.
    pub fn drop(&mut self, what: &str) {
        self.dropped.push((what.to_owned(), String::new()));
    }

    /// Adds what was measured from a sender to a receiver.
    pub fn link(&mut self, from: &str, to: &str, values: Measured) {
        self.links.push((from.to_owned(), to.to_owned(), values));
    }
}

/// Reads the snapshots of `source`. Those without a time are `options.step_s` apart, those of single nodes by
/// node; a link that a later snapshot of the mesh, or of the same node, does not list has a delivery of 0
/// from then on.
pub(super) fn read(
    format: &Format,
    parse: fn(&Value, &mut MeshSnapshot),
    source: &Source,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    let mut series = Series::new(options);
    let mut number = 0_usize;
    for bytes in &source.documents {
        let documents = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
        for document in documents {
            number += 1;
            let document = match document {
                Ok(document) => document,
                Err(error) if number == 1 => {
                    let fault = Fault::new("", error.to_string(), "JSON (RFC 8259)");
                    return Err(fault.at(format, Location::line(error.line())));
                }
                Err(_) => {
                    series.dataset.drop("a document of invalid JSON", number);
                    break;
                }
            };
            if series.leaves_out(format, &Sample::of_json(&document), number) {
                continue;
            }
            let mut snapshot = MeshSnapshot::default();
            parse(&document, &mut snapshot);
            series.snapshots.push((number, snapshot));
        }
    }
    let mut dataset = series.join();
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
        let number = index + 1;
        if series.leaves_out(format, &Sample::of(bytes), number) {
            continue;
        }
        let mut snapshot = MeshSnapshot::default();
        parse(document::text(format, bytes)?, &mut snapshot);
        series.snapshots.push((number, snapshot));
    }
    Ok(series.join())
}

/// Snapshots read so far.
struct Series {
    dataset: Dataset,
    /// Snapshots with the numbers of their documents.
    snapshots: Vec<(usize, MeshSnapshot)>,
}

impl Series {
    /// Nothing yet.
    fn new(options: &ReadOptions) -> Self {
        let dataset = Dataset { step_s: Some(options.step_s), ..Dataset::default() };
        Self { dataset, snapshots: Vec::new() }
    }

    /// The snapshots as one dataset: an address is the node that states it anywhere.
    fn join(mut self) -> Dataset {
        let mut snapshots = std::mem::take(&mut self.snapshots);
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
        for (number, snapshot) in &mut snapshots {
            let mut keys = BTreeSet::new();
            for node in std::mem::take(&mut snapshot.nodes) {
                if !keys.insert(node.key.clone()) {
                    let what = "a node that the document lists before: its first entry counts";
                    let at = || Location::new(*number as u64, node.path.as_str());
                    self.dataset.report.add(what, at);
                }
                self.node(node);
            }
        }
        let mut counts = BTreeMap::new();
        let dated = snapshots.into_iter().map(|(number, snapshot)| {
            let count = counts.entry(snapshot.observer.clone()).or_default();
            (self.at_s(&snapshot, number, count), number, snapshot)
        });
        let mut dated: Vec<_> = dated.collect();
        // Links end with the snapshot that follows, which the order of names need not give.
        dated.sort_by(|(a_s, ..), (b_s, ..)| a_s.total_cmp(b_s));
        let mut views = BTreeMap::new();
        for (at_s, number, snapshot) in dated {
            let links = views.entry(snapshot.observer.clone()).or_default();
            self.take(snapshot, (at_s, number), links, &owners);
        }
        self.dataset
    }

    /// Time of a snapshot, s: its own; without one, a step after the document before it, of an observer after
    /// `count` of that observer.
    fn at_s(&self, snapshot: &MeshSnapshot, number: usize, count: &mut usize) -> f64 {
        let before = match snapshot.observer {
            Some(_) => *count,
            None => number - 1,
        };
        *count += 1;
        let elapsed_s = before as f64 * self.dataset.step_s.unwrap_or(1.0);
        let begin_s = self.dataset.begin_unix_s.unwrap_or(0.0);
        snapshot.at_unix_s.unwrap_or(begin_s + elapsed_s)
    }

    /// Counts a document behind the first that is of another format; `false` for others.
    fn leaves_out(&mut self, format: &Format, sample: &Sample<'_>, number: usize) -> bool {
        let is_other = number > 1 && !(format.sniff)(sample);
        if is_other {
            let what = format!("a document that is not {}", format.label);
            self.dataset.drop(&what, number);
        }
        is_other
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
            dataset.report.add(&what, || Location::new(number as u64, path));
        }
        dataset.title = dataset.title.take().or(snapshot.title);
        dataset.links += snapshot.listed_links;
        let owner = |key: String| owners.get(&key).cloned().flatten().unwrap_or(key);
        let mut links = BTreeSet::new();
        for (from, to, values) in snapshot.links {
            let (from, to) = (owner(from), owner(to));
            self.dataset.observe(at_s, (&from, &to), values, number);
            links.insert((from, to));
        }
        let absent = Measured { delivery_prob: Some(0.0), ..Measured::default() };
        for (from, to) in links_before.difference(&links) {
            self.dataset.observe(at_s, (from, to), absent, number);
        }
        *links_before = links;
    }

    /// Adds a node, or finds that of its key.
    fn node(&mut self, node: MeshNode) {
        let dataset = &mut self.dataset;
        let before = dataset.nodes.len();
        let path = || Location::path(node.path.as_str());
        let name = node.name.as_deref().unwrap_or(&node.path);
        let index = dataset.named(&node.key, name);
        let Some(index) = index else {
            let what = "one node too many, or an empty name";
            return dataset.report.add(what, path);
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
                dataset.report.add("no position given", path);
            }
        }
        entry.raw_deg = entry.raw_deg.or(node.at_deg);
    }
}

/// Elements of a JSON array; none of anything else.
pub(super) fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Elements of an array with their indices, or members of an object with their keys, each with
/// its path below `path`.
pub(super) fn entries<'v>(
    value: &'v Value,
    path: &str,
) -> impl Iterator<Item = (String, Option<&'v String>, &'v Value)> {
    let listed =
        rows(value).enumerate().map(move |(index, one)| (format!("{path}[{index}]"), None, one));
    let keyed = value
        .as_object()
        .into_iter()
        .flatten()
        .map(move |(key, one)| (format!("{path}.{key}"), Some(key), one));
    listed.chain(keyed).collect::<Vec<_>>().into_iter()
}

/// A text, or a number as text; `None` when blank or of another type.
pub(super) fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, also in quotes.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Latitude and longitude under any of the keys in use, degrees.
pub(super) fn position(of: &Value) -> Option<[f64; 2]> {
    let at = |keys: [&str; 4]| keys.into_iter().find_map(|key| number(&of[key]));
    let lat = at(["lat", "latitude", "Latitude", "Lat"])?;
    Some([lat, at(["lng", "lon", "longitude", "Longitude"])?])
}

/// A time as seconds, ISO 8601 or ISO 8601 without a zone (UTC), s since the Unix epoch.
pub(super) fn time(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => Some(clock::iso8601(text)?.0),
        _ => None,
    }
}

/// A measured quality, 0 to 1.
pub(super) fn quality(quality: f64) -> Measured {
    Measured { quality: Some(quality), ..Measured::default() }
}
