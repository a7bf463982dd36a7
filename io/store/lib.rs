//! Durable rows: a journal that has each tick as one record, and a redb file as its checkpoint.
//!
//! A commit is on disk when its record is. The file catches up in the background when a segment of the
//! journal is full, and when the store is closed; a closed store is one file without a journal.

mod checkpoint;
#[doc(hidden)]
pub mod files;
mod journal;
pub mod journal_file;
mod kept;
mod migrate;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use groundwave_credentials::random;
use groundwave_engine::{FaultKind, Row, Store, StoreFault};
use groundwave_files::wall::monotonic_ns;
use redb::{DatabaseError, TableDefinition};
use thiserror::Error;

use crate::files::Files;
use checkpoint::Checkpoint;
pub use journal::JournalError;
use journal::{Journal, Recovered};

/// All documents: (table, id) to named msgpack. One redb table, so that a new kind of document
/// needs no migration.
const DOCUMENTS: TableDefinition<'_, (&str, [u8; 16]), &[u8]> = TableDefinition::new("documents");

/// Schema and tick of the file; the name on disk is `about`.
const METADATA: TableDefinition<'_, &str, u64> = TableDefinition::new("about");

pub use migrate::SCHEMA;

/// Error of opening a store.
#[derive(Debug, Error)]
pub enum StoreError {
    /// In use by another process.
    #[error("store {path} is in use by another process; one process opens a store at a time")]
    InUse {
        /// Path of the store.
        path: PathBuf,
    },
    /// Written by a later version.
    #[error("store {path} has schema {found}; this version reads up to {SCHEMA}")]
    Schema {
        /// Path of the store.
        path: PathBuf,
        /// The schema found.
        found: u64,
    },
    /// The journal beside it does not fit or is damaged.
    #[error("store {path}: {err}")]
    Journal {
        /// Path of the store.
        path: PathBuf,
        /// Cause.
        err: JournalError,
    },
    /// Not a store, damaged, or an I/O error.
    #[error("open store {path}: {cause}")]
    Open {
        /// Path of the store.
        path: PathBuf,
        /// Cause.
        cause: String,
    },
}

/// A redb store with its journal.
#[derive(Debug)]
pub struct RedbStore {
    path: PathBuf,
    files: Files,
    shared: Arc<Checkpoint>,
    journal: Writing,
    /// Checkpoint in progress.
    running: Option<JoinHandle<Result<u64, StoreFault>>>,
    /// Time and cause of the last failed checkpoint.
    failed: Option<(u64, StoreFault)>,
}

/// Target of commits.
#[derive(Debug)]
enum Writing {
    /// Nowhere yet; commits that were recovered but found no space in the file.
    Not(Option<Recovered>),
    /// Into the journal.
    Journal(Box<Journal>),
    /// Into the file: its folder takes no journal.
    File,
}

/// Page cache, bytes: all documents are in the world and read once; without a bound the pages of
/// ten thousand nodes take 200 MB.
const CACHE_BYTES: usize = 32 << 20;

/// Time between two attempts to write a checkpoint on a disk without space, ns.
const RETRY_NS: u64 = 1_000_000_000;

fn journal_fault(err: &io::Error) -> StoreFault {
    StoreFault { kind: FaultKind::of(err), operation: "write the journal", cause: err.to_string() }
}

