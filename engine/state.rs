//! Checkpoints: the whole state of a world between two ticks, from which it goes on as if it had
//! come there itself.
//!
//! Only what nothing else follows from is kept: [documents](crate::Document) and, for what is no
//! document, [`State`]. Everything derived is computed anew when a checkpoint is taken up; systems
//! make it from the same state, so the result has the same bits. For that they run once more at the
//! tick of the checkpoint. A system that changes the state whenever it runs, instead of making it
//! follow from the state and the clock, is detected by that: such a checkpoint does not fit.

use bevy_ecs::prelude::World;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::store::{Collect, Document, Restore, Row};
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
    /// `true` if it is that of a fresh world: nothing is saved then, and logs of a time before this
    /// state begin as they did.
    fn is_fresh(&self) -> bool {
        false
    }
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
        Ok(Row { table: D::TABLE.to_owned(), key: id.as_u128().to_be_bytes(), value: Some(value) })
    };
    let shows = |(_, entity): &(Id<D::Kind>, _)| D::shows(world.entity(*entity));
    index.iter().filter(shows).map(row).collect()
}

pub(crate) fn save_state<T: State>(world: &World) -> Result<Vec<Row>, String> {
    let state = T::save(world);
    if state.is_fresh() {
        return Ok(Vec::new());
    }
    let value = rmp_serde::to_vec_named(&state).map_err(|err| err.to_string())?;
    Ok(vec![Row { table: T::TABLE.to_owned(), key: [0; 16], value: Some(value) }])
}

pub(crate) fn restore_state<T: State>(world: &mut World, row: &Row) -> Result<(), String> {
    let value = row.value.as_deref().ok_or("a saved row has no value")?;
    let state: T = rmp_serde::from_slice(value).map_err(|err| err.to_string())?;
    state.restore(world).map_err(|err| err.to_string())
}

/// Functions that collect, save and restore documents and state.
pub(crate) struct Durables {
    pub collect: Vec<Collect>,
    pub restore: Vec<(&'static str, Restore)>,
    /// Tables of a checkpoint, in the order of registration of their features.
    pub tables: Vec<(&'static str, Save, Restore)>,
    pub forget: Vec<fn(&mut World)>,
    /// Functions that release effects once a tick is committed.
    pub release: Vec<fn(&mut World)>,
}
