//! Tables as CSV (RFC 4180): a header, lines that end in CR LF, quotes where they are needed.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use super::atomic::PartFile;
use super::error::RasterError;
use super::geometry::GridGeometry;
use super::grid::Rows;

/// A column of numbers or texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Quantity of the column, e.g. `rx_power`.
    pub name: String,
    /// The unit, which the header puts last, e.g. `dbm`; empty for texts and counts.
    pub unit: String,
    /// Decimals of its numbers.
    pub decimals: usize,
}

impl Column {
    /// A column of this name, unit and number of decimals.
    #[must_use]
    pub fn new(name: &str, unit: &str, decimals: usize) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), decimals }
    }

    fn header(&self) -> String {
        if self.unit.is_empty() {
            self.name.clone()
        } else {
            format!("{}_{}", self.name, self.unit)
        }
    }
}

/// One field of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'a> {
    /// A number; not a number becomes an empty field.
    Number(f64),
    /// A text.
    Text(&'a str),
}

/// A table being written, line by line.
#[derive(Debug)]
pub struct Table {
    part: PartFile,
    columns: Vec<Column>,
    line: String,
}

impl Table {
    /// Begins the table that will be `path`, with its header.
    ///
    /// # Errors
    /// When there is no column or the disk fails.
    pub fn create(path: &Path, columns: Vec<Column>) -> Result<Self, RasterError> {
        if columns.is_empty() {
            return Err(RasterError::Unwritable {
                what: format!("table {}", path.display()),
                why: "it has no columns",
            });
        }
        let mut table = Self { part: PartFile::create(path)?, columns, line: String::new() };
        let headers: Vec<String> = table.columns.iter().map(Column::header).collect();
        headers.iter().for_each(|header| table.push_text(header));
        table.end_line()?;
        Ok(table)
    }

    /// Adds a line.
    ///
    /// # Errors
    /// When there are more or fewer fields than columns, or the disk fails.
    pub fn row(&mut self, fields: &[Field<'_>]) -> Result<(), RasterError> {
        if fields.len() != self.columns.len() {
            return Err(RasterError::Unwritable {
                what: format!("a line of {} fields", fields.len()),
                why: "the table has another number of columns",
            });
        }
        for (index, field) in fields.iter().enumerate() {
            match *field {
                Field::Text(text) => self.push_text(text),
                Field::Number(value) => {
                    push_number(&mut self.line, value, self.columns[index].decimals);
                    self.line.push(',');
                }
            }
        }
        self.end_line()
    }

    /// Puts the table in its place.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn commit(self) -> Result<(), RasterError> {
        self.part.commit()
    }

    fn push_text(&mut self, text: &str) {
        if text.contains(['"', ',', '\r', '\n']) {
            self.line.push('"');
            self.line.push_str(&text.replace('"', "\"\""));
            self.line.push('"');
        } else {
            self.line.push_str(text);
        }
        self.line.push(',');
    }

    fn end_line(&mut self) -> Result<(), RasterError> {
        self.line.pop();
        self.line.push_str("\r\n");
        let written = self.part.write_all(self.line.as_bytes());
        self.line.clear();
        written.map_err(self.part.failed())
    }
}

/// Appends a number with this many decimals; nothing when it is none, and no minus before zero.
fn push_number(line: &mut String, value: f64, decimals: usize) {
    if !value.is_finite() {
        return;
    }
    let start = line.len();
    write!(line, "{value:.decimals$}").expect("a string takes all");
    let text = &line.as_bytes()[start..];
    if text[0] == b'-' && text.iter().all(|b| matches!(b, b'-' | b'0' | b'.')) {
        line.remove(start);
    }
}

/// Writes a line for each cell that has data in any band: `row`, `col`, the position of its
/// middle, then a column for each band of `source`.
///
/// # Errors
/// When the raster is impossible, its source or the disk fails.
pub fn write_cells(
    path: &Path,
    geometry: GridGeometry,
    bands: &[Column],
    source: &mut dyn Rows,
) -> Result<(), RasterError> {
    let geometry = geometry.check()?;
    let mut columns = vec![
        Column::new("row", "", 0),
        Column::new("col", "", 0),
        Column::new("lat", "deg", 7),
        Column::new("lon", "deg", 7),
    ];
    columns.extend_from_slice(bands);
    let mut table = Table::create(path, columns)?;
    let cols = geometry.cols as usize;
    let mut cells = vec![f32::NAN; bands.len() * cols];
    let mut fields = Vec::new();
    for row in 0..geometry.rows {
        let read: io::Result<()> = source.read(row, &mut cells);
        read.map_err(|source| RasterError::ReadRow { row, source })?;
        for col in 0..geometry.cols {
            let values = || cells.iter().skip(col as usize).step_by(cols);
            if values().all(|value| value.is_nan()) {
                continue;
            }
            let lon_deg = geometry.lon_deg(col);
            let lon_deg = if lon_deg >= 180.0 { lon_deg - 360.0 } else { lon_deg };
            let place = [f64::from(row), f64::from(col), geometry.lat_deg(row), lon_deg];
            fields.clear();
            fields.extend(place.map(Field::Number));
            fields.extend(values().map(|&value| Field::Number(f64::from(value))));
            table.row(&fields)?;
        }
    }
    table.commit()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn texts_are_quoted_where_they_must_be() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sites.csv");
        let columns = vec![Column::new("site", "", 0), Column::new("height", "m", 1)];
        let mut table = Table::create(&path, columns).unwrap();
        for (name, height) in [("a, b", 12.34), ("say \"hi\"", -0.01), ("two\nlines", f64::NAN)] {
            table.row(&[Field::Text(name), Field::Number(height)]).unwrap();
        }
        assert!(table.row(&[Field::Text("short")]).is_err());
        assert!(!path.exists(), "not there before it is complete");
        table.commit().unwrap();
        let want =
            "site,height_m\r\n\"a, b\",12.3\r\n\"say \"\"hi\"\"\",0.0\r\n\"two\nlines\",\r\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), want);
    }

    #[test]
    fn cells_without_data_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cells.csv");
        let geometry = GridGeometry {
            west_deg: 179.5,
            north_deg: 1.0,
            cell_lon_deg: 0.5,
            cell_lat_deg: 0.5,
            cols: 2,
            rows: 2,
        };
        let bands = [Column::new("rx_power", "dbm", 2), Column::new("best_server", "", 0)];
        let mut source = |row: u32, out: &mut [f32]| {
            let no = f32::NAN;
            out.copy_from_slice(&if row == 0 { [no, -80.125, no, 3.0] } else { [no, no, no, 1.0] });
            Ok(())
        };
        write_cells(&path, geometry, &bands, &mut source).unwrap();
        let want = "row,col,lat_deg,lon_deg,rx_power_dbm,best_server\r\n\
                    0,1,0.7500000,-179.7500000,-80.12,3\r\n\
                    1,1,0.2500000,-179.7500000,,1\r\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), want);
    }
}
