//! Overviews of rasters that maps are drawn from.

use groundwave_raster::{Grid, GridGeometry, TILE_SIDE, Tile};

/// Longer side of what maps are drawn from, cells.
const MAP_CELLS_MAX: u32 = 1400;

/// Overview that maps are drawn from: halved until no side is longer than [`MAP_CELLS_MAX`].
pub(super) fn map_level(raster: &GridGeometry) -> usize {
    let longest = raster.cols.max(raster.rows);
    let levels = (0..32).find(|level| longest.div_ceil(1 << level) <= MAP_CELLS_MAX);
    levels.expect("a raster has fewer than 2^32 columns")
}

/// Copies a band of a tile into the grid of its level.
pub(super) fn paste(tile: &Tile, band: usize, grid: &mut Grid) {
    let Some(cells) = &tile.cells else { return };
    let across = grid.geometry.cols as usize;
    let side = TILE_SIDE as usize;
    let first = tile.row as usize * side * across + tile.col as usize * side;
    let rows = cells.chunks_exact(tile.cols).skip(band * tile.rows);
    for (row, cells) in rows.take(tile.rows).enumerate() {
        grid.cells[first + row * across..][..tile.cols].copy_from_slice(cells);
    }
}
