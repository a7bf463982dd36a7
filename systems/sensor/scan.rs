//! Devices that answered on a bus.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reason why a device is held for one of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdentifiedBy {
    /// The identity register has the template's value.
    IdRegister,
    /// Only one template has this address.
    Address,
    /// An operator assigned it.
    Manual,
}

/// A device that answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScannedDevice {
    /// Bus number.
    pub bus: u32,
    /// Address, 0x03 to 0x77.
    pub address: u16,
    /// A driver of the kernel uses it; nothing was read from it.
    #[serde(default)]
    pub in_use: bool,
    /// Template that fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<String>,
    /// Reason for the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identified_by: Option<IdentifiedBy>,
}
