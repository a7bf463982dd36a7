//! State of the machine: interfaces, neighbours, routes, leases, radios, the mesh, the host. The
//! rows are plain values with the names they have on the wire.
//!
//! Everything here blocks the calling thread, for as long as the kernel or a small file takes.

pub mod board;
pub mod cpu;
#[cfg(any(test, feature = "test_support"))]
#[doc(hidden)]
pub mod decoders;
pub mod echo;
pub mod host;
pub mod leases;
pub mod links;
#[cfg(test)]
mod malformed_tests;
pub mod mesh;
pub mod neighbours;
pub mod probe;
pub mod reservations;
pub mod route_socket;
pub mod routes;
#[cfg(test)]
mod tests;
pub mod wireless;

pub use route_socket::RouteSocket;
