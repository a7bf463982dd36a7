//! Coverage: the link budget of receivers anywhere around a site.
//!
//! Every cell of a [`Grid`] is one link, from the site to a receiver at the cell's centre, and
//! equals what [`crate::link::trace`] and [`crate::link::judge`] say of it to 1e-9 dB: the same
//! path, the same samples, the same model. What makes it fast is that the work is laid out for
//! many cells: geodesics, formulas and budgets are worked out 64 at a time in vectors, nothing is
//! allocated for a cell, and the report of a link is left out.
//!
//! - [`Grid`]: a raster of cells in latitude and longitude, cut into [`Block`]s
//! - [`CoverageSite`]: a prepared site; [`evaluate`]: the evaluator of jobs and sweeps
//! - [`evaluate_grid`]: all cells of a grid on all threads
//! - [`Cell`]: what comes out
//! - [`job`]: an interactive coverage as a world of its own, whose cells are entities
//! - [`live`]: a coverage of a mesh that follows its nodes; [`placement`]: sites to build next

pub mod job;
pub mod live;
mod losses;

pub use groundwave_model::coverage::{
    BadGrid, Block, CELLS_MAX, Cell, CoverageRequest, CoverageSite, Detail, Evaluation, Flags,
    Grid, Layer, LayerCell, LossSource, NO_DATA, NO_POWER, SIDE_MAX, Sampling, Scratch, Window,
    coverage, evaluate, evaluate_grid, evaluate_layer, evaluate_run, evaluate_without_intervals,
    hundredths, placement,
};
pub use job::{CoverageJob, Progress, SITES_MAX, Server};
pub use losses::EngineUse;

#[cfg(test)]
mod tests;
