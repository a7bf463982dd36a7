//! GPX 1.0 and 1.1: tracks of GPS receivers, a node for each; without tracks, way points as sites.

use groundwave_model::terrain::GeoPoint;
use quick_xml::events::BytesStart;

use super::dataset::{Dataset, Event, Height, Node};
use super::error::{FormatError, quoted};
use super::plan::name_of;
use super::xml::{Tag, Tags, number};
use super::{Content, Format, ReadOptions, Source, clock};

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
    /// Tracks begun.
    tracks: usize,
    /// Node of the open track, from its first point on.
    node: Option<u32>,
    /// Name of the open track or way point.
    name: Option<String>,
    /// Way points, each with its line.
    sites: Vec<(Node, usize)>,
    /// Latitude and longitude of the open point, and its time.
    point: Option<((f64, f64), Option<f64>)>,
    /// Elevation of the open point above mean sea level, m.
    elevation_m: Option<f64>,
    /// True for a time of the open point that cannot be read, and the note on the first such time.
    is_unread: bool,
    unread: Option<String>,
}

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut state = State::default();
    while let Some(tag) = tags.next()? {
        match tag {
            Tag::Start(start) if tags.open(1).is_empty() && tags.open(0) != "gpx" => {
                let actual = format!("the element {}", start.local_name().as_ref());
                return Err(tags.invalid(&actual, "gpx as the first one"));
            }
            Tag::Start(start) => state.begin(&start),
            Tag::End(name, text) => state.end((tags.open(0), &name), &text, tags.line()),
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
    dataset.begin_with_first();
    Ok(dataset)
}

impl State {
    fn begin(&mut self, start: &BytesStart<'_>) {
        match start.local_name().as_ref() {
            "trk" => (self.tracks, self.node, self.name) = (self.tracks + 1, None, None),
            "wpt" | "trkpt" => {
                if start.local_name().as_ref() == "wpt" {
                    self.name = None;
                }
                let place = number(start, "lat").zip(number(start, "lon"));
                self.point = Some((place.unwrap_or((f64::NAN, f64::NAN)), None));
                (self.is_unread, self.elevation_m) = (false, None);
            }
            _ => {}
        }
    }

    /// Takes the end of an element with its text; `tag` has the names of its parent and its own.
    fn end(&mut self, tag: (&str, &str), text: &str, line: usize) {
        match tag {
            ("metadata", "name") => self.dataset.title = name_of(text),
            ("trk" | "wpt", "name") => self.name = name_of(text),
            ("trkpt", "time") => {
                let time = clock::iso8601(text);
                if time.is_none() {
                    let what =
                        format!("a track point with an invalid time, such as {}", quoted(text));
                    self.unread.get_or_insert(what);
                    self.is_unread = true;
                }
                if let (Some((_, at)), Some((at_s, zoned))) = (&mut self.point, time) {
                    *at = Some(at_s);
                    if !zoned {
                        self.dataset.drop("a time without a zone: read as UTC", line);
                    }
                }
            }
            (_, "trkpt") => match self.point.take() {
                Some((at, Some(at_s))) => self.fix(at_s, at, line),
                _ if std::mem::take(&mut self.is_unread) => {
                    let what = self.unread.clone().unwrap_or_default();
                    self.dataset.drop(&what, line);
                }
                _ => self.dataset.drop("a track point without a time", line),
            },
            (_, "trk") => {
                // A name may follow the points.
                if let (Some(node), Some(name)) = (self.node.take(), self.name.take()) {
                    self.dataset.nodes[node as usize].name = name;
                }
            }
            (_, "wpt") => self.site(line),
            (_, "rtept") => self.dataset.drop("a route point: not used", line),
            ("trkpt", "ele") => match text.trim().parse() {
                Ok(elevation_m) => self.elevation_m = Some(elevation_m),
                Err(_) => self.dataset.drop("an invalid elevation: not used", line),
            },
            // Of a way point it is that of the ground.
            ("wpt", "ele") => {
                self.dataset.drop("the elevation of a way point: that of the ground counts", line);
            }
            _ => {}
        }
    }

    /// Takes the open way point.
    fn site(&mut self, line: usize) {
        let Some(((lat, lon), _)) = self.point.take() else { return };
        let name = self.name.take();
        let name = name.unwrap_or_else(|| format!("way point {}", self.sites.len() + 1));
        match GeoPoint::new(lat, lon) {
            Ok(position) => {
                self.sites.push((Node { position: Some(position), ..Node::named(&name) }, line));
            }
            Err(_) => self.dataset.drop("invalid latitude or longitude", line),
        }
    }

    /// Takes a point of the open track. A track is a node whatever its name: receivers call all of
    /// theirs alike.
    fn fix(&mut self, at_s: f64, (lat, lon): (f64, f64), line: usize) {
        let Ok(position) = GeoPoint::new(lat, lon) else {
            return self.dataset.drop("invalid latitude or longitude", line);
        };
        if self.node.is_none() {
            let name = format!("track {}", self.tracks);
            self.node = self.dataset.push(Node::named(&name));
        }
        match self.node {
            Some(node) => {
                self.dataset.event(at_s, Event::Fix(node, position), line);
                if let Some(elevation_m) = self.elevation_m.take() {
                    self.dataset.altitude(at_s, node, Height::Sea(elevation_m), line);
                }
            }
            None => self.dataset.drop("one node too many", line),
        }
    }
}
