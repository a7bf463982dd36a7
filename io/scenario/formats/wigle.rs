//! Tables of WiGLE: a receiver that moves, a row for each reception with its position.

use std::collections::BTreeMap;

use csv::{ReaderBuilder, StringRecord};
use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Height};
use super::error::{FormatError, Location};
use super::signal::level_dbm;
use super::text::text;
use super::wardrive::{self, RECEIVER, Row, Rows, fix, place};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "wigle",
    label: "WiGLE",
    description: "WiGLE CSV: a receiver that moves, and the signal of transmitters",
    extensions: &["wigle"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.text().starts_with("WigleWifi-"),
    read: Some(|source, _: &ReadOptions| read(source)),
    ..Format::NONE
};

/// The kind of transmitters that are used.
const WIFI: &str = "WIFI";

fn read(source: &Source) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    // A line about the device stands before the heads of columns.
    let (device, table) = text.split_once('\n').unwrap_or((text, ""));
    let mut dataset = Dataset::default();
    let (heads, mut rows) = match table.contains('"') {
        true => rows_by_line(table, &mut dataset)?,
        false => wardrive::rows(&FORMAT, table, 1, &mut dataset)?,
    };
    let is_of_kismet = device.to_ascii_lowercase().contains("model=kismet");
    if is_of_kismet || are_first_sights(&heads, &rows) {
        space_apart(&mut rows, &mut dataset);
    }
    let take = if is_of_kismet { row_of_kismet } else { row_of_app };
    wardrive::take_rows(&mut dataset, &heads, rows, take);
    Ok(dataset)
}

/// Rows of a table with quotes, which stand in names without being doubled: each line is a row, and quotes are those of
/// cells where that gives as many cells as columns.
fn rows_by_line(table: &str, dataset: &mut Dataset) -> Result<(Vec<String>, Rows), FormatError> {
    let (head, body) = table.split_once('\n').unwrap_or((table, ""));
    let (heads, mut rows) = wardrive::rows(&FORMAT, head, 1, dataset)?;
    for (number, line) in body.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let cells = |is_quoted: bool| {
            let mut reader = ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .quoting(is_quoted)
                .buffer_capacity(line.len().max(1))
                .from_reader(line.as_bytes());
            let mut cells = StringRecord::new();
            matches!(reader.read_record(&mut cells), Ok(true)).then_some(cells)
        };
        let quoted = cells(true).filter(|cells| cells.len() == heads.len());
        match quoted.or_else(|| cells(false)) {
            Some(cells) => wardrive::push_row(&mut rows, &heads, cells, number + 3, dataset),
            None => dataset.drop("an invalid row", number + 3),
        }
    }
    Ok((heads, rows))
}

/// `true` if times are those at which transmitters were first received: most rows of a transmitter that has several
/// stand at another place at the time of one before.
fn are_first_sights(heads: &[String], rows: &Rows) -> bool {
    let column = |name: &str| heads.iter().position(|head| head == name);
    let columns = ["mac", "currentlatitude", "currentlongitude"].map(column);
    let [Some(mac), Some(lat), Some(lon)] = columns else { return false };
    let mut last: BTreeMap<&str, (Option<f64>, [&str; 2])> = BTreeMap::new();
    let (mut several, mut elsewhere) = (0_usize, 0_usize);
    for (row, cells) in rows {
        let cell = |column: usize| cells.get(column).unwrap_or_default().trim();
        let place = [cell(lat), cell(lon)];
        let Some((at_s, before)) = last.insert(cell(mac), (row.at_s, place)) else { continue };
        several += 1;
        elsewhere += usize::from(at_s.is_some() && at_s == row.at_s && before != place);
    }
    elsewhere * 2 > several
}

/// Gives rows times of their own, a second apart in their order, from the first time on.
fn space_apart(rows: &mut Rows, dataset: &mut Dataset) {
    let begin_s = rows.iter().filter_map(|(row, _)| row.at_s).fold(f64::INFINITY, f64::min);
    let Some((first, _)) = rows.first().filter(|_| begin_s.is_finite()) else { return };
    let what = "a time at which a transmitter was first received, for all of its rows: rows stand a second apart in \
                their order";
    let line = first.line;
    dataset.report.add_many(what, rows.len(), || Location::line(line));
    for (number, (row, _)) in rows.iter_mut().enumerate() {
        row.at_s = row.at_s.map(|_| begin_s + number as f64);
    }
}

/// A row of Kismet, whose altitudes are above mean sea level, as receivers of GNSS state them.
fn row_of_kismet<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, row: &Row) {
    take(dataset, cell, row, Height::Sea);
}

/// A row of WiGLE's app, whose altitudes are those of Android's `Location`: above the ellipsoid WGS84.
fn row_of_app<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, row: &Row) {
    take(dataset, cell, row, Height::Ellipsoid);
}

/// Takes a row: transmitters are their addresses, names are shared by many. The level is the power at the receiver.
fn take<'c>(
    dataset: &mut Dataset,
    cell: &dyn Fn(&str) -> &'c str,
    row: &Row,
    datum: fn(f64) -> Height,
) {
    let line = row.line;
    let position = place(cell("currentlatitude"), cell("currentlongitude"));
    let (Some(at_s), Some(position)) = (row.at_s, position) else {
        return dataset.drop("a row without a time or a position", line);
    };
    if !row.has_zone {
        dataset.drop("a time without a zone: taken as UTC", line);
    }
    fix(dataset, at_s, position, (cell("altitudemeters"), datum), line);
    let kind = cell("type");
    if !kind.is_empty() && kind != WIFI {
        let kind: String = kind.chars().take(20).collect();
        return dataset.drop(&format!("a transmitter of the kind {kind}: not used"), line);
    }
    let Some(rx_power_dbm) = level_dbm(dataset, cell("rssi"), line) else { return };
    let stated_mhz = cell("frequency").parse().ok().filter(|mhz: &f64| *mhz > 0.0);
    let frequency_mhz = stated_mhz.or_else(|| wifi_mhz(cell("channel").parse().ok()?));
    let values =
        Measured { rx_power_dbm: Some(rx_power_dbm), frequency_mhz, ..Measured::default() };
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
