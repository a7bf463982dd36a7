//! Layouts of the store, and the way from each to the next.

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::{ABOUT, DOCUMENTS};

/// Version of the layout this code writes.
///
/// 1. Nodes.
/// 2. Deployments and templates; nodes may say which deployment they are planned in.
pub const SCHEMA: u64 = 2;

type Migration = fn(&WriteTransaction) -> Result<(), redb::Error>;

/// `MIGRATIONS[i]` brings layout `i + 1` to layout `i + 2`.
const MIGRATIONS: [Migration; SCHEMA as usize - 1] = [one_to_two];

/// Nodes of layout 1 are nodes of the running mesh, which layout 2 writes the same way. What the
/// new number buys is that a program of layout 1 no longer opens the file: it would drop the
/// deployments its nodes belong to.
fn one_to_two(_: &WriteTransaction) -> Result<(), redb::Error> {
    Ok(())
}

/// Brings a file to [`SCHEMA`] in one transaction and returns its layout; a file of a later one is
/// left untouched.
pub(super) fn prepare(database: &Database) -> Result<u64, redb::Error> {
    let write = database.begin_write()?;
    let found = {
        let about = write.open_table(ABOUT)?;
        about.get("schema")?.map(|schema| schema.value())
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
        write.open_table(ABOUT)?.insert("schema", SCHEMA)?;
    }
    write.open_table(DOCUMENTS)?;
    write.commit()?;
    Ok(SCHEMA)
}

/// Tables whose rows say who may do what, or hold what proves it: never part of a copy that is
/// handed to whoever asks the planning server.
const PRIVATE: [&str; 7] = [
    "accounts",
    "denials",
    "registrations",
    "leases",
    "trust",
    "trusted_macs",
    "fleet",
];

/// Copies what is planned, and with `private` everything, as of the last commit, into a new file.
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
        let mut about = write.open_table(ABOUT)?;
        for entry in read.open_table(ABOUT)?.iter()? {
            let (key, value) = entry?;
            about.insert(key.value(), value.value())?;
        }
    }
    write.commit()?;
    Ok(())
}
