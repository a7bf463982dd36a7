//! The impairment daemon: two directions of a link, shaped over HTTP on a Unix socket.
//!
//! Handlers parse, command or query, and show. What is wished of a direction is a command to the
//! world; the world's effects reach the kernel through a driver, whose sightings are commands
//! again. The answer to a wanted is what was read back after it.

mod audit;
mod baseline;
mod impairments;
mod peer;
mod router;
mod state;
mod stats;
mod system;
pub mod wire;

pub use peer::Peer;
pub use router::{document, router};
pub use state::{Baseline, Daemon, DriverCall, DriverQueries, Ports};
