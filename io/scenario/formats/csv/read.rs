//! Reader of plans.

use std::borrow::Cow;

use csv::StringRecord;
use groundwave_model::radio::Station;

use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::plan::collect::Collector;
use super::super::plan::draft::Draft;
use super::super::plan::field::{
    self, CLOUD_RF_ALT, Field, Meaning, is_cloud_rf_height, is_longitude_first,
};
use super::super::plan::{PlanFile, values};
use super::super::report::Report;
use super::super::text::{line_of_row, text};
use super::axis::{self, Axis, Parts};
use super::utm::{self, Grid};
use super::{FORMAT, unguarded};

/// Columns in one table: every one that is known, and many times as many others.
const COLUMNS_MAX: usize = 1_000;

/// Lines at the beginning of a table of which one is the header.
const HEADER_LINES_MAX: usize = 20;

/// Offset of the header: after empty lines, comments and lines of one cell, such as a title; 0 where no header follows
/// those.
pub(super) fn header_begin(text: &str) -> usize {
    let mut begin = 0;
    for line in text.split_inclusive('\n').take(HEADER_LINES_MAX) {
        if is_header(line.trim()) {
            return begin;
        }
        let cells = line.split([',', ';', '\t', '|']).filter(|cell| !cell.trim().is_empty());
        if !line.trim_start().starts_with('#') && cells.count() > 1 {
            break;
        }
        begin += line.len();
    }
    0
}

/// `true` if a line is the header of a plan: it has columns of latitude and longitude, or of UTM.
pub(super) fn is_header(line: &str) -> bool {
    let cells = line.split(char::from(delimiter(line))).map(|cell| cell.trim_matches('"'));
    if Grid::of(cells.clone()).is_some() || utm::lacks_zone(cells.clone()) {
        return true;
    }
    let fields = cells.filter_map(|cell| match Field::of(cell) {
        Meaning::Known { field, .. } | Meaning::Noted(field, _) => Some(field),
        Meaning::OtherHeight | Meaning::Unknown => None,
    });
    let fields: Vec<Field> = fields.collect();
    let has = |field| fields.contains(&field);
    has(Field::Position) || has(Field::Lat) && has(Field::Lon)
}

/// Reads a plan.
pub(super) fn read(bytes: &[u8], defaults: &Station) -> Result<(PlanFile, Report), FormatError> {
    let (text, declared) = without_separator(text(&FORMAT, bytes)?);
    let mut collector = Collector::new(&FORMAT, defaults);
    let (text, header_line) = without_title(text, &mut collector.report);
    let text = text.as_ref();
    let delimiter = declared.unwrap_or_else(|| delimiter(text));
    let mut table =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let unreadable = |error: csv::Error| {
        let line = error.position().map_or(0, csv::Position::line);
        Fault::new("", error.to_string(), "a table").at(&FORMAT, Location::new(line, ""))
    };
    let header = table.headers().map_err(unreadable)?.clone();
    let columns = Columns::of(&header, header_line, &mut collector)
        .map_err(|(column, fault)| fault.at(&FORMAT, Location::new(header_line, column)))?;
    let mut record = StringRecord::new();
    let mut dropped = None;
    while table.read_record(&mut record).map_err(unreadable)? {
        let row = Row { columns: &columns, record: &record, text, delimiter };
        let row_fault = row.take(&mut collector)?;
        dropped = dropped.or(row_fault);
    }
    // A table of which nothing is left is no plan.
    if let Some(fault) = dropped.filter(|_| !collector.has_nodes()) {
        return Err(fault);
    }
    collector.finish()
}

/// A text without the line `sep=;` by which spreadsheets name the separator, which stays as an empty line, and
/// that separator.
fn without_separator(text: &str) -> (&str, Option<u8>) {
    let Some((line, _)) = text.split_once('\n') else {
        return (text, None);
    };
    match line.trim_end().strip_prefix("sep=").map(str::as_bytes) {
        Some(&[separator]) => (&text[line.len()..], Some(separator)),
        _ => (text, None),
    }
}

