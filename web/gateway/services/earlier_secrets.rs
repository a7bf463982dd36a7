//! Secrets that earlier versions left in clear.

use groundwave_engine::Engine;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::Snapshot;
use groundwave_gateway::account::{SealPassword, Secret};
use groundwave_gateway::automation::Automation;
use groundwave_gateway::config::{Expected, Put};
use groundwave_gateway::onboarding::{SealSecrets, SecretBytes, TrustSecret};

use super::flow_secrets::seal_stored;
use super::vault::Vault;

/// Seals what earlier versions left in clear in the world.
///
/// # Errors
/// When the world refuses.
pub fn seal_earlier(vault: &Vault, engine: &mut Engine<Snapshot>) -> Result<(), String> {
    // What the store held is published by a tick.
    engine.tick(None).map_err(|broken| broken.to_string())?;
    let view = engine.view();
    let handle = engine.handle();
    let mut replies = Vec::new();
    let mut foreign = 0_usize;
    for (id, account) in view.accounts.by_id.iter() {
        match &account.secret {
            Secret::Argon2id(hash) => {
                let sealed = vault.seal(hash.as_bytes())?;
                let command = SealPassword { account: *id, sealed };
                replies.push(handle.submit(command).map_err(|err| err.to_string())?);
            }
            Secret::Sealed(sealed) => foreign += usize::from(vault.unseal(sealed).is_err()),
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
        SecretBytes::Clear(bytes) => Some(vault.seal(bytes)),
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
        if let Some(sealed) = seal_stored(&versioned.object.0, vault)? {
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
