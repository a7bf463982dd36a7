//! Tables of a receiver that moves, a row for each reception with its position: WiGLE's, and that of
//! Meshtastic's range test.

use std::cmp::Ordering;

use csv::{ReaderBuilder, StringRecord};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event, Height};
use super::error::{Fault, FormatError, Location};
use super::plan::values::parse;
use super::text::{line_of_row, text};
use super::{Content, Format, ReadOptions, Source, clock};

/// Tables of WiGLE.
pub static WIGLE: Format = Format {
    name: "wigle",
    label: "WiGLE",
    description: "WiGLE CSV: a receiver that moves, and the signal of transmitters",
    extensions: &["wigle"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.text().starts_with("WigleWifi-"),
    read: Some(|source, _: &ReadOptions| read(&WIGLE, source, wigle)),
    ..Format::NONE
};

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
const RECEIVER: &str = "receiver";

/// Reads a row with a function of its cells by column.
pub(super) type TakeRow = for<'c> fn(&mut Dataset, &dyn Fn(&str) -> &'c str, usize);

/// Reads the rows of a table whose first line names its columns.
pub(super) fn read(
    format: &'static Format,
    source: &Source,
    take: TakeRow,
) -> Result<Dataset, FormatError> {
    let text = text(format, source.bytes())?;
    // WiGLE has a line about the device before the heads of columns.
    let (skipped, table) = match text.starts_with("WigleWifi-") {
        true => (1, text.split_once('\n').map_or("", |(_, table)| table)),
        false => (0, text),
    };
    let mut rows = ReaderBuilder::new().flexible(true).from_reader(table.as_bytes());
    let heads = rows.headers().map_err(|error| {
        Fault::new("", error.to_string(), "a table").at(format, Location::default())
    })?;
    let heads: Vec<String> = heads.iter().map(|head| head.trim().to_ascii_lowercase()).collect();
    let mut dataset = Dataset::default();
    let mut row = StringRecord::new();
    let mut dated: Vec<(Option<f64>, usize, StringRecord)> = Vec::new();
    let time = heads.iter().position(|head| head == "firstseen" || head == "time");
    loop {
        match rows.read_record(&mut row) {
            Ok(false) => break,
            Ok(true) => {
                let line = line_of_row(row.position(), table.as_bytes()) + skipped;
                let cell = time.and_then(|column| row.get(column)).unwrap_or_default();
                let at_s = clock::iso8601(&cell.trim().replacen(' ', "T", 1)).map(|time| time.0);
                // Commas in a name that is not quoted move the cells behind it.
                match row.iter().skip(heads.len()).any(|cell| !cell.trim().is_empty()) {
                    true => dataset.drop("a row with more cells than columns: not read", line),
                    false => dated.push((at_s, line, row.clone())),
                }
            }
            Err(error) => {
                let line = line_of_row(error.position(), table.as_bytes()) + skipped;
                dataset.drop("an invalid row", line);
            }
        }
    }
    // Rows grouped by transmitter are in no order of time; those of dates have one.
    if dated.iter().all(|(at_s, ..)| at_s.is_some()) {
        dated.sort_by(|(one_s, ..), (other_s, ..)| {
            one_s.partial_cmp(other_s).unwrap_or(Ordering::Equal)
        });
    }
    for (_, line, row) in &dated {
        let cell = |name: &str| {
            let column = heads.iter().position(|head| head == name);
            column.and_then(|column| row.get(column)).unwrap_or_default().trim()
        };
        take(&mut dataset, &cell, *line);
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

/// A position of texts in degrees.
pub(super) fn place(lat: &str, lon: &str) -> Option<GeoPoint> {
    let place = lat.parse().ok().zip(lon.parse().ok())?;
    GeoPoint::new(place.0, place.1).ok()
}

/// Takes a position of the receiver, with the text of its altitude above mean sea level, m; without one, that is 0 or
/// empty.
fn fix(dataset: &mut Dataset, at_s: f64, position: GeoPoint, altitude: &str, line: usize) {
    let Some(node) = dataset.node(RECEIVER, line) else { return };
    dataset.event(at_s, Event::Fix(node, position), line);
    if let Some(altitude_m) = altitude.parse().ok().filter(|m| *m != 0.0) {
        dataset.altitude(at_s, node, Height::Sea(altitude_m), line);
    }
}

/// A row of WiGLE: transmitters are their addresses, names are shared by many. The level is the power
/// at the receiver. Times have no zone: they are UTC.
fn wigle<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, line: usize) {
    let time = clock::iso8601(&cell("firstseen").replacen(' ', "T", 1));
    let position = place(cell("currentlatitude"), cell("currentlongitude"));
    let (Some((at_s, _)), Some(position)) = (time, position) else {
        return dataset.drop("a row without a time or a position", line);
    };
    fix(dataset, at_s, position, cell("altitudemeters"), line);
    let kind = cell("type");
    if !kind.is_empty() && kind != "WIFI" {
        let kind: String = kind.chars().take(20).collect();
        return dataset.drop(&format!("a transmitter of the kind {kind}: not used"), line);
    }
    let rx_power_dbm = cell("rssi").parse().ok();
    let stated_mhz = cell("frequency").parse().ok().filter(|mhz: &f64| *mhz > 0.0);
    let frequency_mhz = stated_mhz.or_else(|| wifi_mhz(cell("channel").parse().ok()?));
    let values = Measured { rx_power_dbm, frequency_mhz, ..Measured::default() };
    dataset.observe(at_s, (cell("mac"), RECEIVER), values, line);
}

/// Centre of a Wi-Fi channel of 2.4 or 5 GHz, MHz (IEEE 802.11, 15.4.4.3 and 17.3.8.4); channels of 6 GHz have numbers of
/// their own, which rows with a frequency tell from these.
fn wifi_mhz(channel: u16) -> Option<f64> {
    match channel {
        1..=13 => Some(2_407.0 + 5.0 * f64::from(channel)),
        14 => Some(2_484.0),
        32..=177 => Some(5_000.0 + 5.0 * f64::from(channel)),
        _ => None,
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
fn range_test<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, line: usize) {
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
        Some(position) => fix(dataset, at_s, position, cell("rx elevation"), line),
        None => dataset.drop("a receiver without a position", line),
    }
    // Devices without the value write 0.
    let rx_power_dbm = parse(cell("rx rssi")).ok().filter(|dbm| *dbm != 0.0);
    let snr_db = parse(cell("rx snr")).ok();
    let values = Measured { rx_power_dbm, snr_db, ..Measured::default() };
    dataset.observe(at_s, (from, RECEIVER), values, line);
}
