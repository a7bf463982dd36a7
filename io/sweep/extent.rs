//! Extent of a sweep, before it is computed.

use rayon::prelude::*;
use serde::Serialize;

use super::plan::{Plan, Unit};

/// Extent of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Sites.
    pub sites: usize,
    /// Parameter combinations.
    pub variants: usize,
    /// Columns and rows of the raster.
    pub raster_cells: [u32; 2],
    /// Cells of the raster in tiles that a site may reach, once for each variant.
    pub cells: u64,
    /// Units: those tiles, once for each variant.
    pub units: usize,
    /// Bound of the cells to evaluate: each cell of a unit once for each site that may reach it.
    pub evaluations: u64,
}

impl Plan {
    /// Extent of the sweep with these units, which are [`Plan::units`].
    #[must_use]
    pub fn extent(&self, units: &[Unit]) -> Extent {
        let cells = |unit: &Unit| {
            let window = self.grid.window(unit.row, unit.col);
            u64::from(window.cols) * u64::from(window.rows)
        };
        let sites = |unit: &Unit| self.reaching(unit.row, unit.col).len() as u64;
        Extent {
            sites: self.sites.len(),
            variants: self.variants.len(),
            raster_cells: [self.grid.cols, self.grid.rows],
            cells: units.iter().map(cells).sum(),
            units: units.len(),
            evaluations: units.par_iter().map(|unit| cells(unit) * sites(unit)).sum(),
        }
    }
}
