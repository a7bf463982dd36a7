//! Sensors that a machine is to read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::template::SensorTemplate;

/// A sensor that is read at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AssignedDevice {
    /// Template.
    pub template_id: String,
    /// Bus number.
    pub bus: u32,
    /// Address, 0x08 to 0x77.
    pub address: u16,
    /// Interval of readings, s; absent: that of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_s: Option<u32>,
}

/// All sensors that a machine is assigned, with the templates that do not come with the program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensorPlan {
    /// Sensors.
    pub sensors: Vec<AssignedDevice>,
    /// Templates.
    #[serde(default)]
    pub templates: Vec<SensorTemplate>,
}
