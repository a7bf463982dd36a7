//! Challenges of join requests, and nonces that were used.
//!
//! A challenge needs no memory: its nonce holds its time, random bytes and their HMAC. Remembered are
//! nonces of requests, for as long as the time of a request lets it pass.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use groundwave_credentials::PrivateKey;
use groundwave_credentials::possession::derive_key;
use groundwave_http::Problem;
use groundwave_protocol::PublicKey;
use sha2::{Digest, Sha256};

use super::limits::limited;
use super::secrets::random;

/// Validity of a challenge, s.
pub const CHALLENGE_S: u32 = 120;
/// Farthest time of a request from the gateway's time, s.
pub const SKEW_S: u64 = 300;
/// Maximum number of remembered nonces.
const REMEMBERED: usize = 200_000;

/// Bytes of the time, of the random part and of the HMAC in a nonce.
const TIME: usize = 8;
const RANDOM: usize = 8;
const MAC: usize = 16;

/// First half of the SHA-256 of a nonce.
type Digest128 = [u8; 16];

/// Challenges under a key of the gateway.
pub struct Challenges {
    nonce_key: [u8; 32],
    private: PrivateKey,
    /// Used nonces with the time until which they are remembered, s.
    used: Mutex<BTreeMap<Digest128, u64>>,
}

impl Challenges {
    /// Challenges of a gateway, by its key of tokens.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self {
            nonce_key: derive_key(key, b"groundwave-nonce-v1"),
            private: PrivateKey::from_bytes(derive_key(key, b"groundwave-challenge-v1")),
            used: Mutex::default(),
        }
    }

    /// Key of the gateway for proofs of possession.
    ///
    /// # Errors
    /// 500, never in practice: for a key of small order.
    pub fn public_key(&self) -> Result<PublicKey, Problem> {
        PublicKey::new(self.private.public().0).map_err(Problem::internal)
    }

    /// Secret shared with the holder of a node's key.
    #[must_use]
    pub fn shared_secret(&self, node: &PublicKey) -> Option<[u8; 32]> {
        self.private.shared_secret(node.bytes())
    }

    fn mac(&self, body: &[u8]) -> [u8; 32] {
        derive_key(&self.nonce_key, body)
    }

    /// A fresh nonce.
    ///
    /// # Errors
    /// 500 without random bytes.
    pub fn issue(&self, now_s: u64) -> Result<[u8; TIME + RANDOM + MAC], Problem> {
        let mut nonce = [0; TIME + RANDOM + MAC];
        nonce[..TIME].copy_from_slice(&now_s.to_be_bytes());
        nonce[TIME..TIME + RANDOM].copy_from_slice(&random::<RANDOM>()?);
        let mac = self.mac(&nonce[..TIME + RANDOM]);
        nonce[TIME + RANDOM..].copy_from_slice(&mac[..MAC]);
        Ok(nonce)
    }

    /// `true` if `nonce` is of a challenge of this gateway that is still valid.
    #[must_use]
    pub fn is_current(&self, nonce: &[u8], now_s: u64) -> bool {
        let Some((body, mac)) = nonce.split_at_checked(TIME + RANDOM) else {
            return false;
        };
        let Some((time, _)) = body.split_first_chunk::<TIME>() else {
            return false;
        };
        let expected = self.mac(body);
        // A nonce is public: every client may get one. One of a clock that was set back since is over too.
        mac == &expected[..MAC]
            && now_s.abs_diff(u64::from_be_bytes(*time)) <= u64::from(CHALLENGE_S)
    }

    /// Uses up a nonce.
    ///
    /// # Errors
    /// 422 when it was used before; 429 when too many are remembered.
    pub fn take(&self, nonce: &[u8], now_s: u64) -> Result<(), Problem> {
        let digest = Sha256::digest(nonce);
        let mut name = Digest128::default();
        name.copy_from_slice(&digest[..16]);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.get(&name).is_some_and(|until_s| now_s <= *until_s) {
            return Err(used_nonce());
        }
        if used.len() >= REMEMBERED {
            used.retain(|_, until_s| now_s <= *until_s);
        }
        if used.len() >= REMEMBERED {
            return Err(limited("too many registrations", 60));
        }
        used.insert(name, now_s + 2 * SKEW_S);
        Ok(())
    }
}

fn used_nonce() -> Problem {
    use groundwave_http::problem::FieldCode;
    Problem::field(
        "/nonce",
        FieldCode::NotAllowed,
        "used before: allowed a nonce of GET /v1/mesh/wg-register/challenge, once",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_this_gateways_and_valid_for_two_minutes() {
        let (own, other) = (Challenges::new(&[1; 32]), Challenges::new(&[2; 32]));
        let nonce = own.issue(1_000).unwrap();
        assert!(own.is_current(&nonce, 1_000) && own.is_current(&nonce, 1_120));
        assert!(!own.is_current(&nonce, 1_121) && !other.is_current(&nonce, 1_000));
        assert!(own.is_current(&nonce, 999) && !own.is_current(&nonce, 500));
        for at in 0..nonce.len() {
            let mut bent = nonce;
            bent[at] ^= 1;
            assert!(!own.is_current(&bent, 1_000), "{at}");
        }
        assert!(!own.is_current(&nonce[..16], 1_000) && !own.is_current(&[], 1_000));
        assert_ne!(own.public_key().unwrap(), other.public_key().unwrap());
    }

    #[test]
    fn a_nonce_is_used_once() {
        let challenges = Challenges::new(&[1; 32]);
        assert!(challenges.take(b"one", 1_000).is_ok());
        assert!(challenges.take(b"one", 1_000 + 2 * SKEW_S).is_err());
        assert!(challenges.take(b"two", 1_000).is_ok());
        assert!(challenges.take(b"one", 1_001 + 2 * SKEW_S).is_ok());
    }
}
