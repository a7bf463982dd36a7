//! The impairment daemon: two directions of a link or those of more ports, shaped over HTTP on a Unix socket.
//!
//! Handlers parse, submit a command or query, and serialise. The desired state of a direction is a
//! command to the world; the world's effects reach the kernel through a driver, whose observations
//! are commands again. A change is answered with the state read back after it.
//!
//! A lease is a change that ends by itself. Leases lie over the state that is set without them; the
//! world is told what results.

mod audit;
mod baseline;
pub mod command;
mod earlier_requests;
mod impairments;
mod lease_service;
mod lease_store;
mod leases;
mod peer;
pub mod play_lease;
pub mod player;
mod port_path;
mod port_schemas;
mod ports;
mod router;
pub mod serve;
mod state;
mod stats;
mod system;
#[cfg(test)]
mod tests;
pub mod wire;

pub use earlier_requests::EarlierRequests;
pub use peer::Peer;
pub use router::{document, router};
pub use state::{Baseline, Daemon, DriverCall, DriverQueries, Ports};
