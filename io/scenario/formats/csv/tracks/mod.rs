//! Tables of tracks: rows of a time and a position, by the identifiers of their nodes: GPSLogger, Traccar, the
//! floating car data of SUMO as CSV, and others with such columns.

mod columns;
mod identity;
mod names;

use std::collections::{BTreeMap, BTreeSet};

use csv::{ReaderBuilder, StringRecord};

use self::columns::{Columns, Place};
use super::super::dataset::{Dataset, Event, Height};
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::limits::SAMPLE_BYTES;
use super::super::parts::Part;
use super::super::plan::values::{self, parse};
use super::super::plane::Plane;
use super::super::sumo;
use super::super::text::{line_of_row, text};
use super::super::{Content, Format, ReadOptions, Sample, Source};
use super::axis::Axis;
use super::levels::{bare, is_level};
use super::read::delimiter;
use super::times::{self, Time};

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

/// Rows that are looked at to recognise a table.
const ROWS_MAX: usize = 1_000;

/// Forms of times that are read.
pub const TIMES_ALLOWED: &str =
    "2024-05-01T10:00:00Z, other dates with a year of four digits, hh:mm:ss or a number of seconds";

/// Octets of a character that the end of a sample may lack.
const CHARACTER_OCTETS: usize = 4;

/// Comments above the header, at most.
const COMMENTS_MAX: usize = 20;

/// The rank of a name among those of columns of nodes, the best known first; `None` for another name.
pub(in super::super) fn node_rank(name: &str) -> Option<usize> {
    let name = bare(name);
    names::NODES.iter().position(|own| *own == name)
}

/// Reader of the rows of a text.
fn reader(text: &str) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).from_reader(text.as_bytes())
}

/// The table of a text without the comments above its header, and the number of their lines.
fn without_comments(text: &str) -> (&str, usize) {
    let mut begin = 0;
    for (number, line) in text.split_inclusive('\n').take(COMMENTS_MAX).enumerate() {
        let is_header = || reader(line).headers().is_ok_and(|heads| Columns::of(heads).is_some());
        let is_comment = line.trim().is_empty() || line.trim_start().starts_with('#');
        if !is_comment || is_header() {
            return (&text[begin..], number);
        }
        begin += line.len();
    }
    (text, 0)
}

/// Columns and first rows of a text; `None` where they are not those of tracks.
fn begin(text: &str) -> Option<(StringRecord, Columns, Vec<StringRecord>)> {
    let (table, _) = without_comments(text);
    let mut reader = reader(table);
    let header = reader.headers().ok()?.clone();
    let mut columns = Columns::of(&header)?;
    let mut rows: Vec<StringRecord> =
        reader.records().take(ROWS_MAX).filter_map(Result::ok).collect();
    if text.len() + CHARACTER_OCTETS > SAMPLE_BYTES {
        // The end of a sample cuts the last one.
        rows.pop();
    }
    columns.time.settle(header.get(columns.time.column()).unwrap_or_default(), rows.iter());
    columns.time.assume_order();
    columns.settle_node(&header, rows.iter());
    Some((header, columns, rows))
}

/// True if most rows have a time.
fn has_times(rows: &[StringRecord], columns: &Columns) -> bool {
    let filled = |row: &&StringRecord| {
        row.get(columns.time.column()).is_some_and(|cell| !cell.trim().is_empty())
    };
    let (times, all) = rows.iter().filter(filled).fold((0_usize, 0_usize), |(times, all), row| {
        (times + usize::from(columns.time.time(row).is_some()), all + 1)
    });
    times * 2 > all
}

/// True for rows of times, positions and nodes that come again, without a column of levels: a list of sites has each
/// of its own.
fn is_of_tracks(sample: &Sample<'_>) -> bool {
    let Some((header, columns, rows)) = begin(sample.text()) else { return false };
    let mut nodes = BTreeSet::new();
    let is_again = match columns.nodes[0].id {
        _ if columns.is_sumo => true,
        Some(column) => rows.iter().any(|row| !nodes.insert(row.get(column).unwrap_or_default())),
        None => rows.len() > 1,
    };
    is_again && !header.iter().any(is_level) && has_times(&rows, &columns)
}

