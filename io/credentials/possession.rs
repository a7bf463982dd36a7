//! Proof that a node holds the private key of its WireGuard key, and its credential sealed to that key.
//!
//! Node and gateway share an X25519 secret: of the node's key and the gateway's challenge key. The
//! proof is an HMAC-SHA256 under it over the join request with a fresh nonce of the gateway; the key of
//! the sealed credential follows from it and that nonce.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_protocol::{Credentials, key_proof_message};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::seal::{SealError, seal, unseal};

/// Domain of the key of sealed credentials.
const CREDENTIALS_DOMAIN: &[u8] = b"groundwave-credentials-v1\0";

fn keyed(shared: &[u8; 32]) -> Hmac<Sha256> {
    Hmac::new_from_slice(shared).expect("HMAC takes keys of any length")
}

/// Key that follows from `key` for the use named by `label`: HMAC-SHA256 of the label.
#[must_use]
pub fn derive_key(key: &[u8; 32], label: &[u8]) -> [u8; 32] {
    let mut mac = keyed(key);
    mac.update(label);
    mac.finalize().into_bytes().into()
}

/// Proof for the fields of a request, in base64.
#[must_use]
pub fn key_proof(shared: &[u8; 32], fields: [&str; 5]) -> String {
    let mut mac = keyed(shared);
    mac.update(&key_proof_message(fields));
    STANDARD.encode(mac.finalize().into_bytes())
}

/// `true` if `proof` is that of these fields; compared in constant time.
#[must_use]
pub fn verify_key_proof(shared: &[u8; 32], fields: [&str; 5], proof: &str) -> bool {
    let Ok(proof) = STANDARD.decode(proof) else {
        return false;
    };
    let mut mac = keyed(shared);
    mac.update(&key_proof_message(fields));
    mac.verify_slice(&proof).is_ok()
}

fn credentials_key(shared: &[u8; 32], nonce: &str) -> [u8; 32] {
    derive_key(shared, &[CREDENTIALS_DOMAIN, nonce.as_bytes()].concat())
}

/// Credential sealed for the request with `nonce`, in base64.
///
/// # Errors
/// [`SealError`].
pub fn seal_credentials(
    shared: &[u8; 32],
    nonce: &str,
    credentials: &Credentials,
) -> Result<String, SealError> {
    let plain = serde_json::to_vec(credentials).map_err(|_| SealError::TooLong)?;
    let sealed = seal(&credentials_key(shared, nonce), &plain)?;
    Ok(STANDARD.encode(sealed))
}

/// Credential that was sealed for the request with `nonce`.
///
/// # Errors
/// [`SealError`], also for a text that holds no credential.
pub fn unseal_credentials(
    shared: &[u8; 32],
    nonce: &str,
    sealed: &str,
) -> Result<Credentials, SealError> {
    let sealed = STANDARD.decode(sealed).map_err(|_| SealError::NotSealed)?;
    let plain = unseal(&credentials_key(shared, nonce), &sealed)?;
    serde_json::from_slice(&plain).map_err(|_| SealError::NotSealed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrivateKey;

    const FIELDS: [&str; 5] = ["key", "mac", "host", "nonce", "2026-01-01T00:00:00Z"];

    #[test]
    fn only_the_two_keys_make_and_check_a_proof() {
        let [node, gateway, other] = [1, 2, 3].map(|seed| PrivateKey::from_bytes([seed; 32]));
        let shared = node.shared_secret(&gateway.public().0).unwrap();
        assert_eq!(gateway.shared_secret(&node.public().0), Some(shared));
        assert_eq!(node.shared_secret(&[0; 32]), None);
        let proof = key_proof(&shared, FIELDS);
        assert!(verify_key_proof(&shared, FIELDS, &proof));
        let mut moved = FIELDS;
        moved[1] = "other";
        assert!(!verify_key_proof(&shared, moved, &proof));
        let foreign = other.shared_secret(&gateway.public().0).unwrap();
        assert!(!verify_key_proof(&shared, FIELDS, &key_proof(&foreign, FIELDS)));
        assert!(!verify_key_proof(&shared, FIELDS, "no base64"));
    }

    #[test]
    fn a_credential_is_opened_by_the_key_and_nonce_it_was_sealed_for() {
        let credentials =
            Credentials { username: "node-hill".to_owned(), password: "secret".to_owned() };
        let sealed = seal_credentials(&[7; 32], "nonce", &credentials).unwrap();
        let opened = unseal_credentials(&[7; 32], "nonce", &sealed).unwrap();
        assert_eq!(opened, credentials);
        assert!(unseal_credentials(&[8; 32], "nonce", &sealed).is_err());
        assert!(unseal_credentials(&[7; 32], "other", &sealed).is_err());
    }
}
