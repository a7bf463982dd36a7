//! Hardware addresses.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::{Mac, six_bytes};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Any hardware address that a kernel reports, a group address or zero too, written as six bytes in
/// lower-case hexadecimal with colons.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HardwareAddress(pub [u8; 6]);

impl fmt::Display for HardwareAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Mac(self.0), f)
    }
}

impl fmt::Debug for HardwareAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl HardwareAddress {
    /// The address as that of one interface.
    ///
    /// # Errors
    /// When it is a group address or zero.
    pub fn of_interface(self) -> Result<Mac, String> {
        self.to_string().parse()
    }
}

impl From<Mac> for HardwareAddress {
    fn from(mac: Mac) -> Self {
        Self(mac.0)
    }
}

impl FromStr for HardwareAddress {
    type Err = String;

    /// Parses six bytes with colons, in either case.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("found {text:?}, allowed a hardware address such as 02:00:00:00:01:00");
        six_bytes(text).map(Self).ok_or_else(wrong)
    }
}

impl Serialize for HardwareAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HardwareAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for HardwareAddress {
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
        let mac: HardwareAddress = "02:00:00:aB:01:00".parse().unwrap();
        assert_eq!(mac.to_string(), "02:00:00:ab:01:00");
        assert_eq!(serde_json::to_string(&mac).unwrap(), "\"02:00:00:ab:01:00\"");
        for wrong in [
            "",
            "02:00:00:00:01",
            "02:00:00:00:01:00:00",
            "+2:00:00:00:01:00",
            "02-00-00-00-01-00",
            "2:0:0:0:1:0",
        ] {
            assert!(wrong.parse::<HardwareAddress>().is_err(), "{wrong}");
        }
    }
}