/// True for a table with a position in each row beside a time and a level: a recording, of which a plan would have a
/// mast for each row.
pub(super) fn is_of_levels(text: &str) -> bool {
    let end = text.len().min(SAMPLE_BYTES);
    let Some((header, columns, rows)) = begin(text.get(..end).unwrap_or(text)) else {
        return false;
    };
    rows.len() > 1 && header.iter().any(is_level) && has_times(&rows, &columns)
}

/// The column of times of a table whose nodes come again, as those of tracks do, and its first time, where most of them
/// cannot be read: a plan would have a mast for each row.
pub(super) fn unread_times(text: &str) -> Option<String> {
    let end = text.len().min(SAMPLE_BYTES);
    let (header, columns, rows) = begin(text.get(..end).unwrap_or(text))?;
    let place = &columns.nodes[0];
    let id = place.id?;
    let cells = |column: usize| {
        rows.iter()
            .map(move |row| row.get(column).unwrap_or_default().trim())
            .collect::<BTreeSet<_>>()
    };
    let is_again =
        cells(id).len() * 2 <= rows.len() && cells(place.x).len() + cells(place.y).len() > 2;
    if !is_again || has_times(&rows, &columns) {
        return None;
    }
    first_unread(&header, &columns, &rows)
}

/// The column of times of a table that has columns of tracks, and its first time that cannot be read; `None` for
/// another table and for one whose times can be read.
#[must_use]
pub fn invalid_time(source: &Source) -> Option<String> {
    let text = text(&FORMAT, source.bytes()).ok()?;
    let end = text.len().min(SAMPLE_BYTES);
    let (header, columns, rows) = begin(text.get(..end).unwrap_or(text))?;
    first_unread(&header, &columns, &rows)
}