/// A text whose lines above the header are empty, so that the numbers of the others stay, and the line of the header,
/// from 1; what is left out is reported.
fn without_title<'t>(text: &'t str, report: &mut Report) -> (Cow<'t, str>, u64) {
    let (head, table) = text.split_at(header_begin(text));
    let mut line_of_header = 1;
    for line in head.lines() {
        if !line.trim().is_empty() {
            report.add("line above the header: dropped", || Location::new(line_of_header, ""));
        }
        line_of_header += 1;
    }
    let text = match head.trim().is_empty() {
        true => Cow::Borrowed(text),
        false => Cow::Owned("\n".repeat(head.lines().count()) + table),
    };
    (text, line_of_header)
}

/// Separator of the cells of the header: the most frequent of `,`, `;`, tab and `|` outside quotes.
pub(super) fn delimiter(text: &str) -> u8 {
    let mut quotes = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    for byte in text.trim_start_matches(['\r', '\n']).bytes() {
        match byte {
            b'"' => quotes = !quotes,
            b'\n' | b'\r' if !quotes => break,
            byte if !quotes => {
                for (delimiter, count) in &mut counts {
                    *count += usize::from(*delimiter == byte);
                }
            }
            _ => {}
        }
    }
    // The first of equals, hence a comma where there is none.
    let best = counts.iter().rev().max_by_key(|(_, count)| *count);
    best.map_or(b',', |(delimiter, _)| *delimiter)
}

/// Latitude and longitude of two numbers, the longitude first.
fn longitude_first(cell: &str) -> Option<(f64, f64)> {
    let parts = cell.split([',', ';', ' ']).filter(|part| !part.is_empty());
    let numbers: Vec<f64> = parts.map(|part| values::parse(part).ok()).collect::<Option<_>>()?;
    let &[lon_deg, lat_deg] = &numbers[..] else { return None };
    Some((lat_deg, lon_deg))
}

/// Columns of the position.
enum Place {
    /// Latitude and longitude, each with its further parts.
    Axes { lat: usize, lon: usize, parts: [Parts; 2] },
    /// Both in one text.
    Position { column: usize },
    /// Zone, easting and northing.
    Utm(Grid),
}

/// Columns of UTM, where no column has degrees or whole positions.
fn grid_of(names: &[String]) -> Option<Grid> {
    let has = |wanted: Field| {
        names.iter().filter(|name| !utm::is_plane(name)).any(|name| match Field::of(name) {
            Meaning::Known { field, .. } | Meaning::Noted(field, _) => field == wanted,
            Meaning::OtherHeight | Meaning::Unknown => false,
        })
    };
    let has_degrees = has(Field::Position) || has(Field::Lat) && has(Field::Lon);
    Grid::of(names.iter().map(String::as_str)).filter(|_| !has_degrees)
}

/// The columns in their order.
struct Columns {
    names: Vec<String>,
    /// Column with the height of CloudRF, whose name means another in other tables.
    cloud_rf_height: Option<usize>,
    place: Place,
    deployment: Option<usize>,
    has_meaning: Vec<bool>,
}

