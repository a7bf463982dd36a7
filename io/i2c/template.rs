//! Templates of sensors: where one is on its bus, how it is known, what is read, what that means.
//!
//! A template is a TOML file. Some are built in (`templates/`); others come from a folder.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;

use super::check::Check;
use super::expr::{Expr, Fault};
use crate::toml_document::{self, TomlDocument, TomlErrors};

/// Addresses sensors have; those below and above mean something to the bus itself.
pub const ADDRESSES: RangeInclusive<u16> = 0x08..=0x77;
/// Longest name of a template, which is a part of the name of a metric.
pub const ID_BYTES_MAX: usize = 32;
/// Most templates of a folder.
const FILES_MAX: usize = 256;

/// The templates that need no file.
const BUILT_IN: [(&str, &str); 4] = [
    ("bme280.toml", include_str!("templates/bme280.toml")),
    ("bmp280.toml", include_str!("templates/bmp280.toml")),
    ("ina219.toml", include_str!("templates/ina219.toml")),
    ("lm75.toml", include_str!("templates/lm75.toml")),
];

/// A kind of sensor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensorTemplate {
    /// Its name in metrics.
    pub template_id: String,
    /// One line.
    #[serde(default)]
    pub title: String,
    /// Where one may be, 0x08 to 0x77.
    pub addresses: Vec<u16>,
    /// How one is known; a template without is never looked for.
    #[serde(default)]
    pub identify: Option<Identify>,
    /// Done once, and again after the sensor was silent.
    #[serde(default)]
    pub init: Vec<Step>,
    /// Done before each reading.
    #[serde(default)]
    pub start: Vec<Step>,
    /// Read once, after `init`.
    #[serde(default)]
    pub calibration: Vec<Register>,
    /// Read each time.
    #[serde(default)]
    pub read: Vec<Register>,
    /// Values in between.
    #[serde(default, rename = "let")]
    pub values: Vec<Value>,
    /// What is told.
    pub metrics: Vec<Metric>,
}

/// A register that tells what a device is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// The register.
    pub reg: u8,
    /// Bytes, 1 or 2.
    #[serde(default = "one")]
    pub len: u8,
    /// Which byte comes first.
    #[serde(default)]
    pub endian: Endian,
    /// The bits that matter; all of them where it is absent.
    #[serde(default)]
    pub mask: Option<u16>,
    /// What those bits are.
    pub value: u16,
}

/// Something done to a sensor.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Bytes written from a register on.
    Write(Write),
    /// A wait, ms.
    DelayMs(u32),
}

/// Bytes for registers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The first register.
    pub reg: u8,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Which byte of a number comes first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Endian {
    /// The highest.
    #[default]
    Big,
    /// The lowest.
    Little,
}

/// A number in registers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Register {
    /// What formulas call it.
    pub name: String,
    /// The first register.
    pub reg: u8,
    /// Bytes, 1 to 4.
    #[serde(default = "one")]
    pub len: u8,
    /// Which byte comes first.
    #[serde(default)]
    pub endian: Endian,
    /// Whether the highest bit means less than zero.
    #[serde(default)]
    pub signed: bool,
    /// A wait before it is read, ms.
    #[serde(default)]
    pub delay_ms: u32,
}

/// A value in between.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// What later formulas call it.
    pub name: String,
    /// What it is.
    pub expr: Expr,
}

/// Something a sensor tells.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// The last part of its name.
    pub name: String,
    /// Its unit, for people.
    #[serde(default)]
    pub unit: String,
    /// What it is.
    pub expr: Expr,
    /// The least that can be true.
    #[serde(default)]
    pub min: Option<f64>,
    /// The most that can be true.
    #[serde(default)]
    pub max: Option<f64>,
}

fn one() -> u8 {
    1
}

/// What became of a reading.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed<'a> {
    /// Metrics that have a value.
    pub metrics: Vec<(&'a str, f64)>,
    /// What has none, and why.
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
    /// Whether the register says so.
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
    /// Reads a template; `name` is what errors call the file.
    ///
    /// # Errors
    /// All that is wrong with it, with line, key and what would be allowed.
    pub fn parse(text: &str, name: &str) -> Result<Self, TomlErrors> {
        let (template, mut document) = TomlDocument::read::<Self>(name, text)?;
        Check::new(&mut document).template(&template);
        document.finish()?;
        Ok(template)
    }

    /// The metrics, given what was read.
    #[must_use]
    pub fn compute(&self, mut known: BTreeMap<String, f64>) -> Computed<'_> {
        let (mut metrics, mut faults) = (Vec::new(), Vec::new());
        let values = self.values.iter().map(|one| (&one.name, &one.expr, None));
        let told = self.metrics.iter();
        let told = told.map(|one| (&one.name, &one.expr, Some(one)));
        for (name, expr, metric) in values.chain(told) {
            let found = expr.evaluate(|name| known.get(name).copied());
            let fault = match (found, metric) {
                (Ok(value), Some(metric)) if !metric.allows(value) => metric.outside(value),
                (Ok(value), metric) => {
                    known.insert(name.clone(), value);
                    metrics.extend(metric.map(|_| (name.as_str(), value)));
                    continue;
                }
                // What it needs was told of.
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

/// The templates built in and, if there is a folder, those of its `*.toml` files.
///
/// # Errors
/// What is wrong with a file, naming it.
pub fn load(folder: Option<&Path>) -> Result<Vec<SensorTemplate>, String> {
    let mut all: Vec<SensorTemplate> = Vec::new();
    for (name, text) in BUILT_IN {
        all.push(SensorTemplate::parse(text, name).map_err(|err| err.to_string())?);
    }
    let Some(folder) = folder else { return Ok(all) };
    let failed = |err: std::io::Error| format!("{}: {err}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    if paths.len() > FILES_MAX {
        let many = paths.len();
        return Err(format!(
            "{}: {many} files; allowed: {FILES_MAX}",
            folder.display()
        ));
    }
    paths.sort();
    for path in paths {
        let text = toml_document::text(&path).map_err(|err| err.to_string())?;
        let name = path.display().to_string();
        let template = SensorTemplate::parse(&text, &name).map_err(|err| err.to_string())?;
        let id = &template.template_id;
        if all.iter().any(|one| one.template_id == *id) {
            return Err(format!(
                "{name}: template_id: there is a template {id:?} already; allowed: another name"
            ));
        }
        all.push(template);
    }
    Ok(all)
}
