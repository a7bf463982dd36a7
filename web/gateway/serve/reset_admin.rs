//! Reset of an admin on the machine of the gateway.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use groundwave_engine::Engine;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::account::{
    AccountId, AccountRole, CreateAccount, UpdateAccount, check_username,
};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::id;
use groundwave_model::terrain::Flat;
use groundwave_store::RedbStore;

use super::admin::{ADMIN, BOOTSTRAP, generate_password, read_password};
use super::gateway_folder::GatewayFolder;
use crate::Effort;
use crate::services::passwords::Passwords;
use crate::services::vault::Vault;

/// Configuration of a reset.
#[derive(Debug, Clone, Args)]
pub struct ResetAdminConfig {
    /// Store file of the gateway
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    pub db: PathBuf,

    /// Folder.
    #[command(flatten)]
    pub state: GatewayFolder,

    /// Account; created if missing
    #[arg(long, value_name = "NAME", default_value = ADMIN)]
    pub username: String,

    /// File with the new password, mode 0600 or 0640 [default: a random password, written to
    /// DIR/bootstrap-admin]
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
}

/// Gives an account the role admin and a new password, which must be changed at the next login. Its
/// tokens are revoked. Returns the file with a generated password.
///
/// # Errors
/// When an option is invalid, the gateway runs, or a file cannot be read or written.
pub fn reset_admin(config: &ResetAdminConfig) -> Result<Option<PathBuf>, Failure> {
    check_username(&config.username).map_err(Failure::input)?;
    let key = config.state.existing_key()?;
    let from_file = config
        .password_file
        .as_deref()
        .map(|path| read_password("--password-file", path, true))
        .transpose()?;
    let store = RedbStore::open_existing(&config.db).map_err(Failure::input)?;
    let flat = Arc::new(Flat::default());
    let mut engine = world(flat).build::<Snapshot>(0, super::STEP_NS).map_err(Failure::machine)?;
    engine.keep(store).map_err(Failure::Input)?;
    // What the store held is published by a tick.
    engine.tick(None).map_err(Failure::machine)?;
    let bootstrap = config.state.file(BOOTSTRAP);
    let (password, file) = match from_file {
        Some(password) => (password, None),
        None => {
            let password = generate_password(&bootstrap).map_err(Failure::machine)?;
            (password, Some(bootstrap))
        }
    };
    let passwords = Passwords::new(Effort::default(), Vault::new(&key));
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let secret = runtime
        .block_on(passwords.hash(password))
        .map_err(|problem| Failure::Machine(problem.detail))?;
    let existing = engine.view().accounts.named(&config.username).map(|(id, _)| id);
    match existing {
        Some(account) => submit(
            &mut engine,
            UpdateAccount {
                account,
                role: Some(AccountRole::Admin),
                disabled: Some(false),
                secret: Some(secret),
            },
        )?,
        None => submit(
            &mut engine,
            CreateAccount {
                account: AccountId::new(id::mint()),
                username: config.username.clone(),
                role: AccountRole::Admin,
                secret,
                must_change_password: true,
            },
        )?,
    }
    Ok(file)
}

fn submit<C>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Failure>
where
    C: groundwave_engine::Recorded,
{
    let reply = engine.handle().submit(command).map_err(Failure::machine)?;
    engine.tick(Some(wall_ns())).map_err(Failure::machine)?;
    reply.wait().map_err(Failure::input)
}
