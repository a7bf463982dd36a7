//! The program `groundwave`: its command line, and the server that composes planner and gateway.

// The command line names the rest of this crate as its other users do.
extern crate self as groundwave;

pub mod cli;
pub mod engine;
#[cfg(test)]
mod fuzz;
pub mod serve;
