//! Templates of sensors: addresses, identification, registers and metrics.

use std::ops::RangeInclusive;

use garde::Validate;
use groundwave_values::Kind;
use groundwave_values::bounds::finite_if_some;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expr::Expr;

/// Addresses of devices; the others are reserved by the bus.
pub const ADDRESSES: RangeInclusive<u16> = 0x08..=0x77;
/// Longest name of a template, which is part of the names of metrics, bytes.
pub const ID_BYTES_MAX: usize = 32;
/// Most bytes of a frame.
pub const FRAME_BYTES_MAX: usize = 32;

/// Template of a sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
#[serde(deny_unknown_fields)]
pub struct SensorTemplate {
    /// Name in metrics: a-z 0-9 _.
    #[garde(length(min = 1, max = 32))]
    #[schemars(regex(pattern = "^[a-z0-9_]{1,32}$"))]
    pub template_id: String,
    /// Description, one line.
    #[serde(default)]
    #[garde(length(chars, max = 256))]
    pub title: String,
    /// Possible addresses, 0x08 to 0x77.
    #[garde(length(min = 1, max = 16), inner(range(min = 8, max = 119)))]
    pub addresses: Vec<u16>,
    /// Identification; a template without it is never probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub identify: Option<Identify>,
    /// Steps of the initialisation, repeated after a failure.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub init: Vec<Step>,
    /// Steps before each reading.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub start: Vec<Step>,
    /// Registers read once, after `init`.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub calibration: Vec<Register>,
    /// Registers of each reading.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub read: Vec<Register>,
    /// Frames of each reading, read after the registers and without a register address; they need
    /// an adapter that transfers plain I2C.
    #[serde(default)]
    #[garde(length(max = 4), dive)]
    pub frames: Vec<Frame>,
    /// Intermediate values.
    #[serde(default, rename = "let")]
    #[garde(length(max = 32), dive)]
    pub values: Vec<Value>,
    /// Metrics.
    #[garde(length(min = 1, max = 16), dive)]
    pub metrics: Vec<Metric>,
    /// Interval of readings where an assignment states none, s; absent: each heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 1, max = 86_400))]
    pub interval_s: Option<u32>,
}

impl Kind for SensorTemplate {
    const NAME: &'static str = "sensor template";
}

/// Register that identifies a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorIdentity")]
pub struct Identify {
    /// Register.
    #[garde(skip)]
    pub reg: u8,
    /// Length, 1 or 2 bytes.
    #[serde(default = "one")]
    #[garde(range(min = 1, max = 2))]
    pub len: u8,
    /// Byte order.
    #[serde(default)]
    #[garde(skip)]
    pub endian: Endian,
    /// Bits to compare; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub mask: Option<u16>,
    /// Expected bits.
    #[garde(skip)]
    pub value: u16,
}

/// A step of an initialisation or a reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SensorStep")]
pub enum Step {
    /// Writes bytes from a register on.
    Write(#[garde(dive)] Write),
    /// Waits, ms.
    DelayMs(#[garde(range(max = 1000))] u32),
}

/// Bytes for registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorWrite")]
pub struct Write {
    /// First register, or the first byte of a command.
    #[garde(skip)]
    pub reg: u8,
    /// Bytes.
    #[garde(length(min = 1, max = 32))]
    pub bytes: Vec<u8>,
}

/// Byte order of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Endian {
    /// Most significant byte first.
    #[default]
    Big,
    /// Least significant byte first.
    Little,
}

/// A number in registers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorRegister")]
pub struct Register {
    /// Name in formulas.
    #[garde(length(min = 1, max = 48))]
    pub name: String,
    /// First register.
    #[garde(skip)]
    pub reg: u8,
    /// Length, 1 to 4 bytes.
    #[serde(default = "one")]
    #[garde(range(min = 1, max = 4))]
    pub len: u8,
    /// Byte order.
    #[serde(default)]
    #[garde(skip)]
    pub endian: Endian,
    /// Two's complement number.
    #[serde(default)]
    #[garde(skip)]
    pub signed: bool,
    /// Bytes written before the wait, to select an input for instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub write: Option<Write>,
    /// Wait before the read, ms.
    #[serde(default)]
    #[garde(range(max = 1000))]
    pub delay_ms: u32,
}

/// Bytes that a device sends without a register address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorFrame")]
pub struct Frame {
    /// Name of the frame in dry runs and faults.
    #[garde(length(min = 1, max = 48))]
    pub name: String,
    /// Length, bytes, [1, 32].
    #[garde(range(min = 1, max = 32))]
    pub len: u8,
    /// Wait before the read, ms.
    #[serde(default)]
    #[garde(range(max = 1000))]
    pub delay_ms: u32,
    /// Checksum of the groups of the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub crc8: Option<Crc8>,
    /// Numbers in the frame.
    #[garde(length(min = 1, max = 16), dive)]
    pub fields: Vec<Field>,
}

/// Checksum of 8 bits behind each group of bytes, most significant bit first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorChecksum")]
pub struct Crc8 {
    /// Polynomial without its highest bit, 0x31 for x^8 + x^5 + x^4 + 1.
    #[garde(skip)]
    pub poly: u8,
    /// Value before the first byte.
    #[serde(default)]
    #[garde(skip)]
    pub init: u8,
    /// Bytes of a group, without the checksum, [1, 31].
    #[garde(range(min = 1, max = 31))]
    pub every: u8,
}

/// A number in a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorField")]
pub struct Field {
    /// Name in formulas.
    #[garde(length(min = 1, max = 48))]
    pub name: String,
    /// First byte in the frame, from 0.
    #[garde(range(max = 31))]
    pub at: u8,
    /// Length, 1 to 4 bytes.
    #[serde(default = "one")]
    #[garde(range(min = 1, max = 4))]
    pub len: u8,
    /// Byte order.
    #[serde(default)]
    #[garde(skip)]
    pub endian: Endian,
    /// Two's complement number.
    #[serde(default)]
    #[garde(skip)]
    pub signed: bool,
}

/// An intermediate value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorValue")]
pub struct Value {
    /// Name in later formulas.
    #[garde(length(min = 1, max = 48))]
    pub name: String,
    /// Formula.
    #[garde(skip)]
    pub expr: Expr,
}

/// A metric of a sensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SensorMetric")]
pub struct Metric {
    /// Last part of its name.
    #[garde(length(min = 1, max = 48))]
    #[schemars(regex(pattern = "^[a-z0-9_]{1,48}$"))]
    pub name: String,
    /// Unit, for display.
    #[serde(default)]
    #[garde(length(chars, max = 16))]
    pub unit: String,
    /// Formula.
    #[garde(skip)]
    pub expr: Expr,
    /// Lowest valid value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(custom(finite_if_some))]
    pub min: Option<f64>,
    /// Highest valid value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(custom(finite_if_some))]
    pub max: Option<f64>,
}

fn one() -> u8 {
    1
}
