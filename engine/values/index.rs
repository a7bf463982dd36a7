//! Index from ids to entities: a resource for each kind of id, kept by hooks of the component.

use std::collections::BTreeMap;

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

use crate::{Id, Kind, Refusal};

pub(crate) fn enter<K: Kind>(mut world: DeferredWorld, context: HookContext) {
    let id = *world.get::<Id<K>>(context.entity).expect("the hook runs on entities with the id");
    let before = world.resource_mut::<Index<K>>().entities.insert(id, context.entity);
    assert!(before.is_none(), "two entities have the {} id {id}: commands check first", K::NAME);
}

/// Clears, at the end of a tick, the list of ids that left in it.
pub fn forget_departed<K: Kind>(world: &mut World) {
    world.resource_mut::<Index<K>>().bypass_change_detection().departed.clear();
}

pub(crate) fn leave<K: Kind>(mut world: DeferredWorld, context: HookContext) {
    let id = *world.get::<Id<K>>(context.entity).expect("the hook runs on entities with the id");
    let mut index = world.resource_mut::<Index<K>>();
    index.entities.remove(&id);
    index.departed.push(id);
}

/// Entities by id, in id order.
#[derive(Resource)]
pub struct Index<K: Kind> {
    entities: BTreeMap<Id<K>, Entity>,
    departed: Vec<Id<K>>,
}

impl<K: Kind> Default for Index<K> {
    fn default() -> Self {
        Self { entities: BTreeMap::new(), departed: Vec::new() }
    }
}

impl<K: Kind> Index<K> {
    /// The entity with `id`.
    ///
    /// # Errors
    /// [`Refusal::NotFound`] names the kind and the id.
    pub fn get(&self, id: Id<K>) -> Result<Entity, Refusal> {
        self.entities
            .get(&id)
            .copied()
            .ok_or_else(|| Refusal::NotFound { kind: K::NAME, id: id.to_string() })
    }

    /// Refuses an `id` that is taken.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] when something has the id.
    pub fn vacant(&self, id: Id<K>) -> Result<(), Refusal> {
        if self.entities.contains_key(&id) {
            return Err(Refusal::conflict(format!("a {} with the id {id} exists", K::NAME)));
        }
        Ok(())
    }

    /// Ids and entities in id order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Id<K>, Entity)> + '_ {
        self.entities.iter().map(|(&id, &entity)| (id, entity))
    }

    /// Number of ids.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// `true` if there is no id.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// The ids that left in this tick, in the order they left.
    #[must_use]
    pub fn departed(&self) -> &[Id<K>] {
        &self.departed
    }
}
