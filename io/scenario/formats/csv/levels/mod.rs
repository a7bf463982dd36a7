//! Tables of measured levels, read by a [`Mapping`].

mod guess;
mod mapping;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::clock::iso8601;
use super::super::dataset::{Dataset, Event};
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::plan::values::parse;
use super::super::text::line_of_row;
use super::super::{ReadOptions, Source};
use super::FORMAT;
use super::read::delimiter as header_delimiter;
use super::times::{self, Order, date_units_per_s};
use csv::{ReaderBuilder, StringRecord};
use groundwave_model::radio::{Pointing, Station};
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::measure::Measured;

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
    values(source, mapping, &ends, &mut dataset)?;
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
        let mut rows = ReaderBuilder::new()
            .flexible(true)
            .delimiter(delimiter.map_or(of_header, |mark| mark as u8))
            .from_reader(octets);
        let header = rows.headers().map_err(|error| invalid(path, error, "a table"))?.clone();
        Ok(Self { path, octets, rows, header })
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

fn point(row: &StringRecord, lat: usize, lon: usize) -> Option<GeoPoint> {
    GeoPoint::new(number(row, lat)?, number(row, lon)?).ok()
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
    let (lat, lon) = (table.column(&nodes.lat_deg)?, table.column(&nodes.lon_deg)?);
    let height = nodes.height_agl_m.as_deref().map(|name| table.column(name)).transpose()?;
    table.each(dataset, |row, line, dataset| {
        let Some(position) = point(row, lat, lon) else {
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
    let columns = [&links.a_lat_deg, &links.a_lon_deg, &links.b_lat_deg, &links.b_lon_deg]
        .map(|name| table.column(name));
    let [a_lat, a_lon, b_lat, b_lon] = columns;
    let (a, b) = ((a_lat?, a_lon?), (b_lat?, b_lon?));
    let frequency = links.frequency_mhz.as_deref().map(|name| table.column(name)).transpose()?;
    let mut ends = Ends::new();
    let mut longest_m = 0.0_f64;
    table.each(dataset, |row, line, dataset| {
        let places = point(row, a.0, a.1).zip(point(row, b.0, b.1));
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
    mapping: &Mapping,
    ends: &Ends,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let mut table = Table::new(&source.path, source.bytes(), mapping.delimiter)?;
    let time = table.column(&mapping.time.column)?;
    let day = mapping.time.date.as_deref().map(|name| table.column(name)).transpose()?;
    let order = order(&mut Table::new(&source.path, source.bytes(), mapping.delimiter)?, time, day);
    let column = |name: &Option<String>| {
        let column = name.as_deref().map(|name| table.column(name));
        column.transpose()
    };
    let link = &mapping.link;
    let (from, to) = (column(&link.from)?, column(&link.to)?);
    let (id, direction) = (column(&link.id)?, column(&link.direction)?);
    let mut values = Vec::new();
    for (key, name) in &mapping.values {
        values.push((key.as_str(), table.column(name)?));
    }
    let position = match &mapping.position {
        Some(position) => {
            let columns = (table.column(&position.lat_deg)?, table.column(&position.lon_deg)?);
            Some((position.of, columns))
        }
        None => None,
    };
    let backward = link.backward.as_deref();
    let mut misfits = Misfits::default();
    table.each(dataset, |row, line, dataset| {
        let text = |column: Option<usize>| row.get(column?).map(str::trim);
        let cell = time_of(row, time, day);
        let Some((at_s, has_zone)) = seconds(&cell, mapping.time.unit, order) else {
            return dataset.drop("a row without a time", line);
        };
        if !has_zone {
            dataset.report.add("a time without a zone: taken as UTC", || Location::line(line));
        }
        misfits.note(at_s, &cell, line, mapping.time.unit);
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
        if let Some((of, (lat, lon))) = position {
            let moving = if of == End::From { pair.0 } else { pair.1 };
            match point(row, lat, lon) {
                Some(place) => {
                    if let Some(node) = dataset.node(moving, line) {
                        dataset.event(at_s, Event::Fix(node, place), line);
                    }
                }
                None => dataset.drop("a row without the position of its node", line),
            }
        }
        let mut measured = Measured::default();
        for (key, column) in &values {
            let cell = text(Some(*column)).unwrap_or_default();
            if cell.is_empty() || mapping.missing.iter().any(|none| none == cell) {
                continue;
            }
            match number(row, *column) {
                Some(value) if *key == "frequency_mhz" => {
                    set(&mut measured, key, megahertz(value));
                }
                Some(value) => set(&mut measured, key, value),
                None => dataset.drop("a value that is not a number", line),
            }
        }
        let reading = Measured { tx_power_dbm: None, frequency_mhz: None, ..measured };
        if reading.is_empty() {
            return dataset.drop("a row without a value", line);
        }
        dataset.observe(at_s, pair, measured, line);
    });
    misfits.check(&source.path, mapping.time.unit)?;
    if mapping.time.unit.is_unix() {
        dataset.drop_unset_clocks();
        let times = dataset.events.iter().map(|event| event.0);
        let begin = times.fold(f64::INFINITY, f64::min);
        dataset.begin_unix_s = begin.is_finite().then_some(begin);
    }
    Ok(())
}

/// Rows in which the order of dates with slashes is looked for.
const ORDER_ROWS_MAX: usize = 1_000;

/// The order of dates with slashes in a table.
fn order(table: &mut Table<'_>, time: usize, day: Option<usize>) -> Option<Order> {
    let rows = table.rows.records().take(ORDER_ROWS_MAX).filter_map(Result::ok);
    let cells: Vec<String> = rows.map(|row| time_of(&row, time, day).into_owned()).collect();
    Order::of(cells.iter().map(String::as_str))
}

/// The time of a row, behind its day where that has a column.
fn time_of(row: &StringRecord, time: usize, day: Option<usize>) -> Cow<'_, str> {
    let cell = |column: usize| row.get(column).unwrap_or_default().trim();
    match day {
        Some(day) => Cow::Owned(format!("{} {}", cell(day), cell(time))),
        None => Cow::Borrowed(cell(time)),
    }
}

/// Time of a cell, s, and `true` unless it is a date without a zone.
fn seconds(text: &str, unit: TimeUnit, order: Option<Order>) -> Option<(f64, bool)> {
    match unit.per_s() {
        Some(per_s) => parse(text).ok().map(|number| (number / per_s, true)),
        None => iso8601(text).or_else(|| match times::Time::of(text, order)? {
            times::Time::Date(at_s) => Some((at_s, false)),
            _ => None,
        }),
    }
}

/// Times that fit another unit than that of the mapping.
#[derive(Debug, Default)]
struct Misfits {
    rows: usize,
    misfits: usize,
    /// Line and text of the first, and the unit that it fits.
    first: Option<(usize, String, &'static str)>,
}

impl Misfits {
    fn note(&mut self, at_s: f64, cell: &str, line: usize, unit: TimeUnit) {
        self.rows += 1;
        let Some(per_s) = unit.per_s() else { return };
        let Some(date_per_s) = date_units_per_s(at_s * per_s) else { return };
        let fitting = TimeUnit::of(date_per_s, true);
        if fitting == unit {
            return;
        }
        let fitting = fitting.name();
        self.misfits += 1;
        self.first.get_or_insert_with(|| (line, cell.to_owned(), fitting));
    }

    /// Refuses a table of which more than half fits another unit.
    fn check(&self, path: &Path, unit: TimeUnit) -> Result<(), FormatError> {
        let Some((line, cell, fitting)) = &self.first else { return Ok(()) };
        if self.misfits * 2 <= self.rows {
            return Ok(());
        }
        let unit = unit.name();
        let actual = format!("{} in line {line}, with the unit {unit}", quoted(cell));
        Err(invalid(path, actual, format!("{fitting}: such times are dates in that unit")))
    }
}

/// Frequencies above which a number is one of kHz and of Hz, MHz: no link of the one is as high, of the other as low.
const KHZ_MIN: f64 = 1e5;
const HZ_MIN: f64 = 1e7;

/// A frequency of a table, in MHz, kHz or Hz by its size, MHz.
fn megahertz(value: f64) -> f64 {
    match value {
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
