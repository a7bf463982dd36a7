//! Checkpoints: the whole state of a world between two ticks, from which it goes on as if it had
//! come there itself.
//!
//! Only what nothing else follows from is kept: [documents](crate::Document) and, for what is no
//! document, [`State`]. Everything derived is computed anew when a checkpoint is taken up; systems
//! make it from the same state, so it comes to the same bits. For that they run once more at the
//! tick of the checkpoint. A system that changes the state whenever it runs, instead of making it
//! follow from the state and the clock, is found out by that: such a checkpoint does not fit.

use std::io;

use bevy_ecs::prelude::World;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::{CHECKPOINT_BYTES_MAX, CHECKPOINT_PART_BYTES};
use crate::log::bytes;
use crate::store::{Document, Row};
use crate::{Id, Index, Refusal};

/// A part of the state of a world that nothing else follows from, and that is no document: walks
/// under way, memories of thresholds, settings.
///
/// Tables are taken up in the order their features moved in, documents among them.
pub trait State: Serialize + DeserializeOwned + 'static {
    /// Name of the table; no document has it.
    const TABLE: &'static str;
    /// Reads it off the world.
    fn save(world: &World) -> Self;
    /// Brings it into a world that is fresh but for earlier tables.
    ///
    /// # Errors
    /// When it contradicts what is already there.
    fn restore(self, world: &mut World) -> Result<(), Refusal>;
}

pub(crate) type Save = fn(&World) -> Result<Vec<Row>, String>;

/// Everything of a world that a document of kind `D` keeps, in id order.
pub(crate) fn save_documents<D: Document>(world: &World) -> Result<Vec<Row>, String> {
    let index = world.resource::<Index<D::Kind>>();
    let row = |(id, entity): (Id<D::Kind>, _)| {
        let document = D::read(world, world.entity(entity));
        let value = rmp_serde::to_vec_named(&document).map_err(|err| err.to_string())?;
        Ok(Row {
            table: D::TABLE.to_owned(),
            key: id.as_u128().to_be_bytes(),
            value: Some(value),
        })
    };
    let shows = |(_, entity): &(Id<D::Kind>, _)| D::shows(world.entity(*entity));
    index.iter().filter(shows).map(row).collect()
}

pub(crate) fn save_state<T: State>(world: &World) -> Result<Vec<Row>, String> {
    let value = rmp_serde::to_vec_named(&T::save(world)).map_err(|err| err.to_string())?;
    Ok(vec![Row {
        table: T::TABLE.to_owned(),
        key: [0; 16],
        value: Some(value),
    }])
}

pub(crate) fn restore_state<T: State>(world: &mut World, row: &Row) -> Result<(), String> {
    let value = row.value.as_deref().ok_or("a saved row has no value")?;
    let state: T = rmp_serde::from_slice(value).map_err(|err| err.to_string())?;
    state.restore(world).map_err(|err| err.to_string())
}

/// A part of a checkpoint, as a log holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The tick that had just ended.
    pub tick: u64,
    /// The how-manieth part it is, from 0.
    pub number: u32,
    /// Whether it is the last.
    pub last: bool,
    /// At most [`CHECKPOINT_PART_BYTES`] of the checkpoint's msgpack.
    #[serde(with = "bytes")]
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
struct Kept(
    #[serde(with = "bytes")] Vec<u8>,
    #[serde(with = "bytes")] Vec<u8>,
);

impl Checkpoint {
    pub(crate) fn new(tick: u64, wall_ns: u64, rows: Vec<Row>) -> Self {
        let mut tables: Vec<Table> = Vec::new();
        for row in rows {
            let kept = Kept(row.key.to_vec(), row.value.unwrap_or_default());
            match tables.last_mut().filter(|table| table.0 == row.table) {
                Some(table) => table.1.push(kept),
                None => tables.push(Table(row.table, vec![kept])),
            }
        }
        Self {
            tick,
            wall_ns,
            tables,
        }
    }

    /// Names of the tables and what they hold, rows and bytes.
    pub fn tables(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let bytes = |rows: &[Kept]| rows.iter().map(|row| row.1.len()).sum();
        let tables = self.tables.iter();
        tables.map(move |table| (table.0.as_str(), table.1.len(), bytes(&table.1)))
    }

    pub(crate) fn rows(&self, table: &str) -> impl Iterator<Item = Row> {
        let found = self.tables.iter().filter(move |found| found.0 == table);
        found
            .flat_map(|table| table.1.iter().map(move |kept| (&table.0, kept)))
            .map(|(table, kept)| Row {
                table: table.clone(),
                key: kept.0.as_slice().try_into().unwrap_or_default(),
                value: Some(kept.1.clone()),
            })
    }

    /// It as entries of a log.
    ///
    /// # Errors
    /// When it exceeds [`CHECKPOINT_BYTES_MAX`].
    pub fn split(&self) -> io::Result<Vec<Part>> {
        let all = rmp_serde::to_vec(self).map_err(io::Error::other)?;
        if all.len() > CHECKPOINT_BYTES_MAX {
            let what = format!(
                "a checkpoint of {} bytes; at most {CHECKPOINT_BYTES_MAX}",
                all.len()
            );
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

    /// Puts together what [`split`](Self::split) cut.
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
        let found: Self = rmp_serde::from_slice(&all).map_err(|err| err.to_string())?;
        if found.tick != tick {
            return Err(format!(
                "parts of tick {tick} make a state of tick {}",
                found.tick
            ));
        }
        Ok(found)
    }
}
