//! Layouts of the store and their migrations.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::{DOCUMENTS, METADATA};

/// Version of the layout that is written.
///
/// 1. Nodes.
/// 2. Deployments and templates; nodes may say which deployment they are planned in.
pub const SCHEMA: u64 = 2;

type Migration = fn(&WriteTransaction) -> Result<(), redb::Error>;

/// `MIGRATIONS[i]` brings layout `i + 1` to layout `i + 2`.
const MIGRATIONS: [Migration; SCHEMA as usize - 1] = [one_to_two];

/// Nodes of layout 1 are nodes of the running mesh, unchanged in layout 2. The new number keeps
/// programs of layout 1 from opening the file and dropping the deployments of its nodes.
fn one_to_two(_: &WriteTransaction) -> Result<(), redb::Error> {
    Ok(())
}

/// Brings a file to [`SCHEMA`] in one transaction and returns its layout; a file of a later one is
/// left untouched.
pub(super) fn prepare(database: &Database) -> Result<u64, redb::Error> {
    let write = database.begin_write()?;
    let found = {
        let metadata = write.open_table(METADATA)?;
        metadata.get("schema")?.map(|schema| schema.value())
    };
    if let Some(later) = found.filter(|found| *found > SCHEMA) {
        write.abort()?;
        return Ok(later);
    }
    let from = found.unwrap_or(SCHEMA);
    for migration in &MIGRATIONS[(from.max(1) - 1) as usize..] {
        migration(&write)?;
    }
    if found != Some(SCHEMA) {
        write.open_table(METADATA)?.insert("schema", SCHEMA)?;
    }
    write.open_table(DOCUMENTS)?;
    write.commit()?;
    Ok(SCHEMA)
}

/// Tables of accounts, credentials and fleet nodes: left out of the copies of the planning server.
const PRIVATE: [&str; 7] = [
    "accounts",
    "denials",
    "registrations",
    "leases",
    "trust",
    "trusted_macs",
    "fleet",
];

/// Copies the documents of the last commit into a new file; without `private`, planned ones only.
pub(super) fn copy(from: &Database, to: &Path, private: bool) -> Result<(), redb::Error> {
    let read = from.begin_read()?;
    let copy = Database::create(to)?;
    let write = copy.begin_write()?;
    {
        let mut documents = write.open_table(DOCUMENTS)?;
        for entry in read.open_table(DOCUMENTS)?.iter()? {
            let (key, value) = entry?;
            if private || !PRIVATE.contains(&key.value().0) {
                documents.insert(key.value(), value.value())?;
            }
        }
        let mut metadata = write.open_table(METADATA)?;
        for entry in read.open_table(METADATA)?.iter()? {
            let (key, value) = entry?;
            metadata.insert(key.value(), value.value())?;
        }
    }
    write.commit()?;
    Ok(())
}
