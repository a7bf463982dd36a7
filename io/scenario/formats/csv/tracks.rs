//! Tables of tracks: rows of a time and a position, by the identifiers of their nodes: GPSLogger, Traccar, the
//! floating car data of SUMO as CSV, and others with such columns.

use std::collections::{BTreeMap, BTreeSet};

use csv::{ReaderBuilder, StringRecord};
use groundwave_model::terrain::GeoPoint;

use super::super::clock::iso8601;
use super::super::dataset::{Dataset, Event, Height};
use super::super::error::{Fault, FormatError, Location};
use super::super::limits::SAMPLE_BYTES;
use super::super::plan::values::parse;
use super::super::plane::Plane;
use super::super::sumo;
use super::super::text::{line_of_row, text};
use super::super::{Content, Format, ReadOptions, Sample, Source};
use super::levels::{bare, is_level, unit};
use super::read::delimiter;

/// The format.
pub static FORMAT: Format = Format {
    name: "tracks",
    label: "table of tracks",
    description: "CSV of tracks (GPSLogger, Traccar, SUMO): rows of time, position and node",
    extensions: &["tracks"],
    contents: &[Content::Tracks],
    sniff: |sample| is_of_tracks(sample),
    read: Some(read),
    ..Format::NONE
};

/// Names of columns, without case, units and other characters than letters and digits.
const TIMES: [&str; 13] = [
    "time",
    "timestamp",
    "datetime",
    "date",
    "fixtime",
    "devicetime",
    "gpstime",
    "timeutc",
    "utc",
    "datetimeutc",
    "timesteptime",
    "t",
    "epoch",
];
const LATITUDES: [&str; 3] = ["lat", "latitude", "latdeg"];
const LONGITUDES: [&str; 5] = ["lon", "lng", "long", "longitude", "londeg"];
const NODES: [&str; 12] = [
    "id",
    "name",
    "node",
    "nodeid",
    "device",
    "deviceid",
    "devicename",
    "uniqueid",
    "track",
    "vehicle",
    "person",
    "tracker",
];
const HEIGHTS: [&str; 3] = ["heightaglm", "heightagl", "aglm"];
/// Above mean sea level, and above the ellipsoid.
const ALTITUDES: [&str; 10] = [
    "heightmslm",
    "heightmsl",
    "mslm",
    "amslm",
    "amsl",
    "elevation",
    "altitude",
    "altitudem",
    "alt",
    "ele",
];
const ELLIPSOIDAL: [&str; 4] = ["heighthaem", "heighthae", "haem", "hae"];

/// Rows that are looked at to recognise a table.
const ROWS_MAX: usize = 1_000;

/// Octets of a character that the end of a sample may lack.
const CHARACTER_OCTETS: usize = 4;

/// Columns of the nodes of a kind.
struct Place {
    /// Kind of SUMO; empty in other tables.
    kind: &'static str,
    id: Option<usize>,
    /// Longitude or x, and latitude or y.
    x: usize,
    y: usize,
}

/// Columns of a table.
struct Columns {
    time: usize,
    /// One set for each kind of node.
    nodes: Vec<Place>,
    height: Option<usize>,
    altitude: Option<usize>,
    ellipsoidal: Option<usize>,
    is_sumo: bool,
}

impl Columns {
    /// The columns of a header; `None` where it is not one of tracks.
    fn of(header: &StringRecord) -> Option<Self> {
        let heads: Vec<String> = header.iter().map(|head| bare(head.trim())).collect();
        let first = |names: &[&str]| {
            names.iter().find_map(|name| heads.iter().position(|head| head == name))
        };
        let time = first(&TIMES)?;
        let raw = |name: &str| header.iter().position(|head| head.trim() == name);
        let of_kind = |kind: &'static str| {
            let column = |end: &str| raw(&format!("{kind}_{end}"));
            Some(Place { kind, id: Some(column("id")?), x: column("x")?, y: column("y")? })
        };
        let is_sumo = raw("timestep_time") == Some(time);
        let nodes = match is_sumo {
            true => sumo::KINDS.into_iter().filter_map(of_kind).collect(),
            false => {
                let (x, y) = (first(&LONGITUDES)?, first(&LATITUDES)?);
                vec![Place { kind: "", id: first(&NODES), x, y }]
            }
        };
        let (height, altitude) = (first(&HEIGHTS), first(&ALTITUDES));
        let ellipsoidal = first(&ELLIPSOIDAL);
        (!nodes.is_empty()).then_some(Self { time, nodes, height, altitude, ellipsoidal, is_sumo })
    }
}

/// Header and first rows of a text.
fn begin(text: &str) -> Option<(StringRecord, Vec<StringRecord>)> {
    let mut table =
        ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).from_reader(text.as_bytes());
    let header = table.headers().ok()?.clone();
    let mut rows: Vec<StringRecord> =
        table.records().take(ROWS_MAX).filter_map(Result::ok).collect();
    if text.len() + CHARACTER_OCTETS > SAMPLE_BYTES {
        // The end of a sample cuts the last one.
        rows.pop();
    }
    Some((header, rows))
}

/// True if most cells are times.
fn has_times(rows: &[StringRecord], column: usize) -> bool {
    let cells =
        rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.trim().is_empty());
    let (times, all) = cells.fold((0_usize, 0_usize), |(times, all), cell| {
        (times + usize::from(time(cell).is_some()), all + 1)
    });
    times * 2 > all
}

