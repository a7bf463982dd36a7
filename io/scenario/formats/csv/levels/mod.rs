//! Tables of measured levels, read by a [`Mapping`].

mod clock;
mod guess;
mod mapping;
mod place;
mod shares;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::dataset::{Dataset, Event};
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::plan::values::parse;
use super::super::signal::NO_LEVEL;
use super::super::text::line_of_row;
use super::super::{ReadOptions, Source};
use super::FORMAT;
use super::read::delimiter as header_delimiter;
use super::times::DateOrder;
use csv::{ReaderBuilder, StringRecord};
use groundwave_model::radio::{Pointing, Station};
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::measure::Measured;

use self::clock::Clock;
use self::place::Place;

pub use guess::mapping as guess;
pub(super) use guess::{bare, is_level};
pub use mapping::{End, Links, Mapping, Nodes, Position, TimeUnit, VALUES, load};

/// Octets in which the end of the header is looked for.
const HEAD_OCTETS: usize = 65_536;

/// A mapping with the station of its nodes and the folder of the files it names.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Columns and units.
    pub mapping: Mapping,
    /// Station of every node.
    pub station: Option<Station>,
    /// Folder of the tables of nodes and links.
    pub folder: PathBuf,
}

/// Reads a table of levels.
///
/// Nodes have the station of the mapping, else that of `options` where a row states a height or a frequency.
pub(in super::super) fn read(
    source: &Source,
    levels: &Levels,
    options: &ReadOptions,
) -> Result<Dataset, FormatError> {
    let Levels { mapping, station, folder } = levels;
    let mut dataset = Dataset {
        title: mapping.title.clone(),
        step_s: Some(mapping.step_s),
        range_m: mapping.range_m,
        ..Dataset::default()
    };
    let mut ends = Ends::new();
    if let Some(nodes) = &mapping.nodes {
        let path = folder.join(&nodes.file);
        let base = station.as_ref().unwrap_or(&options.station);
        positions(&path, nodes, base, &mut dataset)?;
    }
    if let Some(links) = &mapping.links {
        let path = folder.join(&links.file);
        ends = pairs(&path, links, (station.as_ref(), &options.station), &mut dataset)?;
    }
    values(source, (mapping, options.date_order), &ends, &mut dataset)?;
    for node in &mut dataset.nodes {
        node.station = node.station.take().or_else(|| station.clone());
    }
    Ok(dataset)
}

/// Ends of each link, by its id.
type Ends = BTreeMap<String, (String, String)>;

fn invalid(path: &Path, actual: impl ToString, allowed: impl Into<String>) -> FormatError {
    let location = Location::path(path.display().to_string());
    Fault::new("", actual.to_string(), allowed).at(&FORMAT, location)
}

/// A table with named columns.
struct Table<'t> {
    path: &'t Path,
    octets: &'t [u8],
    delimiter: u8,
    rows: csv::Reader<&'t [u8]>,
    header: StringRecord,
}

/// The content of a table of nodes or links.
fn document(path: &Path) -> Result<Vec<u8>, FormatError> {
    let mut source = Source::open(path).map_err(|error| invalid(path, error, "a readable file"))?;
    Ok(source.documents.swap_remove(0))
}

impl<'t> Table<'t> {
    /// A table in `octets`; without a `delimiter`, with that of its header.
    fn new(path: &'t Path, octets: &'t [u8], delimiter: Option<char>) -> Result<Self, FormatError> {
        let head = &octets[..octets.len().min(HEAD_OCTETS)];
        let of_header = header_delimiter(&String::from_utf8_lossy(head));
        let delimiter = delimiter.map_or(of_header, |mark| mark as u8);
        let mut rows = ReaderBuilder::new().flexible(true).delimiter(delimiter).from_reader(octets);
        let header = rows.headers().map_err(|error| invalid(path, error, "a table"))?.clone();
        Ok(Self { path, octets, delimiter, rows, header })
    }

    fn column(&self, name: &str) -> Result<usize, FormatError> {
        let column = self.header.iter().position(|head| head.trim() == name);
        column.ok_or_else(|| {
            let columns: Vec<&str> = self.header.iter().take(40).collect();
            let allowed = match columns.is_empty() {
                true => "a first line with the names of columns".to_owned(),
                false => columns.join(", "),
            };
            invalid(self.path, format!("no column {name:?}"), allowed)
        })
    }

    /// Hands every row that can be read to `each`, with its line.
    fn each(
        &mut self,
        dataset: &mut Dataset,
        mut each: impl FnMut(&StringRecord, usize, &mut Dataset),
    ) {
        let mut row = StringRecord::new();
        loop {
            match self.rows.read_record(&mut row) {
                Ok(false) => return,
                Ok(true) => {
                    let line = line_of_row(row.position(), self.octets);
                    each(&row, line, dataset);
                }
                Err(err) => {
                    let line = line_of_row(err.position(), self.octets);
                    dataset.drop("an invalid row", line);
                    if matches!(err.kind(), csv::ErrorKind::Io(_)) {
                        return;
                    }
                }
            }
        }
    }
}

