//! Numbers in the bytes of a sensor, and the metrics that follow from them.

use std::collections::BTreeMap;

use super::expr::Fault;
use super::template::{Crc8, Endian, Field, Frame, Identify, Metric, Register, SensorTemplate};

/// Values by name.
pub type Known = BTreeMap<String, f64>;

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
        decode(bytes, self.len, self.endian, self.signed)
    }
}

impl Field {
    fn decode(&self, frame: &[u8]) -> f64 {
        let from = usize::from(self.at).min(frame.len());
        let to = (from + usize::from(self.len)).min(frame.len());
        decode(&frame[from..to], self.len, self.endian, self.signed)
    }
}

impl Frame {
    /// Adds the numbers of a frame to `known`.
    ///
    /// # Errors
    /// The number of the first group, from 1, whose checksum is wrong.
    pub fn decode(&self, bytes: &[u8], known: &mut Known) -> Result<(), usize> {
        if let Some(crc8) = self.crc8 {
            let groups = bytes.chunks(usize::from(crc8.every) + 1);
            let wrong = groups.enumerate().find(|(_, group)| !crc8.fits(group));
            if let Some((at, _)) = wrong {
                return Err(at + 1);
            }
        }
        for field in &self.fields {
            known.insert(field.name.clone(), field.decode(bytes));
        }
        Ok(())
    }
}

impl Crc8 {
    /// Checksum of some bytes.
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> u8 {
        bytes.iter().fold(self.init, |crc, byte| {
            (0..8).fold(crc ^ byte, |crc, _| {
                let shifted = crc << 1;
                if crc & 0x80 == 0 { shifted } else { shifted ^ self.poly }
            })
        })
    }

    /// Match of a group with the checksum that is its last byte.
    fn fits(self, group: &[u8]) -> bool {
        group.split_last().is_some_and(|(crc, bytes)| self.of(bytes) == *crc)
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

fn decode(bytes: &[u8], len: u8, endian: Endian, signed: bool) -> f64 {
    let raw = number(bytes, endian);
    let bits = 8 * u32::from(len.min(4));
    let above = raw >= 1_i64 << bits.saturating_sub(1);
    let value = if signed && above { raw - (1_i64 << bits) } else { raw };
    value as f64
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
    pub fn compute(&self, mut known: Known) -> Computed<'_> {
        let (mut metrics, mut faults) = (Vec::new(), Vec::new());
        let values = self.values.iter().map(|one| (&one.name, &one.expr, None));
        let reported = self.metrics.iter().map(|one| (&one.name, &one.expr, Some(one)));
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

    /// Unit of a metric.
    #[must_use]
    pub fn unit_of(&self, metric: &str) -> Option<&str> {
        let found = self.metrics.iter().find(|one| one.name == metric);
        found.map(|one| one.unit.as_str())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_datasheet() {
        // Sensirion SHT3x-DIS datasheet, table 20: CRC(0xBEEF) = 0x92.
        let crc8 = Crc8 { poly: 0x31, init: 0xFF, every: 2 };
        assert_eq!(crc8.of(&[0xBE, 0xEF]), 0x92);
        assert!(crc8.fits(&[0xBE, 0xEF, 0x92]) && !crc8.fits(&[0xBE, 0xEF, 0x93]));
        assert!(!crc8.fits(&[]));
    }
}
