//! Bus and address of a device.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Bus and address of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BusAddress {
    /// Bus number.
    pub bus: u32,
    /// Address, 0x08 to 0x77.
    pub address: u16,
}

impl fmt::Display for BusAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{:#04x}", self.bus, self.address)
    }
}
