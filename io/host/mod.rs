//! The machine a daemon runs on: its sockets, capabilities, interfaces and hardware addresses.

pub mod descriptors;
mod error;
mod hardware_address;
pub mod interface;
pub mod priority;
pub mod privilege;
pub mod socket;

pub use error::ReadingError;
pub use hardware_address::HardwareAddress;
