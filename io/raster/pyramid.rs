//! A raster and its overviews, put together from windows of cells that come in any order.
//!
//! The raster and each overview are cut into tiles. A tile is handed on when all of its cells are
//! there, and then halved into its part of the next overview. Tiles have an even number of rows and
//! columns, so that no block of cells that becomes one lies across two of them: what is handed on
//! does not depend on the order. Memory holds the tiles that have begun and are not complete.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::error::RasterError;
use super::grid::Resampling;

/// Side of a tile (cells); overviews are added until one fits into a tile.
pub const TILE_SIDE: u32 = 256;

/// A rectangle of cells of a raster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First column.
    pub left: u32,
    /// First row.
    pub top: u32,
    /// Columns.
    pub cols: u32,
    /// Rows.
    pub rows: u32,
}

/// Values of a window, a slice for each band that begins with the window's first cell.
#[derive(Debug, Clone, Copy)]
pub struct Cells<'a> {
    /// The bands; NaN means "no data".
    pub bands: &'a [&'a [f32]],
    /// Values from one row to the next.
    pub stride: usize,
}

/// A tile with all of its cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Tile {
    /// 0 is the raster, 1 its first overview, and so on.
    pub level: usize,
    /// Column of tiles.
    pub col: u32,
    /// Row of tiles.
    pub row: u32,
    /// Columns of cells, fewer than [`TILE_SIDE`] at the eastern edge.
    pub cols: usize,
    /// Rows of cells, fewer than [`TILE_SIDE`] at the southern edge.
    pub rows: usize,
    /// Band after band, row-major; `None` when no cell has data.
    pub cells: Option<Vec<f32>>,
}

/// A tile that waits for cells.
struct PartialTile {
    cells: Option<Vec<f32>>,
    missing: usize,
}

/// The tiles of a raster and of its overviews.
pub struct Pyramid {
    /// Columns and rows of each level.
    sizes: Vec<[u32; 2]>,
    bands: Vec<Resampling>,
    partial: Mutex<BTreeMap<(usize, u32, u32), PartialTile>>,
}

/// Receives complete tiles.
type Sink<'a> = &'a dyn Fn(&Tile) -> Result<(), RasterError>;

impl Pyramid {
    /// The pyramid of a raster of `cols` by `rows` cells with these bands.
    #[must_use]
    pub fn new(cols: u32, rows: u32, bands: Vec<Resampling>) -> Self {
        let mut sizes = vec![[cols, rows]];
        while let Some(&[cols, rows]) = sizes.last()
            && cols.max(rows) > TILE_SIDE
        {
            sizes.push([cols.div_ceil(2), rows.div_ceil(2)]);
        }
        Self { sizes, bands, partial: Mutex::default() }
    }

    /// Columns and rows of the raster, then of each overview.
    #[must_use]
    pub fn sizes(&self) -> &[[u32; 2]] {
        &self.sizes
    }

    /// Adds a window of the raster, `None` where it has no data; `sink` receives the tiles that are
    /// complete with it. Each cell comes once.
    ///
    /// # Errors
    /// Those of `sink`.
    pub fn put(
        &self,
        window: Window,
        cells: Option<Cells<'_>>,
        sink: Sink<'_>,
    ) -> Result<(), RasterError> {
        self.put_at(0, window, cells, sink)
    }

    fn put_at(
        &self,
        level: usize,
        window: Window,
        cells: Option<Cells<'_>>,
        sink: Sink<'_>,
    ) -> Result<(), RasterError> {
        let Window { left, top, cols, rows } = window;
        if cols == 0 || rows == 0 {
            return Ok(());
        }
        let side = TILE_SIDE;
        for row in top / side..=(top + rows - 1) / side {
            for col in left / side..=(left + cols - 1) / side {
                if let Some(tile) = self.add(level, [col, row], window, cells) {
                    self.hand_on(tile, sink)?;
                }
            }
        }
        Ok(())
    }

