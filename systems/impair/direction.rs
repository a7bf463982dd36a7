//! The two directions of the emulated link.

use std::fmt;
use std::str::FromStr;

use groundwave_engine::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of the link: what leaves through that port.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Out of the first port.
    Port1,
    /// Out of the second port.
    Port2,
}

impl Direction {
    /// Both, in order.
    pub const ALL: [Self; 2] = [Self::Port1, Self::Port2];

    /// Name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Port1 => "port1",
            Self::Port2 => "port2",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Direction {
    type Err = Refusal;
    fn from_str(name: &str) -> Result<Self, Refusal> {
        Self::ALL.into_iter().find(|direction| direction.name() == name).ok_or_else(|| {
            Refusal::invalid("direction", format!("{name:?}"), "\"port1\", \"port2\"")
        })
    }
}
