//! A prepared site in plain numbers, for evaluation of its paths on other processors.
//!
//! All cells of a row of a grid have one latitude, so that length and course of their paths are smooth
//! functions of the longitude from the site: [`RowTerms`] has them as polynomials. Four geodesics a row take
//! the place of one a cell.

use groundwave_propagation::itm::PlainConstants;
use groundwave_propagation::numeric::{Kernel, vectorised};

use super::grid::Grid;
use super::site::{CoverageSite, Fineness};
use super::window::Window;
use crate::radio::MarginTerms;
use crate::terrain::GeoPoint;
use crate::terrain::short::{self, Parallel, geodesic};

/// Maximum radius, m, over which the courses of paths are polynomials of sufficient accuracy (4 mm).
pub const TERMS_RADIUS_MAX_M: f64 = 100_000.0;

/// Reasons for a site without plain numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum NoTerms {
    /// Another model, or ITM outside of its range.
    #[error("the path-loss model is not ITM")]
    Model,
    /// Paths too long.
    #[error("the radius is above 100 km")]
    Radius,
    /// No ground below the site.
    #[error("the ground at a site is not known")]
    Ground,
    /// Fine surfaces take another model by the cell.
    #[error("the terrain has surfaces in posts of 5 m or finer")]
    FineSurface,
    /// Land cover changes the terms of budgets by the cell.
    #[error("the terrain has land cover")]
    LandCover,
}

/// Quantities of a site that all its paths share.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteTerms {
    /// Position of the site.
    pub position: GeoPoint,
    /// Ground at the site, m above mean sea level.
    pub ground_msl_m: f64,
    /// Maximum length of a path, m, up to [`TERMS_RADIUS_MAX_M`].
    pub radius_m: f64,
    /// Minimum length of a path that ITM alone decides, m.
    pub minimum_m: f64,
    /// Maximum spacing of samples, m; `None` with a fixed number of samples.
    pub spacing_m: Option<f64>,
    /// Minimum and maximum number of samples of a path.
    pub samples: [usize; 2],
    /// Inputs of ITM.
    pub itm: PlainConstants,
    /// Wavelength, m, and half the curvature of the effective Earth, 1/m, where the clearance of the Fresnel zone
    /// is asked for.
    pub clearance: Option<(f64, f64)>,
    /// Inputs of link margins; `None` where they depend on more than distance and heights.
    pub margin: Option<MarginTerms>,
    parallel: Parallel,
    /// Longitude from the site at which the coordinate of rows is 1, deg.
    pub half_width_deg: f64,
}

/// Coefficients of a cubic in the square of the coordinate of a row, constant term first.
pub type Cubic = [f64; 4];

/// Paths from a site to the cells of a row. The coordinate `x` of a cell is its longitude from the site over
/// [`SiteTerms::half_width_deg`], [-1, 1].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowTerms {
    /// First column and the one after the last within the radius.
    pub columns: [u32; 2],
    /// Latitude of the row from the site, deg.
    pub north_deg: f64,
    /// Square of the length of a path, m².
    pub length_m2: Cubic,
    /// Course north of the straight line in latitude and longitude at the share `t` of the path, deg, over
    /// `t (1 - t)`: a polynomial of second degree in `t`, constant term first.
    pub bend_north_deg: [Cubic; 3],
    /// The same eastward, over `x` as well.
    pub bend_east_deg: [Cubic; 3],
}

