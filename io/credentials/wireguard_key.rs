//! Keys of tunnels (Curve25519, RFC 7748), and their text form.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use x25519_dalek::StaticSecret;

/// A public key; its text is base64 of 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

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

/// The 32 bytes of a text.
fn read(text: &str) -> Option<[u8; 32]> {
    STANDARD.decode(text).ok()?.try_into().ok()
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a public key is base64 of 32 bytes".to_owned();
        read(text).map(Self).ok_or_else(wrong)
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PublicKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PublicKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": "^[A-Za-z0-9+/]{43}=$",
            "description": "A public key of WireGuard: base64 of 32 bytes.",
        })
    }
}

/// A private key. `Debug` hides it, and `Display` does not exist.
#[derive(Clone)]
pub struct PrivateKey(StaticSecret);

impl PrivateKey {
    /// A random key.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn generate() -> std::io::Result<Self> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self::from_bytes(bytes))
    }

    /// The key with these bytes, clamped (RFC 7748, section 5).
    #[must_use]
    pub fn from_bytes(mut bytes: [u8; 32]) -> Self {
        bytes[0] &= 248;
        bytes[31] = (bytes[31] & 127) | 64;
        Self(StaticSecret::from(bytes))
    }

    /// The key in the text of a file, `None` for an invalid key.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        read(text.trim()).map(Self::from_bytes)
    }

    /// Text form, for a file that only its owner may read.
    #[must_use]
    pub fn to_text(&self) -> String {
        STANDARD.encode(self.0.as_bytes())
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Secret shared with the holder of the private key of `public` (RFC 7748, section 6.1), `None` for
    /// a point of small order.
    #[must_use]
    pub fn shared_secret(&self, public: &[u8; 32]) -> Option<[u8; 32]> {
        let shared = self.0.diffie_hellman(&x25519_dalek::PublicKey::from(*public));
        shared.was_contributory().then(|| shared.to_bytes())
    }

    /// The public key that belongs to it.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey(x25519_dalek::PublicKey::from(&self.0).to_bytes())
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivateKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7748, section 6.1.
    #[test]
    fn public_keys_are_those_of_the_curve() {
        let hex = |text: &str| -> [u8; 32] {
            let byte = |at| u8::from_str_radix(&text[at * 2..at * 2 + 2], 16).unwrap();
            std::array::from_fn(byte)
        };
        let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";
        let public = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f";
        assert_eq!(PrivateKey::from_bytes(hex(bob)).public().0, hex(public));
    }

    #[test]
    fn a_private_key_has_no_text_but_for_its_file() {
        let key = PrivateKey::from_bytes([7; 32]);
        assert_eq!(format!("{key:?}"), "PrivateKey(..)");
        let read = PrivateKey::from_text(&format!("{}\n", key.to_text())).unwrap();
        assert_eq!(read.public(), key.public());
        assert!(PrivateKey::from_text("x").is_none());
    }
}
