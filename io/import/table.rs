//! Tables of levels: CSV read by a mapping.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};
use flate2::read::MultiGzDecoder;
use groundwave_systems::measure::Measured;
use groundwave_systems::radio::{Pointing, Station};
use groundwave_systems::terrain::{GeoPoint, geodesic};
use jiff::Timestamp;

use super::mapping::{Links, Mapping, Nodes, TimeUnit, VALUES};
use super::{BYTES_MAX, ImportError, Recording};

/// Reads the table at `path` as `mapping` says; files it names are looked for in `folder`.
///
/// # Errors
/// See [`ImportError`]; a column that is not there among them.
pub fn read(
    path: &Path,
    mapping: &Mapping,
    station: Option<&Station>,
    folder: &Path,
) -> Result<Recording, ImportError> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let title = mapping.title.clone().unwrap_or_else(|| stem.into_owned());
    let mut recording = Recording::new(&title, mapping.step_s);
    recording.range_m = mapping.range_m;
    let mut ends = BTreeMap::new();
    if let Some(nodes) = &mapping.nodes {
        places(
            &folder.join(&nodes.file),
            nodes,
            mapping,
            station,
            &mut recording,
        )?;
    }
    if let Some(links) = &mapping.links {
        ends = pairs(
            &folder.join(&links.file),
            links,
            mapping,
            station,
            &mut recording,
        )?;
    }
    levels(path, mapping, &ends, &mut recording)?;
    for spot in &mut recording.nodes {
        spot.station = spot.station.take().or_else(|| station.cloned());
    }
    recording.finish()
}

/// Ends of each link, by its id.
type Ends = BTreeMap<String, (String, String)>;

fn syntax(path: &Path, what: impl ToString) -> ImportError {
    ImportError::Syntax {
        place: path.display().to_string(),
        what: what.to_string(),
    }
}

/// A table, its columns by name.
struct Table {
    rows: csv::Reader<Box<dyn Read>>,
    heads: StringRecord,
}

impl Table {
    fn open(path: &Path, delimiter: Option<char>) -> Result<Self, ImportError> {
        let file = std::fs::File::open(path).map_err(|err| syntax(path, err))?;
        let packed = path.extension().is_some_and(|extension| extension == "gz");
        let bytes: Box<dyn Read> = match packed {
            true => Box::new(MultiGzDecoder::new(file)),
            false => Box::new(file),
        };
        let mut builder = ReaderBuilder::new();
        builder
            .flexible(true)
            .delimiter(delimiter.map_or(b',', |mark| mark as u8));
        let mut rows = builder.from_reader(Box::new(bytes.take(BYTES_MAX as u64)) as Box<dyn Read>);
        let heads = rows.headers().map_err(|err| syntax(path, err))?.clone();
        Ok(Self { rows, heads })
    }

    fn column(&self, path: &Path, name: &str) -> Result<usize, ImportError> {
        let found = self.heads.iter().position(|head| head.trim() == name);
        found.ok_or_else(|| {
            let there: Vec<&str> = self.heads.iter().take(40).collect();
            let what = format!("no column {name:?}; there are {}", there.join(", "));
            syntax(path, what)
        })
    }

    /// Hands every row that can be read to `each`, with its line.
    fn each(
        &mut self,
        recording: &mut Recording,
        mut each: impl FnMut(&StringRecord, usize, &mut Recording),
    ) {
        let mut row = StringRecord::new();
        loop {
            match self.rows.read_record(&mut row) {
                Ok(false) => return,
                Ok(true) => {
                    let line = row.position().map_or(0, |at| at.line() as usize);
                    each(&row, line, recording);
                }
                Err(err) => {
                    let line = err.position().map_or(0, |at| at.line() as usize);
                    recording.drop("a row that cannot be read", line);
                    if matches!(err.kind(), csv::ErrorKind::Io(_)) {
                        return;
                    }
                }
            }
        }
    }
}

fn number(row: &StringRecord, column: usize) -> Option<f64> {
    row.get(column)?
        .trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
}

fn point(row: &StringRecord, lat: usize, lon: usize) -> Option<GeoPoint> {
    GeoPoint::new(number(row, lat)?, number(row, lon)?).ok()
}

