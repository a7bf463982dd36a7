//! GPIO lines of this machine, by the character device of their chips.
//!
//! Nothing is read from a line and nothing is driven unless the line is in the list of allowed lines.
//! A line that has a consumer is never requested; a line that was set stays requested, because the
//! kernel guarantees the value of an output only that long.

mod error;
mod line;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gpiocdev::line::Value;
use gpiocdev::{Chip, Request};

pub use error::GpioError;
use error::of_library;
pub use line::{ChipReport, LineBias, LineDirection, LineDrive, LineName, LineReport, LineSetting};

/// Consumer name of requested lines.
const CONSUMER: &str = "groundwave";
/// Most lines of a chip that are shown.
const LINES_MAX: u32 = 1_024;

/// GPIO lines of this machine.
#[derive(Debug, Default)]
pub struct GpioLines {
    allowed: Vec<LineName>,
    /// Requests of lines that were set, by chip and offset.
    held: Mutex<BTreeMap<(String, u32), Request>>,
}

/// A chip with its name and label.
struct OpenChip {
    chip: Chip,
    path: PathBuf,
    name: String,
    label: String,
    lines: u32,
}

impl GpioLines {
    /// Lines of which these may be read and set.
    #[must_use]
    pub fn new(allowed: Vec<LineName>) -> Self {
        Self { allowed, held: Mutex::default() }
    }

    /// All chips with their lines. Blocks.
    ///
    /// # Errors
    /// When there is no chip, or none may be opened.
    pub fn inventory(&self) -> Result<Vec<ChipReport>, GpioError> {
        let mut reports = Vec::new();
        let mut refused = GpioError::NoChip;
        for path in gpiocdev::chip::chips().unwrap_or_default() {
            match OpenChip::at(path) {
                Ok(open) => reports.push(self.report(&open)?),
                Err(err) => refused = err,
            }
        }
        match reports.is_empty() {
            true => Err(refused),
            false => Ok(reports),
        }
    }

    /// One line; `chip` is the name or the label of its chip. Blocks.
    ///
    /// # Errors
    /// When there is no such line, or it may not be read.
    pub fn line(&self, chip: &str, offset: u32) -> Result<LineReport, GpioError> {
        let open = OpenChip::named(chip, offset)?;
        self.look(&open, offset)
    }

    /// Sets a line and reads it back. Blocks.
    ///
    /// # Errors
    /// When there is no such line, it is not allowed, or another consumer has it.
    pub fn set(
        &self,
        chip: &str,
        offset: u32,
        setting: LineSetting,
    ) -> Result<LineReport, GpioError> {
        let open = OpenChip::named(chip, offset)?;
        if !self.allows(&open, offset) {
            return Err(GpioError::NotAllowed(format!("{}:{offset}", open.name)));
        }
        let mut held = self.held();
        let key = (open.name.clone(), offset);
        let before = open.info(offset)?;
        if before.used && !held.contains_key(&key) {
            return Err(GpioError::Held {
                line: format!("{}:{offset}", open.name),
                consumer: before.consumer,
            });
        }
        let mut builder = Request::builder();
        builder.on_chip(&open.path).with_consumer(CONSUMER).with_line(offset);
        match setting.direction {
            LineDirection::Input => builder.as_input(),
            LineDirection::Output => builder.as_output(value_of(setting.value.unwrap_or(false))),
        };
        builder.with_bias(setting.bias.map(Into::into));
        match held.get(&key) {
            // The line keeps its request: a release in between would let an output float.
            Some(request) => request.reconfigure(&builder.config()).map_err(of_library)?,
            None => {
                let request = builder.request().map_err(of_library)?;
                held.insert(key, request);
            }
        }
        drop(held);
        self.look(&open, offset)
    }

    /// Lines that may be read and set.
    #[must_use]
    pub fn allowed(&self) -> &[LineName] {
        &self.allowed
    }

    fn held(&self) -> MutexGuard<'_, BTreeMap<(String, u32), Request>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allows(&self, open: &OpenChip, offset: u32) -> bool {
        let mut allowed = self.allowed.iter();
        allowed.any(|one| one.offset == offset && [&open.name, &open.label].contains(&&one.chip))
    }

    fn report(&self, open: &OpenChip) -> Result<ChipReport, GpioError> {
        let lines = (0..open.lines.min(LINES_MAX)).map(|offset| self.look(open, offset));
        Ok(ChipReport {
            chip: open.name.clone(),
            label: open.label.clone(),
            lines: lines.collect::<Result<_, _>>()?,
        })
    }

    /// State of a line; its value only where it is allowed and no other consumer has it.
    fn look(&self, open: &OpenChip, offset: u32) -> Result<LineReport, GpioError> {
        let info = open.info(offset)?;
        let is_allowed = self.allows(open, offset);
        let held = self.held();
        let value = match held.get(&(open.name.clone(), offset)) {
            Some(request) => Some(request.value(offset).map_err(of_library)?),
            None if is_allowed && !info.used => {
                let mut builder = Request::builder();
                builder.on_chip(&open.path).with_consumer(CONSUMER);
                let request = builder.with_line(offset).as_is().request();
                Some(request.map_err(of_library)?.value(offset).map_err(of_library)?)
            }
            None => None,
        };
        Ok(LineReport {
            offset,
            name: info.name,
            consumer: (!info.consumer.is_empty()).then_some(info.consumer),
            used: info.used,
            direction: info.direction.into(),
            bias: info.bias.map(Into::into),
            drive: info.drive.map(Into::into),
            active_low: info.active_low,
            value: value.map(|value| u8::from(value == Value::Active)),
            reserved: !is_allowed,
        })
    }
}

impl OpenChip {
    fn at(path: PathBuf) -> Result<Self, GpioError> {
        let chip = Chip::from_path(&path).map_err(of_library)?;
        let info = chip.info().map_err(of_library)?;
        Ok(Self { name: chip.name(), label: info.label, lines: info.num_lines, chip, path })
    }

    /// The chip with this name or label that has the line.
    fn named(chip: &str, offset: u32) -> Result<Self, GpioError> {
        let paths = gpiocdev::chip::chips().unwrap_or_default();
        if paths.is_empty() {
            return Err(GpioError::NoChip);
        }
        let mut refused = None;
        for path in paths {
            match Self::at(path) {
                Ok(open) if open.name == chip || open.label == chip => {
                    return match offset < open.lines {
                        true => Ok(open),
                        false => Err(GpioError::NoLine(format!("{chip}:{offset}"))),
                    };
                }
                Ok(_) => {}
                Err(err) => refused = Some(err),
            }
        }
        Err(refused.unwrap_or_else(|| GpioError::NoLine(format!("{chip}:{offset}"))))
    }

    fn info(&self, offset: u32) -> Result<gpiocdev::line::Info, GpioError> {
        self.chip.line_info(offset).map_err(of_library)
    }
}

fn value_of(active: bool) -> Value {
    match active {
        true => Value::Active,
        false => Value::Inactive,
    }
}
