//! `groundwave backup` and `groundwave restore`: the planning server's store, kept and brought
//! back.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use groundwave::http::client::Client;
use groundwave_engine::Store;
use groundwave_io::gateway::seal;
use groundwave_io::store::{RedbStore, StoreError};
use groundwave_systems::terrain::Flat;
use groundwave_systems::{Snapshot, world};
use serde_json::json;

use super::failure::Failure;
use super::output::Output;

/// Copy the planning server's store, also while it serves
#[derive(Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub struct Backup {
    /// File to write; must not be there yet
    #[arg(value_name = "FILE")]
    to: PathBuf,

    /// The store
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    db: PathBuf,

    /// Where the server listens that may hold the store
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        default_value = "127.0.0.1:8787"
    )]
    bind: String,
}

const BACKUP_EXAMPLES: &str = "\
Examples:
  groundwave backup plan-monday.redb
  groundwave backup --db /var/lib/groundwave/plan.db /backup/plan.redb

A store that a server holds is copied by the server, as of its last commit.";

/// Bring back a copy of a store
#[derive(Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub struct Restore {
    /// The copy
    #[arg(value_name = "FILE")]
    from: PathBuf,

    /// The store to make
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    db: PathBuf,

    /// For the sealed copy of a gateway: the file `token.key` of its state
    #[arg(long, env = "GATEWAY_TOKEN_KEY", value_name = "FILE")]
    token_key: Option<PathBuf>,

    /// Replace a store that is there
    #[arg(long)]
    force: bool,
}

const RESTORE_EXAMPLES: &str = "\
Examples:
  groundwave restore plan-monday.redb
  groundwave restore --force --db /var/lib/groundwave/plan.db /backup/plan.redb
  groundwave restore --token-key /safe/token.key gateway-2026-11-21.sealed

The copy is read in full before anything is replaced; stop the server first.";

impl Backup {
    /// Writes the copy.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if self.to.exists() {
            let what = format!("{} is there already; name a new file", self.to.display());
            return Err(Failure::Input(what));
        }
        let (bytes, by) = match RedbStore::open_existing(&self.db) {
            Ok(store) => (copy_of(&store)?, "file"),
            Err(StoreError::InUse { .. }) => (self.ask_server()?, "server"),
            Err(err) => return Err(Failure::input(err)),
        };
        write_new(&self.to, &bytes)?;
        // What was written is proven before it is called a backup.
        let documents = read_in_full(&self.to)?;
        if output.json {
            let told = json!({ "file": self.to, "documents": documents, "copied_by": by });
            return output.json(&told);
        }
        let line = format!("{}: {documents} documents\n", self.to.display());
        output.text(&line)
    }

    fn ask_server(&self) -> Result<Vec<u8>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let answer = runtime.block_on(async {
            let mut client = Client::tcp(&self.bind).await?;
            client
                .ask(axum::http::Method::GET, "/api/v1/backup", None)
                .await
        });
        let held = format!(
            "{} is in use, and the server at {} (--bind) gave no copy of it",
            self.db.display(),
            self.bind
        );
        match answer {
            Ok((status, bytes)) if status.is_success() => Ok(bytes),
            Ok((status, _)) => Err(Failure::Input(format!("{held}: it answered {status}"))),
            Err(err) => Err(Failure::Input(format!("{held}: {err}"))),
        }
    }
}

impl Restore {
    /// Puts the copy in place.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if self.db.exists() {
            if !self.force {
                let what = format!(
                    "{} is there already; --force replaces it",
                    self.db.display()
                );
                return Err(Failure::Input(what));
            }
            // One that a server holds is not replaced under it.
            if let Err(err @ StoreError::InUse { .. }) = RedbStore::open(&self.db) {
                return Err(Failure::input(err));
            }
        }
        let bytes = std::fs::read(&self.from)
            .map_err(|err| Failure::Input(format!("read {}: {err}", self.from.display())))?;
        let bytes = self.opened(bytes)?;
        let folder = match self.db.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        let documents = read_in_full(file.path())?;
        file.persist(&self.db)
            .map_err(|err| Failure::from(err.error))?;
        if output.json {
            return output.json(&json!({ "store": self.db, "documents": documents }));
        }
        let line = format!("{}: {documents} documents\n", self.db.display());
        output.text(&line)
    }

    /// The copy itself, out of its seal if it is in one.
    fn opened(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if !seal::is_sealed(&bytes) {
            return Ok(bytes);
        }
        let from = self.from.display();
        let Some(path) = &self.token_key else {
            let what = format!("{from} is sealed: name the gateway's token.key (--token-key)");
            return Err(Failure::Input(what));
        };
        let key = std::fs::read(path)
            .map_err(|err| Failure::Input(format!("read {}: {err}", path.display())))?;
        let key = <[u8; 32]>::try_from(key)
            .map_err(|_| Failure::Input(format!("{} is no key of 32 bytes", path.display())))?;
        let opened = seal::unseal(&seal::backup_key(&key), &bytes);
        opened.map_err(|err| Failure::Input(format!("{from}: {err}")))
    }
}

fn copy_of(store: &RedbStore) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("copy.redb");
    store.copier()(&path).map_err(Failure::machine)?;
    Ok(std::fs::read(path)?)
}

fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(())
}

/// Opens a store and brings a world back from it; returns how many documents it holds.
fn read_in_full(path: &Path) -> Result<usize, Failure> {
    let mut store = RedbStore::open_existing(path).map_err(Failure::input)?;
    store.load().map_err(Failure::input)?;
    let ground = Flat {
        elevation_msl_m: 0.0,
    };
    let mut engine = world(Arc::new(ground))
        .build::<Snapshot>(0, 1_000_000)
        .map_err(Failure::machine)?;
    engine.keep(store).map_err(Failure::Input)
}
