//! The impairment daemon: two directions of a link, shaped over HTTP on a Unix socket.
//!
//! Handlers parse, submit a command or query, and serialise. The desired state of a direction is a
//! command to the world; the world's effects reach the kernel through a driver, whose observations
//! are commands again. A change is answered with the state read back after it.

mod audit;
mod baseline;
mod impairments;
mod peer;
pub mod player;
mod router;
mod state;
mod stats;
mod system;
pub mod wire;

pub use peer::Peer;
pub use router::{document, router};
pub use state::{Baseline, Daemon, DriverCall, DriverQueries, Ports};
