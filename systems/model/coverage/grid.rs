//! The raster of a coverage.

use thiserror::Error;

use crate::terrain::GeoPoint;
use crate::terrain::geodesic::{curvature_radii_m, inverse};

/// Maximum number of cells along one side of a grid.
pub const SIDE_MAX: u32 = 1 << 17;

/// Maximum number of cells of a grid.
pub const CELLS_MAX: u64 = 1 << 32;

/// Reasons for refusing a grid.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum BadGrid {
    /// A side without cells or with too many.
    #[error("{rows} x {columns} cells, allowed are 1 to {SIDE_MAX} a side and {CELLS_MAX} in all")]
    Size {
        /// Rows asked for.
        rows: u64,
        /// Columns asked for.
        columns: u64,
    },
    /// Edges or cell sizes that no raster on Earth has.
    #[error(
        "the grid reaches from {north_deg} N, {west_deg} E over {height_deg} by {width_deg} degrees"
    )]
    Extent {
        /// Northern edge.
        north_deg: f64,
        /// Western edge.
        west_deg: f64,
        /// Height of the raster.
        height_deg: f64,
        /// Width of the raster.
        width_deg: f64,
    },
    /// A radius or spacing that is not positive and finite.
    #[error("invalid length: found {0} m, allowed above 0 m")]
    Length(f64),
    /// No site to lay the grid around.
    #[error("no site to lay a grid around")]
    NoSite,
}

/// A north-up raster of equal cells in latitude and longitude (WGS84, EPSG:4326). It may cross the
/// antimeridian: longitudes count on eastwards from the western edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    north_deg: f64,
    west_deg: f64,
    cell_height_deg: f64,
    cell_width_deg: f64,
    rows: u32,
    columns: u32,
}

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// First row, from the north.
    pub row: u32,
    /// First column, from the west.
    pub column: u32,
    /// Rows, 1 or more.
    pub rows: u32,
    /// Columns, 1 or more.
    pub columns: u32,
}

impl Grid {
    /// A raster by its north-western corner, the size of its cells (degrees) and their number.
    ///
    /// # Errors
    /// When it does not lie on the Earth or has no cells or too many.
    pub fn new(
        [north_deg, west_deg]: [f64; 2],
        [cell_height_deg, cell_width_deg]: [f64; 2],
        [rows, columns]: [u32; 2],
    ) -> Result<Self, BadGrid> {
        check_size(f64::from(rows), f64::from(columns))?;
        let height_deg = cell_height_deg * f64::from(rows);
        let width_deg = cell_width_deg * f64::from(columns);
        let south_deg = north_deg - height_deg;
        // A hair of rounding at the poles and around the globe is no error.
        let fits = cell_height_deg > 0.0
            && cell_width_deg > 0.0
            && north_deg <= 90.0 + 1e-9
            && south_deg >= -90.0 - 1e-9
            && width_deg <= 360.0 + 1e-9
            && (-180.0..=180.0).contains(&west_deg);
        if !fits {
            return Err(BadGrid::Extent { north_deg, west_deg, height_deg, width_deg });
        }
        Ok(Self { north_deg, west_deg, cell_height_deg, cell_width_deg, rows, columns })
    }

    /// `cells` x `cells` cells over a square of `2 radius_m` (m) around a point. Near a pole the
    /// square is cut off there and goes around the globe.
    ///
    /// # Errors
    /// When the radius is not above 0 or there are no cells or too many.
    pub fn square(centre: GeoPoint, radius_m: f64, cells: u32) -> Result<Self, BadGrid> {
        let [south_deg, west_deg, north_deg, width_deg] = bounds(&[centre], radius_m)?;
        check_size(f64::from(cells), f64::from(cells))?;
        let sizes = [north_deg - south_deg, width_deg].map(|deg| deg / f64::from(cells));
        Self::new([north_deg, west_deg], sizes, [cells, cells])
    }

    /// Cells of `spacing_arcsec` (arc-seconds), on whole multiples of it, over all that lies
    /// within `radius_m` (m) of any of `sites`.
    ///
    /// # Errors
    /// When a length is not above 0, there is no site, or there would be too many cells.
    pub fn around(sites: &[GeoPoint], radius_m: f64, spacing_arcsec: f64) -> Result<Self, BadGrid> {
        let bad = !(spacing_arcsec > 0.0 && spacing_arcsec <= 36_000.0);
        if bad {
            return Err(BadGrid::Length(spacing_arcsec));
        }
        let [south_deg, west_deg, north_deg, width_deg] = bounds(sites, radius_m)?;
        let cell_deg = spacing_arcsec / 3_600.0;
        let up = |deg: f64| (deg / cell_deg - 1e-9).ceil();
        let down = |deg: f64| (deg / cell_deg + 1e-9).floor();
        let pole = (90.0 / cell_deg).floor();
        let (top, bottom) = (up(north_deg).min(pole), down(south_deg).max(-pole));
        let west = down(west_deg).max(-down(180.0));
        let columns = (up(west_deg + width_deg) - west).min(down(360.0));
        check_size(top - bottom, columns)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        let count = [(top - bottom) as u32, columns as u32];
        Self::new([top * cell_deg, west * cell_deg], [cell_deg; 2], count)
    }

    /// Latitude of the northern edge, degrees.
    #[must_use]
    pub fn north_deg(&self) -> f64 {
        self.north_deg
    }

    /// Longitude of the western edge, degrees, [-180, 180].
    #[must_use]
    pub fn west_deg(&self) -> f64 {
        self.west_deg
    }

