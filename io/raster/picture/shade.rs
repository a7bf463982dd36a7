//! Hillshade, and drawing one raster into the frame of another.

use std::ops::Range;

use rayon::prelude::*;

use super::super::geometry::{GridGeometry, METRES_PER_DEGREE};
use super::super::grid::Grid;

/// Direction of the light, and vertical exaggeration of the terrain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Light {
    /// Azimuth of the light (degrees from north, clockwise).
    pub azimuth_deg: f64,
    /// Height of the light above the horizon (degrees).
    pub altitude_deg: f64,
    /// Factor on heights.
    pub exaggeration: f64,
}

impl Default for Light {
    /// From the north-west, as on printed maps, half-way up; heights doubled, which suits hills.
    fn default() -> Self {
        Self { azimuth_deg: 315.0, altitude_deg: 45.0, exaggeration: 2.0 }
    }
}

impl Light {
    /// Brightness of level ground.
    #[must_use]
    pub fn level(self) -> f64 {
        self.altitude_deg.to_radians().sin()
    }

    /// The light as many cells use it.
    #[must_use]
    pub fn sun(self) -> Sun {
        let (altitude, azimuth) = (self.altitude_deg.to_radians(), self.azimuth_deg.to_radians());
        Sun {
            direction: [
                altitude.cos() * azimuth.sin(),
                altitude.cos() * azimuth.cos(),
                altitude.sin(),
            ],
            exaggeration: self.exaggeration,
        }
    }
}

/// A [`Light`] with its direction worked out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// Towards the light: east, north, up; of length 1.
    direction: [f64; 3],
    /// Factor on heights.
    exaggeration: f64,
}

impl Sun {
    /// Brightness [0, 1] of the middle of 3 by 3 heights (m), row by row from the north-west, over cells
    /// of this width and height (m): B. Horn, "Hill shading and the reflectance map", Proc. IEEE 69(1),
    /// 1981, with its weighted differences. A height that is not known is taken as the middle one;
    /// without that there is no brightness (NaN).
    #[must_use]
    #[inline]
    pub fn brightness(&self, heights: [[f32; 3]; 3], [width_m, height_m]: [f64; 2]) -> f32 {
        let middle = heights[1][1];
        // Selected, not branched, so that rows become vector code.
        let at = |row: usize, col: usize| {
            let value = heights[row][col];
            f64::from(if value.is_nan() { middle } else { value })
        };
        let east = at(0, 2) + 2.0 * at(1, 2) + at(2, 2);
        let west = at(0, 0) + 2.0 * at(1, 0) + at(2, 0);
        let north = at(0, 0) + 2.0 * at(0, 1) + at(0, 2);
        let south = at(2, 0) + 2.0 * at(2, 1) + at(2, 2);
        let p = self.exaggeration * (east - west) / (8.0 * width_m);
        let q = self.exaggeration * (north - south) / (8.0 * height_m);
        let [to_east, to_north, up] = self.direction;
        let brightness = (up - p * to_east - q * to_north) / (1.0 + p * p + q * q).sqrt();
        if middle.is_nan() {
            f32::NAN
        } else {
            (if brightness > 0.0 { brightness } else { 0.0 }) as f32
        }
    }
}

/// [`Sun::brightness`] of each cell of an elevation raster (m). Beyond the edge the ground goes on as at the
/// edge.
#[must_use]
pub fn hillshade(elevation: &Grid, light: Light) -> Grid {
    let geometry = elevation.geometry;
    let height_m = geometry.cell_lat_deg * METRES_PER_DEGREE;
    let (cols, sun) = (geometry.cols as usize, light.sun());
    let mut cells = vec![f32::NAN; elevation.cells.len()];
    let beyond = vec![f32::NAN; cols];
    let rows = cells.par_chunks_mut(cols).zip(0..geometry.rows);
    rows.for_each(|(out, row)| {
        let lat = geometry.lat_deg(row).to_radians();
        let width_m = geometry.cell_lon_deg * METRES_PER_DEGREE * lat.cos().max(1e-3);
        let size_m = [width_m, height_m];
        let line = |row: Option<u32>| row.and_then(|row| elevation.row(row)).unwrap_or(&beyond);
        let around = [row.checked_sub(1), Some(row), Some(row + 1)].map(line);
        let [north, here, south] = around.map(|line| line.array_windows::<3>());
        let inner = out.iter_mut().skip(1).zip(north).zip(here).zip(south);
        for (((out, north), here), south) in inner {
            *out = sun.brightness([*north, *here, *south], size_m);
        }
        for col in [0, cols - 1] {
            let heights = around.map(|line| {
                let at = |col: Option<usize>| col.and_then(|col| line.get(col).copied());
                let three = [col.checked_sub(1), Some(col), Some(col + 1)];
                three.map(|col| at(col).unwrap_or(f32::NAN))
            });
            out[col] = sun.brightness(heights, size_m);
        }
    });
    Grid { geometry, cells }
}

