//! Rows in memory: those that the store does not have yet, and the last values of others, from which
//! the next ones are told in the journal.

use std::collections::BTreeMap;

use groundwave_engine::Row;

use super::journal::Value;

/// Bytes of values of which the store has the same; beyond it they are forgotten, and the next value
/// of each row is written whole.
const BASES_BYTES_MAX: usize = 64 << 20;

/// The last value of a row.
#[derive(Debug)]
struct Held {
    value: Option<Value>,
    /// Commit that changed it; 0 when the store has it.
    sequence: u64,
}

/// Rows in memory.
#[derive(Debug, Default)]
pub(super) struct Kept {
    tables: BTreeMap<String, BTreeMap<[u8; 16], Held>>,
    bytes: usize,
    /// Number of the last commit.
    pub sequence: u64,
    /// Number of the last commit that the store has.
    pub stored: u64,
    /// Tick of the last commit.
    pub tick: u64,
}

/// Rows that the store does not have.
#[derive(Debug)]
pub(super) struct Dirty {
    /// The rows.
    pub rows: Vec<(String, [u8; 16], Option<Value>)>,
    /// Number of the last commit.
    pub sequence: u64,
    /// Tick of the last commit.
    pub tick: u64,
    /// Bytes of all values.
    pub bytes: u64,
}

fn bytes_of(value: Option<&Value>) -> usize {
    value.map_or(0, |value| value.len())
}

impl Kept {
    /// The value of a row, if it is in memory: `Some(None)` is a row that is gone.
    pub fn get(&self, table: &str, key: [u8; 16]) -> Option<Option<&Value>> {
        let held = self.tables.get(table)?.get(&key)?;
        Some(held.value.as_ref())
    }

    /// Sets a row; `sequence` is 0 when the store has it.
    pub fn put(&mut self, table: &str, key: [u8; 16], value: Option<Value>, sequence: u64) {
        if !self.tables.contains_key(table) {
            self.tables.insert(table.to_owned(), BTreeMap::new());
        }
        let Some(rows) = self.tables.get_mut(table) else {
            return;
        };
        self.bytes += bytes_of(value.as_ref());
        if let Some(before) = rows.insert(key, Held { value, sequence }) {
            self.bytes -= bytes_of(before.value.as_ref());
        }
    }

    /// Takes over a row of the store, as long as there is space for it.
    pub fn put_stored(&mut self, row: &Row) {
        let Some(value) = &row.value else { return };
        if self.bytes + value.len() <= BASES_BYTES_MAX && self.get(&row.table, row.key).is_none() {
            self.put(&row.table, row.key, Some(value.as_slice().into()), 0);
        }
    }

    /// Sets rows of one commit.
    pub fn commit(&mut self, sequence: u64, tick: u64, rows: &[Row]) {
        for row in rows {
            let value = row.value.as_deref().map(Value::from);
            self.put(&row.table, row.key, value, sequence);
        }
        (self.sequence, self.tick) = (sequence, tick);
    }

    /// Rows that the store does not have.
    pub fn dirty(&self) -> Dirty {
        let mut rows = Vec::new();
        let mut bytes = 0;
        for (table, held) in &self.tables {
            for (key, held) in held.iter().filter(|(_, held)| held.sequence > self.stored) {
                bytes += bytes_of(held.value.as_ref()) as u64;
                rows.push((table.clone(), *key, held.value.clone()));
            }
        }
        let (sequence, tick) = (self.sequence, self.tick);
        Dirty { rows, sequence, tick, bytes }
    }

    /// Notes that the store has all commits up to `sequence`.
    pub fn store_has(&mut self, sequence: u64) {
        self.stored = sequence;
        let forget = self.bytes > BASES_BYTES_MAX;
        let mut bytes = 0;
        for rows in self.tables.values_mut() {
            rows.retain(|_, held| {
                let stored = held.sequence <= sequence;
                if stored {
                    held.sequence = 0;
                }
                let keep = !stored || (held.value.is_some() && !forget);
                bytes += if keep { bytes_of(held.value.as_ref()) } else { 0 };
                keep
            });
        }
        self.bytes = bytes;
    }

    /// All rows whose last change the store does not have, over those that it has.
    pub fn over(&self, stored: Vec<Row>) -> Vec<Row> {
        let dirty = self.dirty();
        if dirty.rows.is_empty() {
            return stored;
        }
        let place = |row: Row| ((row.table, row.key), row.value);
        let mut all: BTreeMap<_, _> = stored.into_iter().map(place).collect();
        for (table, key, value) in dirty.rows {
            match value {
                Some(value) => all.insert((table, key), Some(value.to_vec())),
                None => all.remove(&(table, key)),
            };
        }
        let row = |((table, key), value)| Row { table, key, value };
        all.into_iter().map(row).collect()
    }
}
