//! Ranges of ports.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Ports from the first to the last, written as a number or as `8000-8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    /// 1 or more.
    first: u16,
    last: u16,
}

impl PortRange {
    /// Pattern of the text of a range.
    pub const PATTERN: &str = "^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?$";

    /// Ports from `first` to `last`; `None` unless they are in order and above 0.
    #[must_use]
    pub fn new(first: u16, last: u16) -> Option<Self> {
        (1..=last).contains(&first).then_some(Self { first, last })
    }

    /// First port.
    #[must_use]
    pub const fn first(&self) -> u16 {
        self.first
    }

    /// Last port.
    #[must_use]
    pub const fn last(&self) -> u16 {
        self.last
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.last == self.first { Ok(()) } else { write!(f, "-{}", self.last) }
    }
}

impl FromStr for PortRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let is_canonical = text.bytes().all(|digit| digit.is_ascii_digit())
                && (text.len() == 1 || !text.starts_with('0'));
            text.parse().ok().filter(|_| is_canonical)
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let ends = number(first).zip(number(last));
        ends.and_then(|(first, last)| Self::new(first, last)).ok_or_else(|| {
            format!(
                "invalid ports: found {text:?}, allowed 1 to 65535, one or a range like 5000-5100"
            )
        })
    }
}

impl Serialize for PortRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.first == self.last {
            true => serializer.serialize_u16(self.first),
            false => serializer.collect_str(self),
        }
    }
}

/// Reader of both ways to write a range.
struct AnyPorts;

impl AnyPorts {
    fn of<E: de::Error>(first: u64, last: u64) -> Result<PortRange, E> {
        let narrow = u16::try_from(first).ok().zip(u16::try_from(last).ok());
        let range = narrow.and_then(|(first, last)| PortRange::new(first, last));
        range.ok_or_else(|| {
            E::custom(format!(
                "invalid ports: found {first} to {last}, allowed 1 to 65535 in order"
            ))
        })
    }
}

impl Visitor<'_> for AnyPorts {
    type Value = PortRange;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a port, or a range like \"8000-8080\"")
    }

    fn visit_u64<E: de::Error>(self, port: u64) -> Result<PortRange, E> {
        Self::of(port, port)
    }

    fn visit_i64<E: de::Error>(self, port: i64) -> Result<PortRange, E> {
        let port = u64::try_from(port).unwrap_or(0);
        Self::of(port, port)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PortRange, E> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        match number(first).zip(number(last)) {
            Some((first, last)) => Self::of(first, last),
            None => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyPorts)
    }
}

impl JsonSchema for PortRange {
    fn schema_name() -> Cow<'static, str> {
        "PortRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A port, or the first and last of a range",
            "oneOf": [
                { "type": "integer", "minimum": 1, "maximum": 65_535 },
                { "type": "string", "pattern": Self::PATTERN },
            ],
            "examples": [443, "8000-8080"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_written_as_they_are_read() {
        for (text, json) in
            [("443", "443"), ("8000-8080", "\"8000-8080\""), ("1-65535", "\"1-65535\"")]
        {
            let range: PortRange = text.parse().unwrap();
            assert_eq!(range.to_string(), text);
            assert_eq!(serde_json::to_string(&range).unwrap(), json);
            assert_eq!(serde_json::from_str::<PortRange>(json).unwrap(), range);
            assert_eq!(serde_json::from_str::<PortRange>(&format!("\"{text}\"")).unwrap(), range);
        }
    }

    #[test]
    fn invalid_ranges_give_found_and_allowed() {
        for text in ["", "0", "05", "9-8", "65536", "+5", "5-", "-5", "5-6-7", "http"] {
            let error = text.parse::<PortRange>().unwrap_err();
            assert!(
                error.starts_with(&format!("invalid ports: found {text:?}, allowed")),
                "{error}"
            );
        }
        for json in ["0", "-1", "65536", "\"9-8\"", "\"http\"", "1.5"] {
            assert!(serde_json::from_str::<PortRange>(json).is_err(), "{json}");
        }
    }
}
