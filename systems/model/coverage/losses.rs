//! Losses by another processor, such as a GPU.

use ndarray::Array2;

use super::grid::{Block, Grid};
use super::known::KnownLoss;
use super::terms::SiteTerms;
use crate::terrain::Terrain;

/// Source of the losses of many sites over blocks of cells.
pub trait LossSource: Send + Sync + std::fmt::Debug {
    /// Name of the processor and its driver.
    fn name(&self) -> String;

    /// Losses from each of `sites`, at least one, to the cells of a block of `grid`; beyond the radius of a site they
    /// are not valid.
    ///
    /// # Errors
    /// The reason for having none; then the exact evaluation has the answer.
    fn losses(
        &self,
        terrain: &dyn Terrain,
        sites: &[&SiteTerms],
        grid: &Grid,
        block: Block,
    ) -> Result<Vec<Array2<KnownLoss>>, String>;
}
