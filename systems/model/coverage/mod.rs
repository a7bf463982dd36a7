//! Coverage: the budgets from a site to every cell of a grid, and what the mesh serves where.
//!
//! Kernels without a world; jobs and live layers of the simulation call them.

mod aligned_buffer;
mod cell;
mod evaluate;
mod grid;
mod layer;
pub mod placement;
mod site;

pub use cell::{Cell, Flags};
pub use evaluate::{Evaluation, Scratch, coverage, evaluate, evaluate_grid, evaluate_run};
pub use grid::{BadGrid, Block, CELLS_MAX, Grid, SIDE_MAX};
pub use layer::{Layer, NO_DATA, NO_POWER, Window, evaluate_layer, hundredths};
pub use site::{CoverageRequest, CoverageSite, Sampling};
