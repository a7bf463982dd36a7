//! Floating car data of SUMO (`--fcd-output`): positions of vehicles and persons, step by step. One is there from
//! the first step that has it to the first without it.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::terrain::GeoPoint;
use quick_xml::events::BytesStart;

use super::dataset::{Dataset, Event, Height, Node};
use super::error::FormatError;
use super::parts::Part;
use super::plane::Plane;
use super::xml::{Tag, Tags, attribute, number};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "sumo",
    label: "SUMO",
    description: "SUMO floating car data (--fcd-output): vehicles and persons that move",
    extensions: &["fcd"],
    contents: &[Content::Tracks],
    sniff: |sample| sample.xml_root() == "fcd-export",
    read: Some(read),
    ..Format::NONE
};

/// Kinds of objects, whose identifiers are of their kind.
pub(super) const KINDS: [&str; 3] = ["vehicle", "person", "container"];

/// Digits after the point that SUMO writes of degrees; of metres it writes two.
const DEGREE_DIGITS: usize = 5;

/// Positions that are looked at to tell degrees from metres.
const PLACES_MAX: usize = 10_000;

/// Reads the steps. Degrees, of `--fcd-output.geo`, are told from metres by their range and digits,
/// unless the options have an origin: then they are metres.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let is_geographic = options.origin.is_none() && is_geographic(source)?;
    let mut dataset = Dataset::default();
    let plane = (!is_geographic).then(|| Plane::of(options, &mut dataset));
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut at_s = None;
    // Nodes of the step before, and of the present one.
    let (mut before, mut present) = (BTreeSet::new(), BTreeSet::new());
    let (mut first, mut last_s) = (None, 0.0);
    while let Some(tag) = tags.next()? {
        let line = tags.line();
        let start = match tag {
            Tag::Start(start) => start,
            Tag::End(name, _) => {
                if let Some(at_s) = at_s.filter(|_| name == "timestep") {
                    leave(&mut dataset, at_s, before.difference(&present), line);
                    first.get_or_insert_with(|| (at_s, present.clone()));
                    last_s = at_s;
                    before = std::mem::take(&mut present);
                }
                continue;
            }
        };
        match start.local_name().as_ref() {
            "timestep" => at_s = attribute(&start, "time").and_then(|text| seconds(&text)),
            kind if KINDS.contains(&kind) => {
                let position = match (place(&start), plane) {
                    (Some((x, y)), Some(plane)) => plane.position(x, y),
                    (Some((lon, lat)), None) => GeoPoint::new(lat, lon).ok(),
                    (None, _) => None,
                };
                // That of the vehicle: its antenna is above it.
                let z_m = number(&start, "z").filter(|z_m| *z_m != 0.0);
                let height = z_m.map(|z_m| Height::Sea(z_m + options.station.height_agl_m));
                match (at_s, position, attribute(&start, "id")) {
                    (Some(at_s), Some(position), Some(id)) => {
                        if let Some(node) = node(&mut dataset, kind, &id, line) {
                            dataset.nodes[node as usize].comes_and_goes = true;
                            dataset.event(at_s, Event::Fix(node, position), line);
                            if let Some(height) = height {
                                dataset.altitude(at_s, node, height, line);
                            }
                            present.insert(node);
                        }
                    }
                    (None, ..) => dataset.drop("a vehicle in a step without a time", line),
                    (_, None, _) => dataset.drop("a vehicle with an invalid x or y", line),
                    (.., None) => dataset.drop("a vehicle without an id", line),
                }
            }
            _ => {}
        }
    }
    name_kinds(&mut dataset);
    dataset.parts.extend(first.map(|first| Part { first, last: (last_s, before) }));
    Ok(dataset)
}

/// The node of an object; those of different kinds may have the same identifier.
pub(super) fn node(dataset: &mut Dataset, kind: &str, id: &str, line: usize) -> Option<u32> {
    let node = dataset.named(&format!("{kind} {id}"), id);
    if node.is_none() {
        dataset.drop("one node too many, or an empty name", line);
    }
    node
}

/// Puts the kind before the names of objects whose identifier one of another kind has.
pub(super) fn name_kinds(dataset: &mut Dataset) {
    let mut by_id: BTreeMap<&str, Vec<(u32, &str)>> = BTreeMap::new();
    for (key, node) in &dataset.index {
        if let Some((_, id)) = key.split_once(' ') {
            by_id.entry(id).or_default().push((*node, key));
        }
    }
    for (node, key) in by_id.into_values().filter(|nodes| nodes.len() > 1).flatten() {
        dataset.nodes[node as usize].name = Node::named(key).name;
    }
}

/// Notes nodes that a step lacks.
fn leave<'n>(dataset: &mut Dataset, at_s: f64, nodes: impl Iterator<Item = &'n u32>, line: usize) {
    for node in nodes {
        dataset.event(at_s, Event::Leave(*node), line);
    }
}

/// Seconds of a time, also of `--human-readable-time`: `[days:]hours:minutes:seconds`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = text.split(':').map(|part| part.trim().parse().ok()).collect();
    match parts?.as_slice() {
        [seconds] => Some(*seconds),
        [hours, minutes, seconds] => Some(hours * 3_600.0 + minutes * 60.0 + seconds),
        [days, hours, minutes, seconds] => {
            Some(days * 86_400.0 + hours * 3_600.0 + minutes * 60.0 + seconds)
        }
        _ => None,
    }
}

fn place(start: &BytesStart<'_>) -> Option<(f64, f64)> {
    number(start, "x").zip(number(start, "y"))
}

/// True if the first positions are those of degrees.
fn is_geographic(source: &Source) -> Result<bool, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut places = Vec::new();
    while let Some(tag) = tags.next()? {
        let Tag::Start(start) = tag else { continue };
        places.extend(attribute(&start, "x").zip(attribute(&start, "y")));
        if places.len() >= PLACES_MAX {
            break;
        }
    }
    Ok(are_degrees(places.iter().map(|(x, y)| (x.as_str(), y.as_str()))))
}

/// True for longitudes and latitudes as SUMO writes them: all in their range, and one with more digits than metres have.
pub(super) fn are_degrees<'t>(places: impl Iterator<Item = (&'t str, &'t str)>) -> bool {
    let digits = |text: &str| text.split_once('.').map_or(0, |(_, digits)| digits.trim().len());
    let mut has_digits = false;
    for (x, y) in places.take(PLACES_MAX) {
        // Some objects have no position for a while.
        let (Ok(lon), Ok(lat)) = (x.trim().parse::<f64>(), y.trim().parse::<f64>()) else {
            continue;
        };
        if lon.abs() > 180.0 || lat.abs() > 90.0 {
            return false;
        }
        has_digits |= digits(x).max(digits(y)) >= DEGREE_DIGITS;
    }
    has_digits
}
