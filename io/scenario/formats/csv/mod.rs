//! Comma-separated values (RFC 4180): a plan with one node a row, a column for every field; with
//! a mapping, measured levels ([`levels`]); the rows of a recording.
//!
//! The header decides: columns come in any order, under their own names or common others
//! (`latitude`, `lng`, `x`, `title`, …); a position may be one text or UTM in columns. `radio` and `antenna` are ids of presets; columns such as
//! `frequency_mhz` go over them, and over the default station where no preset is named. The row
//! whose cell in the column `deployment` is not empty is the deployment's: its name under `name`,
//! all else as JSON in that cell.
//!
//! Empty lines, comments (`#`) and lines of one cell, such as a title, may stand above the header.
//! Cells may be separated by `,`, `;`, tabs or `|`. Numbers have a decimal point. A name that a
//! spreadsheet would take for a formula is written after an apostrophe, which reading takes off.

mod axis;
pub mod levels;
mod named_dates;
mod read;
mod times;
pub mod tracks;
mod utm;
mod write;

use std::io;

pub use times::DateOrder;

use groundwave_simulation::WorldView;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::recording::{Output, RecordingWriter};
use super::rows::{self, Changes};
use super::{Content, Format, ReadOptions, Source, ttnmapper};

/// The format.
pub static FORMAT: Format = Format {
    name: "csv",
    label: "CSV",
    description: "Comma-separated values: plan; measured levels (--mapping); rows of a recording",
    extensions: &["csv", "tsv"],
    media_type: Some("text/csv; charset=utf-8"),
    contents: &[Content::Plan, Content::Measurements],
    sniff: |sample| {
        let is_plan = |line: &str| read::is_header(line) && !ttnmapper::is_heads(line);
        let titled = &sample.text()[read::header_begin(sample.text())..];
        let mut heads = [sample.lines().next(), titled.lines().next()].into_iter().flatten();
        heads.any(is_plan) && !(tracks::FORMAT.sniff)(sample)
    },
    companions: &[],
    is_series: false,
    read: Some(read),
    write_plan: Some(write::write),
    write_recording: Some(write_rows),
};

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    match &options.mapping {
        Some(mapping) => levels::read(source, mapping, options),
        None if tracks::is_of_levels(&String::from_utf8_lossy(source.bytes())) => {
            let actual = "rows of levels with times";
            let allowed = "sites, a row each (--mapping FILE makes a recording of levels)";
            Err(Fault::new("", actual, allowed).at(&FORMAT, Location::line(1)))
        }
        None => match tracks::unread_times(&String::from_utf8_lossy(source.bytes())) {
            Some(time) => {
                let actual = format!("rows of nodes that come again: {time}");
                Err(Fault::new("", actual, tracks::TIMES_ALLOWED).at(&FORMAT, Location::line(1)))
            }
            None => read::read(source.bytes(), &options.station).map(Dataset::of_plan),
        },
    }
}

fn write_rows<'w>(mut out: Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>> {
    rows::header(&mut out)?;
    let changes = Changes::default();
    let count = 0;
    Ok(Box::new(Writer { out, changes, count }))
}

/// Writes the rows of a recording.
struct Writer<'w> {
    out: Output<'w>,
    changes: Changes,
    count: u64,
}

impl RecordingWriter for Writer<'_> {
    fn unit(&self) -> &'static str {
        "rows"
    }

    fn write(&mut self, now: &WorldView) -> io::Result<()> {
        for row in self.changes.rows(now) {
            row.write(&mut self.out)?;
            self.count += 1;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &WorldView) -> io::Result<u64> {
        self.out.flush()?;
        Ok(self.count)
    }
}

/// Characters that begin a formula in spreadsheets.
const FORMULA: [char; 4] = ['=', '+', '-', '@'];

/// A name as it is written: after an apostrophe where it is a formula, or looks like a guarded name.
fn guarded(name: &str) -> String {
    if name.starts_with(FORMULA) || is_guarded(name) { format!("'{name}") } else { name.to_owned() }
}

/// The name that was written as `cell`.
fn unguarded(cell: &str) -> &str {
    if is_guarded(cell) { &cell[1..] } else { cell }
}

/// `true` if a cell is a name escaped by an apostrophe.
fn is_guarded(cell: &str) -> bool {
    let rest = cell.trim_start_matches('\'');
    cell.starts_with('\'') && rest.starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_spreadsheets() {
        for name in ["=1+1", "'=1", "''-x", "'t Harde", "'", "a", "-", "''"] {
            let cell = guarded(name);
            assert!(!cell.starts_with(FORMULA), "{cell}");
            assert_eq!(unguarded(&cell), name);
        }
        assert_eq!(guarded("'t Harde"), "'t Harde");
    }
}
