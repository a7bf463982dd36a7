//! Asking to be let in, and proving that the trust secret is known without telling it.

use std::net::Ipv4Addr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundwave_credentials::PrivateKey;
use groundwave_credentials::possession::key_proof;
use groundwave_protocol::{Mac, PublicKey, WgChallenge, WgRegister, proof_message};
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

/// Bytes of a nonce.
const NONCE_BYTES: usize = 24;

/// The secret that nodes and gateway share, and its name.
#[derive(Clone, PartialEq, Eq)]
pub struct TrustSecret {
    /// Identifier of the key.
    pub key_id: String,
    bytes: Vec<u8>,
}

impl std::fmt::Debug for TrustSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TrustSecret({}, ..)", self.key_id)
    }
}

impl TrustSecret {
    /// The secret of a text in base64, `None` when it is none.
    #[must_use]
    pub fn from_text(key_id: String, text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.trim()).ok().filter(|bytes| bytes.len() >= 16)?;
        Some(Self { key_id, bytes })
    }
}

/// Identity of the node that registers.
#[derive(Debug, Clone)]
pub struct Identity {
    /// The node's key.
    pub public_key: PublicKey,
    /// Address of its mesh interface.
    pub mac: Mac,
    /// Hostname.
    pub hostname: String,
    /// Underlay address.
    pub underlay_ip: Option<Ipv4Addr>,
    /// UDP port of WireGuard.
    pub listen_port: Option<u16>,
}

/// A request made at `ts`, RFC 3339, with a nonce in base64.
#[must_use]
pub fn request(
    identity: &Identity,
    secret: Option<&TrustSecret>,
    enrollment_code: Option<&str>,
    nonce: String,
    ts: String,
) -> WgRegister {
    let (public_key, mac) = (identity.public_key.to_string(), identity.mac.to_string());
    let fields = [&public_key, &mac, &identity.hostname, &nonce, &ts].map(String::as_str);
    let proof = secret.map(|secret| {
        let mut keyed =
            Hmac::<Sha256>::new_from_slice(&secret.bytes).expect("a key may have any length");
        keyed.update(&proof_message(fields));
        STANDARD.encode(keyed.finalize().into_bytes())
    });
    WgRegister {
        public_key: identity.public_key,
        mac: identity.mac,
        hostname: identity.hostname.clone(),
        underlay_ip: identity.underlay_ip.map(Into::into),
        listen_port: identity.listen_port,
        nonce,
        ts,
        key_id: proof.is_some().then(|| secret.map(|one| one.key_id.clone())).flatten(),
        proof,
        enrollment_code: enrollment_code.map(str::to_owned),
        key_proof: None,
        seal_credentials: false,
    }
}

/// Proves possession of `key` in a request with the nonce of a challenge; returns the secret shared
/// with the gateway.
pub fn prove_key(
    body: &mut WgRegister,
    key: &PrivateKey,
    challenge: &WgChallenge,
) -> Option<[u8; 32]> {
    let shared = key.shared_secret(challenge.public_key.bytes())?;
    let (public_key, mac) = (body.public_key.to_string(), body.mac.to_string());
    let fields = [&public_key, &mac, &body.hostname, &body.nonce, &body.ts];
    body.key_proof = Some(key_proof(&shared, fields.map(String::as_str)));
    Some(shared)
}

/// A nonce of the node's own, base64.
///
/// # Errors
/// When the system has no random bytes.
pub fn nonce() -> std::io::Result<String> {
    let mut bytes = [0; NONCE_BYTES];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_the_hmac_of_what_is_asked() {
        let identity = Identity {
            public_key: "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=".parse().unwrap(),
            mac: "02:00:00:00:01:00".parse().unwrap(),
            hostname: "hill".to_owned(),
            underlay_ip: Some(Ipv4Addr::new(10, 41, 0, 57)),
            listen_port: Some(51820),
        };
        let secret = STANDARD.encode([0x0b; 32]);
        let secret = TrustSecret::from_text("k1".to_owned(), &secret).unwrap();
        let ts = "2026-11-21T20:00:00.000Z".to_owned();
        let nonce = STANDARD.encode([7; NONCE_BYTES]);
        let body = request(&identity, Some(&secret), None, nonce.clone(), ts.clone());
        // python3: base64(hmac.new(b"\x0b" * 32, b"wg-register-v1\0hSDw…\0…", "sha256").digest())
        assert_eq!(body.proof.as_deref(), Some(PROOF));
        assert_eq!((body.key_id.as_deref(), body.nonce.len()), (Some("k1"), 32));
        let bare = request(&identity, None, Some("code"), nonce, ts);
        assert_eq!(
            (bare.proof, bare.key_id, bare.enrollment_code.as_deref()),
            (None, None, Some("code"))
        );
        assert_eq!(format!("{secret:?}"), "TrustSecret(k1, ..)");
        assert!(TrustSecret::from_text(String::new(), "c2hvcnQ=").is_none());
    }

    const PROOF: &str = "am84n9wUvBL3O/2XEiLXbTvQ53sChO9ykOXHvqDuPdg=";
}