/// True for rows of times, positions and nodes that come again, without a column of levels: a list of sites has each
/// of its own.
fn is_of_tracks(sample: &Sample<'_>) -> bool {
    let Some((header, rows)) = begin(sample.text()) else { return false };
    let Some(columns) = Columns::of(&header) else { return false };
    let mut nodes = BTreeSet::new();
    let column = columns.nodes[0].id;
    let is_again = match column {
        _ if columns.is_sumo => true,
        Some(column) => rows.iter().any(|row| !nodes.insert(row.get(column).unwrap_or_default())),
        None => rows.len() > 1,
    };
    is_again && !header.iter().any(is_level) && has_times(&rows, columns.time)
}

/// True for a table with a position in each row beside a time and a level: a recording, of which a plan would have a
/// mast for each row.
pub(super) fn is_of_levels(text: &str) -> bool {
    let end = text.len().min(SAMPLE_BYTES);
    let Some((header, rows)) = begin(text.get(..end).unwrap_or(text)) else { return false };
    let Some(columns) = Columns::of(&header) else { return false };
    rows.len() > 1 && header.iter().any(is_level) && has_times(&rows, columns.time)
}

/// A time: a number, a date with a time, or a time of the day; s.
fn time(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    let date = || Some(iso8601(&cell.replacen([' ', '/'], "T", 1))?.0);
    parse(cell).ok().or_else(date).or_else(|| sumo::seconds(cell).filter(|_| cell.contains(':')))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut table =
        ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).from_reader(text.as_bytes());
    let invalid = |actual: String| {
        let allowed = "columns of a time, a latitude and a longitude, and of the node where there are several";
        Fault::new("", actual, allowed).at(&FORMAT, Location::line(1))
    };
    let header = table.headers().map_err(|error| invalid(error.to_string()))?.clone();
    let columns = Columns::of(&header).ok_or_else(|| {
        invalid(format!("the columns {}", header.iter().collect::<Vec<_>>().join(", ")))
    })?;
    let mut rows = Vec::new();
    let mut row = StringRecord::new();
    let mut dataset = Dataset::default();
    loop {
        match table.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => rows.push((line_of_row(row.position(), text.as_bytes()), row.clone())),
            Err(error) => {
                dataset.drop("an invalid row", line_of_row(error.position(), text.as_bytes()));
            }
        }
    }
    let cells: Vec<&str> =
        rows.iter().filter_map(|(_, row)| row.get(columns.time)).map(str::trim).collect();
    // Milliseconds since 1970 are told from seconds by their size.
    let factor = if unit(&cells).0 == "unix_ms" { 1e-3 } else { 1.0 };
    let is_number = cells.iter().any(|cell| parse(cell).is_ok());
    let is_geographic =
        !columns.is_sumo || options.origin.is_none() && has_degrees(&columns, &rows);
    let plane = (!is_geographic).then(|| Plane::of(options, &mut dataset));
    let stem = source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let alone = stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "track".to_owned());
    let mut steps: BTreeMap<u64, (f64, BTreeSet<u32>, usize)> = BTreeMap::new();
    for (line, row) in &rows {
        let cell = |column: usize| row.get(column).unwrap_or_default().trim();
        let number = |column: usize| parse(cell(column)).ok();
        let Some(at_s) = time(cell(columns.time)) else {
            dataset.drop("a row without a time", *line);
            continue;
        };
        let at_s = if is_number { at_s * factor } else { at_s };
        let step = steps.entry(rank(at_s)).or_insert((at_s, BTreeSet::new(), *line));
        for Place { kind, id, x, y } in &columns.nodes {
            let key = id.map_or(alone.as_str(), cell);
            if columns.is_sumo && key.is_empty() {
                continue;
            }
            let place = number(*x).zip(number(*y)).and_then(|(x, y)| match plane {
                Some(plane) => plane.position(x, y),
                None => GeoPoint::new(y, x).ok(),
            });
            let Some(position) = place else {
                dataset.drop("a row without a position", *line);
                continue;
            };
            let node = match columns.is_sumo {
                true => sumo::node(&mut dataset, kind, key, *line),
                false => dataset.node(key, *line),
            };
            let Some(node) = node else { continue };
            dataset.nodes[node as usize].comes_and_goes = columns.is_sumo;
            dataset.event(at_s, Event::Fix(node, position), *line);
            step.1.insert(node);
            let of = |column: Option<usize>| column.and_then(number);
            match (of(columns.height), of(columns.altitude), of(columns.ellipsoidal)) {
                (Some(agl_m), ..) => dataset.height(at_s, node, agl_m, *line),
                (None, Some(msl_m), _) => {
                    dataset.altitude(at_s, node, Height::Sea(msl_m), *line);
                }
                (None, None, Some(hae_m)) => {
                    dataset.altitude(at_s, node, Height::Ellipsoid(hae_m), *line);
                }
                (None, None, None) => {}
            }
        }
    }
    if columns.is_sumo {
        sumo::name_kinds(&mut dataset);
        let steps: Vec<_> = steps.into_values().collect();
        for pair in steps.windows(2) {
            let (at_s, present, line) = &pair[1];
            for node in pair[0].1.difference(present) {
                dataset.event(*at_s, Event::Leave(*node), *line);
            }
        }
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    dataset.has_times_of_day = !is_number && dataset.begin_unix_s.is_none() && !columns.is_sumo;
    Ok(dataset)
}

/// A key of a time that is ordered as the time is.
const fn rank(at_s: f64) -> u64 {
    // Zero has one sign.
    let bits = (at_s + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// True if the positions of SUMO are degrees.
fn has_degrees(columns: &Columns, rows: &[(usize, StringRecord)]) -> bool {
    let first = rows.iter().find_map(|(_, row)| {
        columns.nodes.iter().find_map(|Place { x, y, .. }| {
            let cells = (row.get(*x)?.trim(), row.get(*y)?.trim());
            (!cells.0.is_empty()).then_some(cells)
        })
    });
    first.is_some_and(|(x, y)| sumo::are_degrees(x, y))
}
