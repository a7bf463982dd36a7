//! The controller of a testbed: a world steered over HTTP on a Unix socket.
//!
//! Handlers parse, command or query, and show. Every change is a command to the world and stands in
//! its log; what follows on the wires is the mirror's business.

mod agreement;
mod readings;
mod router;
pub mod serve;
mod state;
mod steer;
pub mod wire;

pub use router::{document, router};
pub use state::Controller;
