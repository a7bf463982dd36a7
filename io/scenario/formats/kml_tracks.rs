//! Tracks of KML (`gx:Track` of Google's extensions 2.2, `Track` of KML 2.3): a node for each placemark.

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Event, Node};
use super::error::{FormatError, Location};
use super::plan::name_of;
use super::xml::{Tag, Tags};
use super::{Content, Format, ReadOptions, Sample, Source, clock, zipped};

/// The format.
pub static FORMAT: Format = Format {
    name: "kmltrack",
    label: "KML tracks",
    description: "KML or KMZ with tracks (gx:Track): placemarks that move",
    extensions: &["kmltrack"],
    contents: &[Content::Tracks],
    sniff: |sample| match zipped::document(sample.bytes()) {
        Some(kml) => is_tracks(&kml),
        None => is_tracks(sample.bytes()),
    },
    read: Some(read),
    ..Format::NONE
};

/// True for KML with tracks; a plan with a track beside its points stays a plan.
pub(super) fn is_tracks(kml: &[u8]) -> bool {
    let sample = Sample::of(kml);
    let count = |part: &str| sample.text().matches(part).count();
    count("Track>") > 0 && count("<when>") > count("<Point") && sample.xml_root() == "kml"
}

/// State of the reader.
#[derive(Default)]
struct State {
    dataset: Dataset,
    placemarks: usize,
    /// Node of the open placemark, from its first position on, and its name.
    node: Option<u32>,
    name: Option<String>,
    /// Times and coordinates of the open track, each with its line.
    times: Vec<(Option<f64>, usize)>,
    places: Vec<(String, usize)>,
    is_above_ground: bool,
}

fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let is_packed = source.bytes().starts_with(zipped::ZIP_MAGIC);
    let unpacked = is_packed.then(|| zipped::unpacked(source.bytes())).transpose();
    let unpacked = unpacked.map_err(|fault| fault.at(&FORMAT, Location::default()))?;
    let mut tags = Tags::new(&FORMAT, unpacked.as_deref().unwrap_or(source.bytes()))?;
    let mut state = State::default();
    while let Some(tag) = tags.next()? {
        match tag {
            Tag::Start(start) => match start.local_name().as_ref() {
                "Placemark" => {
                    (state.placemarks, state.node, state.name) = (state.placemarks + 1, None, None);
                }
                "Track" => {
                    state.times.clear();
                    state.places.clear();
                    state.is_above_ground = false;
                }
                _ => {}
            },
            Tag::End(name, text) => state.end((tags.open(0), &name), text, tags.line()),
        }
    }
    let mut dataset = state.dataset;
    dataset.drop_unset_clocks();
    dataset.begin_with_first();
    Ok(dataset)
}

impl State {
    /// Takes the end of an element with its text; `tag` has the names of its parent and its own.
    fn end(&mut self, tag: (&str, &str), text: String, line: usize) {
        match tag {
            ("Document", "name") => self.dataset.title = name_of(&text),
            ("Placemark", "name") => self.name = name_of(&text),
            ("Track", "when") => {
                let time = clock::iso8601(&text);
                if time.is_some_and(|(_, zoned)| !zoned) {
                    self.dataset.drop("a time without a zone: read as UTC", line);
                }
                self.times.push((time.map(|time| time.0), line));
            }
            ("Track", "coord") => self.places.push((text, line)),
            ("Track", "altitudeMode") => self.is_above_ground = text == "relativeToGround",
            (_, "Track") => self.track(line),
            ("Placemark", "Point" | "LineString" | "Polygon") => {
                let what = format!("{} beside tracks: not used", tag.1);
                self.dataset.drop(&what, line);
            }
            (_, "Placemark") => {
                if let (Some(node), Some(name)) = (self.node.take(), self.name.take()) {
                    self.dataset.nodes[node as usize].name = name;
                }
            }
            _ => {}
        }
    }

    /// Takes the open track: times and coordinates belong together by their order.
    fn track(&mut self, line: usize) {
        let (times, places) = (std::mem::take(&mut self.times), std::mem::take(&mut self.places));
        if times.len() != places.len() {
            let count = times.len().abs_diff(places.len());
            let what = "a time or a coordinate of a track without the other";
            self.dataset.report.add_many(what, count, || Location::line(line));
        }
        for ((at_s, line), (place, _)) in times.into_iter().zip(places) {
            let numbers: Vec<Option<f64>> =
                place.split_ascii_whitespace().map(|number| number.parse().ok()).collect();
            let (lon, lat) = match numbers[..] {
                [Some(lon), Some(lat)] | [Some(lon), Some(lat), _] => (lon, lat),
                // A position may be unknown for a while.
                [] => continue,
                _ => (f64::NAN, f64::NAN),
            };
            let (Some(at_s), Ok(position)) = (at_s, GeoPoint::new(lat, lon)) else {
                self.dataset.drop("an invalid time or coordinate of a track", line);
                continue;
            };
            if self.node.is_none() {
                let name = format!("placemark {}", self.placemarks);
                self.node = self.dataset.push(Node::named(&name));
            }
            let Some(node) = self.node else {
                self.dataset.drop("one node too many", line);
                continue;
            };
            self.dataset.event(at_s, Event::Fix(node, position), line);
            match numbers.get(2) {
                Some(Some(height_m)) if self.is_above_ground => {
                    self.dataset.height(at_s, node, *height_m, line);
                }
                Some(Some(0.0)) | None => {}
                Some(_) => {
                    self.dataset.drop("an altitude that is not above ground: not used", line)
                }
            }
        }
    }
}
