//! Secrets in the world: sealed, so that neither store nor log shows them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_credentials::possession::derive_key;
use groundwave_credentials::seal::{SealError, seal, unseal};
use groundwave_gateway::onboarding::{SecretBytes, TrustSecret};
use groundwave_http::Problem;

/// Sealing of secrets under a key that follows from the key of tokens.
#[derive(Clone)]
pub struct Vault([u8; 32]);

fn text(sealed: Result<Vec<u8>, SealError>) -> Result<String, String> {
    let sealed = sealed.map_err(|err| err.to_string())?;
    Ok(STANDARD.encode(sealed))
}

impl Vault {
    /// Vault of a gateway, by its key of tokens.
    #[must_use]
    pub fn new(token_key: &[u8; 32]) -> Self {
        Self(derive_key(token_key, b"groundwave-secrets-v1"))
    }

    /// Sealed bytes, in base64.
    ///
    /// # Errors
    /// Without random bytes.
    pub fn seal(&self, plain: &[u8]) -> Result<String, String> {
        text(seal(&self.0, plain))
    }

    /// Bytes that were sealed.
    ///
    /// # Errors
    /// When they were sealed under another key.
    pub fn unseal(&self, sealed: &str) -> Result<Vec<u8>, String> {
        let sealed = STANDARD.decode(sealed).map_err(|err| err.to_string())?;
        unseal(&self.0, &sealed).map_err(|err| err.to_string())
    }

    /// Bytes of a trust secret.
    ///
    /// # Errors
    /// 500 when it was sealed under another key.
    pub fn open(&self, secret: &TrustSecret) -> Result<[u8; 32], Problem> {
        let failed = |what: String| {
            Problem::internal(format!("trust secret {}: {what}; rotate it", secret.key_id))
        };
        match &secret.secret {
            SecretBytes::Clear(bytes) => Ok(*bytes),
            SecretBytes::Sealed(sealed) => {
                let bytes = self.unseal(sealed).map_err(failed)?;
                let wrong = |_| failed("invalid length".to_owned());
                bytes.try_into().map_err(wrong)
            }
        }
    }
}
