//! Tables of a receiver that moves, a row for each reception with its position, and those of Meshtastic's range test.

use std::cmp::Ordering;

use csv::{ReaderBuilder, StringRecord};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event, Height};
use super::error::{Fault, FormatError, Location};
use super::plan::values::parse;
use super::text::{line_of_row, text};
use super::{Content, Format, ReadOptions, Source, clock};

/// Tables of Meshtastic's range test.
pub static RANGE_TEST: Format = Format {
    name: "rangetest",
    label: "Meshtastic range test",
    description: "Meshtastic range test (CSV): a receiver that moves, and the SNR of senders",
    extensions: &["rangetest"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.lines().next().is_some_and(is_range_test),
    read: Some(|source, _: &ReadOptions| {
        let mut dataset = read(&RANGE_TEST, source, range_test)?;
        dataset.has_times_of_day = true;
        Ok(dataset)
    }),
    ..Format::NONE
};

/// True for the heads of a range test: those of the device, or those of the app, which begin with a day.
fn is_range_test(line: &str) -> bool {
    let mut heads = line.split(',').map(|head| head.trim().trim_matches('"'));
    let is_any =
        |names: &[&str], head: Option<&str>| head.is_some_and(|head| names.contains(&head));
    let first = heads.next();
    let is_time = is_any(&["time", "datetime"], first)
        || is_any(&["date"], first) && is_any(&["time"], heads.next());
    is_time && is_any(&["from"], heads.next()) && is_any(&["sender name"], heads.next())
}

/// The node that receives.
pub(super) const RECEIVER: &str = "receiver";

/// Time and line of a row.
pub(super) struct Row {
    /// Time since the Unix epoch, s; without a zone it is taken as UTC.
    pub(super) at_s: Option<f64>,
    pub(super) has_zone: bool,
    pub(super) line: usize,
}

/// Reads a row with a function of its cells by column.
pub(super) type TakeRow = for<'c> fn(&mut Dataset, &dyn Fn(&str) -> &'c str, &Row);

/// Rows of a table with their times and lines, in the order of the file.
pub(super) type Rows = Vec<(Row, StringRecord)>;

/// Reads the rows of a table whose first line names its columns.
pub(super) fn read(
    format: &'static Format,
    source: &Source,
    take: TakeRow,
) -> Result<Dataset, FormatError> {
    let table = text(format, source.bytes())?;
    let mut dataset = Dataset::default();
    let (heads, rows) = rows(format, table, 0, &mut dataset)?;
    take_rows(&mut dataset, &heads, rows, take);
    Ok(dataset)
}

/// Names of the columns and rows of a table, `skipped` lines below the beginning of its document.
pub(super) fn rows(
    format: &'static Format,
    table: &str,
    skipped: usize,
    dataset: &mut Dataset,
) -> Result<(Vec<String>, Rows), FormatError> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let heads = reader.headers().map_err(|error| {
        Fault::new("", error.to_string(), "a table").at(format, Location::default())
    })?;
    let heads: Vec<String> = heads.iter().map(|head| head.trim().to_ascii_lowercase()).collect();
    let mut rows = Rows::new();
    let mut cells = StringRecord::new();
    loop {
        match reader.read_record(&mut cells) {
            Ok(false) => break,
            Ok(true) => {
                let line = line_of_row(cells.position(), table.as_bytes()) + skipped;
                push_row(&mut rows, &heads, cells.clone(), line, dataset);
            }
            Err(error) => {
                let line = line_of_row(error.position(), table.as_bytes()) + skipped;
                dataset.drop("an invalid row", line);
            }
        }
    }
    Ok((heads, rows))
}

/// Adds a row with its time.
pub(super) fn push_row(
    rows: &mut Rows,
    heads: &[String],
    cells: StringRecord,
    line: usize,
    dataset: &mut Dataset,
) {
    // Commas in a name that is not quoted move the cells behind it.
    if cells.iter().skip(heads.len()).any(|cell| !cell.trim().is_empty()) {
        return dataset.drop("a row with more cells than columns: not read", line);
    }
    let column = heads.iter().position(|head| head == "firstseen" || head == "time");
    let cell = column.and_then(|column| cells.get(column)).unwrap_or_default();
    let time = clock::iso8601(&cell.trim().replacen(' ', "T", 1));
    let (at_s, has_zone) = time.unzip();
    rows.push((Row { at_s, has_zone: has_zone.unwrap_or_default(), line }, cells));
}

