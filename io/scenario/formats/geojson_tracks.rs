//! Tracks of GeoJSON: lines with a time for each coordinate (`coordTimes`, `times`, MF-JSON), and points with times that are
//! of one node.

use std::collections::BTreeSet;

use groundwave_model::terrain::GeoPoint;
use serde_json::Value;

use super::csv::tracks::node_rank;
use super::dataset::{Dataset, Event, Node};
use super::error::{Fault, FormatError, Location};
use super::json_values::{number, rows, text, time};
use super::plan::name_of;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "geojsontrack",
    label: "GeoJSON tracks",
    description: "GeoJSON with times: lines (coordTimes), or points of one node",
    extensions: &["geojsontrack"],
    contents: &[Content::Tracks],
    sniff: |sample| is_of_tracks(sample.json()),
    read: Some(read),
    ..Format::NONE
};

/// Features looked at to recognise a document.
const SNIFFED: usize = 1_000;

/// Properties with the time of a point.
const TIMES: [&str; 6] = ["time", "timestamp", "datetime", "Time", "Timestamp", "time_long"];

/// Features of a document.
fn features(document: &Value) -> Vec<&Value> {
    match document["type"].as_str() {
        Some("FeatureCollection") => rows(&document["features"]).collect(),
        Some("Feature") => vec![document],
        _ => Vec::new(),
    }
}

/// The times of the coordinates of a line.
fn times(feature: &Value) -> Option<&Value> {
    let properties = &feature["properties"];
    let lists = [
        &properties["coordTimes"],
        &properties["coordinateProperties"]["times"],
        &properties["times"],
        &properties["timestamps"],
    ];
    lists.into_iter().find(|list| list.is_array())
}

/// Coordinates and times of a line, the same number of both; `None` for another feature. True where one lacks the other.
fn line(feature: &Value) -> Option<(Vec<(&Value, &Value)>, bool)> {
    let moving = &feature["temporalGeometry"];
    let geometry = &feature["geometry"];
    let lists: Vec<(&Value, &Value)> = match geometry["type"].as_str() {
        _ if moving["datetimes"].is_array() => vec![(&moving["coordinates"], &moving["datetimes"])],
        Some("LineString") => vec![(&geometry["coordinates"], times(feature)?)],
        Some("MultiLineString") => {
            rows(&geometry["coordinates"]).zip(rows(times(feature)?)).collect()
        }
        _ => return None,
    };
    let count = |list: &Value| list.as_array().map_or(0, Vec::len);
    let is_uneven = lists.iter().any(|(places, times)| count(places) != count(times));
    let pairs = lists.into_iter().flat_map(|(places, times)| rows(places).zip(rows(times)));
    Some((pairs.collect(), is_uneven))
}

/// The time of a point, s, and true if it has a zone; `None` for another feature.
fn point(feature: &Value) -> Option<(f64, bool)> {
    let is_point = feature["geometry"]["type"] == "Point";
    let mut stamps = TIMES.iter().map(|key| &feature["properties"][*key]);
    stamps.find_map(time).filter(|_| is_point)
}

/// The property that names the nodes of points, of several the best known, where all such properties come again: sites
/// have names of their own.
fn property_of_nodes(points: &[&Value]) -> Option<String> {
    let mut keys = keys_of_nodes(points);
    keys.sort();
    let is_again = |key: &str| {
        let mut values = BTreeSet::new();
        points.iter().any(|point| !values.insert(text(&point["properties"][key])))
    };
    let (_, first) = keys.first()?;
    keys.iter().all(|(_, key)| is_again(key)).then(|| (*first).clone())
}

/// Properties of the first point that may name nodes, with their ranks.
fn keys_of_nodes<'v>(points: &[&'v Value]) -> Vec<(usize, &'v String)> {
    let first = points.first().and_then(|point| point["properties"].as_object());
    let keys = first.into_iter().flat_map(|properties| properties.keys());
    keys.filter_map(|key| Some((node_rank(key)?, key))).collect()
}

