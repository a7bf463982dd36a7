//! Hardware addresses and WireGuard keys, as people write them.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A 48-bit hardware address, written `02:00:00:00:01:00`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Six bytes written as two hexadecimal digits each, in either case, with colons between.
#[must_use]
pub fn six_bytes(text: &str) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut bytes {
        let part = parts.next().filter(|part| part.len() == 2)?;
        if !part.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(bytes)
}

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = six_bytes(text).filter(|bytes| *bytes != [0; 6] && bytes[0] & 1 == 0);
        let wrong =
            || format!("found {text:?}, allowed a hardware address such as 02:00:00:00:01:00");
        one.map(Self).ok_or_else(wrong)
    }
}

impl Serialize for Mac {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Mac {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}
impl JsonSchema for Mac {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Mac".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Hardware address of one interface: neither multicast nor all zeros.",
            "pattern": "^[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$",
            "not": { "const": "00:00:00:00:00:00" },
        })
    }
}

/// A Curve25519 public key, written in base64 with padding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// Points of small order (RFC 7748, section 6.1; the list of libsodium): with one of them the
/// shared secret is known to everybody.
const SMALL_ORDER: [[u8; 32]; 7] = {
    const fn near(first: u8) -> [u8; 32] {
        let mut point = [0xff; 32];
        point[0] = first;
        point[31] = 0x7f;
        point
    }
    let mut one = [0; 32];
    one[0] = 1;
    [
        [0; 32],
        one,
        [
            0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f,
            0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16,
            0x5f, 0x49, 0xb8, 0x00,
        ],
        [
            0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83,
            0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd,
            0xd0, 0x9f, 0x11, 0x57,
        ],
        near(0xec),
        near(0xed),
        near(0xee),
    ]
};

impl PublicKey {
    /// The key with these bytes.
    ///
    /// # Errors
    /// When its point has small order.
    pub fn new(bytes: [u8; 32]) -> Result<Self, String> {
        // The top bit is not part of the point.
        let mut point = bytes;
        point[31] &= 0x7f;
        if SMALL_ORDER.contains(&point) {
            return Err("a key of small order protects nothing".to_owned());
        }
        Ok(Self(bytes))
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = STANDARD.decode(text).ok();
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        Self::new(bytes.ok_or("a key is 32 bytes in base64")?)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(de::Error::custom)
    }
}
impl JsonSchema for PublicKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PublicKey".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "WireGuard public key: 32 bytes in base64, not of small order.",
            "pattern": "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_wg_writes_them() {
        // RFC 7748, section 6.1: Alice's public key.
        let bytes = [
            0x85, 0x20, 0xf0, 0x09, 0x89, 0x30, 0xa7, 0x54, 0x74, 0x8b, 0x7d, 0xdc, 0xb4, 0x3e,
            0xf7, 0x5a, 0x0d, 0xbf, 0x3a, 0x0d, 0x26, 0x38, 0x1a, 0xf4, 0xeb, 0xa4, 0xa9, 0x8e,
            0xaa, 0x9b, 0x4e, 0x6a,
        ];
        let text = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";
        assert_eq!(PublicKey::new(bytes).unwrap().to_string(), text);
        assert_eq!(*text.parse::<PublicKey>().unwrap().bytes(), bytes);
        for bad in [
            "",
            "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo",
            "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmp=",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIA=",
        ] {
            assert!(bad.parse::<PublicKey>().is_err(), "{bad}");
        }
    }

    #[test]
    fn addresses_of_groups_and_nobody_are_refused() {
        let mac: Mac = "02:AB:00:00:01:0f".parse().unwrap();
        assert_eq!(mac.to_string(), "02:ab:00:00:01:0f");
        for bad in [
            "",
            "02:ab:00:00:01",
            "02:ab:00:00:01:0f:00",
            "2:ab:00:00:01:0f",
            "+2:ab:00:00:01:0f",
            "01:00:5e:00:00:01",
            "00:00:00:00:00:00",
            "ff:ff:ff:ff:ff:ff",
        ] {
            assert!(bad.parse::<Mac>().is_err(), "{bad}");
        }
    }
}
