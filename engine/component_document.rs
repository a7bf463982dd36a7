//! Documents of entities that one component describes.

use bevy_ecs::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Document, Id, Index, Kind, Refusal};

/// Component that is the whole durable form of its entity.
pub trait StoredComponent: Component + Clone + Serialize + DeserializeOwned {
    /// Name of the table of its rows.
    const TABLE: &'static str;
    /// Kind whose ids are the keys.
    type Kind: Kind;
}

/// Document of an entity with the component `C`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ComponentDocument<C>(C);

impl<C: StoredComponent> Document for ComponentDocument<C> {
    const TABLE: &'static str = C::TABLE;
    type Kind = C::Kind;
    type Changed = Changed<C>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        Self(entity.get::<C>().expect("its kind has one").clone())
    }

    fn restore(self, id: Id<C::Kind>, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<C::Kind>>().vacant(id)?;
        world.spawn((id, self.0));
        Ok(())
    }
}
