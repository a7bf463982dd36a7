//! The machine a daemon runs on: its sockets, the rights it keeps, its interfaces.

pub mod interface;
pub mod privilege;
pub mod socket;