impl CoverageSite<'_> {
    /// The site in plain numbers.
    ///
    /// # Errors
    /// The reason why it has none.
    pub fn terms(&self) -> Result<SiteTerms, NoTerms> {
        self.terms_to(self.radius_m)
    }

    /// The site in plain numbers for the cells of a grid: those of a site without a radius reach to its farthest corner.
    ///
    /// # Errors
    /// The reason why it has none.
    pub fn terms_over(&self, grid: &Grid) -> Result<SiteTerms, NoTerms> {
        // Cells beyond, at the poles, have no valid loss.
        self.terms_to(self.radius_m.min(grid.farthest_corner_m(self.position)))
    }

    fn terms_to(&self, radius_m: f64) -> Result<SiteTerms, NoTerms> {
        let itm = self.transmitter.itm_constants().ok_or(NoTerms::Model)?;
        if radius_m > TERMS_RADIUS_MAX_M {
            return Err(NoTerms::Radius);
        }
        if self.fine_surface.is_some() {
            return Err(NoTerms::FineSurface);
        }
        if self.has_cover() {
            return Err(NoTerms::LandCover);
        }
        let ground_msl_m = self.ground_msl_m.filter(|m| m.is_finite()).ok_or(NoTerms::Ground)?;
        let (spacing_m, samples) = match self.sampling {
            Fineness::Spacing(spacing_m) => (Some(spacing_m), Self::SAMPLES),
            Fineness::Count(count) => (None, [count; 2]),
        };
        let [_, half_width_deg] = self.position.reach_deg(radius_m);
        let asks = self.transmitter.asks_for_clearance();
        Ok(SiteTerms {
            position: self.position,
            ground_msl_m,
            radius_m,
            minimum_m: self.transmitter.takeover_m(),
            spacing_m,
            samples,
            itm,
            clearance: asks.then(|| self.transmitter.clearance_terms()),
            margin: self.transmitter.margin_terms(),
            parallel: self.parallel,
            half_width_deg,
        })
    }
}

impl SiteTerms {
    /// Maximum number of samples of a path.
    #[must_use]
    pub fn samples_max(&self) -> usize {
        let [minimum, maximum] = self.samples;
        // A ratio beyond usize saturates.
        let number =
            |spacing_m: f64| ((self.radius_m / spacing_m).ceil() as usize).saturating_add(1);
        self.spacing_m.map_or(maximum, |spacing_m| number(spacing_m).clamp(minimum, maximum))
    }

    /// Columns near the site, among those from `first` to the one before `end`.
    #[must_use]
    pub fn columns_near(&self, grid: &Grid, [first, end]: [u32; 2]) -> [u32; 2] {
        let Window { column, columns, .. } = Window::around(grid, self.position, self.radius_m);
        let near = [first.max(column), end.min(column + columns)];
        if near[0] < near[1] { near } else { [first, first] }
    }

    /// Eastward longitude of a column from the site, deg.
    #[must_use]
    pub fn east_deg(&self, grid: &Grid, column: u32) -> f64 {
        short::east_deg(self.position.lon_deg(), grid.column_lon_deg(column))
    }

