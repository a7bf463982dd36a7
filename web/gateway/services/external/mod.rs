//! External systems: credentials, probes, polls and calls.

pub mod auth;
pub mod call;
mod mqtt;
pub mod probe;
pub mod sample;
pub mod state;
