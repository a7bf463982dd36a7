//! Tracks of KML (`gx:Track` of Google's extensions 2.2, `Track` of KML 2.3): a node for each placemark; and points
//! with times (`TimeStamp`): a node for those of one name, or of one folder where each has a name of its own.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::terrain::GeoPoint;

use super::dataset::{Dataset, Event, Node};
use super::error::{FormatError, Location, quoted};
use super::plan::name_of;
use super::xml::{Tag, Tags};
use super::{Content, Datum, Format, ReadOptions, Sample, Source, clock, zipped};

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

/// True for KML with tracks, or of points with times; a plan with a track beside its points stays a plan.
pub(super) fn is_tracks(kml: &[u8]) -> bool {
    if Sample::of(kml).xml_root() != "kml" {
        return false;
    }
    let [tracks, times, points, stamps] = counts(kml, ["Track", "when", "Point", "TimeStamp"]);
    tracks > 0 && times > points || stamps > 1 && stamps * 2 > points
}

/// Numbers of the elements of these names in a whole document, with any prefix.
fn counts(kml: &[u8], names: [&str; 4]) -> [usize; 4] {
    let mut counts = [0; 4];
    for tag in kml.split(|octet| *octet == b'<').skip(1) {
        let is_end = |octet: &u8| octet.is_ascii_whitespace() || matches!(octet, b'>' | b'/');
        let name = tag.split(is_end).next().unwrap_or_default();
        let name = name.rsplit(|octet| *octet == b':').next().unwrap_or_default();
        if let Some(index) = names.iter().position(|own| own.as_bytes() == name) {
            counts[index] += 1;
        }
    }
    counts
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
    mode: Option<Datum>,
    /// Datum of the open group of tracks, which they have unless they state their own.
    group_mode: Option<Datum>,
    /// Number and name of each folder, and those that are open.
    folders: Vec<String>,
    open_folders: Vec<usize>,
    /// Time and coordinates of the open placemark.
    stamp: Option<Option<f64>>,
    point: Option<String>,
    stamps: Vec<Stamp>,
    /// Datum of altitudes clamped to the ground, which otherwise have none.
    datum: Option<Datum>,
}

/// A point with a time.
struct Stamp {
    folder: Option<usize>,
    name: Option<String>,
    at_s: f64,
    position: GeoPoint,
    height_m: Option<f64>,
    mode: Option<Datum>,
    line: usize,
}