fn number(row: &StringRecord, column: usize) -> Option<f64> {
    parse(row.get(column)?).ok()
}

fn positions(
    path: &Path,
    nodes: &Nodes,
    station: &Station,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let octets = document(path)?;
    let mut table = Table::new(path, &octets, nodes.delimiter)?;
    let name = table.column(&nodes.name)?;
    let place = Place::of(&table, [&nodes.lat_deg, &nodes.lon_deg], true)?;
    let height = nodes.height_agl_m.as_deref().map(|name| table.column(name)).transpose()?;
    table.each(dataset, |row, line, dataset| {
        let Some(position) = place.point(row, line, dataset) else {
            return dataset.drop("a node without a position", line);
        };
        let name = row.get(name).unwrap_or_default().trim();
        if dataset.index.contains_key(name) {
            dataset.drop("a name that a row before has: the later row counts", line);
        }
        let Some(node) = dataset.node(name, line) else { return };
        dataset.nodes[node as usize].position = Some(position);
        let Some(text) = height.and_then(|column| cell(row, column)) else { return };
        let height_agl_m = parse(text).unwrap_or(f64::NAN);
        let station = Station { height_agl_m, ..station.clone() };
        match station.validate() {
            Ok(()) => dataset.nodes[node as usize].station = Some(station),
            Err(_) => {
                let what =
                    format!("an invalid height above ground, such as {}: {DEFAULT}", quoted(text));
                dataset.drop(&what, line);
            }
        }
    });
    Ok(())
}

/// Fate of a value of a station that cannot be used.
const DEFAULT: &str = "that of the station is taken";

/// A cell that is not empty.
fn cell(row: &StringRecord, column: usize) -> Option<&str> {
    row.get(column).map(str::trim).filter(|cell| !cell.is_empty())
}

/// Two nodes for each link, which look at each other: with the station of the mapping, or the default one where
/// the link has a frequency.
fn pairs(
    path: &Path,
    links: &Links,
    (station, default): (Option<&Station>, &Station),
    dataset: &mut Dataset,
) -> Result<Ends, FormatError> {
    let octets = document(path)?;
    let mut table = Table::new(path, &octets, links.delimiter)?;
    let id = table.column(&links.id)?;
    let a = Place::of(&table, [&links.a_lat_deg, &links.a_lon_deg], false)?;
    let b = Place::of(&table, [&links.b_lat_deg, &links.b_lon_deg], false)?;
    let frequency = links.frequency_mhz.as_deref().map(|name| table.column(name)).transpose()?;
    let mut ends = Ends::new();
    let mut longest_m = 0.0_f64;
    table.each(dataset, |row, line, dataset| {
        let places = a.point(row, line, dataset).zip(b.point(row, line, dataset));
        let Some((at_a, at_b)) = places.filter(|(a, b)| a != b) else {
            return dataset.drop("a link without two positions", line);
        };
        longest_m = longest_m.max(geodesic::inverse(at_a, at_b).distance_m);
        let id = row.get(id).unwrap_or_default().trim();
        let names = (format!("{id} A"), format!("{id} B"));
        if ends.contains_key(id) {
            dataset.drop("a link that a row before has: the later row counts", line);
        }
        let text = frequency.and_then(|column| cell(row, column));
        let base = station.or(text.map(|_| default));
        let frequency_mhz = text.map(|text| parse(text).unwrap_or(f64::NAN));
        let is_valid = |station: &Station| looking(station, at_a, at_b, frequency_mhz).is_some();
        let frequency_mhz = frequency_mhz.filter(|_| base.is_some_and(is_valid));
        if let (Some(text), None) = (text, frequency_mhz) {
            let what = format!("an invalid frequency in MHz, such as {}: {DEFAULT}", quoted(text));
            dataset.drop(&what, line);
        }
        for (name, at, other) in [(&names.0, at_a, at_b), (&names.1, at_b, at_a)] {
            let Some(node) = dataset.node(name, line) else {
                return;
            };
            let entry = &mut dataset.nodes[node as usize];
            entry.position = Some(at);
            entry.station = base.and_then(|base| looking(base, at, other, frequency_mhz));
        }
        ends.insert(id.to_owned(), names);
    });
    // Others on the same frequency are farther or look elsewhere.
    dataset.range_m = dataset.range_m.or((longest_m > 0.0).then_some(longest_m * 1.01));
    Ok(ends)
}