impl RedbStore {
    /// Opens a store, creating it when the file does not exist. Commits that are only in the journal
    /// are brought into the file.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_files(path, Files::default())
    }

    /// Files of the journal beside a store.
    #[must_use]
    pub fn journals(path: &Path) -> [PathBuf; 2] {
        journal::paths(path)
    }

    /// As [`Self::open`], with the changes of its files noted in `files`.
    fn open_files(path: &Path, files: Files) -> Result<Self, StoreError> {
        let failed = |cause: String| StoreError::Open { path: path.to_owned(), cause };
        let shared = Checkpoint::open(path, &files).map_err(|err| match err {
            DatabaseError::DatabaseAlreadyOpen => StoreError::InUse { path: path.to_owned() },
            other => failed(other.to_string()),
        })?;
        let schema = shared
            .with("prepare the store", migrate::prepare)
            .map_err(|fault| failed(fault.cause))?;
        if schema > SCHEMA {
            return Err(StoreError::Schema { path: path.to_owned(), found: schema });
        }
        let shared = Arc::new(shared);
        let mut store = Self {
            path: path.to_owned(),
            files,
            shared,
            journal: Writing::Not(None),
            running: None,
            failed: None,
        };
        let recovered = store.recover();
        recovered.map_err(|err| StoreError::Journal { path: path.to_owned(), err })?;
        Ok(store)
    }

    /// Brings what is only in the journal into the file.
    fn recover(&mut self) -> Result<(), JournalError> {
        let failed = |fault: StoreFault| JournalError::Io(io::Error::other(fault.to_string()));
        let state = self.shared.journal_state().map_err(failed)?;
        {
            let mut kept = self.shared.kept();
            (kept.sequence, kept.stored, kept.tick) = (state.stored, state.stored, state.tick);
        }
        if !state.is_open {
            return Ok(());
        }
        let recovered = journal::recover(&self.path, state.id, state.stored, true)?;
        let mut kept = std::mem::take(&mut *self.shared.kept());
        let shared = &self.shared;
        let before = |kept: &kept::Kept, table: &str, key: [u8; 16]| match kept.get(table, key) {
            Some(held) => Ok(held.cloned()),
            None => {
                let held = shared.row(table, key).map_err(io::Error::other)?;
                Ok(held.map(journal::Value::from))
            }
        };
        recovered.rows(&mut kept, before, |kept, sequence, table, key, value| {
            kept.put(table, key, value, sequence);
        })?;
        if let Some((sequence, tick)) = recovered.last() {
            (kept.sequence, kept.tick) = (sequence, tick);
        }
        *self.shared.kept() = kept;
        match self.shared.write(false) {
            Ok(_) => journal::remove(&self.path, &self.files)?,
            Err(fault) if fault.kind.may_pass() => self.journal = Writing::Not(Some(recovered)),
            Err(fault) => return Err(failed(fault)),
        }
        Ok(())
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        if !path.is_file() {
            return Err(StoreError::Open {
                path: path.to_owned(),
                cause: "there is no such file".to_owned(),
            });
        }
        Self::open(path)
    }

    /// A function for the tick of the last commit, usable after the store moved into the world.
    pub fn probe(&self) -> impl Fn() -> Result<u64, StoreFault> + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move || {
            shared.journal_state()?;
            Ok(shared.kept().tick)
        }
    }

    /// A function that copies the planned documents of the last commit into a new file, during
    /// writes; accounts, secrets and fleet nodes are left out.
    pub fn copier(&self) -> impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move |to: &Path| shared.copy(to, false)
    }

    /// As [`RedbStore::copier`], with accounts, secrets and fleet nodes.
    pub fn whole_copier(&self) -> impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + use<> {
        let shared = Arc::clone(&self.shared);
        move |to: &Path| shared.copy(to, true)
    }

    /// Bytes written to the files of the store since it was opened.
    pub fn written_bytes(&self) -> impl Fn() -> u64 + Send + Sync + use<> {
        let files = self.files.clone();
        move || files.written_bytes()
    }

    /// Number of documents that [`RedbStore::copier`] leaves out.
    ///
    /// # Errors
    /// I/O errors.
    pub fn private_documents(&self) -> Result<usize, StoreFault> {
        let rows = self.shared.rows()?;
        let private = |row: &&Row| migrate::PRIVATE.contains(&row.table.as_str());
        Ok(rows.iter().filter(private).count())
    }

    /// The tick of the last commit, 0 when there was none.
    ///
    /// # Errors
    /// I/O errors.
    pub fn last_tick(&self) -> Result<u64, StoreFault> {
        Ok(self.shared.kept().tick)
    }

    /// Opens the journal for writing.
    fn begin(&mut self) -> Result<(), StoreFault> {
        let Writing::Not(recovered) = &self.journal else {
            return Ok(());
        };
        let state = self.shared.journal_state()?;
        let mut id = state.id;
        if id == 0 {
            let fresh = random::<8>().map_err(|err| journal_fault(&io::Error::other(err)))?;
            id = u64::from_le_bytes(fresh).max(1);
        }
        match Journal::open(&self.path, &self.files, id, recovered.as_ref()) {
            Ok(journal) => {
                // The journal is there before the file says so.
                if !state.is_open {
                    self.shared.begin_journal(id)?;
                }
                self.journal = Writing::Journal(Box::new(journal));
            }
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied && recovered.is_none() => {
                tracing::warn!(%err, store = %self.path.display(), "the folder takes no journal: each commit goes into the file");
                self.journal = Writing::File;
            }
            Err(err) => return Err(journal_fault(&err)),
        }
        Ok(())
    }

    /// Takes over what a checkpoint in the background came to, waiting for it if `wait`.
    fn reap(&mut self, wait: bool) -> Result<(), StoreFault> {
        let ended = self.running.take_if(|running| wait || running.is_finished());
        let Some(ended) = ended else { return Ok(()) };
        let outcome = ended.join().unwrap_or_else(|_| {
            Err(StoreFault {
                kind: FaultKind::Failed,
                operation: "write a checkpoint",
                cause: "it panicked".to_owned(),
            })
        });
        self.checkpointed(outcome)
    }

    fn checkpointed(&mut self, outcome: Result<u64, StoreFault>) -> Result<(), StoreFault> {
        match outcome {
            Ok(rows_bytes) => {
                self.failed = None;
                if let Writing::Journal(journal) = &mut self.journal {
                    journal.set_rows_bytes(rows_bytes);
                }
                Ok(())
            }
            Err(fault) if fault.kind.may_pass() => {
                self.failed = Some((monotonic_ns(), fault));
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    /// Makes the file have every commit, now.
    fn catch_up(&mut self) -> Result<(), StoreFault> {
        if self.running.is_some() {
            self.reap(true)?;
        } else if self.failed_recently().is_none() {
            let outcome = self.shared.write(true);
            self.checkpointed(outcome)?;
        }
        match &self.failed {
            Some((_, fault)) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    /// Failure of the last attempt to find space, unless it is time for another one.
    fn failed_recently(&self) -> Option<StoreFault> {
        let now_ns = monotonic_ns();
        let (at_ns, fault) = self.failed.as_ref()?;
        (now_ns.saturating_sub(*at_ns) < RETRY_NS).then(|| fault.clone())
    }

    /// Makes sure that the journal has space for such a payload, or for a tick.
    fn make_space(&mut self, payload: u64) -> Result<bool, StoreFault> {
        if let Writing::Not(_) = self.journal {
            if let Some(fault) = self.failed_recently() {
                return Err(fault);
            }
            let begun = self.begin();
            self.failed = begun.clone().err().map(|fault| (monotonic_ns(), fault));
            begun?;
        }
        self.reap(false)?;
        for attempt in 0..2 {
            let stored = self.shared.kept().stored;
            let Writing::Journal(journal) = &mut self.journal else {
                return Ok(true);
            };
            if journal.has_space(payload, stored) {
                let is_settled = journal.is_settled(stored);
                self.catch_up_behind(is_settled)?;
                return Ok(true);
            }
            if attempt == 0 {
                self.catch_up()?;
            }
        }
        Ok(false)
    }

    /// Lets the file catch up in the background once a segment is full.
    fn catch_up_behind(&mut self, is_settled: bool) -> Result<(), StoreFault> {
        if is_settled || self.failed_recently().is_some() || self.running.is_some() {
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("checkpoint".to_owned());
        let started = thread.spawn(move || shared.write(true));
        self.running = Some(started.map_err(|err| journal_fault(&err))?);
        Ok(())
    }

    /// Writes a commit straight into the file.
    fn write_through(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        self.reap(true)?;
        let (stored, last) = {
            let kept = self.shared.kept();
            (kept.stored, kept.sequence)
        };
        if stored < last {
            self.shared.write(true)?;
        }
        self.shared.write_through(last + 1, tick, rows)
    }
}

impl Store for RedbStore {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        let rows = self.shared.rows()?;
        let mut kept = self.shared.kept();
        rows.iter().for_each(|row| kept.put_stored(row));
        Ok(rows)
    }

    fn space(&mut self) -> Result<(), StoreFault> {
        self.make_space(0).map(drop)
    }

    fn commit(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        self.begin()?;
        if matches!(self.journal, Writing::File) {
            return self.write_through(tick, rows);
        }
        let payload = {
            let kept = self.shared.kept();
            let before = |row: &Row| kept.get(&row.table, row.key).flatten().map(|held| &**held);
            Journal::encode(rows, before).map_err(|err| journal_fault(&err))?
        };
        let fits = |journal: &Writing| match journal {
            Writing::Journal(journal) => journal.fits(payload.len()),
            _ => false,
        };
        if !fits(&self.journal) {
            self.make_space(payload.len() as u64)?;
        }
        if !fits(&self.journal) {
            return self.write_through(tick, rows);
        }
        let sequence = self.shared.kept().sequence + 1;
        if let Writing::Journal(journal) = &mut self.journal {
            let appended = journal.append(sequence, tick, payload);
            appended.map_err(|err| journal_fault(&err))?;
        }
        self.shared.kept().commit(sequence, tick, rows);
        Ok(())
    }
}

impl Drop for RedbStore {
    /// Brings everything into the file and removes the journal; what that cannot do, the next start does.
    fn drop(&mut self) {
        let reaped = self.reap(true);
        if !matches!(self.journal, Writing::Journal(_)) {
            return;
        }
        let closed =
            reaped.and_then(|()| self.shared.write(false)).map_err(|fault| fault.to_string());
        let removed = closed
            .and_then(|_| journal::remove(&self.path, &self.files).map_err(|err| err.to_string()));
        if let Err(err) = removed {
            tracing::warn!(err, store = %self.path.display(), "the journal stays beside the store");
        }
    }
}
