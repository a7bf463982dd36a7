//! Proof of the trust secret in a join request, without transmitting the secret.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Domain prefix of the authenticated message.
pub const PROOF_DOMAIN: &str = "wg-register-v1";

/// Domain prefix of the message that proves possession of the private key.
pub const KEY_PROOF_DOMAIN: &str = "wg-register-key-v1";

/// Result of a proof check: of the trust secret, or of the private key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// Made with the private key; with the current secret, or the previous one within its grace
    /// period.
    Valid,
    /// Made with another key or secret.
    Invalid,
    /// No proof.
    Absent,
}

/// Message whose HMAC-SHA256 under the trust secret is the proof: the domain and five strings as they
/// stand in the request, each after a zero byte, so that no two requests have the same message. The
/// key is part of it: a recorded proof admits no other key.
///
/// ```
/// use groundwave_protocol::proof_message;
/// let message = proof_message(["key", "mac", "host", "nonce", "2026-01-01T00:00:00Z"]);
/// assert_eq!(message, b"wg-register-v1\0key\0mac\0host\0nonce\02026-01-01T00:00:00Z");
/// ```
#[must_use]
pub fn message(fields: [&str; 5]) -> Vec<u8> {
    message_of(PROOF_DOMAIN, fields)
}

/// Message whose HMAC-SHA256 under the shared secret of the node's key and the gateway's challenge key
/// (X25519) proves possession of the private key: as [`message`], with [`KEY_PROOF_DOMAIN`].
#[must_use]
pub fn key_message(fields: [&str; 5]) -> Vec<u8> {
    message_of(KEY_PROOF_DOMAIN, fields)
}

fn message_of(domain: &str, fields: [&str; 5]) -> Vec<u8> {
    let mut message = domain.as_bytes().to_vec();
    for field in fields {
        message.push(0);
        message.extend_from_slice(field.as_bytes());
    }
    message
}