/// A station that looks from one position at another; `None` for a frequency that it cannot have.
fn looking(
    station: &Station,
    at: GeoPoint,
    other: GeoPoint,
    frequency_mhz: Option<f64>,
) -> Option<Station> {
    let mut station = station.clone();
    let azimuth_deg = geodesic::inverse(at, other).azimuth_deg.rem_euclid(360.0);
    station.pointing = Some(Pointing {
        azimuth_deg: if azimuth_deg < 360.0 { azimuth_deg } else { 0.0 },
        elevation_deg: 0.0,
    });
    if let Some(frequency_mhz) = frequency_mhz {
        station.radio.frequency_mhz = frequency_mhz;
        station.validate().ok()?;
    }
    Some(station)
}

fn values(
    source: &Source,
    (mapping, date_order): (&Mapping, Option<DateOrder>),
    ends: &Ends,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let mut table = Table::new(&source.path, source.bytes(), mapping.delimiter)?;
    let mut clock = Clock::of(source, mapping, date_order)?;
    let column = |name: &Option<String>| {
        let column = name.as_deref().map(|name| table.column(name));
        column.transpose()
    };
    let link = &mapping.link;
    let (from, to) = (column(&link.from)?, column(&link.to)?);
    let (id, direction) = (column(&link.id)?, column(&link.direction)?);
    let mut values = Vec::new();
    for (key, name) in &mapping.values {
        let column = table.column(name)?;
        let unit = shares::unit(key, &table, column);
        if unit != 1.0 {
            let what =
                format!("the column {}: shares of {unit} are taken as shares of 1", quoted(name));
            dataset.report.add(&what, || Location::line(1));
        }
        values.push((key.as_str(), column, unit));
    }
    let position = match &mapping.position {
        Some(position) => {
            let place = Place::of(&table, [&position.lat_deg, &position.lon_deg], true)?;
            Some((position.of, place))
        }
        None => None,
    };
    let backward = link.backward.as_deref();
    table.each(dataset, |row, line, dataset| {
        let text = |column: Option<usize>| row.get(column?).map(str::trim);
        let Some(at_s) = clock.at_s(row, line, dataset) else {
            return dataset.drop("a row without a time", line);
        };
        let mut pair = match text(id) {
            Some(id) => match ends.get(id) {
                Some((a, b)) => (a.as_str(), b.as_str()),
                None => return dataset.drop("a link that is not in the table of links", line),
            },
            None => (text(from).unwrap_or_default(), text(to).unwrap_or_default()),
        };
        if direction.is_some() && text(direction) == backward {
            pair = (pair.1, pair.0);
        }
        if let Some((of, place)) = &position {
            let moving = if *of == End::From { pair.0 } else { pair.1 };
            match place.point(row, line, dataset) {
                Some(place) => {
                    if let Some(node) = dataset.node(moving, line) {
                        dataset.event(at_s, Event::Fix(node, place), line);
                    }
                }
                None => dataset.drop("a row without the position of its node", line),
            }
        }
        let mut measured = Measured::default();
        for (key, column, unit) in &values {
            let cell = text(Some(*column)).unwrap_or_default();
            if cell.is_empty() || mapping.missing.iter().any(|none| none == cell) {
                continue;
            }
            match number(row, *column) {
                Some(value) if *key == "frequency_mhz" => {
                    set(&mut measured, key, megahertz(value));
                }
                Some(0.0) if *key == "rx_power_dbm" => dataset.drop(NO_LEVEL, line),
                Some(value) => set(&mut measured, key, value / unit),
                None => dataset.drop("a value that is not a number", line),
            }
        }
        let reading = Measured { tx_power_dbm: None, frequency_mhz: None, ..measured };
        if reading.is_empty() {
            return dataset.drop("a row without a value", line);
        }
        dataset.observe(at_s, pair, measured, line);
    });
    clock.end(&source.path, dataset)?;
    Ok(())
}

/// Frequencies above which a number is one of kHz and of Hz, MHz: no link of the one is as high, of the other as low.
const KHZ_MIN: f64 = 1e5;
const HZ_MIN: f64 = 1e7;

/// Frequency below which a number is one of GHz, MHz.
const MHZ_MIN: f64 = 10.0;

/// A frequency of a table, in GHz, MHz, kHz or Hz by its size, MHz.
fn megahertz(value: f64) -> f64 {
    match value {
        ghz if ghz < MHZ_MIN => ghz * 1e3,
        hz if hz >= HZ_MIN => hz / 1e6,
        khz if khz >= KHZ_MIN => khz / 1e3,
        mhz => mhz,
    }
}

fn set(measured: &mut Measured, key: &str, value: f64) {
    debug_assert!(VALUES.contains(&key));
    let field = match key {
        "rx_power_dbm" => &mut measured.rx_power_dbm,
        "tx_power_dbm" => &mut measured.tx_power_dbm,
        "frequency_mhz" => &mut measured.frequency_mhz,
        "path_loss_db" => &mut measured.path_loss_db,
        "snr_db" => &mut measured.snr_db,
        "delivery_prob" => &mut measured.delivery_prob,
        "quality" => &mut measured.quality,
        _ => &mut measured.rate_bps,
    };
    *field = Some(value);
}
