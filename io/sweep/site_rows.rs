//! The layers of one site, row by row.

use std::io;

use super::plan::{TILE_CELLS, Unit};
use super::unit::SiteTile;
use super::work::{Sweep, SweepError};
use crate::raster::Rows;

/// Reads the layers of one site row by row: received power, p10, p90, margin; NaN outside its
/// radius and where nothing is known. Memory holds one row of the site's tiles.
pub struct SiteRows<'a> {
    sweep: &'a Sweep,
    variant: u32,
    site: u16,
    /// Part of the raster that is read: first column and row, then columns and rows.
    window: [u32; 4],
    loaded: Option<(u32, Vec<Option<SiteTile>>)>,
}

impl<'a> SiteRows<'a> {
    /// Reads `site` of `variant` within a window of the raster.
    #[must_use]
    pub fn new(sweep: &'a Sweep, variant: u32, site: u16, window: [u32; 4]) -> Self {
        Self {
            sweep,
            variant,
            site,
            window,
            loaded: None,
        }
    }

    fn load(&mut self, row: u32) -> Result<(), SweepError> {
        if self.loaded.as_ref().is_some_and(|(held, _)| *held == row) {
            return Ok(());
        }
        // The old row goes before the new one comes.
        self.loaded = None;
        let [first, _, cols, _] = self.window;
        let touched = first / TILE_CELLS..=(first + cols - 1) / TILE_CELLS;
        let (tile_cols, _) = self.sweep.plan.grid.tiles();
        let mut tiles = Vec::with_capacity(tile_cols as usize);
        for col in 0..tile_cols {
            let unit = Unit {
                variant: self.variant,
                row,
                col,
            };
            let reached = touched.contains(&col) && self.sweep.plan.reaches(self.site, row, col);
            tiles.push(if reached { self.tile(unit)? } else { None });
        }
        self.loaded = Some((row, tiles));
        Ok(())
    }

    fn tile(&self, unit: Unit) -> Result<Option<SiteTile>, SweepError> {
        let packed = self.sweep.read(unit)?;
        let site = packed.sites().find(|site| site.site == self.site);
        let tile = site.map(|site| site.tile()).transpose();
        tile.map_err(|err| self.sweep.unreadable(unit, err))
    }
}

impl Rows for SiteRows<'_> {
    fn read(&mut self, row: u32, out: &mut [f32]) -> io::Result<()> {
        let [first_col, first_row, cols, _] = self.window;
        let row = first_row + row;
        self.load(row / TILE_CELLS).map_err(io::Error::other)?;
        let (_, tiles) = self.loaded.as_ref().expect("just loaded");
        out.fill(f32::NAN);
        for i in 0..cols {
            let col = first_col + i;
            let Some(tile) = &tiles[(col / TILE_CELLS) as usize] else {
                continue;
            };
            let cell = tile_cell(self.sweep.plan.grid.cols, row, col);
            let Some(margin_db) = tile.answers.margin_db(cell) else {
                continue;
            };
            let values = [
                tile.rx_power_dbm[cell],
                tile.p10_dbm[cell],
                tile.p90_dbm[cell],
                margin_db,
            ];
            for (band, value) in out.chunks_exact_mut(cols as usize).zip(values) {
                band[i as usize] = value;
            }
        }
        Ok(())
    }
}

/// Index of a cell within its tile.
#[must_use]
pub fn tile_cell(cols: u32, row: u32, col: u32) -> usize {
    let tile_first = col / TILE_CELLS * TILE_CELLS;
    let width = TILE_CELLS.min(cols - tile_first);
    (row % TILE_CELLS * width + (col - tile_first)) as usize
}