    /// Adds the part of a window that lies in one tile, which is returned when it is complete.
    fn add(
        &self,
        level: usize,
        [col, row]: [u32; 2],
        window: Window,
        source: Option<Cells<'_>>,
    ) -> Option<Tile> {
        let [all_cols, all_rows] = self.sizes[level];
        let [x, y] = [col * TILE_SIDE, row * TILE_SIDE];
        let cols = TILE_SIDE.min(all_cols - x) as usize;
        let rows = TILE_SIDE.min(all_rows - y) as usize;
        let (left, top) = (window.left.max(x), window.top.max(y));
        let right = (window.left + window.cols).min(x + cols as u32);
        let bottom = (window.top + window.rows).min(y + rows as u32);
        let (wide, high) = ((right - left) as usize, (bottom - top) as usize);
        let paste = |cells: &mut Option<Vec<f32>>| {
            let Some(source) = source else { return };
            let blank = || vec![f32::NAN; self.bands.len() * cols * rows];
            let cells = cells.get_or_insert_with(blank);
            let from = (top - window.top) as usize * source.stride + (left - window.left) as usize;
            let to = (top - y) as usize * cols + (left - x) as usize;
            for (plane, band) in cells.chunks_exact_mut(cols * rows).zip(source.bands) {
                for i in 0..high {
                    let part = &band[from + i * source.stride..][..wide];
                    plane[to + i * cols..][..wide].copy_from_slice(part);
                }
            }
        };
        let mut complete = if wide * high == cols * rows {
            let mut cells = None;
            paste(&mut cells);
            cells
        } else {
            let mut partial = self.partial.lock().unwrap_or_else(PoisonError::into_inner);
            let tile = partial
                .entry((level, col, row))
                .or_insert_with(|| PartialTile { cells: None, missing: cols * rows });
            paste(&mut tile.cells);
            tile.missing = tile.missing.saturating_sub(wide * high);
            if tile.missing > 0 {
                return None;
            }
            partial.remove(&(level, col, row)).and_then(|tile| tile.cells)
        };
        if let Some(cells) = &complete
            && cells.iter().all(|value| value.is_nan())
        {
            complete = None;
        }
        Some(Tile { level, col, row, cols, rows, cells: complete })
    }

    /// Gives a complete tile away and adds its half to the next overview.
    fn hand_on(&self, tile: Tile, sink: Sink<'_>) -> Result<(), RasterError> {
        sink(&tile)?;
        let level = tile.level + 1;
        if level >= self.sizes.len() {
            return Ok(());
        }
        let half = TILE_SIDE / 2;
        let (cols, rows) = (tile.cols.div_ceil(2), tile.rows.div_ceil(2));
        let window = Window {
            left: tile.col * half,
            top: tile.row * half,
            cols: cols as u32,
            rows: rows as u32,
        };
        let Some(cells) = &tile.cells else {
            return self.put_at(level, window, None, sink);
        };
        let mut halved = vec![f32::NAN; self.bands.len() * cols * rows];
        let planes = cells.chunks_exact(tile.cols * tile.rows);
        let halves = halved.chunks_exact_mut(cols * rows);
        for ((plane, half), resampling) in planes.zip(halves).zip(&self.bands) {
            halve(plane, tile.cols, half, *resampling);
        }
        let bands: Vec<&[f32]> = halved.chunks_exact(cols * rows).collect();
        let cells = Cells { bands: &bands, stride: cols };
        self.put_at(level, window, Some(cells), sink)
    }
}

/// Makes one cell out of each block of 2 by 2; those at the edge have fewer.
fn halve(plane: &[f32], cols: usize, out: &mut [f32], resampling: Resampling) {
    let half = cols.div_ceil(2);
    for (pair, out) in plane.chunks(2 * cols).zip(out.chunks_exact_mut(half)) {
        let (upper, lower) = pair.split_at(cols);
        let mut whole = 0;
        if !lower.is_empty() {
            let blocks = upper.as_chunks::<2>().0.iter().zip(lower.as_chunks::<2>().0);
            for (out, (&[a, b], &[c, d])) in out.iter_mut().zip(blocks) {
                *out = match resampling {
                    Resampling::Mean => mean([a, b, c, d]),
                    Resampling::Mode if a == b && b == c && c == d => a,
                    Resampling::Mode => resampling.fold(&mut [a, b, c, d]),
                };
            }
            whole = cols / 2;
        }
        for i in whole..half {
            let (from, to) = (2 * i, cols.min(2 * i + 2));
            let mut block = [f32::NAN; 4];
            block[..to - from].copy_from_slice(&upper[from..to]);
            if !lower.is_empty() {
                block[2..2 + to - from].copy_from_slice(&lower[from..to]);
            }
            out[i] = resampling.fold(&mut block);
        }
    }
}

