//! The machine a daemon runs on: its sockets, capabilities, interfaces and hardware addresses.

pub mod descriptors;
mod error;
pub mod interface;
mod mac;
pub mod priority;
pub mod privilege;
pub mod socket;

pub use error::ReadingError;
pub use mac::Mac;
