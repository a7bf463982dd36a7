//! Position of a raster's cells.

use thiserror::Error;

/// A raster in geographic coordinates (WGS 84, EPSG:4326), north up, each value standing for the
/// whole area of its cell. Cell (0, 0) is the north-western one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridGeometry {
    /// Western edge of the western cells (degrees, [-180, 180)).
    pub west_deg: f64,
    /// Northern edge of the northern cells (degrees, (-90, 90]).
    pub north_deg: f64,
    /// Width of a cell (degrees, above 0).
    pub cell_lon_deg: f64,
    /// Height of a cell (degrees, above 0).
    pub cell_lat_deg: f64,
    /// Cells from west to east, at least 1.
    pub cols: u32,
    /// Cells from north to south, at least 1.
    pub rows: u32,
}

/// A raster that cannot lie on the globe.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("invalid {key} of the raster: found {found}, allowed {allowed}")]
pub struct BadGeometry {
    /// The field or property at fault.
    pub key: &'static str,
    /// Value found.
    pub found: f64,
    /// Allowed values.
    pub allowed: &'static str,
}

/// Metres in a degree of latitude on a sphere of the mean radius 6371.0088 km (IUGG): good for
/// drawing to shape, not for measuring.
pub const METRES_PER_DEGREE: f64 = 6_371_008.8 * std::f64::consts::PI / 180.0;

/// Slack for edges that were computed (degrees, about 0.1 mm).
const ROUNDING_DEG: f64 = 1e-9;

impl GridGeometry {
    /// The same raster when it lies on the globe; it may cross the antimeridian eastwards.
    ///
    /// # Errors
    /// Names the first field that is out of its range.
    pub fn check(self) -> Result<Self, BadGeometry> {
        let bad = |key, value, allowed| Err(BadGeometry { key, found: value, allowed });
        if !(-180.0..180.0).contains(&self.west_deg) {
            return bad("west_deg", self.west_deg, "[-180, 180)");
        }
        if !(-90.0..=90.0).contains(&self.north_deg) {
            return bad("north_deg", self.north_deg, "(-90, 90]");
        }
        if !(self.cell_lon_deg > 0.0 && self.cell_lon_deg.is_finite()) {
            return bad("cell_lon_deg", self.cell_lon_deg, "above 0");
        }
        if !(self.cell_lat_deg > 0.0 && self.cell_lat_deg.is_finite()) {
            return bad("cell_lat_deg", self.cell_lat_deg, "above 0");
        }
        if self.cols == 0 || self.rows == 0 {
            return bad("cells", 0.0, "at least 1 column and 1 row");
        }
        if self.south_deg() < -90.0 - ROUNDING_DEG {
            return bad("southern edge", self.south_deg(), "not below -90");
        }
        if self.east_deg() - self.west_deg > 360.0 + ROUNDING_DEG {
            return bad("width", self.east_deg() - self.west_deg, "at most 360 degrees");
        }
        Ok(self)
    }

    /// Eastern edge (degrees); above 180 when the raster crosses the antimeridian.
    #[must_use]
    pub fn east_deg(&self) -> f64 {
        self.west_deg + f64::from(self.cols) * self.cell_lon_deg
    }

    /// Southern edge (degrees).
    #[must_use]
    pub fn south_deg(&self) -> f64 {
        self.north_deg - f64::from(self.rows) * self.cell_lat_deg
    }

    /// Middle of a column (degrees); above 180 east of the antimeridian.
    #[must_use]
    pub fn lon_deg(&self, col: u32) -> f64 {
        self.west_deg + (f64::from(col) + 0.5) * self.cell_lon_deg
    }

    /// Middle of a row (degrees).
    #[must_use]
    pub fn lat_deg(&self, row: u32) -> f64 {
        self.north_deg - (f64::from(row) + 0.5) * self.cell_lat_deg
    }

    /// Position in cells, eastwards and southwards from the north-western corner. Of the
    /// longitudes that name one meridian, takes the one at or east of the western edge unless
    /// that lies beyond the raster.
    #[must_use]
    pub fn at(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let mut east = (lon_deg - self.west_deg).rem_euclid(360.0);
        let width = f64::from(self.cols) * self.cell_lon_deg;
        if east > width && 360.0 - east < east - width {
            east -= 360.0;
        }
        [east / self.cell_lon_deg, (self.north_deg - lat_deg) / self.cell_lat_deg]
    }

    /// The raster whose cells are `factor` by `factor` cells of this one. The last column and
    /// row may reach beyond the edge of this raster.
    #[must_use]
    pub fn reduced(&self, factor: u32) -> Self {
        let factor = factor.max(1);
        Self {
            cell_lon_deg: self.cell_lon_deg * f64::from(factor),
            cell_lat_deg: self.cell_lat_deg * f64::from(factor),
            cols: self.cols.div_ceil(factor),
            rows: self.rows.div_ceil(factor),
            ..*self
        }
    }

    /// Width over height of a degree square at the middle of the raster, (0, 1].
    #[must_use]
    pub fn squeeze(&self) -> f64 {
        let middle_deg = f64::midpoint(self.north_deg, self.south_deg());
        middle_deg.to_radians().cos().max(1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile() -> GridGeometry {
        GridGeometry {
            west_deg: 11.0,
            north_deg: 58.0,
            cell_lon_deg: 0.1,
            cell_lat_deg: 0.05,
            cols: 10,
            rows: 20,
        }
    }

    #[test]
    fn indices_give_the_position_of_a_cell() {
        let grid = tile().check().unwrap();
        assert!((grid.east_deg() - 12.0).abs() < 1e-12);
        assert!((grid.south_deg() - 57.0).abs() < 1e-12);
        let [x, y] = grid.at(grid.lat_deg(3), grid.lon_deg(7));
        assert!((x - 7.5).abs() < 1e-9 && (y - 3.5).abs() < 1e-9);
    }

    #[test]
    fn positions_west_and_east_of_the_raster_keep_their_side() {
        let pacific = GridGeometry { west_deg: 179.5, ..tile() };
        assert!((pacific.at(57.5, -179.8)[0] - 7.0).abs() < 1e-9, "beyond the antimeridian");
        assert!(pacific.at(57.5, 179.0)[0] < 0.0, "west of the edge");
        assert!(pacific.at(57.5, -179.0)[0] > 10.0, "east of the edge");
    }

    #[test]
    fn impossible_rasters_are_refused() {
        let check = |grid: GridGeometry, key: &str| {
            assert_eq!(grid.check().map_err(|bad| bad.key), Err(key));
        };
        check(GridGeometry { west_deg: 180.0, ..tile() }, "west_deg");
        check(GridGeometry { west_deg: f64::NAN, ..tile() }, "west_deg");
        check(GridGeometry { north_deg: 90.5, ..tile() }, "north_deg");
        check(GridGeometry { cell_lon_deg: 0.0, ..tile() }, "cell_lon_deg");
        check(GridGeometry { cell_lat_deg: f64::INFINITY, ..tile() }, "cell_lat_deg");
        check(GridGeometry { cols: 0, ..tile() }, "cells");
        check(GridGeometry { rows: 3000, ..tile() }, "southern edge");
        check(GridGeometry { cols: 4000, ..tile() }, "width");
    }
}
