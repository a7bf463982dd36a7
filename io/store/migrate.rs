//! Layouts of the store and their migrations.

use std::path::Path;

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, WriteTransaction};

use super::kept::Dirty;
use super::{DOCUMENTS, METADATA};

/// Version of the layout that is written.
///
/// 1. Nodes.
/// 2. Deployments and templates; nodes may say which deployment they are planned in.
/// 3. The last commits may be in a journal beside the file.
/// 4. Nodes of the fleet have their samples in short form; rows of the journal may be in short form.
pub const SCHEMA: u64 = 4;

type Migration = fn(&WriteTransaction) -> Result<(), redb::Error>;

/// `MIGRATIONS[i]` brings layout `i + 1` to layout `i + 2`.
const MIGRATIONS: [Migration; SCHEMA as usize - 1] = [unchanged, unchanged, unchanged];

/// Documents stay as they are. The new number keeps programs of layout 1 from dropping the deployments
/// of nodes, those of layout 2 from missing the commits in the journal, and those of layout 3 from
/// taking samples for malformed.
fn unchanged(_: &WriteTransaction) -> Result<(), redb::Error> {
    Ok(())
}

/// Brings a file to [`SCHEMA`] in one transaction and returns its layout; a file of a later one is
/// left untouched.
pub(super) fn prepare(database: &Database) -> Result<u64, redb::Error> {
    // A file that is as it should be is opened without a write, which a full disk may not have space for.
    if current(database).unwrap_or(false) {
        return Ok(SCHEMA);
    }
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

/// True when a file has this layout.
fn current(database: &Database) -> Result<bool, redb::Error> {
    let read = database.begin_read()?;
    read.open_table(DOCUMENTS)?;
    let schema = read.open_table(METADATA)?.get("schema")?;
    Ok(schema.is_some_and(|schema| schema.value() == SCHEMA))
}

/// Tables of accounts, credentials and fleet nodes: left out of the copies of the planning server.
pub(super) const PRIVATE: [&str; 7] =
    ["accounts", "denials", "registrations", "leases", "trust", "trusted_macs", "fleet"];

/// Copies documents into a new file, with the rows that are not in it yet; without `private`, planned
/// ones only. The copy has no journal.
pub(super) fn copy(
    from: &ReadTransaction,
    dirty: &Dirty,
    tick: u64,
    to: &Path,
    private: bool,
) -> Result<(), redb::Error> {
    let copy = Database::create(to)?;
    let write = copy.begin_write()?;
    {
        let mut documents = write.open_table(DOCUMENTS)?;
        let shown = |table: &str| private || !PRIVATE.contains(&table);
        for entry in from.open_table(DOCUMENTS)?.iter()? {
            let (key, value) = entry?;
            if shown(key.value().0) {
                documents.insert(key.value(), value.value())?;
            }
        }
        for (table, key, value) in dirty.rows.iter().filter(|(table, ..)| shown(table)) {
            let key = (table.as_str(), *key);
            match value {
                Some(value) => documents.insert(key, &**value)?,
                None => documents.remove(key)?,
            };
        }
        let mut metadata = write.open_table(METADATA)?;
        metadata.insert("schema", SCHEMA)?;
        metadata.insert("tick", tick)?;
    }
    write.commit()?;
    Ok(())
}
