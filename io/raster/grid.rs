//! Sources of cells, and a raster in memory.

use std::io;

use super::error::RasterError;
use super::geometry::GridGeometry;

/// A source of cells.
pub trait Rows {
    /// Fills `out` with a row, counted from the north: all columns of the first band from west
    /// to east, then all of the second, and so on. NaN means "no data". Writers read each row
    /// once, in order.
    ///
    /// # Errors
    /// Whatever keeps the row from being known; the file is then given up.
    fn read(&mut self, row: u32, out: &mut [f32]) -> io::Result<()>;
}

impl<F: FnMut(u32, &mut [f32]) -> io::Result<()>> Rows for F {
    fn read(&mut self, row: u32, out: &mut [f32]) -> io::Result<()> {
        self(row, out)
    }
}

/// Method by which several cells become one. Cells without data are left out; if all are, so is the
/// result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resampling {
    /// The arithmetic mean of the values as they are, for continuous layers.
    Mean,
    /// The most frequent value, the lowest of equals, for categories.
    Mode,
}

/// One band of a raster in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Position of the cells.
    pub geometry: GridGeometry,
    /// `rows * cols` values, northern row first; NaN means "no data".
    pub cells: Vec<f32>,
}

impl Grid {
    /// A raster of given cells.
    ///
    /// # Errors
    /// When the raster is impossible or the number of cells is not its own.
    pub fn new(geometry: GridGeometry, cells: Vec<f32>) -> Result<Self, RasterError> {
        let geometry = geometry.check()?;
        if cells.len() as u64 != u64::from(geometry.cols) * u64::from(geometry.rows) {
            return Err(RasterError::Unwritable {
                what: format!("a raster of {} by {} cells", geometry.cols, geometry.rows),
                why: "the number of values is another",
            });
        }
        Ok(Self { geometry, cells })
    }

    /// One band of `source`, made smaller by a whole factor until neither side is longer than
    /// `side_max` cells. Takes memory for the result and for a strip of rows.
    ///
    /// # Errors
    /// When the raster is impossible or its source fails.
    pub fn reduce(
        geometry: GridGeometry,
        (bands, band): (usize, usize),
        source: &mut dyn Rows,
        side_max: u32,
        resampling: Resampling,
    ) -> Result<Self, RasterError> {
        let geometry = geometry.check()?;
        let factor = geometry.cols.max(geometry.rows).div_ceil(side_max.max(1));
        let small = geometry.reduced(factor);
        let (cols, step) = (geometry.cols as usize, factor as usize);
        let mut row_cells = vec![f32::NAN; bands.max(1) * cols];
        let mut strip = Vec::with_capacity(cols * step);
        let mut cells = Vec::with_capacity(small.cols as usize * small.rows as usize);
        let mut block = Vec::with_capacity(step * step);
        for row in 0..geometry.rows {
            source
                .read(row, &mut row_cells)
                .map_err(|source| RasterError::ReadRow { row, source })?;
            let start = band.min(bands.max(1) - 1) * cols;
            strip.extend_from_slice(&row_cells[start..start + cols]);
            if strip.len() < cols * step && row + 1 < geometry.rows {
                continue;
            }
            for left in (0..cols).step_by(step) {
                block.clear();
                for line in strip.chunks(cols) {
                    block.extend_from_slice(&line[left..cols.min(left + step)]);
                }
                cells.push(resampling.fold(&mut block));
            }
            strip.clear();
        }
        Ok(Self { geometry: small, cells })
    }

    /// The cell in `row` from the north and `col` from the west; NaN without data or off the
    /// raster.
    #[must_use]
    pub fn get(&self, row: i64, col: i64) -> f32 {
        let (rows, cols) = (i64::from(self.geometry.rows), i64::from(self.geometry.cols));
        if !(0..rows).contains(&row) || !(0..cols).contains(&col) {
            return f32::NAN;
        }
        usize::try_from(row * cols + col).map_or(f32::NAN, |at| self.cells[at])
    }

