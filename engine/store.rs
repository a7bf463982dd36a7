//! Durable rows: the state that survives a restart.
//!
//! A [`Document`] is the durable form of one kind of entity. The engine collects the documents that
//! changed in a tick and hands them to the [`Store`] in one commit, before any reply of that tick
//! leaves: an acknowledged write is on disk.

use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryFilter;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::{Id, Index, Kind, Refusal};

/// One change of one document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// [`Document::TABLE`].
    pub table: String,
    /// The id's 16 bytes, big-endian: tables iterate in id order.
    pub key: [u8; 16],
    /// The document as named msgpack, or `None` when it is gone.
    pub value: Option<Vec<u8>>,
}

/// Kind of a failure of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// No space on the disk or in a quota: the same commit may succeed later.
    Full,
    /// The file system is read-only: the same commit may succeed later.
    ReadOnly,
    /// Any other failure. The state of the file is unknown until it is opened again.
    Failed,
}

impl FaultKind {
    /// Kind of an error of the operating system.
    #[must_use]
    pub fn of(err: &std::io::Error) -> Self {
        match err.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            std::io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Failed,
        }
    }

    /// True when the same write may succeed later.
    #[must_use]
    pub const fn may_pass(self) -> bool {
        matches!(self, Self::Full | Self::ReadOnly)
    }
}

/// Failure of the store; its source is in the text, because it is only shown.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{operation}: {cause}")]
pub struct StoreFault {
    /// Kind of the failure.
    pub kind: FaultKind,
    /// Operation that failed.
    pub operation: &'static str,
    /// Cause of the failure.
    pub cause: String,
}

/// Storage of rows.
pub trait Store: Send {
    /// All rows, by table and key.
    ///
    /// # Errors
    /// When they cannot be read.
    fn load(&mut self) -> Result<Vec<Row>, StoreFault>;
    /// Makes sure that a commit has space; called before commands are applied, so that commands
    /// without space are refused and change nothing.
    ///
    /// # Errors
    /// A fault that [may pass](FaultKind::may_pass) while there is no space; any other ends the world.
    fn space(&mut self) -> Result<(), StoreFault> {
        Ok(())
    }
    /// Writes the rows of one tick in one transaction that survives a power cut.
    ///
    /// # Errors
    /// When durability cannot be guaranteed; then none of them was written.
    fn commit(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault>;
}

/// A store that keeps nothing: for runs without durable state.
#[derive(Debug, Default)]
pub struct NullStore;

impl Store for NullStore {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        Ok(Vec::new())
    }
    fn commit(&mut self, _: u64, _: &[Row]) -> Result<(), StoreFault> {
        Ok(())
    }
}

/// Durable form of one kind of entity.
pub trait Document: Serialize + DeserializeOwned + Send + 'static {
    /// Name of the table of its rows.
    const TABLE: &'static str;
    /// The kind whose ids are the keys.
    type Kind: Kind;
    /// Filter of the entities that may have changed, for example `Or<(Changed<Position>,
    /// Changed<Name>)>`.
    type Changed: QueryFilter + 'static;
    /// `true` if an entity of the kind has this document at all; kinds may have several.
    fn shows(entity: EntityRef<'_>) -> bool {
        let _ = entity;
        true
    }
    /// Reads the document off an entity of `world`.
    fn read(world: &World, entity: EntityRef<'_>) -> Self;
    /// Brings the entity back at start.
    ///
    /// # Errors
    /// When the document contradicts what is already there.
    fn restore(self, id: Id<Self::Kind>, world: &mut World) -> Result<(), Refusal>;
}

pub(crate) type Collect = Box<dyn FnMut(&mut World, &mut Vec<Row>) + Send>;
pub(crate) type Restore = fn(&mut World, &Row) -> Result<(), String>;

/// Collects the rows of `D` that changed since the world's trackers were cleared.
pub(crate) fn collector<D: Document>(world: &mut World) -> Collect {
    let mut query = world.query_filtered::<(&Id<D::Kind>, EntityRef), D::Changed>();
    Box::new(move |world, rows| {
        let first = rows.len();
        let departures = world.resource::<Index<D::Kind>>().departed();
        rows.extend(departures.iter().map(|id| row::<D>(*id, None)));
        for (id, entity) in query.iter(world) {
            let document = rmp_serde::to_vec_named(&D::read(world, entity));
            rows.push(row::<D>(*id, Some(document.expect("a document is plain data"))));
        }
        // Departures sort before arrivals of the same id: one that left and came back is there.
        rows[first..].sort_by_key(|row| (row.key, row.value.is_some()));
    })
}

fn row<D: Document>(id: Id<D::Kind>, value: Option<Vec<u8>>) -> Row {
    Row { table: D::TABLE.to_owned(), key: id.as_u128().to_be_bytes(), value }
}

pub(crate) fn restorer<D: Document>(world: &mut World, row: &Row) -> Result<(), String> {
    let id = Id::new(uuid::Uuid::from_bytes(row.key));
    let value = row.value.as_deref().ok_or("a loaded row has no value")?;
    let document: D = rmp_serde::from_slice(value).map_err(|err| err.to_string())?;
    document.restore(id, world).map_err(|err| err.to_string())
}
