//! What proves that a stranger knows the trust secret, without telling it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the message that is signed begins with.
pub const PROOF_DOMAIN: &str = "wg-register-v1";

/// What became of a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The secret, or the one before it in its time of grace, made it.
    Valid,
    /// Something else made it.
    Invalid,
    /// There was none.
    Absent,
}

/// The message whose HMAC-SHA256 under the trust secret is the proof: the domain and five strings
/// as they stand in the request, each behind a zero byte, so that no two requests have the same.
/// The key is part of it, so a proof overheard lets nobody in but its owner.
///
/// ```
/// use groundwave_systems::onboarding::proof_message;
/// let message = proof_message(["key", "mac", "host", "nonce", "2026-01-01T00:00:00Z"]);
/// assert_eq!(message, b"wg-register-v1\0key\0mac\0host\0nonce\02026-01-01T00:00:00Z");
/// ```
#[must_use]
pub fn message(fields: [&str; 5]) -> Vec<u8> {
    let mut message = PROOF_DOMAIN.as_bytes().to_vec();
    for field in fields {
        message.push(0);
        message.extend_from_slice(field.as_bytes());
    }
    message
}