    /// The columns from `first` to the one before `end` of a row of `grid`; `None` where none is within the
    /// radius or the paths are not short ones, as near the poles.
    #[must_use]
    pub fn row(&self, grid: &Grid, row: u32, [first, end]: [u32; 2]) -> Option<RowTerms> {
        struct Solve<'a>(&'a SiteTerms, &'a Grid, u32, [u32; 2]);
        impl Kernel for Solve<'_> {
            type Output = Option<RowTerms>;

            #[inline(always)]
            fn run(self) -> Self::Output {
                let Self(terms, grid, row, columns) = self;
                terms.solve(grid, row, columns)
            }
        }
        // Not for the width, but for its fused operations, which are calls elsewhere.
        vectorised(Solve(self, grid, row, [first, end]))
    }

    #[inline(always)]
    fn solve(&self, grid: &Grid, row: u32, columns: [u32; 2]) -> Option<RowTerms> {
        let to = Parallel::new(grid.row_lat_deg(row));
        let columns = self.columns_within(grid, &to, columns)?;
        let lon_deg = self.position.lon_deg();
        // Chebyshev's nodes of [0, 1].
        let mut nodes = [0.0; 4];
        let mut values = [[0.0; 4]; 7];
        for node in 0..4 {
            let angle = (2 * node + 1) as f64 * std::f64::consts::PI / 8.0;
            let w = 0.5 + 0.5 * libm::cos(angle);
            let x = w.sqrt();
            let way = geodesic(&self.parallel, lon_deg, &to, lon_deg + x * self.half_width_deg);
            nodes[node] = w;
            values[0][node] = way.distance_m * way.distance_m;
            for (axis, powers) in [way.lat_deg, way.lon_deg].iter().enumerate() {
                let scale = if axis == 0 { 1.0 } else { 1.0 / x };
                for (power, bend) in bends(powers).into_iter().enumerate() {
                    values[1 + 3 * axis + power][node] = bend * scale;
                }
            }
        }
        let cubics = values.map(|values| through(nodes, values));
        let [length_m2, b0, b1, b2, e0, e1, e2] = cubics;
        Some(RowTerms {
            columns,
            north_deg: to.lat_deg - self.position.lat_deg(),
            length_m2,
            bend_north_deg: [b0, b1, b2],
            bend_east_deg: [e0, e1, e2],
        })
    }

    /// Columns of a row whose centres are within the radius by the evaluator's own length, from the first to
    /// the one after the last.
    #[inline(always)]
    fn columns_within(
        &self,
        grid: &Grid,
        to: &Parallel,
        [first, end]: [u32; 2],
    ) -> Option<[u32; 2]> {
        if first >= end {
            return None;
        }
        let lon_deg = self.position.lon_deg();
        let is_within = |column: u32| {
            let way = geodesic(&self.parallel, lon_deg, to, grid.column_lon_deg(column));
            way.valid && way.distance_m <= self.radius_m
        };
        // Lengths rise away from the meridian of the site; columns run eastwards across it at most once.
        let east = |column: u32| self.east_deg(grid, column);
        let (mut low, mut high) = (first, end);
        while low < high {
            let middle = u32::midpoint(low, high);
            if east(middle) < 0.0 { low = middle + 1 } else { high = middle }
        }
        let nearest = [low.max(first + 1) - 1, low.min(end - 1)];
        let nearest = nearest.into_iter().find(|column| is_within(*column))?;
        let (mut outside, mut inside) = (first, nearest);
        while outside < inside {
            let middle = u32::midpoint(outside, inside);
            if is_within(middle) { inside = middle } else { outside = middle + 1 }
        }
        let (mut last, mut after) = (nearest, end);
        while last + 1 < after {
            let middle = u32::midpoint(last, after);
            if is_within(middle) { last = middle } else { after = middle }
        }
        Some([inside, after])
    }
}

/// Departure of a polynomial of [0, 1] from the straight line between its ends, over `t (1 - t)`. The third
/// power, below a millimetre on paths of 100 km, is replaced by the nearest polynomial of second degree.
#[inline(always)]
fn bends(c: &[f64; 6]) -> [f64; 3] {
    let third = -c[5];
    let second = third - c[4];
    let first = second - c[3];
    let zeroth = first - c[2];
    // T3* = 32 t^3 - 48 t^2 + 18 t - 1.
    [zeroth + third / 32.0, first - third * 18.0 / 32.0, second + third * 1.5]
}

/// The cubic through four points.
#[inline(always)]
fn through(x: [f64; 4], y: [f64; 4]) -> Cubic {
    // Newton's divided differences.
    let mut d = y;
    for order in 1..4 {
        for place in (order..4).rev() {
            d[place] = (d[place] - d[place - 1]) / (x[place] - x[place - order]);
        }
    }
    let mut c = [d[3], 0.0, 0.0, 0.0];
    for place in (0..3).rev() {
        let mut next = [0.0; 4];
        for power in 0..4 {
            let lower = if power > 0 { c[power - 1] } else { 0.0 };
            next[power] = lower - x[place] * c[power];
        }
        next[0] += d[place];
        c = next;
    }
    c
}

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;
