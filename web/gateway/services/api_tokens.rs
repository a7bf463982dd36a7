//! API tokens: their text, their lookup, notes of their use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::{ApiToken, ApiTokenId};
use groundwave_gateway::config::Versioned;
use groundwave_http::{Problem, id};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::secrets::random;

/// Beginning of every API token; a JWT never begins so.
const PREFIX: &str = "gwt_";
/// Hexadecimal digits of the id in a token.
const ID_DIGITS: usize = 32;
/// Time between two notes of the use of a token, ns.
const NOTED_NS: u64 = 60 * 1_000_000_000;

/// A new API token.
pub struct NewToken {
    pub id: ApiTokenId,
    /// Text, shown once.
    pub text: String,
    /// SHA-256 of the text.
    pub sha256: [u8; 32],
}

/// Makes a new API token: prefix, id, 32 random bytes.
///
/// # Errors
/// 500 without random bytes.
pub fn mint() -> Result<NewToken, Problem> {
    let id = id::mint();
    let secret = URL_SAFE_NO_PAD.encode(random::<32>()?);
    let text = format!("{PREFIX}{}_{secret}", id.simple());
    Ok(NewToken { id: ApiTokenId::new(id), sha256: Sha256::digest(text.as_bytes()).into(), text })
}

/// `true` if `text` is meant as an API token.
#[must_use]
pub fn is_api_token(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// API token with this text.
#[must_use]
pub fn find<'v>(
    view: &'v Snapshot,
    text: &str,
) -> Option<(ApiTokenId, &'v Arc<Versioned<ApiToken>>)> {
    let (digits, _) = text.strip_prefix(PREFIX)?.split_at_checked(ID_DIGITS)?;
    let id = ApiTokenId::new(Uuid::try_parse(digits).ok()?);
    let versioned = view.config.api_tokens.get(id)?;
    let sha256: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    // A random secret is as long as its hash; the time of a comparison of hashes
    // reveals nothing.
    (sha256 == versioned.object.token_sha256).then_some((id, versioned))
}

/// Times at which uses were noted, so that a token in steady use is written once a minute.
#[derive(Debug, Default)]
pub struct TokenUses(Mutex<BTreeMap<ApiTokenId, u64>>);

impl TokenUses {
    /// `true` if a use at `now_ns`, a monotonic time, is to be noted; then it counts as noted.
    pub fn is_due(&self, id: ApiTokenId, now_ns: u64) -> bool {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = |at_ns: &u64| now_ns.saturating_sub(*at_ns) < NOTED_NS;
        if noted.get(&id).is_some_and(recent) {
            return false;
        }
        noted.retain(|_, at_ns| recent(at_ns));
        noted.insert(id, now_ns);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_is_noted_once_a_minute() {
        let uses = TokenUses::default();
        let (one, other) = (ApiTokenId::from_u128(1), ApiTokenId::from_u128(2));
        assert!(uses.is_due(one, 5));
        assert!(!uses.is_due(one, 4 + NOTED_NS));
        assert!(uses.is_due(other, 4 + NOTED_NS));
        assert!(uses.is_due(one, 5 + NOTED_NS));
        assert_eq!(uses.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_token_carries_its_id_and_is_no_jwt() {
        let (one, other) = (mint().unwrap(), mint().unwrap());
        assert_ne!(one.text, other.text);
        assert!(is_api_token(&one.text) && !one.text.contains('.'));
        assert_eq!(one.text.len(), PREFIX.len() + ID_DIGITS + 1 + 43);
        let view = Snapshot::default();
        for text in [&*one.text, "gwt_", "gwt_ä", &one.text[..20]] {
            assert!(find(&view, text).is_none(), "{text}");
        }
    }
}
