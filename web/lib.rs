//! The faces of Groundwave: HTTP frontends, pictures and texts of a world.
//!
//! Views only: what changes the world goes through a command, what touches files through
//! `groundwave_io`.

// The command line names the rest of this crate as its other users do.
extern crate self as groundwave;

pub mod agent;
pub mod cli;
#[cfg(test)]
mod fuzz;
pub mod gateway;
pub mod http;
pub mod impair;
pub mod page;
pub mod planning;
pub mod plot;
pub mod serve;
pub mod testbed;
pub mod text;
