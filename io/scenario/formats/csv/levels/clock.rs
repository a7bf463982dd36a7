//! Times of the rows of a table of levels.

use std::borrow::Cow;
use std::path::Path;

use csv::StringRecord;

use super::super::super::Source;
use super::super::super::clock::{date_units_per_s, iso8601};
use super::super::super::dataset::Dataset;
use super::super::super::error::{FormatError, Location, quoted};
use super::super::super::plan::values::parse;
use super::super::times::{self, DateOrder, Evidence, Time};
use super::mapping::{Mapping, TimeUnit};
use super::{Table, invalid};

/// Columns of times, and what was read of them so far.
pub(super) struct Clock {
    time: usize,
    day: Option<usize>,
    unit: TimeUnit,
    order: Option<DateOrder>,
    /// No row has had more than a time of the day.
    is_of_day: bool,
    misfits: Misfits,
}

impl Clock {
    /// The columns of a mapping, with the order of the dates in the table; `date_order` goes before both.
    ///
    /// # Errors
    /// Columns that the table lacks, and dates of which no row shows the order.
    pub(super) fn of(
        source: &Source,
        mapping: &Mapping,
        date_order: Option<DateOrder>,
    ) -> Result<Self, FormatError> {
        let mut table = Table::new(&source.path, source.bytes(), mapping.delimiter)?;
        let time = table.column(&mapping.time.column)?;
        let day = mapping.time.date.as_deref().map(|name| table.column(name)).transpose()?;
        let unit = mapping.time.unit;
        let mut order = date_order.or(mapping.time.order);
        if unit == TimeUnit::Iso8601 && order.is_none() {
            let mut evidence = Evidence::default();
            let mut ambiguous = None;
            // Notes on its rows come with their values.
            table.each(&mut Dataset::default(), |row, line, _| {
                let text = time_of(row, time, day);
                evidence.note(&text);
                if ambiguous.is_none() && times::is_ambiguous(&text) {
                    ambiguous = Some((line, text.into_owned()));
                }
            });
            order = evidence.order;
            if let (None, Some((line, text))) = (order, ambiguous) {
                let setting = "order = \"dmy\" or \"mdy\" under [time] of the mapping";
                return Err(times::ambiguous(&text, setting, line));
            }
        }
        let misfits = Misfits::default();
        Ok(Self { time, day, unit, order, is_of_day: unit == TimeUnit::Iso8601, misfits })
    }

    /// Time of a row, s.
    pub(super) fn at_s(
        &mut self,
        row: &StringRecord,
        line: usize,
        dataset: &mut Dataset,
    ) -> Option<f64> {
        let text = time_of(row, self.time, self.day);
        let at_s = match self.unit.per_s() {
            Some(per_s) => parse(&text).ok()? / per_s,
            None => match iso8601(&text) {
                Some((at_s, has_zone)) => self.date(at_s, has_zone, line, dataset),
                None => match Time::of(&text, self.order)? {
                    Time::Date(at_s) => self.date(at_s, false, line, dataset),
                    Time::OfDay(at_s) if self.is_of_day => dataset.after_midnights(at_s),
                    Time::OfDay(_) | Time::Number(_) => return None,
                },
            },
        };
        self.misfits.note(at_s, &text, line, self.unit);
        Some(at_s)
    }

    /// Takes the time of a row with a date.
    fn date(&mut self, at_s: f64, has_zone: bool, line: usize, dataset: &mut Dataset) -> f64 {
        self.is_of_day = false;
        if !has_zone {
            dataset.report.add("a time without a zone: taken as UTC", || Location::line(line));
        }
        at_s
    }

    /// Settles the beginning of the recording behind the last row.
    ///
    /// # Errors
    /// Times that fit another unit than that of the mapping.
    pub(super) fn end(self, path: &Path, dataset: &mut Dataset) -> Result<(), FormatError> {
        self.misfits.check(path, self.unit)?;
        if self.is_of_day {
            dataset.has_times_of_day = true;
        } else if self.unit.is_unix() {
            dataset.drop_unset_clocks();
            dataset.begin_with_first();
        }
        Ok(())
    }
}

/// The time of a row, behind its day where that has a column.
pub(super) fn time_of(row: &StringRecord, time: usize, day: Option<usize>) -> Cow<'_, str> {
    let cell = |column: usize| row.get(column).unwrap_or_default().trim();
    match day {
        Some(day) => Cow::Owned(format!("{} {}", cell(day), cell(time))),
        None => Cow::Borrowed(cell(time)),
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
