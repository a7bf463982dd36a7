//! Impairments as people write them: quantities, presets, time lines, and the daemon's
//! configuration.

pub mod config;
pub mod mahimahi;
pub mod presets;
pub mod quantity;
mod spelled;
pub mod timeline;
mod timeline_csv;
pub mod words;
