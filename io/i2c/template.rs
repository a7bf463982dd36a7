//! Templates of sensors: addresses, identification, registers and metrics.
//!
//! A template is a TOML file ([`load`](super::load)).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;

use super::expr::{Expr, Fault};

/// Addresses of devices; the others are reserved by the bus.
pub const ADDRESSES: RangeInclusive<u16> = 0x08..=0x77;
/// Longest name of a template, which is part of the names of metrics, bytes.
pub const ID_BYTES_MAX: usize = 32;
/// Template of a sensor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorTemplate {
    /// Name in metrics.
    pub template_id: String,
    /// Description, one line.
    #[serde(default)]
    pub title: String,
    /// Possible addresses, 0x08 to 0x77.
    pub addresses: Vec<u16>,
    /// Identification; a template without it is never probed.
    #[serde(default)]
    pub identify: Option<Identify>,
    /// Steps of the initialisation, repeated after a failure.
    #[serde(default)]
    pub init: Vec<Step>,
    /// Steps before each reading.
    #[serde(default)]
    pub start: Vec<Step>,
    /// Registers read once, after `init`.
    #[serde(default)]
    pub calibration: Vec<Register>,
    /// Registers of each reading.
    #[serde(default)]
    pub read: Vec<Register>,
    /// Intermediate values.
    #[serde(default, rename = "let")]
    pub values: Vec<Value>,
    /// Metrics.
    pub metrics: Vec<Metric>,
}

/// Register that identifies a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Register.
    pub reg: u8,
    /// Length, 1 or 2 bytes.
    #[serde(default = "one")]
    pub len: u8,
    /// Byte order.
    #[serde(default)]
    pub endian: Endian,
    /// Bits to compare; all without it.
    #[serde(default)]
    pub mask: Option<u16>,
    /// Expected bits.
    pub value: u16,
}

/// A step of an initialisation or a reading.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Writes bytes from a register on.
    Write(Write),
    /// Waits, ms.
    DelayMs(u32),
}

/// Bytes for registers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// First register.
    pub reg: u8,
    /// Bytes.
    pub bytes: Vec<u8>,
}

/// Byte order of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endian {
    /// Most significant byte first.
    #[default]
    Big,
    /// Least significant byte first.
    Little,
}

/// A number in registers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// Name in formulas.
    pub name: String,
    /// First register.
    pub reg: u8,
    /// Length, 1 to 4 bytes.
    #[serde(default = "one")]
    pub len: u8,
    /// Byte order.
    #[serde(default)]
    pub endian: Endian,
    /// Two's complement number.
    #[serde(default)]
    pub signed: bool,
    /// Wait before the read, ms.
    #[serde(default)]
    pub delay_ms: u32,
}

/// An intermediate value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Name in later formulas.
    pub name: String,
    /// Formula.
    pub expr: Expr,
}

/// A metric of a sensor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Last part of its name.
    pub name: String,
    /// Unit, for display.
    #[serde(default)]
    pub unit: String,
    /// Formula.
    pub expr: Expr,
    /// Lowest valid value.
    #[serde(default)]
    pub min: Option<f64>,
    /// Highest valid value.
    #[serde(default)]
    pub max: Option<f64>,
}

fn one() -> u8 {
    1
}

/// Result of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed<'a> {
    /// Metrics with a value.
    pub metrics: Vec<(&'a str, f64)>,
    /// Metrics without a value, with the cause.
    pub faults: Vec<(&'a str, String)>,
}

impl Register {
    /// The number in `bytes`, of which there are `len`.
    #[must_use]
    pub fn decode(&self, bytes: &[u8]) -> f64 {
        let raw = number(bytes, self.endian);
        let bits = 8 * u32::from(self.len.min(4));
        let above = raw >= 1_i64 << bits.saturating_sub(1);
        let value = if self.signed && above {
            raw - (1_i64 << bits)
        } else {
            raw
        };
        value as f64
    }
}

impl Identify {
    /// Match of the register's value.
    #[must_use]
    pub fn fits(&self, bytes: &[u8]) -> bool {
        let mask = i64::from(self.mask.unwrap_or(u16::MAX));
        number(bytes, self.endian) & mask == i64::from(self.value) & mask
    }
}

/// The number of up to four bytes.
fn number(bytes: &[u8], endian: Endian) -> i64 {
    let add = |sum: i64, byte: &u8| (sum << 8) | i64::from(*byte);
    match endian {
        Endian::Big => bytes.iter().take(4).fold(0, add),
        Endian::Little => bytes.iter().take(4).rev().fold(0, add),
    }
}

impl SensorTemplate {
    /// The metrics for the values of a reading.
    #[must_use]
    pub fn compute(&self, mut known: BTreeMap<String, f64>) -> Computed<'_> {
        let (mut metrics, mut faults) = (Vec::new(), Vec::new());
        let values = self.values.iter().map(|one| (&one.name, &one.expr, None));
        let reported = self.metrics.iter();
        let reported = reported.map(|one| (&one.name, &one.expr, Some(one)));
        for (name, expr, metric) in values.chain(reported) {
            let found = expr.evaluate(|name| known.get(name).copied());
            let fault = match (found, metric) {
                (Ok(value), Some(metric)) if !metric.allows(value) => metric.outside(value),
                (Ok(value), metric) => {
                    known.insert(name.clone(), value);
                    metrics.extend(metric.map(|_| (name.as_str(), value)));
                    continue;
                }
                // The cause was reported for the missing value.
                (Err(Fault::Name(_)), _) if !faults.is_empty() => continue,
                (Err(fault), _) => fault.to_string(),
            };
            faults.push((name.as_str(), fault));
        }
        Computed { metrics, faults }
    }
}

impl Metric {
    fn allows(&self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    fn outside(&self, value: f64) -> String {
        let bound = |bound: Option<f64>, none: &str| {
            bound.map_or_else(|| none.to_owned(), |bound| bound.to_string())
        };
        format!(
            "{value} {} is left out; allowed: {} to {}",
            self.unit,
            bound(self.min, "anything"),
            bound(self.max, "anything")
        )
    }
}