/// [`Resampling::Mean`] without a branch: of no values at all it is 0 / 0, which is NaN.
fn mean(values: [f32; 4]) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0.0_f64);
    for value in values {
        let has_value = !value.is_nan();
        sum += if has_value { f64::from(value) } else { 0.0 };
        count += if has_value { 1.0 } else { 0.0 };
    }
    (sum / count) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(row: usize, col: usize) -> f32 {
        if (row / 5 + col / 9).is_multiple_of(4) {
            return f32::NAN;
        }
        (row * 7 + col * 3) as f32 % 101.0
    }

    /// Tiles of a raster that comes in windows of this size, from the last to the first or not.
    fn tiles(cols: u32, rows: u32, side: u32, backwards: bool) -> Vec<Tile> {
        let pyramid = Pyramid::new(cols, rows, vec![Resampling::Mean, Resampling::Mode]);
        let complete_tiles = Mutex::new(Vec::new());
        let mut corners: Vec<_> = (0..rows)
            .step_by(side as usize)
            .flat_map(|top| (0..cols).step_by(side as usize).map(move |left| (left, top)))
            .collect();
        if backwards {
            corners.reverse();
        }
        for (left, top) in corners {
            let window =
                Window { left, top, cols: side.min(cols - left), rows: side.min(rows - top) };
            let places = (0..window.rows as usize)
                .flat_map(|row| (0..window.cols as usize).map(move |col| (row, col)));
            let plane: Vec<f32> =
                places.map(|(row, col)| cell(top as usize + row, left as usize + col)).collect();
            let cells = Cells { bands: &[&plane, &plane], stride: window.cols as usize };
            let sink = |tile: &Tile| {
                complete_tiles.lock().unwrap().push(tile.clone());
                Ok(())
            };
            pyramid.put(window, Some(cells), &sink).unwrap();
        }
        assert!(pyramid.partial.lock().unwrap().is_empty(), "all are complete");
        let mut complete_tiles = complete_tiles.into_inner().unwrap();
        complete_tiles.sort_by_key(|tile| (tile.level, tile.row, tile.col));
        complete_tiles
    }

    #[test]
    fn tiles_do_not_depend_on_the_windows_they_come_in() {
        let bits = |tiles: Vec<Tile>| -> Vec<_> {
            let bits = |tile: &Tile| {
                let cells = tile.cells.iter().flatten();
                cells.map(|value| value.to_bits()).collect::<Vec<_>>()
            };
            let place = |tile: &Tile| (tile.level, tile.col, tile.row, tile.cols, tile.rows);
            tiles.iter().map(|tile| (place(tile), bits(tile))).collect()
        };
        let whole = bits(tiles(601, 517, 1000, false));
        // 3 by 3, 2 by 2, and one.
        assert_eq!(whole.len(), 9 + 4 + 1);
        for (side, backwards) in [(256, false), (256, true), (100, true), (37, false)] {
            assert!(whole == bits(tiles(601, 517, side, backwards)), "{side}");
        }
    }

    #[test]
    fn a_block_becomes_one_cell_as_in_a_fold() {
        for (cols, rows) in [(7, 5), (8, 6), (1, 9), (1, 1)] {
            let plane: Vec<f32> = (0..rows * cols).map(|i| cell(i / cols, i % cols)).collect();
            for resampling in [Resampling::Mean, Resampling::Mode] {
                let mut out = vec![0.0; cols.div_ceil(2) * rows.div_ceil(2)];
                halve(&plane, cols, &mut out, resampling);
                for (i, &got) in out.iter().enumerate() {
                    let (row, col) = (i / cols.div_ceil(2) * 2, i % cols.div_ceil(2) * 2);
                    let mut block: Vec<f32> = [(0, 0), (0, 1), (1, 0), (1, 1)]
                        .iter()
                        .filter(|(r, c)| row + r < rows && col + c < cols)
                        .map(|(r, c)| plane[(row + r) * cols + col + c])
                        .collect();
                    let want = resampling.fold(&mut block);
                    assert!(got == want || got.is_nan() && want.is_nan(), "{row} {col}");
                }
            }
        }
    }
}