impl Columns {
    /// The columns of a header, or the name of one at fault.
    fn of(
        header: &StringRecord,
        line: u64,
        collector: &mut Collector<'_>,
    ) -> Result<Self, (String, Fault)> {
        let whole =
            |actual: String, allowed: &str| (String::new(), Fault::new("", actual, allowed));
        if header.len() > COLUMNS_MAX {
            let allowed = format!("up to {COLUMNS_MAX} columns");
            return Err(whole(format!("{} columns", header.len()), &allowed));
        }
        let names: Vec<String> = header.iter().map(|name| name.trim().to_owned()).collect();
        let cloud_rf_height = names.iter().position(|name| is_cloud_rf_height(name, &names));
        let grid = grid_of(&names);
        let mut at = [None; 4];
        let mut has_meaning = vec![false; names.len()];
        let mut unique_names = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if name.is_empty() {
                continue;
            }
            if unique_names.contains(&name) {
                let fault = Fault::new("", "a duplicate column", "each column once");
                return Err((name.clone(), fault));
            }
            unique_names.push(name);
            let here = || Location::new(line, name.as_str());
            if grid.is_some_and(|grid| grid.has(index)) {
                continue;
            }
            if cloud_rf_height == Some(index) {
                collector.report.add(CLOUD_RF_ALT, here);
                has_meaning[index] = true;
                continue;
            }
            let field = match Field::of(name) {
                Meaning::Known { field, .. } => field,
                Meaning::Noted(field @ (Field::Lat | Field::Lon | Field::Position), note) => {
                    collector.report.add(note, here);
                    field
                }
                // Told when there is a value.
                Meaning::Noted(..) | Meaning::OtherHeight => {
                    has_meaning[index] = true;
                    continue;
                }
                Meaning::Unknown => {
                    if axis::part_of(name).is_none() {
                        collector.report.dropped("column", name, here);
                    }
                    continue;
                }
            };
            let place = match field {
                Field::Lat => &mut at[0],
                Field::Lon => &mut at[1],
                Field::Deployment => &mut at[2],
                Field::Position => &mut at[3],
                _ => {
                    has_meaning[index] = true;
                    continue;
                }
            };
            // Several spellings of one position: the first counts.
            if field == Field::Position && place.is_some() {
                collector.report.dropped("column", name, here);
                continue;
            }
            if let Some(first) = place.replace(index) {
                let actual = format!("{} besides {}", quoted(name), quoted(&names[first]));
                let allowed = "one column for each of latitude and longitude";
                return Err((name.clone(), Fault::new("", actual, allowed)));
            }
        }
        if let Some(grid) = grid {
            let place = Place::Utm(grid);
            return Ok(Self { names, cloud_rf_height, place, deployment: at[2], has_meaning });
        }
        match at {
            [Some(lat), Some(lon), deployment, _] => {
                let place = Place::Axes { lat, lon, parts: axis::parts(header) };
                Ok(Self { names, cloud_rf_height, place, deployment, has_meaning })
            }
            [_, _, deployment, Some(column)] => {
                let place = Place::Position { column };
                Ok(Self { names, cloud_rf_height, place, deployment, has_meaning })
            }
            _ => {
                let actual = format!("the columns {}", quoted(&names.join(", ")));
                let allowed = match utm::lacks_zone(names.iter().map(String::as_str)) {
                    true => "a column zone beside easting and northing, with values such as 32V",
                    false => {
                        "a header with lat and lon, or zone, easting and northing, and name, role, \
                         height_agl_m, radio, …"
                    }
                };
                Err(whole(actual, allowed))
            }
        }
    }
}

/// A row.
struct Row<'r> {
    columns: &'r Columns,
    record: &'r StringRecord,
    text: &'r str,
    delimiter: u8,
}

