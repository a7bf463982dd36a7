//! Tokens: JWT with one fixed algorithm, HS256, and no leeway.

use std::sync::Once;

use groundwave_files::hex::hex;
use groundwave_gateway::account::{Account, AccountId, AccountRole};
use hmac::{Hmac, KeyInit, Mac};
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{
    Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, decode_header, encode,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use signature::{Signer, Verifier};
use uuid::Uuid;

/// Lifetime of a token, s.
pub const TOKEN_S: u64 = 3600;
/// Issuer of tokens.
const ISSUER: &str = "groundwave-gateway";
/// Audience of tokens.
const AUDIENCE: &str = "groundwave";

/// HMAC-SHA256, and nothing else, for `jsonwebtoken`: its own providers bring RSA and curves that
/// no token here may use.
struct Hs256(Vec<u8>);

impl Hs256 {
    fn mac(&self) -> Result<Hmac<Sha256>, signature::Error> {
        Hmac::new_from_slice(&self.0).map_err(signature::Error::from_source)
    }
}
impl Signer<Vec<u8>> for Hs256 {
    fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, signature::Error> {
        let mut mac = self.mac()?;
        mac.update(message);
        Ok(mac.finalize().into_bytes().to_vec())
    }
}
impl Verifier<Vec<u8>> for Hs256 {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let mut mac = self.mac()?;
        mac.update(message);
        // Compares in constant time, and refuses a signature of another length.
        let verified = mac.verify_slice(signature);
        verified.map_err(signature::Error::from_source)
    }
}
impl JwtSigner for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}
impl JwtVerifier for Hs256 {
    fn algorithm(&self) -> Algorithm {
        Algorithm::HS256
    }
}

fn only_hs256(algorithm: &Algorithm) -> Result<(), Error> {
    match algorithm {
        Algorithm::HS256 => Ok(()),
        _ => Err(ErrorKind::InvalidAlgorithm.into()),
    }
}

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key| {
        only_hs256(algorithm)?;
        Ok(Box::new(Hs256(key.as_bytes().to_vec())))
    },
    verifier_factory: |algorithm, key| {
        only_hs256(algorithm)?;
        Ok(Box::new(Hs256(key.try_get_as_bytes()?.to_vec())))
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Claims of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Issuer.
    pub iss: String,
    /// Audience.
    pub aud: String,
    /// The account.
    pub sub: Uuid,
    /// The account's name.
    pub username: String,
    /// Role; at most that of the account.
    pub role: AccountRole,
    /// `user` or `node`.
    pub kind: String,
    /// The node, of a node's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Version of the account's tokens.
    pub ver: u64,
    /// Token id.
    pub jti: Uuid,
    /// Time of issue, s since the Unix epoch.
    pub iat: u64,
    /// Start of validity, s since the Unix epoch.
    pub nbf: u64,
    /// End of validity, s since the Unix epoch.
    pub exp: u64,
}

/// Reason why a token is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadToken {
    /// Malformed or not issued here.
    Forged,
    Expired,
}

/// The key of all tokens.
pub struct TokenKeys {
    encoding: EncodingKey,
    decoding: DecodingKey,
    kid: String,
    rules: Validation,
}