    /// The cells of a row, counted from the north; `None` off the raster.
    #[must_use]
    pub fn row(&self, row: u32) -> Option<&[f32]> {
        let cols = self.geometry.cols as usize;
        self.cells.get(row as usize * cols..)?.get(..cols)
    }

    /// The cell at a position; NaN off the raster.
    #[must_use]
    pub fn sample(&self, lat_deg: f64, lon_deg: f64) -> f32 {
        let [x, y] = self.geometry.at(lat_deg, lon_deg);
        self.get(y.floor() as i64, x.floor() as i64)
    }

    /// Lowest and highest value; `None` without any data.
    #[must_use]
    pub fn range(&self) -> Option<[f32; 2]> {
        let values = self.cells.iter().copied().filter(|v| v.is_finite());
        values.fold(None, |range, v| {
            let [low, high] = range.unwrap_or([v, v]);
            Some([v.min(low), v.max(high)])
        })
    }
}

impl Rows for &Grid {
    fn read(&mut self, row: u32, out: &mut [f32]) -> io::Result<()> {
        let start = row as usize * self.geometry.cols as usize;
        let cells = self.cells.get(start..start + out.len());
        out.copy_from_slice(cells.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

impl Resampling {
    /// One value for several. Reorders them.
    pub(super) fn fold(self, values: &mut [f32]) -> f32 {
        match self {
            Self::Mean => mean(values),
            Self::Mode => mode(values),
        }
    }
}

fn mean(values: &[f32]) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0_u32);
    for &value in values {
        if !value.is_nan() {
            sum += f64::from(value);
            count += 1;
        }
    }
    if count == 0 { f32::NAN } else { (sum / f64::from(count)) as f32 }
}

fn mode(values: &mut [f32]) -> f32 {
    values.sort_by(f32::total_cmp);
    let (mut best, mut best_count) = (f32::NAN, 0);
    for run in values.chunk_by(|a, b| a == b) {
        if !run[0].is_nan() && run.len() > best_count {
            (best, best_count) = (run[0], run.len());
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO: f32 = f32::NAN;

    #[test]
    fn several_cells_become_one() {
        let check = |how: Resampling, mut cells: Vec<f32>, expect: f32| {
            let got = how.fold(&mut cells);
            assert!(got == expect || got.is_nan() && expect.is_nan(), "{how:?} {cells:?}: {got}");
        };
        check(Resampling::Mean, vec![1.0, NO, 4.0, 4.0], 3.0);
        check(Resampling::Mean, vec![NO, NO], NO);
        check(Resampling::Mode, vec![3.0, 1.0, 3.0, 1.0], 1.0);
        check(Resampling::Mode, vec![NO, NO, NO, 2.0], 2.0);
        check(Resampling::Mode, vec![5.0, 2.0, 5.0, NO], 5.0);
        check(Resampling::Mode, vec![NO; 4], NO);
    }

    #[test]
    fn a_raster_is_reduced_by_a_whole_factor_and_keeps_its_corner() {
        let geometry = GridGeometry {
            west_deg: 0.0,
            north_deg: 1.0,
            cell_lon_deg: 0.1,
            cell_lat_deg: 0.1,
            cols: 5,
            rows: 3,
        };
        // Two bands, of which the second is drawn: 100 * row + column.
        let mut source = |row: u32, out: &mut [f32]| {
            for (col, cell) in out[5..].iter_mut().enumerate() {
                *cell = 100.0 * row as f32 + col as f32;
            }
            Ok(())
        };
        let grid = Grid::reduce(geometry, (2, 1), &mut source, 3, Resampling::Mean).unwrap();
        assert_eq!((grid.geometry.cols, grid.geometry.rows), (3, 2));
        assert_eq!(grid.geometry.cell_lon_deg, 0.2);
        assert_eq!(grid.cells, [50.5, 52.5, 54.0, 200.5, 202.5, 204.0]);
        assert_eq!(grid.range(), Some([50.5, 204.0]));
        assert_eq!(grid.sample(0.99, 0.01), 50.5);
        assert!(grid.sample(1.01, 0.01).is_nan());
    }
}
