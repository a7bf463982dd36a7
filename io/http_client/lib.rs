//! HTTP/1.1 client: requests over a connected stream, within limits of time and length.
//!
//! The users choose the stream: a Unix socket, TCP, TLS to a judged address, the tunnel of a proxy. There is
//! no pool, no redirect, no retry and no proxy of the environment.

mod connection;
mod response;
#[cfg(test)]
mod tests;

pub use connection::{Connection, connect, exchange, within};
pub use response::{BodyError, OpenResponse};
