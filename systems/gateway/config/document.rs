//! Documents of configuration objects.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Id, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::object::{self, ConfigObject, Names, Stamp};

/// A configuration object in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(bound = "T: ConfigObject")]
pub struct ConfigDocument<T: ConfigObject> {
    revision: Stamp,
    object: T,
}

impl<T: ConfigObject> Document for ConfigDocument<T> {
    const TABLE: &'static str = Names::<T>::TABLE;
    type Kind = T;
    type Changed = Changed<T>;

    fn read(world: &World, entity: EntityRef<'_>) -> Self {
        let (object, revision) = object::get::<T>(world, entity.id());
        Self { revision, object: object.clone() }
    }

    fn restore(self, id: Id<T>, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<T>>().vacant(id)?;
        world.spawn((id, self.object, self.revision));
        T::derive(world);
        Ok(())
    }
}
