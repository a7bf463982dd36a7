//! The faces of Groundwave: HTTP frontends, pictures and texts of a world.
//!
//! Views only: what changes the world goes through a command, what touches files through
//! `groundwave_io`.

pub mod agent;
pub mod gateway;
pub mod http;
pub mod impair;
pub mod planning;
pub mod plot;
pub mod testbed;
pub mod text;
