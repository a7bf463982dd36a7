//! Combined coverage of many sites: best server, overlap, gaps, areas, and the choice of sites.
//!
//! Pure folds over cells that were evaluated elsewhere; sites count from 0 in the order of the
//! plan, and a tie always goes to the lower one.

mod area;
mod choose;
pub mod interference;
mod network;
mod tally;
mod variant;

pub use area::cell_area_m2;
pub use choose::{Choice, Step, choose};
pub use network::{Answer, Network};
pub use tally::{SiteTally, Tally};
pub use variant::{Variant, Vary, variants};
