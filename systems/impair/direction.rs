//! Directions: what leaves through the ports of a daemon.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use groundwave_engine::Refusal;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Names on the wire, in order.
const NAMES: [&str; Direction::COUNT_MAX] = [
    "port1", "port2", "port3", "port4", "port5", "port6", "port7", "port8", "port9", "port10",
    "port11", "port12", "port13", "port14", "port15", "port16", "port17", "port18", "port19",
    "port20", "port21", "port22", "port23", "port24", "port25", "port26", "port27", "port28",
    "port29", "port30", "port31", "port32",
];

/// One direction: what leaves through that port. A daemon has the two of a link, and may have further
/// ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Direction(u8);

impl Direction {
    /// Maximum number of ports of a daemon.
    pub const COUNT_MAX: usize = 32;
    /// Out of the first port.
    pub const PORT1: Self = Self(0);
    /// Out of the second port.
    pub const PORT2: Self = Self(1);
    /// Out of the last port that a daemon can have.
    pub const LAST: Self = Self(Self::COUNT_MAX as u8 - 1);
    /// Both directions of a link, in order.
    pub const BOTH: [Self; 2] = [Self::PORT1, Self::PORT2];

    /// The first `count` directions, in order; at most [`Self::COUNT_MAX`].
    pub fn first(count: usize) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..count.min(Self::COUNT_MAX) as u8).map(Self)
    }

    /// Place in the order of directions, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        NAMES[self.index()]
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
        Self::first(Self::COUNT_MAX).find(|direction| direction.name() == name).ok_or_else(|| {
            let allowed = format!("port1 to {}", Self::LAST);
            Refusal::invalid("direction", format!("{name:?}"), allowed)
        })
    }
}

impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Direction {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Direction {
    fn schema_name() -> Cow<'static, str> {
        "Direction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "One direction of the impairment daemon: what leaves through that port",
            "pattern": "^port([1-9]|[12][0-9]|3[0-2])$",
            "examples": ["port1"],
        })
    }
}
