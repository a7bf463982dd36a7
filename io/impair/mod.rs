//! Impairments as people write them: quantities, presets, time lines, and the daemon's
//! configuration.

pub mod mahimahi;
pub mod quantity;
