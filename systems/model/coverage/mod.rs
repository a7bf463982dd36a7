//! Coverage: the budgets from a site to every cell of a grid, and what the mesh serves where.
//!
//! Kernels without a world; jobs and live layers of the simulation call them.

mod aligned_buffer;
mod cell;
mod evaluate;
mod grid;
mod known;
mod layer;
mod losses;
pub mod placement;
mod site;
mod terms;
mod window;

pub use cell::{Cell, Flags};
pub use evaluate::{
    Evaluation, Scratch, coverage, evaluate, evaluate_cells, evaluate_grid, evaluate_known,
    evaluate_run, evaluate_run_known, evaluate_without_intervals,
};
pub use grid::{BadGrid, Block, CELLS_MAX, Grid, SIDE_MAX};
pub use known::{KNOWN_ERROR_DB, KnownCounts, KnownFlags, KnownLoss};
pub use layer::{
    Detail, Layer, LayerCell, NO_DATA, NO_POWER, ServingPower, evaluate_layer, evaluate_layer_by,
    hundredths,
};
pub use losses::LossSource;
pub use site::{CoverageRequest, CoverageSite, Sampling};
pub use terms::{Cubic, NoTerms, RowTerms, SiteTerms, TERMS_RADIUS_MAX_M};
pub use window::Window;
