//! Selection of products, and the error of one that cannot be written.

use super::work::SweepError;
use crate::causes::with_causes;
use crate::raster::RasterError;

/// Products to write besides the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// A raster for each site.
    pub site_rasters: bool,
    /// A table with a line for each cell of the network.
    pub cell_table: bool,
    /// Threads that compress rasters; bytes do not depend on it.
    pub threads: std::num::NonZeroUsize,
}

/// Adds the name of the product to an error.
pub(super) fn product<T>(what: &str, outcome: Result<T, RasterError>) -> Result<T, SweepError> {
    outcome.map_err(|err| SweepError::Product {
        what: what.to_owned(),
        cause: with_causes(&err),
    })
}
