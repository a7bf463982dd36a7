//! Durable rows in redb: one file, one transaction a tick.

mod migrate;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_engine::{Row, Store, StoreFault};
use redb::{Database, DatabaseError, ReadableDatabase, ReadableTable, TableDefinition};
use thiserror::Error;

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
    /// Not a store, damaged, or an I/O error.
    #[error("open store {path}: {cause}")]
    Open {
        /// Path of the store.
        path: PathBuf,
        /// Cause.
        cause: String,
    },
}

/// A redb store.
#[derive(Debug)]
pub struct RedbStore {
    database: Arc<Database>,
}

/// Page cache, bytes: all documents are in the world and read once; without a bound the pages of
/// ten thousand nodes take 200 MB.
const CACHE_BYTES: usize = 32 << 20;

impl RedbStore {
    /// Opens a store, creating it when the file does not exist.
    ///
    /// # Errors
    /// See [`StoreError`].
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let failed = |cause: String| StoreError::Open {
            path: path.to_owned(),
            cause,
        };
        let open = Database::builder().set_cache_size(CACHE_BYTES).create(path);
        let database = open.map_err(|err| match err {
            DatabaseError::DatabaseAlreadyOpen => StoreError::InUse {
                path: path.to_owned(),
            },
            other => failed(other.to_string()),
        })?;
        let schema = migrate::prepare(&database).map_err(|err| failed(err.to_string()))?;
        if schema > SCHEMA {
            return Err(StoreError::Schema {
                path: path.to_owned(),
                found: schema,
            });
        }
        let database = Arc::new(database);
        Ok(Self { database })
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
        let database = Arc::clone(&self.database);
        move || last_tick(&database).map_err(|err| fault("read the last tick", &err))
    }

    /// A function that copies the planned documents of the last commit into a new file, during
    /// writes; accounts, secrets and fleet nodes are left out.
    pub fn copier(&self) -> impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + use<> {
        let database = Arc::clone(&self.database);
        move |to: &Path| {
            migrate::copy(&database, to, false).map_err(|err| fault("copy the store", &err))
        }
    }

    /// As [`RedbStore::copier`], with accounts, secrets and fleet nodes.
    pub fn whole_copier(&self) -> impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + use<> {
        let database = Arc::clone(&self.database);
        move |to: &Path| {
            migrate::copy(&database, to, true).map_err(|err| fault("copy the store", &err))
        }
    }

    /// The tick of the last commit, 0 when there was none.
    ///
    /// # Errors
    /// I/O errors.
    pub fn last_tick(&self) -> Result<u64, StoreFault> {
        last_tick(&self.database).map_err(|err| fault("read the last tick", &err))
    }
}

fn last_tick(database: &Database) -> Result<u64, redb::Error> {
    let metadata = database.begin_read()?.open_table(METADATA)?;
    Ok(metadata.get("tick")?.map_or(0, |tick| tick.value()))
}

fn fault(operation: &'static str, err: &redb::Error) -> StoreFault {
    StoreFault {
        operation,
        cause: err.to_string(),
    }
}

impl Store for RedbStore {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        let read = || -> Result<Vec<Row>, redb::Error> {
            let documents = self.database.begin_read()?.open_table(DOCUMENTS)?;
            let mut rows = Vec::new();
            for entry in documents.iter()? {
                let (key, value) = entry?;
                let (table, key) = key.value();
                let value = Some(value.value().to_owned());
                rows.push(Row {
                    table: table.to_owned(),
                    key,
                    value,
                });
            }
            Ok(rows)
        };
        read().map_err(|err| fault("load the store", &err))
    }

    fn commit(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        let write = || -> Result<(), redb::Error> {
            // redb's default durability is immediate: commit returns after fsync.
            let write = self.database.begin_write()?;
            {
                let mut documents = write.open_table(DOCUMENTS)?;
                for row in rows {
                    let key = (row.table.as_str(), row.key);
                    match &row.value {
                        Some(value) => documents.insert(key, value.as_slice())?,
                        None => documents.remove(key)?,
                    };
                }
                write.open_table(METADATA)?.insert("tick", tick)?;
            }
            write.commit()?;
            Ok(())
        };
        write().map_err(|err| fault("commit to the store", &err))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: u8, value: Option<&[u8]>) -> Row {
        Row {
            table: "nodes".to_owned(),
            key: [key; 16],
            value: value.map(<[u8]>::to_owned),
        }
    }

    #[test]
    fn rows_come_back_in_key_order_and_removed_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.db");
        let mut store = RedbStore::open(&path).unwrap();
        assert_eq!(
            (store.load().unwrap(), store.last_tick().unwrap()),
            (vec![], 0)
        );
        store
            .commit(4, &[row(9, Some(b"nine")), row(1, Some(b"one"))])
            .unwrap();
        store
            .commit(
                5,
                &[
                    row(9, None),
                    row(5, Some(b"")),
                    row(1, None),
                    row(1, Some(b"two")),
                ],
            )
            .unwrap();
        drop(store);
        let mut store = RedbStore::open(&path).unwrap();
        assert_eq!(
            store.load().unwrap(),
            [row(1, Some(b"two")), row(5, Some(b""))]
        );
        assert_eq!(store.last_tick().unwrap(), 5);
    }

    #[test]
    fn one_process_holds_a_store_and_foreign_or_later_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.db");
        let store = RedbStore::open(&path).unwrap();
        assert!(matches!(
            RedbStore::open(&path),
            Err(StoreError::InUse { .. })
        ));
        let write = store.database.begin_write().unwrap();
        write
            .open_table(METADATA)
            .unwrap()
            .insert("schema", SCHEMA + 1)
            .unwrap();
        write.commit().unwrap();
        drop(store);
        assert!(matches!(
            RedbStore::open(&path),
            Err(StoreError::Schema { found, .. }) if found == SCHEMA + 1
        ));
        let foreign = folder.path().join("thesis.txt");
        std::fs::write(&foreign, "two years of work").unwrap();
        assert!(matches!(
            RedbStore::open(&foreign),
            Err(StoreError::Open { .. })
        ));
        assert_eq!(
            std::fs::read_to_string(&foreign).unwrap(),
            "two years of work"
        );
    }
}
