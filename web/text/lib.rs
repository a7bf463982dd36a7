//! Tables and quantities for terminals.

mod table;
mod units;

pub use table::{Align, Table};
pub use units::{bits_per_second, distance, percent, signed};
