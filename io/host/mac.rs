//! Hardware addresses.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use groundwave_systems::onboarding;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A hardware address, written as six bytes in lower-case hexadecimal with colons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&onboarding::Mac(self.0), f)
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Mac {
    type Err = String;

    /// Parses six bytes with colons, in either case.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no hardware address such as 02:00:00:00:01:00");
        onboarding::six_bytes(text).map(Self).ok_or_else(wrong)
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Mac {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HardwareAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$",
            "description": "A hardware address, written in lower case.",
            "example": "02:00:00:00:01:00",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_and_nothing_else_reads() {
        let mac: Mac = "02:00:00:aB:01:00".parse().unwrap();
        assert_eq!(mac.to_string(), "02:00:00:ab:01:00");
        assert_eq!(
            serde_json::to_string(&mac).unwrap(),
            "\"02:00:00:ab:01:00\""
        );
        for wrong in [
            "",
            "02:00:00:00:01",
            "02:00:00:00:01:00:00",
            "+2:00:00:00:01:00",
            "02-00-00-00-01-00",
            "2:0:0:0:1:0",
        ] {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
    }
}
