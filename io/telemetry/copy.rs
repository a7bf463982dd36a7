//! Copy of the history while it is written.

use std::path::Path;

use redb::{
    Database, Key, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, Value,
    WriteTransaction,
};

use super::late::LATE;
use super::topology_snapshots::TOPOLOGY_SNAPSHOTS;
use super::{ABOUT, HOURS, HistoryError, MINUTES, RAW, RECENT, TelemetryStore};

fn copy_table<K: Key + 'static, V: Value + 'static>(
    from: &ReadTransaction,
    to: &WriteTransaction,
    table: TableDefinition<'_, K, V>,
) -> Result<(), redb::Error> {
    let mut copy = to.open_table(table)?;
    for entry in from.open_table(table)?.iter()? {
        let (key, value) = entry?;
        copy.insert(key.value(), value.value())?;
    }
    Ok(())
}

/// Copies all tables into a new file.
fn copy_all(from: &ReadTransaction, to: &Path) -> Result<(), redb::Error> {
    let copy = Database::create(to)?;
    let write = copy.begin_write()?;
    copy_table(from, &write, RAW)?;
    copy_table(from, &write, RECENT)?;
    copy_table(from, &write, LATE)?;
    copy_table(from, &write, MINUTES)?;
    copy_table(from, &write, HOURS)?;
    copy_table(from, &write, ABOUT)?;
    copy_table(from, &write, TOPOLOGY_SNAPSHOTS)?;
    Ok(write.commit()?)
}

impl TelemetryStore {
    /// Copies the history as of its last commit into a new file.
    ///
    /// # Errors
    /// When a disk fails.
    pub fn copy(&self, to: &Path) -> Result<(), HistoryError> {
        self.database.with(|database| {
            let from = database.begin_read()?;
            copy_all(&from, to).map_err(HistoryError::of_copy)
        })
    }
}
