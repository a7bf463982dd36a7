//! `groundwave backup` and `groundwave restore`: copies of the store.

use std::fs::Permissions;
use std::io::{Cursor, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_credentials::seal;
use groundwave_engine::Store;
use groundwave_files::aside::move_aside;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::client::Client;
use groundwave_http::option_value::{
    file_path, folder_path, require_existing_if_some, require_file,
};
use groundwave_io_gateway::archive;
use groundwave_model::terrain::Flat;
use groundwave_store::{RedbStore, StoreError};
use groundwave_telemetry::TelemetryStore;
use serde_json::json;

use super::output::{self, Output, USUAL_MODE, refuse_shared, write_new};

/// Copy the store of a server, also while it runs
#[derive(Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub struct Backup {
    /// New file; `-` is standard output
    #[arg(value_name = "FILE")]
    to: PathBuf,

    /// Store file
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    db: PathBuf,

    /// State folder of a stopped gateway: store, keys, audit log and telemetry are copied, sealed with
    /// the key that follows from `token.key`
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,

    /// Address of the server that may hold the store
    #[arg(long, env = "PLAN_BIND", value_name = "ADDR", default_value = "127.0.0.1:8787")]
    bind: String,
}

const BACKUP_EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/two_nodes.toml --store plan.db
  groundwave backup monday.redb
  groundwave backup --db plan.db tuesday.redb

A store in use is copied by its server, as of its last commit. Documents of a gateway (accounts,
registrations, nodes) are in copies with --state only; a running gateway makes its own sealed copy:
POST /v1/admin/backup.";

/// Restore a store from a copy
#[derive(Args)]
#[command(after_help = RESTORE_EXAMPLES)]
pub struct Restore {
    /// Copy of a store
    #[arg(value_name = "FILE")]
    from: PathBuf,

    /// Store file to write
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db",
        value_parser = PathBufValueParser::new().try_map(file_path))]
    db: PathBuf,

    /// File `token.key` of the gateway state, for sealed copies
    #[arg(long, env = "GATEWAY_TOKEN_KEY", value_name = "FILE")]
    token_key: Option<PathBuf>,

    /// State folder of the gateway to write, for copies that have one
    #[arg(long, env = "GATEWAY_STATE", value_name = "DIR", default_value = "gateway",
        value_parser = PathBufValueParser::new().try_map(folder_path))]
    state: PathBuf,

    /// Replace an existing store and state folder
    #[arg(long)]
    force: bool,
}

const RESTORE_EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/two_nodes.toml --store mesh.db
  groundwave backup --db mesh.db mesh.redb
  groundwave restore mesh.redb --db restored.db
  groundwave restore mesh.redb --db restored.db --force
  groundwave restore --token-key gateway/token.key gateway-2026-11-21.sealed

The whole copy is verified before a store is replaced; stop the server first.";

