//! The fast mode: a radial sweep that shares the ground between cells.
mod agreement;
mod fan;
mod own;
mod pair;
mod ray;
mod share;
mod sweep;

pub use agreement::{Agreement, compare};
pub use sweep::{evaluate_block_fast, fast_coverage};

pub(super) use share::{Shared, Sharing};

/// Nearer cells are evaluated exactly, m.
pub const NEAR_M: f64 = 3_000.0;

/// Difference to the exact mode that 99 of 100 cells are to stay within, dB.
pub const ERROR_P99_DB: f64 = 1.0;
