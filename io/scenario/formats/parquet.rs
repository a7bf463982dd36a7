//! Apache Parquet: the rows of a recording as typed columns.
//!
//! Compressed with Snappy, in groups of `GROUP` rows, so that a day needs no more memory than a
//! group; the footer comes last, so a truncated file is invalid. Its metadata state what the predicted
//! values assume, under [`ASSUMPTIONS`].

use std::io::{self, Write};

use groundwave_simulation::WorldView;
use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::recording::{Assumed, Output, RecordingWriter};
use super::rows::{COLUMNS, Changes, MEASURED, Row};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "parquet",
    label: "Parquet",
    description: "Apache Parquet: the rows of a recording, typed",
    extensions: &["parquet"],
    contents: &[Content::Measurements],
    write_recording: Some(write),
    ..Format::NONE
};

/// Key of the metadata with the assumptions: one line for each time from which they hold.
pub const ASSUMPTIONS: &str = "groundwave:assumptions";

/// Rows of a group.
const GROUP: usize = 1 << 16;

pub(super) fn failed(err: ParquetError) -> io::Error {
    io::Error::other(err)
}

/// The type of a column, by its name.
fn type_of(column: &str) -> &'static str {
    match column {
        "at_s" => "REQUIRED DOUBLE",
        "from" | "to" => "REQUIRED BYTE_ARRAY",
        "line_of_sight" => "OPTIONAL BOOLEAN",
        "carries" => "REQUIRED BOOLEAN",
        _ => "OPTIONAL DOUBLE",
    }
}

/// The schema, as text.
fn schema() -> String {
    let column = |name: &&str| {
        let text = if matches!(*name, "from" | "to") { " (UTF8)" } else { "" };
        format!("{} {name}{text};", type_of(name))
    };
    let columns: String = COLUMNS.iter().map(column).collect();
    format!("message directions {{ {columns} }}")
}

/// Compression and author of all files.
pub(super) fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("groundwave ", env!("CARGO_PKG_VERSION")).to_owned())
        .build()
}

fn write<'w>(out: Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>> {
    let schema = parse_message_type(&schema()).map_err(failed)?;
    let out = SerializedFileWriter::new(out, schema.into(), properties().into());
    Ok(Box::new(Writer {
        out: out.map_err(failed)?,
        changes: Changes::default(),
        assumed: Assumed::default(),
        lines: Vec::new(),
        rows: Vec::new(),
        count: 0,
    }))
}

/// Writes rows, a group at a time.
struct Writer<'w> {
    out: SerializedFileWriter<Output<'w>>,
    changes: Changes,
    assumed: Assumed,
    /// Lines of assumptions so far.
    lines: Vec<String>,
    rows: Vec<Row>,
    count: u64,
}

impl RecordingWriter for Writer<'_> {
    fn unit(&self) -> &'static str {
        "rows"
    }

    fn write(&mut self, now: &WorldView) -> io::Result<()> {
        if let Some(text) = self.assumed.changed(now) {
            let at_s = now.now_ns as f64 / 1e9;
            self.lines.push(format!("from {at_s} s on: {text}"));
        }
        let rows = self.changes.rows(now);
        self.count += rows.len() as u64;
        self.rows.extend(rows);
        while self.rows.len() >= GROUP {
            let rest = self.rows.split_off(GROUP);
            let group = std::mem::replace(&mut self.rows, rest);
            self.group(&group).map_err(failed)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &WorldView) -> io::Result<u64> {
        let rest = std::mem::take(&mut self.rows);
        if !rest.is_empty() {
            self.group(&rest).map_err(failed)?;
        }
        let assumed = KeyValue::new(ASSUMPTIONS.to_owned(), self.lines.join("\n"));
        self.out.append_key_value_metadata(assumed);
        self.out.close().map_err(failed)?;
        Ok(self.count)
    }
}

impl Writer<'_> {
    fn group(&mut self, rows: &[Row]) -> Result<(), ParquetError> {
        let mut group = self.out.next_row_group()?;
        let doubles = |value: fn(&Row) -> Option<f64>| rows.iter().map(value).collect::<Vec<_>>();
        let names = |name: fn(&Row) -> &str| {
            let bytes = |row| ByteArray::from(name(row).as_bytes().to_vec());
            rows.iter().map(bytes).map(Some).collect::<Vec<_>>()
        };
        column::<DoubleType, _>(&mut group, doubles(|row| Some(row.at_s)), true)?;
        column::<ByteArrayType, _>(&mut group, names(|row| &row.from), true)?;
        column::<ByteArrayType, _>(&mut group, names(|row| &row.to), true)?;
        column::<DoubleType, _>(&mut group, doubles(|row| row.distance_m), false)?;
        let clear = rows.iter().map(|row| row.line_of_sight).collect();
        column::<BoolType, _>(&mut group, clear, false)?;
        let carries = rows.iter().map(|row| Some(row.carries)).collect();
        column::<BoolType, _>(&mut group, carries, true)?;
        for place in 0..6 {
            let predicted = rows.iter().map(|row| row.predicted[place]).collect();
            column::<DoubleType, _>(&mut group, predicted, false)?;
        }
        for place in 0..MEASURED {
            let measured = rows.iter().map(|row| row.measured_values()[place]).collect();
            column::<DoubleType, _>(&mut group, measured, false)?;
        }
        group.close()?;
        Ok(())
    }
}

/// Writes the next column of a group; `required` has a value in every row.
pub(super) fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: Vec<Option<T::T>>,
    required: bool,
) -> Result<(), ParquetError> {
    let missing = || ParquetError::General("fewer columns than values".to_owned());
    let mut column = group.next_column()?.ok_or_else(missing)?;
    let there: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    let there = (!required).then_some(there.as_slice());
    column.typed::<T>().write_batch(&values, there, None)?;
    column.close()
}
