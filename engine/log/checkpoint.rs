//! Checkpoints in a log: the state of a world between two ticks, cut into entries and joined again.

use std::io;

use serde::{Deserialize, Serialize};

use crate::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINT_PART_BYTES};
use crate::store::Row;

/// A part of a checkpoint, as a log holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The tick that had just ended.
    pub tick: u64,
    /// Index of the part, from 0.
    pub number: u32,
    /// `true` if it is the last part.
    pub last: bool,
    /// At most [`CHECKPOINT_PART_BYTES`] of the checkpoint's msgpack.
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}

/// The state of a world at the end of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The tick that had just ended.
    pub tick: u64,
    /// [`Clock::wall_ns`](crate::Clock::wall_ns) of that tick.
    pub wall_ns: u64,
    /// Tables in the order they are taken up.
    tables: Vec<Table>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Table(String, Vec<Kept>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept(#[serde(with = "serde_bytes")] Vec<u8>, #[serde(with = "serde_bytes")] Vec<u8>);

impl Checkpoint {
    pub(crate) fn new(tick: u64, wall_ns: u64, rows: Vec<Row>) -> Self {
        let mut tables: Vec<Table> = Vec::new();
        for row in rows {
            let entry = Kept(row.key.to_vec(), row.value.unwrap_or_default());
            match tables.last_mut().filter(|table| table.0 == row.table) {
                Some(table) => table.1.push(entry),
                None => tables.push(Table(row.table, vec![entry])),
            }
        }
        Self { tick, wall_ns, tables }
    }

    /// Names of the tables and what they hold, rows and bytes.
    pub fn tables(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let bytes = |rows: &[Kept]| rows.iter().map(|row| row.1.len()).sum();
        let tables = self.tables.iter();
        tables.map(move |table| (table.0.as_str(), table.1.len(), bytes(&table.1)))
    }

    pub(crate) fn rows(&self, table: &str) -> impl Iterator<Item = Row> {
        let tables = self.tables.iter().filter(move |candidate| candidate.0 == table);
        tables.flat_map(|table| table.1.iter().map(move |entry| (&table.0, entry))).map(
            |(table, entry)| Row {
                table: table.clone(),
                key: entry.0.as_slice().try_into().unwrap_or_default(),
                value: Some(entry.1.clone()),
            },
        )
    }

    /// The checkpoint as entries of a log.
    ///
    /// # Errors
    /// When it exceeds [`CHECKPOINT_BYTES_MAX`].
    pub fn split(&self) -> io::Result<Vec<Part>> {
        let all = rmp_serde::to_vec(self).map_err(io::Error::other)?;
        if all.len() > CHECKPOINT_BYTES_MAX {
            let what =
                format!("a checkpoint of {} bytes; at most {CHECKPOINT_BYTES_MAX}", all.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let count = all.len().div_ceil(CHECKPOINT_PART_BYTES);
        let pieces = all.chunks(CHECKPOINT_PART_BYTES).zip(0..);
        Ok(pieces
            .map(|(body, number)| Part {
                tick: self.tick,
                number,
                last: number as usize + 1 == count,
                body: body.to_vec(),
            })
            .collect())
    }

    /// Joins the parts made by [`split`](Self::split).
    ///
    /// # Errors
    /// What is wrong with the parts.
    pub fn join(parts: Vec<Part>) -> Result<Self, String> {
        let bytes: usize = parts.iter().map(|part| part.body.len()).sum();
        if bytes > CHECKPOINT_BYTES_MAX {
            return Err(format!("{bytes} bytes; at most {CHECKPOINT_BYTES_MAX}"));
        }
        let Some(tick) = parts.first().map(|part| part.tick) else {
            return Err("no parts".to_owned());
        };
        let mut all = Vec::with_capacity(bytes);
        for part in parts {
            all.extend_from_slice(&part.body);
        }
        let checkpoint: Self = rmp_serde::from_slice(&all).map_err(|err| err.to_string())?;
        if checkpoint.tick != tick {
            return Err(format!("parts of tick {tick} make a state of tick {}", checkpoint.tick));
        }
        Ok(checkpoint)
    }
}