    /// Height and width of a cell, degrees.
    #[must_use]
    pub fn cell_size_deg(&self) -> [f64; 2] {
        [self.cell_height_deg, self.cell_width_deg]
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Number of cells.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    /// True if there are no cells; a grid always has some.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Latitude of the centres of a row, degrees.
    #[must_use]
    pub fn row_lat_deg(&self, row: u32) -> f64 {
        (self.north_deg - (f64::from(row) + 0.5) * self.cell_height_deg).clamp(-90.0, 90.0)
    }

    /// Longitude of the centres of a column, degrees, in [-180, 180].
    #[must_use]
    pub fn column_lon_deg(&self, column: u32) -> f64 {
        let lon_deg = self.west_deg + (f64::from(column) + 0.5) * self.cell_width_deg;
        if lon_deg > 180.0 { lon_deg - 360.0 } else { lon_deg }
    }

    /// The centre of a cell.
    #[must_use]
    pub fn centre(&self, row: u32, column: u32) -> GeoPoint {
        GeoPoint::wrapping(self.row_lat_deg(row), self.column_lon_deg(column))
            .expect("a grid lies on the Earth")
    }

    /// The cell a point lies in, as (row, column).
    #[must_use]
    pub fn cell_at(&self, point: GeoPoint) -> Option<[u32; 2]> {
        let row = (self.north_deg - point.lat_deg()) / self.cell_height_deg;
        let east_deg = (point.lon_deg() - self.west_deg).rem_euclid(360.0);
        let column = east_deg / self.cell_width_deg;
        let inside = (0.0..f64::from(self.rows)).contains(&row)
            && (0.0..f64::from(self.columns)).contains(&column);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside")]
        inside.then_some([row as u32, column as u32])
    }

    /// Distance from a point to the farthest corner, m.
    #[must_use]
    pub fn farthest_corner_m(&self, from: GeoPoint) -> f64 {
        let south_deg = self.north_deg - self.cell_height_deg * f64::from(self.rows);
        let east_deg = self.west_deg + self.cell_width_deg * f64::from(self.columns);
        let lat_deg = [self.north_deg, south_deg].map(|deg| deg.clamp(-90.0, 90.0));
        let corners = lat_deg.into_iter().flat_map(|lat_deg| {
            [self.west_deg, east_deg].map(|lon_deg| GeoPoint::wrapping(lat_deg, lon_deg))
        });
        let corners = corners.map(|corner| corner.expect("a grid lies on the Earth"));
        corners.map(|corner| inverse(from, corner).distance_m).fold(0.0, f64::max)
    }

    /// All cells as blocks of at most `rows` x `columns`, row of blocks by row of blocks.
    pub fn blocks(&self, rows: u32, columns: u32) -> impl Iterator<Item = Block> + Clone + use<> {
        let (high, wide) = (rows.max(1), columns.max(1));
        let (all_rows, all_columns) = (self.rows, self.columns);
        let across = all_columns.div_ceil(wide);
        (0..all_rows.div_ceil(high)).flat_map(move |down| {
            (0..across).map(move |right| {
                let (row, column) = (down * high, right * wide);
                Block {
                    row,
                    column,
                    rows: high.min(all_rows - row),
                    columns: wide.min(all_columns - column),
                }
            })
        })
    }
}

fn check_size(rows: f64, columns: f64) -> Result<(), BadGrid> {
    let side = 1.0..=f64::from(SIDE_MAX);
    if side.contains(&rows) && side.contains(&columns) && rows * columns <= CELLS_MAX as f64 {
        return Ok(());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Err(BadGrid::Size { rows: rows as u64, columns: columns as u64 })
}

/// South, west, north and width (degrees) of what lies within `radius_m` of any site, longitudes
/// counted on from the west.
fn bounds(sites: &[GeoPoint], radius_m: f64) -> Result<[f64; 4], BadGrid> {
    if !(radius_m > 0.0 && radius_m.is_finite()) {
        return Err(BadGrid::Length(radius_m));
    }
    let first = sites.first().ok_or(BadGrid::NoSite)?;
    let (mut south, mut north) = (f64::INFINITY, f64::NEG_INFINITY);
    let (mut west, mut east) = (f64::INFINITY, f64::NEG_INFINITY);
    for site in sites {
        let (meridian_m, across_m) = curvature_radii_m(site.lat_deg());
        let reach_rad = radius_m / meridian_m;
        let reach_deg = reach_rad.to_degrees();
        let (lowest, highest) = (site.lat_deg() - reach_deg, site.lat_deg() + reach_deg);
        south = south.min(lowest.max(-90.0));
        north = north.max(highest.min(90.0));
        // The meridians that touch a circle: sin of half their angle is sin r / cos lat.
        let sine = libm::sin(radius_m / across_m) / libm::cos(site.lat_deg().to_radians());
        let polar = highest >= 90.0 || lowest <= -90.0 || sine >= 1.0;
        let half_deg = if polar { 180.0 } else { libm::asin(sine).to_degrees() };
        // Every site on the turn nearest to the first.
        let off_deg = site.lon_deg() - first.lon_deg();
        let lon_deg = site.lon_deg() - 360.0 * (off_deg / 360.0).round();
        west = west.min(lon_deg - half_deg);
        east = east.max(lon_deg + half_deg);
    }
    let width = (east - west).min(360.0);
    let west = (west + 180.0).rem_euclid(360.0) - 180.0;
    Ok([south, west, north, width])
}