impl Backup {
    /// Writes the copy.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        output.refuse_stdout("FILE", &self.to)?;
        output::refuse_existing_new(&self.to)?;
        require_file("--db", &self.db, "the store of a server")?;
        let folder = "the state folder of a gateway";
        require_existing_if_some("--state", self.state.as_deref(), folder)?;
        let (bytes, by) = match RedbStore::open_existing(&self.db) {
            Ok(store) => match &self.state {
                Some(state) => return self.archive(&store, state, output),
                None => {
                    warn_of_private(store.private_documents().map_err(Failure::machine)?);
                    (copy_of(&store)?, "file")
                }
            },
            Err(err @ StoreError::InUse { .. }) if self.state.is_some() => {
                return Err(Failure::Input(format!(
                    "{err}; a running gateway makes its own sealed copy: POST /v1/admin/backup"
                )));
            }
            Err(StoreError::InUse { .. }) => (self.fetch_from_server()?, "server"),
            Err(err) => return Err(Failure::input(err)),
        };
        // Verified before it has its name.
        let copy = tempfile::NamedTempFile::new()?;
        std::fs::write(copy.path(), &bytes)?;
        let documents = verify(copy.path())?;
        if self.is_written_to_stdout(&bytes)? {
            return Ok(());
        }
        write_new(&self.to, &bytes, USUAL_MODE)?;
        if output.json {
            let summary = json!({ "file": self.to, "documents": documents, "copied_by": by });
            return output.json(&summary);
        }
        let line = format!("{}: {documents} documents\n", self.to.display());
        output.text(&line)
    }

    /// Writes a sealed archive of a stopped gateway.
    fn archive(&self, store: &RedbStore, state: &Path, output: Output) -> Result<(), Failure> {
        let key = token_key(&state.join("token.key"))?;
        let history =
            TelemetryStore::open(&state.join(archive::TELEMETRY)).map_err(Failure::input)?;
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("copy.redb");
        store.whole_copier()(&copy).map_err(Failure::machine)?;
        let mut out = Cursor::new(Vec::new());
        archive::pack(&mut out, &copy, state, &history)?;
        let sealed =
            seal::seal(&seal::backup_key(&key), out.get_ref()).map_err(Failure::machine)?;
        let documents = verify(&copy)?;
        if self.is_written_to_stdout(&sealed)? {
            return Ok(());
        }
        write_new(&self.to, &sealed, PRIVATE)?;
        if output.json {
            let summary = json!({ "file": self.to, "documents": documents, "copied_by": "file" });
            return output.json(&summary);
        }
        let line = format!("{}: {documents} documents, sealed\n", self.to.display());
        output.text(&line)
    }

    /// Writes the copy to standard output, where that is the file.
    fn is_written_to_stdout(&self, bytes: &[u8]) -> Result<bool, Failure> {
        let is_it = output::is_stdio(&self.to);
        if is_it {
            output::write_stdout(bytes)?;
        }
        Ok(is_it)
    }

    fn fetch_from_server(&self) -> Result<Vec<u8>, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let answer = runtime.block_on(async {
            let mut client = Client::tcp(&self.bind).await?;
            client.ask(axum::http::Method::GET, "/api/v1/backup", None).await
        });
        let refusal = format!(
            "{} is in use, and the server at {} (--bind) returned no copy",
            self.db.display(),
            self.bind
        );
        match answer {
            Ok((status, bytes)) if status.is_success() => Ok(bytes),
            Ok((status, _)) => Err(Failure::Input(format!("{refusal}: status {status}"))),
            Err(err) => Err(Failure::Input(format!("{refusal}: {err}"))),
        }
    }
}

