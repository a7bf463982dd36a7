//! The fast mode: a radial sweep that shares the ground between cells.
//!
//! Rays leave the site in all directions. Each knows, for every sample on it, what an antenna at
//! the site sees highest up to there, the upper hull of the ground, and the integrals that a fit
//! of a line takes. What a path needs of its ground follows from the two rays beside it:
//!
//! - where its horizons are: from the site by a running maximum, from the cell by the tangent to
//!   the hull. The rays only say where to look; the ground there, three steps about each guess,
//!   and the last dozen steps before the cell are sampled on the path itself, at the positions of
//!   the exact mode. So horizons are nearly always the very ones of the exact mode.
//! - the fitted lines: by integrals between the rays, and over its own samples at the end
//! - terrain irregularity: between those of every fourth sample of the rays; on paths of up to
//!   128 steps, where it rests on few samples, over all of the path itself
//!
//! The formulas of the model and the budget are those of the exact mode.
//!
//! Rays are taken block by block, only as far as a block asks, and every number on a ray depends
//! on the site alone. So neither blocks, nor their order, nor threads change a bit.
//!
//! Cells nearer than [`NEAR_M`], beyond the reach of short geodesics (100 km), behind gaps, under
//! another model than ITM, or with samples much closer or wider than posts are evaluated exactly.
//! All others carry [`super::Flags::FAST`].
//!
//! # The bound
//!
//! 99 of 100 cells stay within [`ERROR_P99_DB`] of the exact mode. Measured with a 15 m mast and
//! receivers at 3 m:
//!
//! | ground | p50 | p95 | p99 | worst | other verdict |
//! |---|---|---|---|---|---|
//! | rocky coast (N57E011), 5580 MHz, 12 km | 0.03 | 0.29 | 0.74 | 7 dB | 0.1 % |
//! | foothills (Calgary), 900 MHz, 20 km | 0.02 | 0.15 | 0.54 | 14 dB | 0.3 % |
//! | the same, 50 km | 0.02 | 0.15 | 0.45 | 13 dB | 0.1 % |
//! | Pyrenees, 900 MHz, 20 km | 0.00 | 0.09 | 0.22 | 18 dB | 0.0 % |
//! | Olympic peninsula, 1″, 900 MHz, 10 km | 0.02 | 0.12 | 0.24 | 16 dB | 0.0 % |
//!
//! The rest is irregularity on short rough paths, whose deciles come of few samples, and, rarely,
//! another horizon. [`compare`] says what it is for two given coverages.

mod agreement;
mod common;
mod fan;
mod own;
mod pair;
mod ray;
mod share;

pub use agreement::{Agreement, compare};

pub(super) use share::{Shared, Sharing};

/// Nearer cells are evaluated exactly, m.
pub const NEAR_M: f64 = 3_000.0;

/// Difference to the exact mode that 99 of 100 cells stay within, dB; the tests hold it to that.
pub const ERROR_P99_DB: f64 = 1.0;
