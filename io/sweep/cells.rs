//! The table of cells.

use std::io;
use std::path::Path;

use groundwave_raster::table::{Column, write_cells};
use rayon::prelude::*;

use super::fold_tile::{Layer, TileFold};
use super::plan::{TILE_CELLS, Unit};
use super::product::product;
use super::work::{Sweep, SweepError};

/// Layers of the table, in the order of its columns.
const LAYERS: [Layer; 4] = [Layer::Best, Layer::Second, Layer::Margin, Layer::Servers];

/// A row of tiles, each with its columns of cells and its layers.
type TileRow = Vec<(usize, [Vec<f32>; 4])>;

/// Writes the table out of the files of units. Memory holds the layers of one row of tiles.
pub(super) fn cell_table(sweep: &Sweep, variant: u32, folder: &Path) -> Result<(), SweepError> {
    let columns = [
        Column::new("best_server", "", 0),
        Column::new("second_server", "", 0),
        Column::new("link_margin", "db", 2),
        Column::new("servers", "", 0),
    ];
    let grid = &sweep.plan.grid;
    let cols = grid.cols as usize;
    let mut held: Option<(u32, TileRow)> = None;
    let mut rows = |row: u32, out: &mut [f32]| {
        let tile_row = row / TILE_CELLS;
        if held.as_ref().is_none_or(|(held, _)| *held != tile_row) {
            // The old row goes before the new one comes.
            held = None;
            held = Some((tile_row, fold_row(sweep, variant, tile_row).map_err(io::Error::other)?));
        }
        let (_, tiles) = held.as_ref().expect("just folded");
        let row = (row % TILE_CELLS) as usize;
        for (number, band) in out.chunks_exact_mut(cols).enumerate() {
            let mut left = 0;
            for (wide, layers) in tiles {
                band[left..left + wide].copy_from_slice(&layers[number][row * wide..][..*wide]);
                left += wide;
            }
        }
        Ok(())
    };
    let path = folder.join("cells.csv");
    product("cells.csv", write_cells(&path, grid.geometry(), &columns, &mut rows))
}

fn fold_row(sweep: &Sweep, variant: u32, row: u32) -> Result<TileRow, SweepError> {
    let plan = &sweep.plan;
    let (tile_cols, _) = plan.grid.tiles();
    let tiles = (0..tile_cols).into_par_iter().map(|col| {
        let unit = Unit { variant, row, col };
        let window = plan.grid.window(row, col);
        let sites = plan.reaching(row, col);
        let wide = window.cols as usize;
        if sites.is_empty() {
            let blank = || vec![f32::NAN; wide * window.rows as usize];
            return Ok((wide, [(); 4].map(|()| blank())));
        }
        let mut fold = TileFold::new(plan, [window.cols, window.rows], sites, &[], None);
        let mut packed = sweep.read(unit)?;
        for (place, site) in packed.sites().enumerate() {
            let answers =
                site.and_then(|site| site.answers()).map_err(|err| sweep.unreadable(unit, err))?;
            fold.hear(place, &answers);
        }
        Ok((wide, LAYERS.map(|layer| fold.layer(layer))))
    });
    tiles.collect()
}