impl Restore {
    /// Puts the copy in place.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        refuse_shared(&[("--db", &self.db)], &[("FILE", &self.from)])?;
        if self.db.exists() {
            if !self.force {
                let what = format!("{} exists; --force replaces it", self.db.display());
                return Err(Failure::Input(what));
            }
            // A store in use by a server is not replaced.
            if let Err(err @ StoreError::InUse { .. }) = RedbStore::open(&self.db) {
                return Err(Failure::input(err));
            }
        }
        require_file("FILE", &self.from, "a copy that `backup` wrote")?;
        let bytes = std::fs::read(&self.from)
            .map_err(|err| Failure::Input(format!("read {}: {err}", self.from.display())))?;
        let bytes = self.unsealed(bytes)?;
        if archive::is_archive(&bytes) {
            return self.unpack(&bytes, output);
        }
        let documents = self.put_store(&bytes)?;
        if output.json {
            return output.json(&json!({ "store": self.db, "documents": documents }));
        }
        let line = format!("{}: {documents} documents\n", self.db.display());
        output.text(&line)
    }

    /// Puts the files of an archive in place; the state folder first, which nothing uses before the
    /// store is there.
    fn unpack(&self, bytes: &[u8], output: Output) -> Result<(), Failure> {
        let from = self.from.display();
        let files =
            archive::unpack(bytes).map_err(|err| Failure::Input(format!("{from}: {err}")))?;
        let state = self.state.display();
        if self.state.exists() && !self.force {
            return Err(Failure::Input(format!("{state} exists; --force replaces it")));
        }
        let parent = match self.state.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        groundwave_http::create_private(parent)?;
        let folder = tempfile::Builder::new()
            .prefix(".restore")
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(parent)?;
        let mut store = None;
        for file in &files {
            match &file.name {
                Some(name) => {
                    let path = folder.path().join(name);
                    groundwave_http::create_private(path.parent().unwrap_or(folder.path()))?;
                    write_new(&path, &file.bytes, PRIVATE)?;
                }
                None => store = Some(&file.bytes),
            }
        }
        let store = store.ok_or_else(|| Failure::Input(format!("{from}: it has no store")))?;
        let checked = tempfile::NamedTempFile::new_in(parent)?;
        std::fs::write(checked.path(), store)?;
        verify(checked.path())?;
        if self.state.exists() {
            move_aside(&self.state, "replaced")
                .map_err(|err| Failure::Input(format!("move {state} aside: {err}")))?;
        }
        std::fs::rename(folder.keep(), &self.state)?;
        let documents = self.put_store(store)?;
        if output.json {
            let summary = json!({ "store": self.db, "documents": documents, "state": self.state });
            return output.json(&summary);
        }
        let line = format!(
            "{}: {documents} documents\n{state}: {} files\n",
            self.db.display(),
            files.len() - 1
        );
        output.text(&line)
    }

    /// Verifies a store and puts it in place; returns its number of documents.
    fn put_store(&self, bytes: &[u8]) -> Result<usize, Failure> {
        let folder = output::folder_of(&self.db)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        let documents = verify(file.path())?;
        file.persist(&self.db).map_err(|err| Failure::from(err.error))?;
        Ok(documents)
    }

    /// The copy, decrypted if sealed.
    fn unsealed(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
        if !seal::is_sealed(&bytes) {
            return Ok(bytes);
        }
        let from = self.from.display();
        let Some(path) = &self.token_key else {
            let what =
                format!("{from} is sealed; name the token.key of the gateway with --token-key");
            return Err(Failure::Input(what));
        };
        require_file("--token-key", path, "the file token.key of the gateway")?;
        let key = token_key(path)?;
        let opened = seal::unseal(&seal::backup_key(&key), &bytes);
        opened.map_err(|err| Failure::Input(format!("{from}: {err}")))
    }
}

/// The key in a file `token.key`.
fn token_key(path: &Path) -> Result<[u8; 32], Failure> {
    let key = std::fs::read(path)
        .map_err(|err| Failure::Input(format!("read {}: {err}", path.display())))?;
    <[u8; 32]>::try_from(key)
        .map_err(|_| Failure::Input(format!("invalid key {}: allowed 32 bytes", path.display())))
}

/// Says that documents of a gateway are not in a copy.
fn warn_of_private(count: usize) {
    if count > 0 {
        tracing::warn!(
            "{count} documents of a gateway (accounts, registrations, nodes) are left out; --state DIR copies all of it, sealed"
        );
    }
}

fn copy_of(store: &RedbStore) -> Result<Vec<u8>, Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("copy.redb");
    store.copier()(&path).map_err(Failure::machine)?;
    Ok(std::fs::read(path)?)
}

/// Mode of files with secrets.
const PRIVATE: u32 = 0o600;
/// Opens a store and loads it into an engine; returns its number of documents.
fn verify(path: &Path) -> Result<usize, Failure> {
    let mut store = RedbStore::open_existing(path).map_err(Failure::input)?;
    store.load().map_err(Failure::input)?;
    let ground = Flat { elevation_msl_m: 0.0 };
    let mut engine =
        world(Arc::new(ground)).build::<Snapshot>(0, 1_000_000).map_err(Failure::machine)?;
    engine.keep(store).map_err(Failure::Input)
}
