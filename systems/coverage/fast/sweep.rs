//! Cells of the fast mode.

use rayon::prelude::*;

use crate::coverage::{Block, Cell, CoverageSite, Grid, Scratch};
use crate::terrain::Terrain;

/// Largest side of a block that [`fast_coverage`] cuts a grid into, cells.
const SIDE_MAX: u32 = 256;

/// As [`crate::coverage::evaluate_block`] in the fast mode. How a grid is cut into blocks changes
/// no bit, but work is shared within a block only: a large square one takes least.
pub fn evaluate_block_fast(
    site: &CoverageSite<'_>,
    terrain: &dyn Terrain,
    grid: &Grid,
    block: Block,
    cells: &mut [Cell],
    scratch: &mut Scratch,
) {
    scratch.block(site, terrain, grid, block, cells, true);
}

/// As [`crate::coverage::coverage`] in the fast mode.
#[must_use]
pub fn fast_coverage(site: &CoverageSite<'_>, terrain: &dyn Terrain, grid: &Grid) -> Vec<Cell> {
    let columns = grid.columns() as usize;
    let side = (grid.rows().max(grid.columns()) / 4).clamp(32, SIDE_MAX);
    let blocks: Vec<Block> = grid.blocks(side, side).collect();
    let done: Vec<Vec<Cell>> = blocks
        .par_iter()
        .map_init(Scratch::default, |scratch, block| {
            let mut cells = vec![Cell::default(); block.len()];
            evaluate_block_fast(site, terrain, grid, *block, &mut cells, scratch);
            cells
        })
        .collect();
    let mut cells = vec![Cell::default(); grid.rows() as usize * columns];
    for (block, done) in blocks.iter().zip(done) {
        for (row, done) in (block.row..).zip(done.chunks(block.columns as usize)) {
            let start = row as usize * columns + block.column as usize;
            cells[start..start + done.len()].copy_from_slice(done);
        }
    }
    cells
}