/// A raster drawn into another frame, row by row: the mean of the cells under each new one where they
/// are smaller, between the four nearest where they are larger.
pub(super) struct Redrawing<'a> {
    grid: &'a Grid,
    frame: GridGeometry,
    columns: Columns,
}

/// Cells under the pixels of each column: columns of pixels do not depend on their rows, nor the
/// other way.
enum Columns {
    /// The columns of cells under it.
    Under(Vec<Range<usize>>),
    /// The two columns of cells on its sides, and their weights.
    Between(Vec<([usize; 2], [f64; 2])>),
}

impl<'a> Redrawing<'a> {
    /// `grid` in `frame`.
    pub fn new(grid: &'a Grid, frame: GridGeometry) -> Self {
        let from = grid.geometry;
        let x = |col| from.at(from.north_deg, frame.lon_deg(col))[0];
        let [step, _] = steps(from, frame);
        let columns = if is_coarser(from, frame) {
            let span = |col| span(x(col), step, from.cols);
            Columns::Under((0..frame.cols).map(span).collect())
        } else {
            Columns::Between((0..frame.cols).map(|col| pair(x(col), from.cols)).collect())
        };
        Self { grid, frame, columns }
    }

    /// Draws a row of the frame; `used` are the rows of cells it used before.
    pub fn row(&self, row: u32, used: &mut Stretched, out: &mut [f32]) {
        let from = self.grid.geometry;
        let [_, y] = from.at(self.frame.lat_deg(row), from.west_deg);
        match &self.columns {
            Columns::Under(spans) => {
                let [_, step] = steps(from, self.frame);
                let rows = span(y, step, from.rows);
                for (out, columns) in out.iter_mut().zip(spans) {
                    *out = mean_under(self.grid, rows.clone(), columns.clone());
                }
            }
            Columns::Between(pairs) => {
                let (rows, shares) = pair(y, from.rows);
                for row in rows {
                    used.0[row % 2].draw(self.grid, row, pairs);
                }
                let [north, south] = rows.map(|row| &used.0[row % 2]);
                let sums = north.sums.iter().zip(&south.sums);
                let weights = north.weights.iter().zip(&south.weights);
                for ((out, sums), weights) in out.iter_mut().zip(sums).zip(weights) {
                    let sum = sums.0 * shares[0] + sums.1 * shares[1];
                    let weight = weights.0 * shares[0] + weights.1 * shares[1];
                    // Less than half of the weight has data: the place itself has none. Selected, not
                    // branched: vector code.
                    let value = (sum / weight) as f32;
                    *out = if weight < 0.5 { f32::NAN } else { value };
                }
            }
        }
    }
}

/// The two rows of cells that a [`Redrawing`] used last, at the columns of its frame: an even one and an
/// odd one.
#[derive(Default)]
pub(super) struct Stretched([StretchedRow; 2]);

/// A row of cells between the columns of a frame.
#[derive(Default)]
struct StretchedRow {
    row: Option<usize>,
    /// Weighted sums of two cells.
    sums: Vec<f64>,
    /// Weights of those with data.
    weights: Vec<f64>,
}

impl StretchedRow {
    /// Draws a row of cells, unless it is the one that is there.
    fn draw(&mut self, grid: &Grid, row: usize, pairs: &[([usize; 2], [f64; 2])]) {
        if self.row.replace(row) == Some(row) {
            return;
        }
        let cells = grid.row(row as u32).expect("a row of the raster");
        self.sums.resize(pairs.len(), 0.0);
        self.weights.resize(pairs.len(), 0.0);
        let out = self.sums.iter_mut().zip(&mut self.weights);
        for ((sum, weight), &([west, east], shares)) in out.zip(pairs) {
            [*sum, *weight] = weighted([cells[west], cells[east]], shares);
        }
    }
}

/// Sides of the cells of `frame` in cells of `from`: east-west, north-south.
fn steps(from: GridGeometry, frame: GridGeometry) -> [f64; 2] {
    [frame.cell_lon_deg / from.cell_lon_deg, frame.cell_lat_deg / from.cell_lat_deg]
}

/// True if the cells of `frame` are so much larger than those of `from` that each is a mean.
pub(super) fn is_coarser(from: GridGeometry, frame: GridGeometry) -> bool {
    steps(from, frame).into_iter().any(|step| step > 1.5)
}

/// The cells of `count` under a pixel of `step` cells whose middle is at `at`.
fn span(at: f64, step: f64, count: u32) -> Range<usize> {
    let first = (at - step / 2.0).round();
    let last = (at + step / 2.0).round().max(first + 1.0);
    // The casts take what lies before the first cell to it.
    let end = (last as usize).min(count as usize);
    (first as usize).min(end)..end
}