/// Takes the rows of a table into `dataset`, in the order of their times where all have one.
pub(super) fn take_rows(dataset: &mut Dataset, heads: &[String], mut rows: Rows, take: TakeRow) {
    // Rows grouped by transmitter are in no order of time; those of dates have one.
    if rows.iter().all(|(row, _)| row.at_s.is_some()) {
        rows.sort_by(|(one, _), (other, _)| {
            one.at_s.partial_cmp(&other.at_s).unwrap_or(Ordering::Equal)
        });
    }
    for (row, cells) in &rows {
        let cell = |name: &str| {
            let column = heads.iter().position(|head| head == name);
            column.and_then(|column| cells.get(column)).unwrap_or_default().trim()
        };
        take(dataset, &cell, row);
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
}

/// A position of texts in degrees.
pub(super) fn place(lat: &str, lon: &str) -> Option<GeoPoint> {
    let place = lat.parse().ok().zip(lon.parse().ok())?;
    GeoPoint::new(place.0, place.1).ok()
}

/// Takes a position of the receiver, with the text of its altitude, m, above a datum; without one, that is 0 or empty.
pub(super) fn fix(
    dataset: &mut Dataset,
    at_s: f64,
    position: GeoPoint,
    (altitude, datum): (&str, fn(f64) -> Height),
    line: usize,
) {
    let Some(node) = dataset.node(RECEIVER, line) else { return };
    dataset.event(at_s, Event::Fix(node, position), line);
    if let Some(altitude_m) = altitude.parse().ok().filter(|m| *m != 0.0) {
        dataset.altitude(at_s, node, datum(altitude_m), line);
    }
}

/// Time of a row of the range test, s: of the day, or since the Unix epoch where the table has days, in no stated zone.
fn range_test_time<'c>(
    dataset: &mut Dataset,
    cell: &dyn Fn(&str) -> &'c str,
    line: usize,
) -> Option<f64> {
    let day = match (cell("date"), cell("datetime")) {
        ("", "") => {
            return clock::time_of_day(cell("time")).map(|at_s| dataset.after_midnights(at_s));
        }
        (date, "") => format!("{date}T{}", cell("time")),
        (_, both) => both.replacen(' ', "T", 1),
    };
    let (at_s, has_zone) = clock::iso8601(&day)?;
    if !has_zone {
        dataset.drop("a time without a zone: taken as UTC", line);
    }
    Some(at_s)
}

/// A row of the range test: time, sender with its position, position of the receiver, SNR and RSSI.
fn range_test<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, row: &Row) {
    let line = row.line;
    let Some(at_s) = range_test_time(dataset, cell, line) else {
        return dataset.drop("a row without a time", line);
    };
    let (from, name) = (cell("from"), cell("sender name"));
    if from.is_empty() {
        return dataset.drop("a row without a sender", line);
    }
    let name = if name.is_empty() { from } else { name };
    let Some(sender) = dataset.named(from, name) else {
        return dataset.drop("one node too many, or an empty name", line);
    };
    // A position of 0, 0 is that of a device that has none.
    let is_position = |position: &GeoPoint| (position.lat_deg(), position.lon_deg()) != (0.0, 0.0);
    match place(cell("sender lat"), cell("sender long")).filter(is_position) {
        Some(position) => dataset.event(at_s, Event::Fix(sender, position), line),
        None => dataset.drop("a sender without a position", line),
    }
    match place(cell("rx lat"), cell("rx long")).filter(is_position) {
        Some(position) => {
            fix(dataset, at_s, position, (cell("rx elevation"), Height::Sea), line);
        }
        None => dataset.drop("a receiver without a position", line),
    }
    // Devices without the value write 0.
    let rx_power_dbm = parse(cell("rx rssi")).ok().filter(|dbm| *dbm != 0.0);
    let snr_db = parse(cell("rx snr")).ok();
    let values = Measured { rx_power_dbm, snr_db, ..Measured::default() };
    dataset.observe(at_s, (from, RECEIVER), values, line);
}