impl Row<'_> {
    fn cell(&self, index: usize) -> &str {
        self.record.get(index).unwrap_or_default()
    }

    /// Location of a cell.
    fn place(&self, column: &str) -> Location {
        let line = line_of_row(self.record.position(), self.text.as_bytes());
        Location::new(line as u64, column)
    }

    /// Takes the row; one without a position or at fault is dropped, and its fault returned.
    fn take(&self, collector: &mut Collector<'_>) -> Result<Option<FormatError>, FormatError> {
        if self.record.iter().all(|cell| cell.trim().is_empty()) {
            collector.report.add("empty row: passed over", || self.place(""));
            return Ok(None);
        }
        if let Err(fault) = self.refuse_surplus() {
            return Ok(Some(self.dropped(collector, fault)));
        }
        let columns = self.columns;
        let says = |index: &usize| !self.cell(*index).trim().is_empty();
        if let Some(deployment) = columns.deployment.filter(says) {
            return self.deployment(collector, deployment).map(|()| None);
        }
        let mut draft = Draft::default();
        for (index, name) in columns.names.iter().enumerate() {
            if !columns.has_meaning[index] {
                continue;
            }
            let cell = self.cell(index);
            let cell = if self.is_name(index) { unguarded(cell) } else { cell };
            // An empty cell is absent.
            if !cell.is_empty() {
                let report = &mut collector.report;
                let tell = &mut |what: &str| report.add(what, || self.place(name));
                let meaning = match columns.cloud_rf_height == Some(index) {
                    true => name.to_ascii_lowercase().replacen("alt", Field::Height.name(), 1),
                    false => name.clone(),
                };
                draft.take(&meaning, cell, tell);
            }
        }
        let place = match self.degrees(collector) {
            Ok(place) => place,
            Err((column, fault)) => {
                let what = format!(
                    "row without a position (found {}, allowed {}): dropped",
                    fault.found, fault.allowed
                );
                collector.report.add(&what, || self.place(column));
                return Ok(Some(fault.at(&FORMAT, self.place(column))));
            }
        };
        let at = |key: &str| match (key, &columns.place) {
            ("lat", Place::Axes { lat, .. }) => self.place(&columns.names[*lat]),
            ("lon", Place::Axes { lon, .. }) => self.place(&columns.names[*lon]),
            ("lat" | "lon", Place::Position { column }) => self.place(&columns.names[*column]),
            ("lat", Place::Utm(grid)) => self.place(&columns.names[grid.northing]),
            ("lon", Place::Utm(grid)) => self.place(&columns.names[grid.easting]),
            (key, _) => self.place(field::column(key)),
        };
        match collector.node(&mut draft, place, &at) {
            // Ids are those of the table as a whole, and so is its length.
            Err(fault) if !collector.is_full() && !fault.is_at(Field::Id.name()) => {
                Ok(Some(self.dropped(collector, fault)))
            }
            outcome => outcome.map(|()| None),
        }
    }

    /// Notes that the row is left out, with its fault, which it returns.
    fn dropped(&self, collector: &mut Collector<'_>, fault: FormatError) -> FormatError {
        if let FormatError::Invalid { location, found, allowed, .. } = &fault {
            let what = format!("row at fault (found {found}, allowed {allowed}): dropped");
            collector.report.add(&what, || location.clone());
        }
        fault
    }

    /// Latitude and longitude, or the column at fault.
    fn degrees(&self, collector: &mut Collector<'_>) -> Result<(f64, f64), (&str, Fault)> {
        let names = &self.columns.names;
        match self.columns.place {
            Place::Axes { lat, lon, parts } => {
                let axis = |axis: Axis, column: usize| {
                    let value =
                        axis.degrees(column, parts[axis as usize], |index| self.cell(index));
                    value.map_err(|(found, allowed)| {
                        (names[column].as_str(), Fault::new("", found, allowed))
                    })
                };
                Ok((axis(Axis::Latitude, lat)?, axis(Axis::Longitude, lon)?))
            }
            Place::Position { column } => {
                let cell = self.cell(column).trim();
                let fault = |allowed: String| {
                    (names[column].as_str(), Fault::new("", quoted(cell), allowed))
                };
                // The header states the order; letters of hemispheres in the cell state it themselves.
                let has_letters = cell.chars().any(char::is_alphabetic);
                if is_longitude_first(&names[column]) && !has_letters {
                    let allowed = "longitude and latitude in degrees";
                    return longitude_first(cell).ok_or_else(|| fault(allowed.to_owned()));
                }
                let (point, height_m) = groundwave_coordinate::parse_with_height(cell)
                    .map_err(|error| fault(error.allowed))?;
                if height_m.is_some() {
                    let what = "height after a position: dropped";
                    collector.report.add(what, || self.place(&names[column]));
                }
                Ok((point.lat_deg(), point.lon_deg()))
            }
            Place::Utm(grid) => grid
                .degrees(|index| self.cell(index).trim())
                .map_err(|(column, fault)| (names[column].as_str(), fault)),
        }
    }

    /// Refuses cells beyond the header, as decimal commas make them.
    fn refuse_surplus(&self) -> Result<(), FormatError> {
        let columns = self.columns.names.len();
        let surplus = self.record.iter().skip(columns);
        if surplus.into_iter().all(|cell| cell.trim().is_empty()) {
            return Ok(());
        }
        let actual = format!("{} cells", self.record.len());
        let hint = if self.delimiter == b',' {
            "; numbers have a decimal point, texts with commas stand in quotes"
        } else {
            ""
        };
        let allowed = format!("{columns}, as in the header{hint}");
        Err(Fault::new("", actual, allowed).at(&FORMAT, self.place("")))
    }

    fn is_name(&self, index: usize) -> bool {
        let meaning = Field::of(&self.columns.names[index]);
        matches!(meaning, Meaning::Known { field: Field::Name, .. })
    }

    /// Takes the row of the deployment.
    fn deployment(&self, collector: &mut Collector<'_>, index: usize) -> Result<(), FormatError> {
        let read = collector.deployment(self.cell(index));
        read.map_err(|fault| fault.at(&FORMAT, self.place("deployment")))?;
        let name = (0..self.columns.names.len())
            .find(|index| self.is_name(*index))
            .map(|index| unguarded(self.cell(index)));
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            collector.deployment.name = Some(name.to_owned());
        }
        Ok(())
    }
}