impl TokenKeys {
    /// Tokens under this key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        static INSTALL: Once = Once::new();
        // Only the first caller of a process installs; all would install the same.
        INSTALL.call_once(|| {
            let _ = PROVIDER.install_default();
        });
        let mut rules = Validation::new(Algorithm::HS256);
        rules.leeway = 0;
        rules.validate_exp = false;
        rules.set_audience(&[AUDIENCE]);
        rules.set_issuer(&[ISSUER]);
        rules.set_required_spec_claims(&["exp", "nbf", "aud", "iss", "sub"]);
        // The caller passes the time, below; the clock of the machine is not read.
        rules.validate_nbf = false;
        let kid = Sha256::digest([&b"kid"[..], key].concat());
        Self {
            encoding: EncodingKey::from_secret(key),
            decoding: DecodingKey::from_secret(key),
            kid: hex(&kid[..4]),
            rules,
        }
    }

    /// Token of an account for a role, with its claims.
    ///
    /// # Errors
    /// Encoding failure.
    pub fn issue(
        &self,
        id: AccountId,
        account: &Account,
        role: AccountRole,
        jti: Uuid,
        now_s: u64,
    ) -> Result<(String, Claims), String> {
        let claims = Claims {
            iss: ISSUER.to_owned(),
            aud: AUDIENCE.to_owned(),
            sub: id.uuid(),
            username: account.username.clone(),
            role: role.min(account.role),
            kind: account.node.map_or("user", |_| "node").to_owned(),
            node_id: account.node.map(|node| node.uuid()),
            ver: account.version,
            jti,
            iat: now_s,
            nbf: now_s,
            exp: now_s + TOKEN_S,
        };
        let mut header = Header::new(Algorithm::HS256);
        header.kid = Some(self.kid.clone());
        let token = encode(&header, &claims, &self.encoding).map_err(|err| err.to_string())?;
        Ok((token, claims))
    }

    /// Claims of a valid token.
    ///
    /// # Errors
    /// Reason why the token is invalid.
    pub fn verify(&self, token: &str, now_s: u64) -> Result<Claims, BadToken> {
        let header = decode_header(token).map_err(|_| BadToken::Forged)?;
        if header.alg != Algorithm::HS256 || header.kid.as_deref() != Some(&self.kid) {
            return Err(BadToken::Forged);
        }
        let decoded = decode::<Claims>(token, &self.decoding, &self.rules);
        let claims = decoded.map_err(|_| BadToken::Forged)?.claims;
        if now_s >= claims.exp {
            return Err(BadToken::Expired);
        }
        if now_s < claims.nbf || claims.exp - claims.nbf > TOKEN_S {
            return Err(BadToken::Forged);
        }
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use groundwave_gateway::account::Secret;

    fn account() -> Account {
        Account {
            username: "ada".to_owned(),
            role: AccountRole::Operator,
            node: None,
            secret: Secret::Sha256([0; 32]),
            disabled: false,
            must_change_password: false,
            version: 3,
            created_ns: 0,
            last_login_ns: None,
        }
    }

    fn token(keys: &TokenKeys, role: AccountRole) -> (String, Claims) {
        let id = AccountId::from_u128(1);
        keys.issue(id, &account(), role, Uuid::from_u128(2), 1_000).unwrap()
    }

    #[test]
    fn a_token_is_good_for_an_hour_to_the_second() {
        let keys = TokenKeys::new(&[7; 32]);
        let (token, claims) = token(&keys, AccountRole::Admin);
        assert_eq!(claims.role, AccountRole::Operator, "never more than the account");
        assert_eq!(keys.verify(&token, 1_000), Ok(claims.clone()));
        assert_eq!(keys.verify(&token, 4_599), Ok(claims));
        assert_eq!(keys.verify(&token, 4_600), Err(BadToken::Expired));
        assert_eq!(keys.verify(&token, 999), Err(BadToken::Forged));
    }

    #[test]
    fn what_was_not_made_here_is_forged() {
        let keys = TokenKeys::new(&[7; 32]);
        let (good, _) = token(&keys, AccountRole::Viewer);
        let (other, _) = token(&TokenKeys::new(&[8; 32]), AccountRole::Viewer);
        let parts: Vec<&str> = good.split('.').collect();
        let head = |json: &str| URL_SAFE_NO_PAD.encode(json);
        let payload = URL_SAFE_NO_PAD.decode(parts[1]).unwrap();
        let raised = String::from_utf8(payload).unwrap().replace("viewer", "admin");
        let kid = &keys.kid;
        let forged = [
            other,
            String::new(),
            "a.b.c".to_owned(),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{}.{}.{}", parts[0], head(&raised), parts[2]),
            format!("{}.{}.", head(&format!(r#"{{"alg":"none","kid":"{kid}"}}"#)), parts[1]),
            format!(
                "{}.{}.{}",
                head(&format!(r#"{{"alg":"HS512","kid":"{kid}"}}"#)),
                parts[1],
                parts[2]
            ),
            format!("{}.{}.{}", head(r#"{"alg":"HS256","kid":"other"}"#), parts[1], parts[2]),
            format!("{good}A"),
            format!(" {good}"),
        ];
        for token in forged {
            assert_eq!(keys.verify(&token, 1_500), Err(BadToken::Forged), "{token}");
        }
    }
}
