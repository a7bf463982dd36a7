//! Impairments as texts: quantities with units, presets, timelines, and the configuration of the
//! daemon.

pub mod config;
mod format;
pub mod impairment_spec;
mod knob;
mod knob_value;
pub mod leases;
pub mod mahimahi;
pub mod port_name;
pub mod presets;
pub mod quantity;
pub mod rate_table;
pub mod state_file;
pub mod timeline;
mod timeline_csv;
pub mod timeline_file;
pub mod trace_rates;