fn mean_under(grid: &Grid, rows: Range<usize>, cols: Range<usize>) -> f32 {
    let across = grid.geometry.cols as usize;
    let (mut sum, mut count) = (0.0, 0_u32);
    for row in rows {
        for &value in &grid.cells[row * across..][cols.clone()] {
            if !value.is_nan() {
                sum += f64::from(value);
                count += 1;
            }
        }
    }
    if count == 0 { f32::NAN } else { (sum / f64::from(count)) as f32 }
}

/// The two cells of `count` whose middles `at` lies between, and their weights: 0 off the raster.
fn pair(at: f64, count: u32) -> ([usize; 2], [f64; 2]) {
    let first = (at - 0.5).floor();
    let share = at - 0.5 - first;
    let inside = |cell: f64| (0.0..f64::from(count)).contains(&cell);
    let place = |cell: f64| (cell.max(0.0) as usize).min(count as usize - 1);
    let weight = |cell: f64, weight: f64| if inside(cell) { weight } else { 0.0 };
    ([place(first), place(first + 1.0)], [weight(first, 1.0 - share), weight(first + 1.0, share)])
}

/// Sum of two cells by their weights, and the weight of those with data: between the middles of cells,
/// of which those without data take no part.
#[inline]
fn weighted(cells: [f32; 2], weights: [f64; 2]) -> [f64; 2] {
    let (mut sum, mut all) = (0.0, 0.0);
    for (cell, weight) in cells.into_iter().zip(weights) {
        // Selected, not branched: coasts and rims are unpredictable.
        sum += if cell.is_nan() { 0.0 } else { weight * f64::from(cell) };
        all += if cell.is_nan() { 0.0 } else { weight };
    }
    [sum, all]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plane that rises by these slopes eastwards and northwards, at the equator.
    fn plane(east: f64, north: f64) -> Grid {
        let cell_deg = 1e-4;
        let cell_m = cell_deg * METRES_PER_DEGREE;
        let geometry = GridGeometry {
            west_deg: 10.0,
            north_deg: 0.0005,
            cell_lon_deg: cell_deg,
            cell_lat_deg: cell_deg,
            cols: 10,
            rows: 10,
        };
        let cells = (0..100).map(|i| {
            let (row, col) = (f64::from(i / 10), f64::from(i % 10));
            (cell_m * (col * east - row * north)) as f32
        });
        Grid { geometry, cells: cells.collect() }
    }

    #[test]
    fn a_slope_is_as_bright_as_its_angle_to_the_light() {
        let light = Light { exaggeration: 1.0, ..Light::default() };
        let check = |east: f64, north: f64, expect: f64| {
            let lit = f64::from(hillshade(&plane(east, north), light).get(5, 5));
            assert!((lit - expect).abs() < 1e-3, "slope {east} {north}: {lit}, not {expect}");
        };
        check(0.0, 0.0, light.level());
        // 45 degrees, falling to the north-west: straight at the light. Then away from it.
        let diagonal = std::f64::consts::FRAC_1_SQRT_2;
        check(diagonal, -diagonal, 1.0);
        check(-diagonal, diagonal, 0.0);
        // Falling to the west by 45 degrees: the normal is (-1, 0, 1) / sqrt 2.
        check(1.0, 0.0, 0.5 * diagonal + 0.5);
    }

    #[test]
    fn voids_do_not_spread() {
        let mut ground = plane(0.0, 0.0);
        ground.cells[55] = f32::NAN;
        let lit = hillshade(&ground, Light::default());
        assert!(lit.get(5, 5).is_nan());
        assert!((f64::from(lit.get(5, 6)) - Light::default().level()).abs() < 1e-6);
    }

    fn redraw(grid: &Grid, frame: GridGeometry) -> Grid {
        let redrawing = Redrawing::new(grid, frame);
        let mut cells = vec![f32::NAN; frame.cols as usize * frame.rows as usize];
        let mut used = Stretched::default();
        let rows = cells.chunks_mut(frame.cols as usize).zip(0..frame.rows);
        rows.for_each(|(out, row)| redrawing.row(row, &mut used, out));
        Grid { geometry: frame, cells }
    }

    #[test]
    fn redrawing_keeps_values_in_their_place() {
        let ground = plane(0.5, 0.25);
        let near = |a: f32, b: f32| (a - b).abs() < 0.02;
        let finer = GridGeometry {
            cell_lon_deg: 2.5e-5,
            cell_lat_deg: 2.5e-5,
            cols: 40,
            rows: 40,
            ..ground.geometry
        };
        let drawn = redraw(&ground, finer);
        assert!(near(drawn.get(21, 21), ground.get(5, 5) - 0.25 * (0.5 - 0.25) * 11.12 / 2.0));
        let coarse = redraw(&ground, ground.geometry.reduced(5));
        let mean: f32 = (0..25).map(|i| ground.get(i / 5, i % 5)).sum::<f32>() / 25.0;
        assert!(near(coarse.get(0, 0), mean));
    }
}
