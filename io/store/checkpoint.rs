//! The redb file: checkpoint of the journal.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundwave_engine::{FaultKind, Row, StoreFault};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, WriteTransaction};

use super::kept::{Dirty, Kept};
use super::{CACHE_BYTES, DOCUMENTS, METADATA, migrate};
use crate::files::Files;
use crate::files::reopened::ReopenedDatabase;

/// Number of the last commit in the file; commits after it are in the journal.
const SEQUENCE: &str = "sequence";
/// Identity of the journal that belongs to the file.
const JOURNAL: &str = "journal";
/// 1 while commits may be in the journal only.
const OPEN: &str = "open";

/// State of the journal as the file has it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JournalState {
    pub id: u64,
    pub stored: u64,
    pub tick: u64,
    pub is_open: bool,
}

/// The file and the rows it does not have yet, shared with those who read it.
#[derive(Debug)]
pub(super) struct Checkpoint {
    database: ReopenedDatabase,
    kept: Mutex<Kept>,
}

/// A failure of the file as one of the store.
pub(super) fn fault(operation: &'static str, err: &redb::Error) -> StoreFault {
    let kind = match err {
        redb::Error::Io(err) => FaultKind::of(err),
        _ => FaultKind::Failed,
    };
    let cause = err.to_string();
    StoreFault { kind, operation, cause }
}

impl Checkpoint {
    /// Opens the file, creating it when there is none.
    pub fn open(path: &Path, files: &Files) -> Result<Self, DatabaseError> {
        Ok(Self {
            database: ReopenedDatabase::open(path, files, CACHE_BYTES)?,
            kept: Mutex::default(),
        })
    }

    /// Rows in memory.
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the file. After a failure it is opened again.
    pub fn with<T>(
        &self,
        operation: &'static str,
        work: impl Fn(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, StoreFault> {
        let done = self.database.with(work);
        done.map_err(|err| fault(operation, &err))
    }

    /// State of the journal by the file.
    pub fn journal_state(&self) -> Result<JournalState, StoreFault> {
        self.with("read the store", |database| {
            let metadata = database.begin_read()?.open_table(METADATA)?;
            let word = |key: &str| -> Result<u64, redb::Error> {
                Ok(metadata.get(key)?.map_or(0, |held| held.value()))
            };
            Ok(JournalState {
                id: word(JOURNAL)?,
                stored: word(SEQUENCE)?,
                tick: word("tick")?,
                is_open: word(OPEN)? == 1,
            })
        })
    }

    /// Notes that commits may be in the journal `id` only from now on.
    pub fn begin_journal(&self, id: u64) -> Result<(), StoreFault> {
        self.with("begin the journal", |database| {
            let write = database.begin_write()?;
            {
                let mut metadata = write.open_table(METADATA)?;
                metadata.insert(JOURNAL, id)?;
                metadata.insert(OPEN, 1)?;
            }
            Ok(write.commit()?)
        })
    }

    /// Writes all rows that the file does not have; `is_open` when the journal goes on. Returns the
    /// bytes of their values.
    pub fn write(&self, is_open: bool) -> Result<u64, StoreFault> {
        let dirty = self.kept().dirty();
        self.with("commit to the store", |database| {
            // redb's default durability is immediate: commit returns after fsync.
            let write = database.begin_write()?;
            put(&write, &dirty)?;
            write.open_table(METADATA)?.insert(OPEN, u64::from(is_open))?;
            Ok(write.commit()?)
        })?;
        self.kept().store_has(dirty.sequence);
        Ok(dirty.bytes)
    }

    /// Writes one commit straight into the file, which has all before it.
    pub fn write_through(&self, sequence: u64, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        self.with("commit to the store", |database| {
            let write = database.begin_write()?;
            {
                let mut documents = write.open_table(DOCUMENTS)?;
                for row in rows {
                    let key = (row.table.as_str(), row.key);
                    match &row.value {
                        Some(value) => documents.insert(key, value.as_slice())?,
                        None => documents.remove(key)?,
                    };
                }
                let mut metadata = write.open_table(METADATA)?;
                metadata.insert("tick", tick)?;
                metadata.insert(SEQUENCE, sequence)?;
            }
            Ok(write.commit()?)
        })?;
        let mut kept = self.kept();
        kept.commit(sequence, tick, rows);
        kept.store_has(sequence);
        Ok(())
    }

    /// All rows as of the last commit.
    pub fn rows(&self) -> Result<Vec<Row>, StoreFault> {
        let stored = self.with("load the store", |database| {
            let documents = database.begin_read()?.open_table(DOCUMENTS)?;
            let mut rows = Vec::new();
            for entry in documents.iter()? {
                let (key, value) = entry?;
                let (table, key) = key.value();
                let value = Some(value.value().to_owned());
                rows.push(Row { table: table.to_owned(), key, value });
            }
            Ok(rows)
        })?;
        Ok(self.kept().over(stored))
    }

    /// Value of a row in the file.
    pub fn row(&self, table: &str, key: [u8; 16]) -> Result<Option<Vec<u8>>, StoreFault> {
        self.with("read the store", |database| {
            let documents = database.begin_read()?.open_table(DOCUMENTS)?;
            Ok(documents.get((table, key))?.map(|held| held.value().to_vec()))
        })
    }

    /// Copies the documents of the last commit into a new file; without `private`, planned ones only.
    pub fn copy(&self, to: &Path, private: bool) -> Result<(), StoreFault> {
        // Rows in memory are newer than those of the file, or the same: the order does not matter.
        let kept = self.kept();
        let (dirty, tick) = (kept.dirty(), kept.tick);
        let read = self.with("copy the store", |database| Ok(database.begin_read()?));
        drop(kept);
        let copied = read.map(|read| migrate::copy(&read, &dirty, tick, to, private))?;
        copied.map_err(|err| fault("copy the store", &err))
    }
}

/// Puts rows and the number of the last commit into a transaction.
pub(super) fn put(write: &WriteTransaction, dirty: &Dirty) -> Result<(), redb::Error> {
    let mut documents = write.open_table(DOCUMENTS)?;
    for (table, key, value) in &dirty.rows {
        let key = (table.as_str(), *key);
        match value {
            Some(value) => documents.insert(key, &**value)?,
            None => documents.remove(key)?,
        };
    }
    let mut metadata = write.open_table(METADATA)?;
    metadata.insert("tick", dirty.tick)?;
    metadata.insert(SEQUENCE, dirty.sequence)?;
    Ok(())
}