/// The datum of an `altitudeMode`; `None` for one clamped to the ground.
fn datum(text: &str) -> Option<Datum> {
    match text.trim() {
        "relativeToGround" => Some(Datum::Ground),
        "absolute" => Some(Datum::Sea),
        _ => None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let is_packed = source.bytes().starts_with(zipped::ZIP_MAGIC);
    let unpacked = is_packed.then(|| zipped::unpacked(source.bytes())).transpose();
    let unpacked = unpacked.map_err(|fault| fault.at(&FORMAT, Location::default()))?;
    let mut tags = Tags::new(&FORMAT, unpacked.as_deref().unwrap_or(source.bytes()))?;
    let mut state = State { datum: options.datum, ..State::default() };
    while let Some(tag) = tags.next()? {
        match tag {
            Tag::Start(start) => match start.local_name().as_ref() {
                "Placemark" => {
                    (state.placemarks, state.node, state.name) = (state.placemarks + 1, None, None);
                    (state.stamp, state.point, state.mode) = (None, None, None);
                    state.group_mode = None;
                }
                "MultiTrack" => state.group_mode = None,
                "Folder" => {
                    state.open_folders.push(state.folders.len());
                    state.folders.push(String::new());
                }
                "Track" => {
                    state.times.clear();
                    state.places.clear();
                    state.mode = state.group_mode;
                }
                _ => {}
            },
            Tag::End(name, text) => state.end((tags.open(0), &name), text, tags.line()),
        }
    }
    state.movers();
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
                let time = self.time(&text, line);
                self.times.push((time, line));
            }
            ("Track", "coord") => self.places.push((text, line)),
            ("Folder", "name") => {
                if let Some(folder) = self.open_folders.last() {
                    self.folders[*folder] = text;
                }
            }
            (_, "Folder") => drop(self.open_folders.pop()),
            ("TimeStamp", "when") => self.stamp = Some(self.time(&text, line)),
            ("Point", "coordinates") => self.point = Some(text),
            ("Track" | "Point", "altitudeMode") => self.mode = datum(&text),
            ("MultiTrack", "altitudeMode") => self.group_mode = datum(&text),
            (_, "MultiTrack") => self.group_mode = None,
            (_, "Track") => self.track(line),
            ("Placemark", "LineString" | "Polygon") => {
                let what = format!("{} beside tracks: not used", tag.1);
                self.dataset.drop(&what, line);
            }
            (_, "Placemark") => {
                self.stamped(line);
                if let (Some(node), Some(name)) = (self.node.take(), self.name.take()) {
                    self.dataset.nodes[node as usize].name = name;
                }
            }
            _ => {}
        }
    }

    /// A time, or the beginning of a day, month or year, s since the Unix epoch.
    fn time(&mut self, text: &str, line: usize) -> Option<f64> {
        if let Some(at_s) = clock::begin_of_date(text) {
            self.dataset.drop("a date without a time: its beginning is taken", line);
            return Some(at_s);
        }
        let (at_s, has_zone) = clock::iso8601(text)?;
        if !has_zone {
            self.dataset.drop("a time without a zone: read as UTC", line);
        }
        Some(at_s)
    }

    /// Takes the point of the open placemark, if it has one.
    fn stamped(&mut self, line: usize) {
        let Some(point) = self.point.take() else { return };
        let Some(at_s) = self.stamp.take() else {
            return self.dataset.drop("Point beside tracks: not used", line);
        };
        let numbers: Option<Vec<f64>> =
            point.split(',').map(|number| number.trim().parse().ok()).collect();
        let position = match numbers.as_deref() {
            Some([lon, lat] | [lon, lat, _]) => GeoPoint::new(*lat, *lon).ok(),
            _ => None,
        };
        let (Some(at_s), Some(position)) = (at_s, position) else {
            return self.dataset.drop("an invalid time or coordinate of a point", line);
        };
        let height_m = numbers.and_then(|numbers| numbers.get(2).copied());
        let (folder, name) = (self.open_folders.last().copied(), self.name.clone());
        let mode = self.mode;
        self.stamps.push(Stamp { folder, name, at_s, position, height_m, mode, line });
    }

    /// Makes nodes of the points with times.
    fn movers(&mut self) {
        let stamps = std::mem::take(&mut self.stamps);
        let mut names: BTreeMap<Option<usize>, BTreeMap<Option<&str>, usize>> = BTreeMap::new();
        for stamp in &stamps {
            let of_folder = names.entry(stamp.folder).or_default();
            *of_folder.entry(stamp.name.as_deref()).or_default() += 1;
        }
        let several = several_at_once(&stamps);
        // Where no name comes again, names are those of the points, unless they are at one time.
        let is_one = |folder: Option<usize>| {
            let names = &names[&folder];
            let is_alone = folder.is_none() && names.len() == 1;
            names.values().all(|count| *count == 1) && !several.contains(&folder) && !is_alone
        };
        let apart = in_folders_at_once(stamps.iter().filter(|stamp| !is_one(stamp.folder)));
        for name in &apart {
            let what = format!(
                "points of the name {} in several folders at the same times: a node for each folder",
                quoted(name)
            );
            self.dataset.report.add(&what, Location::default);
        }
        for stamp in &stamps {
            let folder = stamp.folder.map_or("", |folder| self.folders[folder].as_str());
            let own = stamp.name.as_deref().unwrap_or_default();
            let (key, name) = match is_one(stamp.folder) || own.is_empty() {
                true => (format!("folder {:?}", stamp.folder), folder.to_owned()),
                false if apart.contains(own) => {
                    (format!("folder {:?} name {own}", stamp.folder), format!("{folder} {own}"))
                }
                false => (format!("name {own}"), own.to_owned()),
            };
            let name = name_of(&name).unwrap_or_else(|| "track".to_owned());
            let Some(node) = self.dataset.named(&key, &name) else {
                self.dataset.drop("one node too many", stamp.line);
                continue;
            };
            self.dataset.event(stamp.at_s, Event::Fix(node, stamp.position), stamp.line);
            self.altitude((stamp.at_s, node), stamp.height_m, stamp.mode, stamp.line);
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
            let height_m = numbers.get(2).copied().flatten();
            self.altitude((at_s, node), height_m, self.mode, line);
        }
    }

    /// Takes the altitude of a position, m, in the datum of its mode, at a time, s, of a node.
    fn altitude(
        &mut self,
        (at_s, node): (f64, u32),
        height_m: Option<f64>,
        mode: Option<Datum>,
        line: usize,
    ) {
        match (height_m, mode) {
            (Some(height_m), Some(datum)) => {
                self.dataset.altitude(at_s, node, datum.height()(height_m), line);
            }
            (None | Some(0.0), _) => {}
            (Some(height_m), None) => match self.datum {
                Some(datum) => {
                    self.dataset.altitude(at_s, node, datum.height()(height_m), line);
                }
                None => self.dataset.drop(CLAMPED, line),
            },
        }
    }
}

/// Folders with points of several names at one time.
fn several_at_once(stamps: &[Stamp]) -> BTreeSet<Option<usize>> {
    let mut at_once = BTreeMap::new();
    let mut folders = BTreeSet::new();
    for stamp in stamps {
        let name = stamp.name.as_deref();
        if *at_once.entry((stamp.folder, stamp.at_s.to_bits())).or_insert(name) != name {
            folders.insert(stamp.folder);
        }
    }
    folders
}

/// Names of points that are in several folders at the same times: those of different nodes.
fn in_folders_at_once<'s>(stamps: impl Iterator<Item = &'s Stamp>) -> BTreeSet<String> {
    let mut spans: BTreeMap<&str, BTreeMap<Option<usize>, [f64; 2]>> = BTreeMap::new();
    for stamp in stamps {
        let of_name = spans.entry(stamp.name.as_deref().unwrap_or_default()).or_default();
        let [first_s, last_s] = of_name.entry(stamp.folder).or_insert([stamp.at_s; 2]);
        (*first_s, *last_s) = (first_s.min(stamp.at_s), last_s.max(stamp.at_s));
    }
    let is_at_once = |folders: &BTreeMap<Option<usize>, [f64; 2]>| {
        let mut spans: Vec<[f64; 2]> = folders.values().copied().collect();
        spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
        spans.windows(2).any(|two| two[1][0] < two[0][1])
    };
    let names = spans.into_iter().filter(|(name, folders)| !name.is_empty() && is_at_once(folders));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// Note on altitudes without a datum.
const CLAMPED: &str = "an altitude of a track that is clamped to the ground: not used; --datum agl, msl or hae sets its \
                       level";
