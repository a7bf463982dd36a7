//! Daemons: each is composed from a configuration and started in one place, for the command line,
//! tests and other frontends.
//!
//! A configuration is also the command-line arguments of its daemon, so that each option has one
//! description, default and environment variable. `start` opens stores, takes ports and spawns what
//! runs in the background; `run` serves until a stop signal or until the stop token is cancelled.

mod archive;
pub mod config;
mod files;
pub mod foreign_log;
mod ground;
mod planning;
pub mod server;
mod service_options;
#[cfg(test)]
mod tests;