/// The column of times and its first time that cannot be read.
fn first_unread(header: &StringRecord, columns: &Columns, rows: &[StringRecord]) -> Option<String> {
    let column = columns.time.column();
    let row = rows.iter().find(|row| columns.time.time(row).is_none())?;
    let cell = row.get(column).unwrap_or_default().trim();
    let head = header.get(column).unwrap_or_default().trim();
    Some(format!("the column {} has the time {}", quoted(head), quoted(cell)))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let (table, skipped) = without_comments(text);
    let mut reader = reader(table);
    let invalid = |actual: String| {
        let allowed = "columns of a time, of a latitude and a longitude (or of a zone of UTM, an easting and a northing), \
                       and of the node where there are several";
        Fault::new("", actual, allowed).at(&FORMAT, Location::line(skipped + 1))
    };
    let header = reader.headers().map_err(|error| invalid(error.to_string()))?.clone();
    let mut columns = Columns::of(&header).ok_or_else(|| {
        invalid(format!("the columns {}", header.iter().collect::<Vec<_>>().join(", ")))
    })?;
    let mut rows = Vec::new();
    let mut row = StringRecord::new();
    let mut dataset = Dataset::default();
    let line_of =
        |position: Option<&csv::Position>| line_of_row(position, table.as_bytes()) + skipped;
    loop {
        match reader.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => rows.push((line_of(row.position()), row.clone())),
            Err(error) => dataset.drop("an invalid row", line_of(error.position())),
        }
    }
    let head = header.get(columns.time.column()).unwrap_or_default();
    columns.time.settle(head, rows.iter().map(|(_, row)| row));
    columns.time.take_order(options.date_order);
    if let Some(column) = columns.settle_node(&header, rows.iter().map(|(_, row)| row)) {
        let head = quoted(header.get(column).unwrap_or_default().trim());
        let what =
            format!("the column {head}: taken for that of the nodes, which have rows of one time");
        dataset.report.add(&what, || Location::line(skipped + 1));
    }
    let ambiguous =
        |(line, row): &(usize, StringRecord)| Some((*line, columns.time.ambiguous(row)?));
    if let Some((line, text)) = rows.iter().find_map(ambiguous) {
        return Err(times::ambiguous(&text, "--date-order dmy or mdy", line));
    }
    columns.settle_heights(options.datum, skipped + 1, &mut dataset);
    let is_geographic =
        !columns.is_plane || options.origin.is_none() && has_degrees(&columns, &rows);
    let plane = (!is_geographic).then(|| Plane::of(options, &mut dataset));
    let stem = source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let alone = stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "track".to_owned());
    let mut steps: BTreeMap<u64, (f64, BTreeSet<u32>, usize)> = BTreeMap::new();
    let mut has_times_of_day = !columns.is_sumo;
    let mut heights = Vec::new();
    for (line, row) in &rows {
        let cell = |column: usize| row.get(column).unwrap_or_default().trim();
        let number = |column: usize| parse(cell(column)).ok();
        let Some((at_s, time)) = columns.time.time(row) else {
            dataset.drop("a row without a time", *line);
            continue;
        };
        if columns.is_invalid(row) {
            dataset.drop("a row whose position is stated to be invalid", *line);
            continue;
        }
        let at_s = match time {
            Time::OfDay(_) if has_times_of_day => dataset.after_midnights(at_s),
            Time::OfDay(_) => at_s,
            Time::Number(_) | Time::Date(_) => {
                has_times_of_day = false;
                at_s
            }
        };
        let step = steps.entry(rank(at_s)).or_insert((at_s, BTreeSet::new(), *line));
        for Place { kind, id, name, x, y, z, parts, grid } in &columns.nodes {
            let key = id.map_or(alone.as_str(), cell);
            if columns.is_sumo && key.is_empty() {
                continue;
            }
            let degrees =
                |axis: Axis, column| axis.degrees(column, parts[axis as usize], cell).ok();
            let place = match plane {
                Some(plane) => number(*x)
                    .zip(number(*y))
                    .and_then(|(x, y)| plane.position(x, y).map(|position| (position, false))),
                None => match grid {
                    Some(grid) => grid.degrees(cell).ok(),
                    None => degrees(Axis::Latitude, *y).zip(degrees(Axis::Longitude, *x)),
                }
                .and_then(|(lat_deg, lon_deg)| values::position(lat_deg, lon_deg).ok()),
            };
            let Some((position, is_wrapped)) = place else {
                dataset.drop("a row without a position", *line);
                continue;
            };
            if is_wrapped {
                dataset.drop("longitude beyond 180 degrees: a turn is taken off", *line);
            }
            let node = match columns.is_sumo {
                true => sumo::node(&mut dataset, kind, key, *line),
                false => {
                    let name = name.map(cell).filter(|name| !name.is_empty());
                    let node = dataset.named(key, name.unwrap_or(key));
                    if node.is_none() {
                        dataset.drop("one node too many, or an empty name", *line);
                    }
                    node
                }
            };
            let Some(node) = node else { continue };
            dataset.nodes[node as usize].comes_and_goes = columns.is_sumo;
            dataset.event(at_s, Event::Fix(node, position), *line);
            step.1.insert(node);
            let z_m = z.and_then(number).filter(|z_m| !columns.is_sumo || *z_m != 0.0);
            match z_m {
                // The antenna of a vehicle is above it.
                Some(z_m) if columns.is_sumo => {
                    let height = Height::Sea(z_m + options.station.height_agl_m);
                    dataset.altitude(at_s, node, height, *line);
                }
                Some(z_m) if plane.is_some() => heights.push((at_s, node, z_m, *line)),
                Some(z_m) if z_m != 0.0 => dataset.drop("a z beside degrees: not used", *line),
                _ => {}
            }
            columns.take_height(row, (at_s, node), *line, &mut dataset);
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
        let step = |step: &(f64, BTreeSet<u32>, usize)| (step.0, step.1.clone());
        let ends = steps.first().map(step).zip(steps.last().map(step));
        dataset.parts.extend(ends.map(|(first, last)| Part { first, last }));
    }
    dataset.heights_above_plane(heights);
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    dataset.has_times_of_day = has_times_of_day && dataset.begin_unix_s.is_none();
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
    let places = rows.iter().flat_map(|(_, row)| {
        let cell = |column: usize| row.get(column).unwrap_or_default().trim();
        columns.nodes.iter().map(move |Place { x, y, .. }| (cell(*x), cell(*y)))
    });
    sumo::are_degrees(places.filter(|(x, _)| !x.is_empty()))
}
