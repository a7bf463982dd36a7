//! Secrets in the world: sealed, so that neither store nor log shows them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_credentials::possession::derive_key;
use groundwave_credentials::seal::{SealError, seal, unseal};
use groundwave_engine::Engine;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::{SealPassword, Secret};
use groundwave_gateway::automation::Automation;
use groundwave_gateway::config::{Expected, Put};
use groundwave_gateway::onboarding::{SealSecrets, SecretBytes, TrustSecret};
use groundwave_http::Problem;

use crate::flows::secrets::seal_stored;

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

    /// Seals what earlier versions left in clear in the world.
    ///
    /// # Errors
    /// When the world refuses.
    pub fn seal_earlier(&self, engine: &mut Engine<Snapshot>) -> Result<(), String> {
        // What the store held is published by a tick.
        engine.tick(None).map_err(|broken| broken.to_string())?;
        let view = engine.view();
        let handle = engine.handle();
        let mut replies = Vec::new();
        let mut foreign = 0_usize;
        for (id, account) in view.accounts.by_id.iter() {
            match &account.secret {
                Secret::Argon2id(hash) => {
                    let sealed = self.seal(hash.as_bytes())?;
                    let command = SealPassword { account: *id, sealed };
                    replies.push(handle.submit(command).map_err(|err| err.to_string())?);
                }
                Secret::Sealed(sealed) => foreign += usize::from(self.unseal(sealed).is_err()),
                Secret::Sha256(_) => {}
            }
        }
        if foreign > 0 {
            tracing::error!(
                "{foreign} passwords are sealed under another token.key and cannot be checked: \
                 bring it back, or run `groundwave gateway reset-admin`"
            );
        }
        let clear = |secret: &TrustSecret| match &secret.secret {
            SecretBytes::Clear(bytes) => Some(self.seal(bytes)),
            SecretBytes::Sealed(_) => None,
        };
        let trust = &view.onboarding.trust;
        let previous = trust.previous.as_ref().map(|(secret, _)| secret);
        let command = SealSecrets {
            secret: trust.secret.as_ref().and_then(clear).transpose()?,
            previous: previous.and_then(clear).transpose()?,
        };
        if command.secret.is_some() || command.previous.is_some() {
            replies.push(handle.submit(command).map_err(|err| err.to_string())?);
        }
        let mut flows = Vec::new();
        for (id, versioned) in view.config.automations.iter() {
            if let Some(sealed) = seal_stored(&versioned.object.0, self)? {
                let expected = Expected::revision(Some(versioned.revision));
                let command = Put { id, object: Automation(sealed), expected };
                flows.push(handle.submit(command).map_err(|err| err.to_string())?);
            }
        }
        if replies.is_empty() && flows.is_empty() {
            return Ok(());
        }
        tracing::info!("{} flows with secrets of an earlier version sealed", flows.len());
        tracing::info!("{} secrets of an earlier version sealed", replies.len());
        engine.tick(Some(wall_ns())).map_err(|broken| broken.to_string())?;
        for reply in replies {
            reply.wait().map_err(|err| err.to_string())?;
        }
        for flow in flows {
            if let Err(refusal) = flow.wait() {
                tracing::error!("secrets of a flow stay in clear: {refusal}");
            }
        }
        Ok(())
    }
}
