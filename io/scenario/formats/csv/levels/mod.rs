//! Tables of measured levels: CSV, plain or gzip, read by a [`Mapping`].

mod mapping;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use csv::{ReaderBuilder, StringRecord};
use flate2::read::MultiGzDecoder;
use groundwave_model::radio::{Pointing, Station};
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_simulation::measure::Measured;
use jiff::Timestamp;

use super::super::Source;
use super::super::dataset::Dataset;
use super::super::error::{Fault, FormatError, Location};
use super::super::limits::SOURCE_BYTES_MAX;
use super::FORMAT;

pub use mapping::{Links, Mapping, Nodes, TimeUnit, VALUES, load};

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
pub(in super::super) fn read(source: &Source, levels: &Levels) -> Result<Dataset, FormatError> {
    let Levels { mapping, station, folder } = levels;
    let station = station.as_ref();
    let mut dataset = Dataset {
        title: mapping.title.clone(),
        step_s: Some(mapping.step_s),
        range_m: mapping.range_m,
        ..Dataset::default()
    };
    let mut ends = Ends::new();
    if let Some(nodes) = &mapping.nodes {
        let path = folder.join(&nodes.file);
        positions(&path, nodes, mapping, station, &mut dataset)?;
    }
    if let Some(links) = &mapping.links {
        let path = folder.join(&links.file);
        ends = pairs(&path, links, mapping, station, &mut dataset)?;
    }
    values(source, mapping, &ends, &mut dataset)?;
    for node in &mut dataset.nodes {
        node.station = node.station.take().or_else(|| station.cloned());
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
    rows: csv::Reader<Box<dyn Read + 't>>,
    header: StringRecord,
}

impl<'t> Table<'t> {
    fn open(path: &'t Path, delimiter: Option<char>) -> Result<Self, FormatError> {
        let file =
            std::fs::File::open(path).map_err(|error| invalid(path, error, "a readable file"))?;
        Self::new(path, BufReader::new(file), delimiter)
    }

    /// A table in `bytes`, which gzip may have packed.
    fn new(
        path: &'t Path,
        mut bytes: impl BufRead + 't,
        delimiter: Option<char>,
    ) -> Result<Self, FormatError> {
        let failed = |error: &dyn std::fmt::Display| invalid(path, error, "a table");
        let head = bytes.fill_buf().map_err(|error| failed(&error))?;
        let packed = head.starts_with(&[0x1f, 0x8b]);
        let bytes: Box<dyn Read + 't> = match packed {
            true => Box::new(MultiGzDecoder::new(bytes)),
            false => Box::new(bytes),
        };
        let bytes: Box<dyn Read + 't> = Box::new(bytes.take(SOURCE_BYTES_MAX));
        let mut rows = ReaderBuilder::new()
            .flexible(true)
            .delimiter(delimiter.map_or(b',', |mark| mark as u8))
            .from_reader(bytes);
        let header = rows.headers().map_err(|error| failed(&error))?.clone();
        Ok(Self { path, rows, header })
    }

    fn column(&self, name: &str) -> Result<usize, FormatError> {
        let column = self.header.iter().position(|head| head.trim() == name);
        column.ok_or_else(|| {
            let columns: Vec<&str> = self.header.iter().take(40).collect();
            invalid(self.path, format!("no column {name:?}"), columns.join(", "))
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
                    let line = row.position().map_or(0, |at| at.line() as usize);
                    each(&row, line, dataset);
                }
                Err(err) => {
                    let line = err.position().map_or(0, |at| at.line() as usize);
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
    row.get(column)?.trim().parse().ok().filter(|value: &f64| value.is_finite())
}

fn point(row: &StringRecord, lat: usize, lon: usize) -> Option<GeoPoint> {
    GeoPoint::new(number(row, lat)?, number(row, lon)?).ok()
}

fn positions(
    path: &Path,
    nodes: &Nodes,
    mapping: &Mapping,
    station: Option<&Station>,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let mut table = Table::open(path, mapping.delimiter)?;
    let name = table.column(&nodes.name)?;
    let (lat, lon) = (table.column(&nodes.lat_deg)?, table.column(&nodes.lon_deg)?);
    let height = nodes.height_agl_m.as_deref().map(|name| table.column(name)).transpose()?;
    table.each(dataset, |row, line, dataset| {
        let Some(position) = point(row, lat, lon) else {
            return dataset.drop("a node without a position", line);
        };
        let Some(node) = dataset.node(row.get(name).unwrap_or_default().trim(), line) else {
            return;
        };
        let entry = &mut dataset.nodes[node as usize];
        entry.position = Some(position);
        let height_agl_m = height.and_then(|column| number(row, column));
        if let (Some(station), Some(height_agl_m)) = (station, height_agl_m) {
            let station = Station { height_agl_m, ..station.clone() };
            entry.station = station.validate().is_ok().then_some(station);
        }
    });
    Ok(())
}

/// Two nodes for each link, which look at each other.
fn pairs(
    path: &Path,
    links: &Links,
    mapping: &Mapping,
    station: Option<&Station>,
    dataset: &mut Dataset,
) -> Result<Ends, FormatError> {
    let mut table = Table::open(path, mapping.delimiter)?;
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
        let frequency_mhz = frequency.and_then(|column| number(row, column));
        for (name, at, other) in [(&names.0, at_a, at_b), (&names.1, at_b, at_a)] {
            let Some(node) = dataset.node(name, line) else {
                return;
            };
            let entry = &mut dataset.nodes[node as usize];
            entry.position = Some(at);
            entry.station = station.map(|station| looking(station, at, other, frequency_mhz));
        }
        ends.insert(id.to_owned(), names);
    });
    // Others on the same frequency are farther or look elsewhere.
    dataset.range_m = dataset.range_m.or((longest_m > 0.0).then_some(longest_m * 1.01));
    Ok(ends)
}

fn looking(
    station: &Station,
    at: GeoPoint,
    other: GeoPoint,
    frequency_mhz: Option<f64>,
) -> Station {
    let mut station = station.clone();
    let azimuth_deg = geodesic::inverse(at, other).azimuth_deg.rem_euclid(360.0);
    station.pointing = Some(Pointing {
        azimuth_deg: if azimuth_deg < 360.0 { azimuth_deg } else { 0.0 },
        elevation_deg: 0.0,
    });
    if let Some(frequency_mhz) = frequency_mhz {
        let before = std::mem::replace(&mut station.radio.frequency_mhz, frequency_mhz);
        if station.validate().is_err() {
            station.radio.frequency_mhz = before;
        }
    }
    station
}

fn values(
    source: &Source,
    mapping: &Mapping,
    ends: &Ends,
    dataset: &mut Dataset,
) -> Result<(), FormatError> {
    let mut table = Table::new(&source.path, source.bytes(), mapping.delimiter)?;
    let time = table.column(&mapping.time.column)?;
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
    let backward = link.backward.as_deref();
    table.each(dataset, |row, line, dataset| {
        let text = |column: Option<usize>| row.get(column?).map(str::trim);
        let Some(at_s) = row.get(time).and_then(|text| seconds(text.trim(), mapping.time.unit))
        else {
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
        let mut measured = Measured::default();
        for (key, column) in &values {
            let cell = text(Some(*column)).unwrap_or_default();
            if cell.is_empty() || mapping.missing.iter().any(|none| none == cell) {
                continue;
            }
            match number(row, *column) {
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
    if mapping.time.unit != TimeUnit::Seconds {
        dataset.drop_unset_clocks();
        let times = dataset.events.iter().map(|event| event.0);
        let begin = times.fold(f64::INFINITY, f64::min);
        dataset.begin_unix_s = begin.is_finite().then_some(begin);
    }
    Ok(())
}

fn seconds(text: &str, unit: TimeUnit) -> Option<f64> {
    match unit {
        TimeUnit::Iso8601 => {
            let time: Timestamp = text.parse().ok()?;
            Some(time.as_nanosecond() as f64 / 1e9)
        }
        TimeUnit::UnixMs => text.parse::<f64>().ok().map(|ms| ms / 1e3),
        TimeUnit::UnixS | TimeUnit::Seconds => text.parse().ok(),
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