fn places(
    path: &Path,
    nodes: &Nodes,
    mapping: &Mapping,
    station: Option<&Station>,
    recording: &mut Recording,
) -> Result<(), ImportError> {
    let mut table = Table::open(path, mapping.delimiter)?;
    let name = table.column(path, &nodes.name)?;
    let (lat, lon) = (
        table.column(path, &nodes.lat_deg)?,
        table.column(path, &nodes.lon_deg)?,
    );
    let height = nodes.height_agl_m.as_deref();
    let height = height.map(|name| table.column(path, name)).transpose()?;
    table.each(recording, |row, line, recording| {
        let Some(position) = point(row, lat, lon) else {
            return recording.drop("a node without a place", line);
        };
        let Some(node) = recording.node(row.get(name).unwrap_or_default().trim(), line) else {
            return;
        };
        let spot = &mut recording.nodes[node as usize];
        spot.position = Some(position);
        let height_agl_m = height.and_then(|column| number(row, column));
        if let (Some(station), Some(height_agl_m)) = (station, height_agl_m) {
            let station = Station {
                height_agl_m,
                ..station.clone()
            };
            spot.station = station.validate().is_ok().then_some(station);
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
    recording: &mut Recording,
) -> Result<Ends, ImportError> {
    let mut table = Table::open(path, mapping.delimiter)?;
    let id = table.column(path, &links.id)?;
    let columns = [
        &links.a_lat_deg,
        &links.a_lon_deg,
        &links.b_lat_deg,
        &links.b_lon_deg,
    ];
    let columns = columns.map(|name| table.column(path, name));
    let [a_lat, a_lon, b_lat, b_lon] = columns;
    let (a, b) = ((a_lat?, a_lon?), (b_lat?, b_lon?));
    let frequency = links.frequency_mhz.as_deref();
    let frequency = frequency.map(|name| table.column(path, name)).transpose()?;
    let mut ends = Ends::new();
    let mut longest_m = 0.0_f64;
    table.each(recording, |row, line, recording| {
        let places = point(row, a.0, a.1).zip(point(row, b.0, b.1));
        let Some((at_a, at_b)) = places.filter(|(a, b)| a != b) else {
            return recording.drop("a link without two places", line);
        };
        longest_m = longest_m.max(geodesic::inverse(at_a, at_b).distance_m);
        let id = row.get(id).unwrap_or_default().trim();
        let names = (format!("{id} A"), format!("{id} B"));
        let frequency_mhz = frequency.and_then(|column| number(row, column));
        for (name, at, other) in [(&names.0, at_a, at_b), (&names.1, at_b, at_a)] {
            let Some(node) = recording.node(name, line) else {
                return;
            };
            let spot = &mut recording.nodes[node as usize];
            spot.position = Some(at);
            spot.station = station.map(|station| looking(station, at, other, frequency_mhz));
        }
        ends.insert(id.to_owned(), names);
    });
    // Others on the same frequency are farther or look elsewhere.
    recording.range_m = recording
        .range_m
        .or((longest_m > 0.0).then_some(longest_m * 1.01));
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
        azimuth_deg: if azimuth_deg < 360.0 {
            azimuth_deg
        } else {
            0.0
        },
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

fn levels(
    path: &Path,
    mapping: &Mapping,
    ends: &Ends,
    recording: &mut Recording,
) -> Result<(), ImportError> {
    let mut table = Table::open(path, mapping.delimiter)?;
    let time = table.column(path, &mapping.time.column)?;
    let column = |name: &Option<String>| {
        let found = name.as_deref().map(|name| table.column(path, name));
        found.transpose()
    };
    let link = &mapping.link;
    let (from, to) = (column(&link.from)?, column(&link.to)?);
    let (id, direction) = (column(&link.id)?, column(&link.direction)?);
    let mut values = Vec::new();
    for (key, name) in &mapping.values {
        values.push((key.as_str(), table.column(path, name)?));
    }
    let backward = link.backward.as_deref();
    table.each(recording, |row, line, recording| {
        let text = |column: Option<usize>| row.get(column?).map(str::trim);
        let Some(at_s) = row
            .get(time)
            .and_then(|text| seconds(text.trim(), mapping.time.unit))
        else {
            return recording.drop("a row without a time", line);
        };
        let mut pair = match text(id) {
            Some(id) => match ends.get(id) {
                Some((a, b)) => (a.as_str(), b.as_str()),
                None => return recording.drop("a link that is not in the table of links", line),
            },
            None => (text(from).unwrap_or_default(), text(to).unwrap_or_default()),
        };
        if direction.is_some() && text(direction) == backward {
            pair = (pair.1, pair.0);
        }
        let mut measured = Measured::default();
        for (key, column) in &values {
            let found = text(Some(*column)).unwrap_or_default();
            if found.is_empty() || mapping.missing.iter().any(|none| none == found) {
                continue;
            }
            match number(row, *column) {
                Some(value) => set(&mut measured, key, value),
                None => recording.drop("a value that is no number", line),
            }
        }
        let heard = Measured {
            tx_power_dbm: None,
            ..measured
        };
        if heard.is_empty() {
            return recording.drop("a row without a value", line);
        }
        recording.observe(at_s, pair, measured, line);
    });
    if mapping.time.unit != TimeUnit::Seconds {
        let times = recording.events.iter().map(|event| event.0);
        let begin = times.fold(f64::INFINITY, f64::min);
        recording.begin_unix_s = begin.is_finite().then_some(begin);
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
        "path_loss_db" => &mut measured.path_loss_db,
        "snr_db" => &mut measured.snr_db,
        "delivery_prob" => &mut measured.delivery_prob,
        "quality" => &mut measured.quality,
        _ => &mut measured.rate_bps,
    };
    *field = Some(value);
}
