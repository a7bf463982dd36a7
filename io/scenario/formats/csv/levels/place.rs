//! Columns of a position in tables of levels.

use csv::StringRecord;
use groundwave_model::terrain::GeoPoint;

use super::super::super::dataset::Dataset;
use super::super::super::error::FormatError;
use super::super::super::plan::values;
use super::super::axis::{Axis, Parts, parts_beside};
use super::Table;

/// Columns of latitude and longitude, with those of their further parts.
pub(super) struct Place {
    columns: [(Axis, usize, Parts); 2],
}

impl Place {
    /// The columns of these names; `is_only` where the table has no other position.
    ///
    /// # Errors
    /// A table that lacks one of them.
    pub(super) fn of(
        table: &Table<'_>,
        [lat, lon]: [&str; 2],
        is_only: bool,
    ) -> Result<Self, FormatError> {
        let of = |axis, name: &str| {
            let column = table.column(name)?;
            let parts = parts_beside(&table.header, column, axis, is_only);
            Ok::<_, FormatError>((axis, column, parts))
        };
        Ok(Self { columns: [of(Axis::Latitude, lat)?, of(Axis::Longitude, lon)?] })
    }

    /// The position of a row.
    pub(super) fn point(
        &self,
        row: &StringRecord,
        line: usize,
        dataset: &mut Dataset,
    ) -> Option<GeoPoint> {
        let cell = |column: usize| row.get(column).unwrap_or_default();
        let degrees =
            self.columns.map(|(axis, column, parts)| axis.degrees(column, parts, cell).ok());
        let [lat_deg, lon_deg] = degrees;
        let (position, is_wrapped) = values::position(lat_deg?, lon_deg?).ok()?;
        if is_wrapped {
            dataset.drop("longitude beyond 180 degrees: a turn is taken off", line);
        }
        Some(position)
    }
}
