//! Rectangles of cells.

use super::grid::Grid;
use crate::terrain::GeoPoint;

/// Rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// First row, from the north.
    pub row: u32,
    /// First column, from the west.
    pub column: u32,
    /// Number of rows.
    pub rows: u32,
    /// Number of columns.
    pub columns: u32,
}

impl Window {
    /// The cells of `grid` that lie within `radius_m` (m) of a point, and some more.
    #[must_use]
    pub fn around(grid: &Grid, centre: GeoPoint, radius_m: f64) -> Self {
        let [height_deg, width_deg] = grid.cell_size_deg();
        let [away_deg, wide_deg] = centre.reach_deg(radius_m);
        let cut = |cells: f64, most: u32| cells.clamp(0.0, f64::from(most)) as u32;
        let down = (grid.north_deg() - centre.lat_deg()) / height_deg;
        let reach = away_deg / height_deg;
        let row = cut((down - reach).floor(), grid.rows());
        let rows = cut((down + reach).ceil(), grid.rows()) - row;
        let mut east_deg = (centre.lon_deg() - grid.west_deg()).rem_euclid(360.0);
        // West of the grid rather than beyond its eastern edge.
        let width = width_deg * f64::from(grid.columns());
        if east_deg - width > 360.0 - east_deg {
            east_deg -= 360.0;
        }
        let wraps = wide_deg >= 180.0 || width + 2.0 * wide_deg >= 360.0;
        let [first, last] = match wraps {
            true => [0, grid.columns()],
            false => [
                cut(((east_deg - wide_deg) / width_deg).floor(), grid.columns()),
                cut(((east_deg + wide_deg) / width_deg).ceil(), grid.columns()),
            ],
        };
        Self { row, column: first, rows, columns: last - first }
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    /// True if there are no cells.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells that lie in another window as well.
    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        let both = |[first, count]: [u32; 2], [other_first, other_count]: [u32; 2]| {
            let begin = first.max(other_first);
            [begin, (first + count).min(other_first + other_count).saturating_sub(begin)]
        };
        let [row, rows] = both([self.row, self.rows], [other.row, other.rows]);
        let columns = [self.column, self.columns];
        let [column, columns] = both(columns, [other.column, other.columns]);
        Self { row, column, rows, columns }
    }

    /// True if a cell of the grid lies in it.
    #[must_use]
    pub fn contains(&self, row: u32, column: u32) -> bool {
        (self.row..self.row + self.rows).contains(&row)
            && (self.column..self.column + self.columns).contains(&column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_all_cells_within_the_radius() {
        let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
        let grids = [
            Grid::square(at(57.5, 11.5), 20e3, 50).unwrap(),
            Grid::square(at(-70.0, 179.95), 30e3, 60).unwrap(),
        ];
        for grid in &grids {
            let middle = grid.centre(grid.rows() / 2, grid.columns() / 2);
            for (north, east, radius_m) in [(0.0, 0.0, 5e3), (0.1, 0.3, 12e3), (-0.2, -0.4, 15e3)] {
                let lat = middle.lat_deg() + north;
                let centre = GeoPoint::wrapping(lat, middle.lon_deg() + east).unwrap();
                let window = Window::around(grid, centre, radius_m);
                for row in 0..grid.rows() {
                    for column in 0..grid.columns() {
                        let cell = grid.centre(row, column);
                        let away = crate::terrain::geodesic::inverse(centre, cell).distance_m;
                        let missed = away <= radius_m && !window.contains(row, column);
                        assert!(!missed, "{centre:?} {radius_m}: {row}, {column}, {window:?}");
                    }
                }
                assert!(window.len() < grid.len(), "{window:?}");
            }
        }
        let far = Window::around(&grids[0], at(40.0, -60.0), 10e3);
        assert!(far.is_empty());
    }
}
