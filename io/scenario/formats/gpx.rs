//! GPX 1.0 and 1.1: tracks of GPS receivers, a node for each; without tracks, way points as sites.

use groundwave_model::terrain::GeoPoint;
use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event as Xml};

use super::dataset::{Dataset, Event, Node};
use super::error::{Fault, FormatError, Location};
use super::limits::DEPTH_MAX;
use super::text::text;
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "gpx",
    label: "GPX",
    description: "GPX 1.0 and 1.1: track points with a time; without them, way points as sites",
    extensions: &["gpx"],
    contents: &[Content::Tracks, Content::Positions],
    sniff: |sample| sample.xml_root() == "gpx",
    read: Some(read),
    ..Format::NONE
};

/// State of the reader.
#[derive(Default)]
struct State {
    dataset: Dataset,
    open: Vec<String>,
    track: usize,
    name: Option<String>,
    /// Way points, each with its line.
    sites: Vec<(Node, usize)>,
    /// Latitude and longitude of the open point, and its time.
    point: Option<((f64, f64), Option<f64>)>,
    text: String,
}

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut xml = Reader::from_str(text);
    let mut state = State::default();
    let mut place = (0, 1);
    loop {
        let at = usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX);
        // Lines are counted as they pass, not from the start each time.
        let passed = text.as_bytes().get(place.0..at).unwrap_or_default();
        let lines = passed.iter().filter(|byte| **byte == b'\n').count();
        place = (at, place.1 + lines);
        let line = place.1;
        let invalid = |actual: &str, allowed: &str| {
            Err(Fault::new("", actual, allowed).at(&FORMAT, Location::line(line)))
        };
        match xml.read_event() {
            Err(error) => return invalid(&error.to_string(), "well-formed XML"),
            Ok(Xml::Eof) => break,
            Ok(Xml::DocType(_)) => return invalid("a document type", "none"),
            Ok(Xml::Start(start)) => {
                let name = start.local_name().as_ref().to_owned();
                if state.open.is_empty() && name != "gpx" {
                    return invalid(&format!("the element {name}"), "gpx as the first one");
                }
                if state.open.len() >= DEPTH_MAX {
                    return invalid("elements too deep", &format!("{DEPTH_MAX} levels"));
                }
                state.begin(&start);
                state.open.push(name);
            }
            Ok(Xml::Empty(start)) => {
                state.begin(&start);
                state.end(start.local_name().as_ref(), line);
            }
            Ok(Xml::Text(text)) => text.as_ref().trim().clone_into(&mut state.text),
            Ok(Xml::CData(text)) => text.as_ref().trim().clone_into(&mut state.text),
            Ok(Xml::End(_)) => {
                let name = state.open.pop().unwrap_or_default();
                state.end(&name, line);
            }
            Ok(_) => {}
        }
    }
    let State { mut dataset, sites, .. } = state;
    for (site, line) in sites {
        // A recording of movements has no use for what stands beside it.
        if !dataset.events.is_empty() {
            dataset.drop("a way point beside tracks: not used", line);
        } else if dataset.push(site).is_none() {
            dataset.drop("one way point too many, or an empty name", line);
        }
    }
    dataset.drop_unset_clocks();
    dataset.count_from_first();
    dataset.thin_tracks();
    Ok(dataset)
}

impl State {
    fn begin(&mut self, start: &BytesStart<'_>) {
        self.text.clear();
        match start.local_name().as_ref() {
            "trk" => (self.track, self.name) = (self.track + 1, None),
            "wpt" => self.name = None,
            _ => {}
        }
        match start.local_name().as_ref() {
            "trkpt" | "wpt" => {
                let number = |key: &str| -> Option<f64> {
                    let attribute = start.try_get_attribute(key).ok()??;
                    attribute.value.trim().parse().ok()
                };
                let place = number("lat").zip(number("lon"));
                self.point = Some((place.unwrap_or((f64::NAN, f64::NAN)), None));
            }
            _ => {}
        }
    }

    fn end(&mut self, name: &str, line: usize) {
        let parent = self.open.last().map(String::as_str);
        match (name, parent) {
            ("name", Some("metadata")) => self.dataset.title = Some(self.text.clone()),
            ("name", Some("trk" | "wpt")) => {
                let clean = self.text.chars().filter(|c| !c.is_control()).take(60);
                self.name = Some(clean.collect());
            }
            ("time", Some("trkpt")) => {
                let time: Option<Timestamp> = self.text.parse().ok();
                if let (Some((_, at)), Some(time)) = (&mut self.point, time) {
                    *at = Some(time.as_nanosecond() as f64 / 1e9);
                }
            }
            ("trkpt", _) => match self.point.take() {
                Some((at, Some(at_s))) => self.fix(at_s, at, line),
                _ => self.dataset.drop("a track point without a time", line),
            },
            ("wpt", _) => self.site(line),
            ("rtept", _) => self.dataset.drop("a route point: not used", line),
            ("ele", _) => self.dataset.drop("an altitude: heights are above ground", line),
            _ => {}
        }
        self.text.clear();
    }

    /// Takes the open way point.
    fn site(&mut self, line: usize) {
        let Some(((lat, lon), _)) = self.point.take() else { return };
        let name = self.name.take().filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| format!("way point {}", self.sites.len() + 1));
        match GeoPoint::new(lat, lon) {
            Ok(position) => {
                self.sites.push((Node { position: Some(position), ..Node::named(&name) }, line));
            }
            Err(_) => self.dataset.drop("invalid latitude or longitude", line),
        }
    }

    fn fix(&mut self, at_s: f64, (lat, lon): (f64, f64), line: usize) {
        let track = self.track;
        let name = self
            .name
            .as_deref()
            .filter(|name| !name.is_empty())
            .map_or_else(|| format!("track {track}"), str::to_owned);
        let Ok(position) = GeoPoint::new(lat, lon) else {
            return self.dataset.drop("invalid latitude or longitude", line);
        };
        if let Some(node) = self.dataset.node(&name, line) {
            self.dataset.event(at_s, Event::Move(node, position), line);
        }
    }
}
