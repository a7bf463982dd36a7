//! Cells of the fast mode.

use rayon::prelude::*;

use super::Rays;
use crate::coverage::block::ROWS_PER_TASK;
use crate::coverage::{Block, Cell, CoverageSite, Grid, Scratch};
use crate::terrain::Terrain;

/// As [`crate::coverage::evaluate_block`], sharing what `rays` know of the ground.
pub fn evaluate_block_fast(
    site: &CoverageSite<'_>,
    rays: &Rays,
    terrain: &dyn Terrain,
    grid: &Grid,
    block: Block,
    cells: &mut [Cell],
    scratch: &mut Scratch,
) {
    scratch.block(site, terrain, grid, block, cells, Some(rays));
}

/// As [`crate::coverage::coverage`] in the fast mode; the rays are traced first.
#[must_use]
pub fn fast_coverage(site: &CoverageSite<'_>, terrain: &dyn Terrain, grid: &Grid) -> Vec<Cell> {
    let rays = Rays::trace(site, terrain, grid);
    let columns = grid.columns() as usize;
    let mut cells = vec![Cell::default(); grid.rows() as usize * columns];
    let bands = cells
        .par_chunks_mut(columns * ROWS_PER_TASK as usize)
        .zip(0_u32..u32::MAX);
    bands.for_each_init(Scratch::default, |scratch, (cells, band)| {
        let row = band * ROWS_PER_TASK;
        let rows = ROWS_PER_TASK.min(grid.rows() - row);
        let block = Block {
            row,
            column: 0,
            rows,
            columns: grid.columns(),
        };
        evaluate_block_fast(site, &rays, terrain, grid, block, cells, scratch);
    });
    cells
}
