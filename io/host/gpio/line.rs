//! A GPIO line: its name, state and setting.

use std::fmt;
use std::str::FromStr;

use gpiocdev::line::{Bias, Direction, Drive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Format of the name of a line.
const FORMAT: &str = "CHIP:OFFSET with the name or label of a chip, such as gpiochip0:17";
/// Longest name or label of a chip, bytes, as the kernel has it.
const CHIP_BYTES_MAX: usize = 31;

/// Name of a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineName {
    /// Name of the chip, or its label.
    pub chip: String,
    /// Offset, from 0.
    pub offset: u32,
}

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.chip, self.offset)
    }
}

impl FromStr for LineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').and_then(|(chip, offset)| {
            let is_plain = offset.bytes().all(|byte| byte.is_ascii_digit());
            let offset = offset.parse().ok().filter(|_| is_plain)?;
            let fits = (1..=CHIP_BYTES_MAX).contains(&chip.len());
            fits.then(|| Self { chip: chip.to_owned(), offset })
        });
        parts.ok_or_else(|| format!("{text:?}; allowed: {FORMAT}"))
    }
}

/// Direction of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineDirection {
    /// Input.
    Input,
    /// Output.
    Output,
}

impl From<Direction> for LineDirection {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Input => Self::Input,
            Direction::Output => Self::Output,
        }
    }
}

/// Bias of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineBias {
    /// Pull-up.
    PullUp,
    /// Pull-down.
    PullDown,
    /// None.
    Disabled,
}

impl From<Bias> for LineBias {
    fn from(bias: Bias) -> Self {
        match bias {
            Bias::PullUp => Self::PullUp,
            Bias::PullDown => Self::PullDown,
            Bias::Disabled => Self::Disabled,
        }
    }
}

impl From<LineBias> for Bias {
    fn from(bias: LineBias) -> Self {
        match bias {
            LineBias::PullUp => Self::PullUp,
            LineBias::PullDown => Self::PullDown,
            LineBias::Disabled => Self::Disabled,
        }
    }
}

/// Drive of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineDrive {
    /// Both levels are driven.
    PushPull,
    /// Only the low level is driven.
    OpenDrain,
    /// Only the high level is driven.
    OpenSource,
}

impl From<Drive> for LineDrive {
    fn from(drive: Drive) -> Self {
        match drive {
            Drive::PushPull => Self::PushPull,
            Drive::OpenDrain => Self::OpenDrain,
            Drive::OpenSource => Self::OpenSource,
        }
    }
}

/// State of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GpioLine")]
pub struct LineReport {
    /// Offset on its chip.
    pub offset: u32,
    /// Name that the kernel gives it; empty without one.
    pub name: String,
    /// Name of its consumer.
    pub consumer: Option<String>,
    /// `true` if it has a consumer.
    pub used: bool,
    /// Direction.
    pub direction: LineDirection,
    /// Bias, if it is known.
    pub bias: Option<LineBias>,
    /// Drive, of outputs.
    pub drive: Option<LineDrive>,
    /// `true` if the active level is the low one.
    pub active_low: bool,
    /// 1 if it is active; `null` for a line that is not allowed or that another consumer has.
    pub value: Option<u8>,
    /// `true` if it may not be set.
    pub reserved: bool,
}

/// A GPIO chip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GpioChip")]
pub struct ChipReport {
    /// Name, such as `gpiochip0`.
    pub chip: String,
    /// Label of its driver.
    pub label: String,
    /// Lines.
    pub lines: Vec<LineReport>,
}

/// Setting of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineSetting {
    /// Direction.
    pub direction: LineDirection,
    /// Active or not, of an output; inactive without it.
    pub value: Option<bool>,
    /// Bias; that of the chip without it.
    pub bias: Option<LineBias>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_by_chip_and_offset() {
        let name: LineName = "pinctrl-bcm2835:17".parse().unwrap();
        assert_eq!((name.chip.as_str(), name.offset), ("pinctrl-bcm2835", 17));
        assert_eq!(name.to_string(), "pinctrl-bcm2835:17");
        for bad in ["", "gpiochip0", ":1", "gpiochip0:", "gpiochip0:-1", "gpiochip0:+1", "a:b"] {
            let refused = bad.parse::<LineName>().unwrap_err();
            assert!(refused.contains("allowed: CHIP:OFFSET"), "{refused}");
        }
    }
}
