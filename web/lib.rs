//! The faces of Groundwave: pictures and texts of a world, and later its HTTP frontends.
//!
//! Views only: what changes the world goes through a command, what touches files through
//! `groundwave_io`, which only the program composes with this library.

pub mod http;
pub mod impair;
pub mod planning;
pub mod plot;
pub mod text;