/// True for points without a property that names nodes, no two of one time.
fn are_of_one_node(points: &[&Value]) -> bool {
    let mut times = BTreeSet::new();
    let mut stamps = points.iter().filter_map(|one| point(one));
    keys_of_nodes(points).is_empty() && stamps.all(|(at_s, _)| times.insert(at_s.to_bits()))
}

/// True for lines with times, and for points with times of which some are of one node: sites have names of their own.
fn is_of_tracks(document: &Value) -> bool {
    let features: Vec<&Value> = features(document).into_iter().take(SNIFFED).collect();
    if features.iter().any(|feature| line(feature).is_some_and(|(fixes, _)| !fixes.is_empty())) {
        return true;
    }
    let points: Vec<&Value> = features.into_iter().filter(|one| point(one).is_some()).collect();
    points.len() > 1 && (property_of_nodes(&points).is_some() || are_of_one_node(&points))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let document: Value = serde_json::from_slice(source.bytes()).map_err(|error| {
        let line = Location::line(error.line());
        Fault::new("", error.to_string(), "JSON (RFC 8259)").at(&FORMAT, line)
    })?;
    let features = features(&document);
    let points: Vec<&Value> = features.iter().copied().filter(|one| point(one).is_some()).collect();
    let property = property_of_nodes(&points);
    let mut state = State { dataset: Dataset::default(), options };
    let alone = name_of(&source.stem()).unwrap_or_else(|| "track".to_owned());
    for (index, feature) in features.iter().enumerate() {
        let path = || Location::path(format!("features[{index}]"));
        if let Some((fixes, is_uneven)) = line(feature) {
            if is_uneven {
                let what = "a time or a coordinate of a track without the other";
                state.dataset.report.add(what, path);
            }
            let name = text(&feature["properties"]["name"]).and_then(|name| name_of(&name));
            let name = name.unwrap_or_else(|| format!("track {}", index + 1));
            let Some(node) = state.dataset.push(Node::named(&name)) else {
                state.dataset.report.add("one node too many, or an empty name", path);
                continue;
            };
            for (place, stamp) in fixes {
                state.fix(node, place, time(stamp), index);
            }
        } else if let Some(at) = point(feature) {
            let key = property.as_ref().and_then(|key| text(&feature["properties"][key]));
            let key = key.unwrap_or_else(|| alone.clone());
            let Some(node) = state.dataset.named(&key, &key) else {
                state.dataset.report.add("one node too many, or an empty name", path);
                continue;
            };
            state.fix(node, &feature["geometry"]["coordinates"], Some(at), index);
        } else {
            state.dataset.report.add("a feature without times: not used", path);
        }
    }
    let mut dataset = state.dataset;
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

struct State<'o> {
    dataset: Dataset,
    options: &'o ReadOptions,
}

impl State<'_> {
    /// Takes a position, an array of longitude, latitude and perhaps altitude, at a time, s, with true for a zone.
    fn fix(&mut self, node: u32, place: &Value, at: Option<(f64, bool)>, index: usize) {
        let path = || Location::path(format!("features[{index}]"));
        let dataset = &mut self.dataset;
        let position = number(&place[1]).zip(number(&place[0]));
        let position = position.and_then(|(lat, lon)| GeoPoint::new(lat, lon).ok());
        let (Some((at_s, has_zone)), Some(position)) = (at, position) else {
            return dataset.report.add("an invalid time or coordinate of a track", path);
        };
        if !has_zone {
            dataset.report.add("a time without a zone: taken as UTC", path);
        }
        dataset.event(at_s, Event::Fix(node, position), 0);
        match (number(&place[2]).filter(|m| *m != 0.0), self.options.datum) {
            (Some(m), Some(datum)) => dataset.altitude(at_s, node, datum.height()(m), 0),
            (Some(_), None) => {
                let what =
                    "an altitude above an unknown level: not used; --datum agl, msl or hae sets it";
                dataset.report.add(what, path);
            }
            (None, _) => {}
        }
    }
}
