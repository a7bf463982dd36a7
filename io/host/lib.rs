//! The machine a daemon runs on: its sockets, capabilities, interfaces and hardware addresses.

pub mod container;
pub mod gpio;
pub mod i2c;
pub mod interface;
pub mod privilege;
pub mod readings;
