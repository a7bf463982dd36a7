//! Stable ids. `Entity` never leaves the world; an [`Id`] does.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

use crate::Refusal;
use crate::limits::NAME_BYTES_MAX;

/// Namespace of the UUIDv5 that a short name becomes.
const NAMESPACE: Uuid = Uuid::from_u128(0x0067_726f_756e_6477_6176_652e_6d65_7368);

/// A kind of thing that has ids: nodes, flows, deployments.
pub trait Kind: Send + Sync + 'static {
    /// The word for it in messages and id namespaces, for example `node`.
    const NAME: &'static str;
}

/// A stable typed UUID, and an immutable component whose hooks keep [`Index`] true.
///
/// Ids are minted at the edge and travel inside commands: they are inputs like any other, so a
/// replay needs no generator. In human-readable formats an id may be written as a UUID or as a
/// short name, which stands for the UUIDv5 of `kind:name`; binary formats carry the 16 bytes.
#[derive(Component)]
#[component(immutable, on_insert = enter_index::<K>, on_discard = leave_index::<K>)]
pub struct Id<K: Kind>(Uuid, PhantomData<fn() -> K>);

impl<K: Kind> Id<K> {
    /// The id with this UUID.
    #[must_use]
    pub const fn new(uuid: Uuid) -> Self {
        Self(uuid, PhantomData)
    }

    /// The id with this UUID, given as a number.
    #[must_use]
    pub const fn from_u128(uuid: u128) -> Self {
        Self::new(Uuid::from_u128(uuid))
    }

    /// The id a short name stands for.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let full = format!("{}:{name}", K::NAME);
        Self::new(Uuid::new_v5(&NAMESPACE, full.as_bytes()))
    }

    /// The UUID.
    #[must_use]
    pub const fn uuid(self) -> Uuid {
        self.0
    }

    /// The UUID as a number, for seeding and keys.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0.as_u128()
    }
}

fn enter_index<K: Kind>(mut world: DeferredWorld, context: HookContext) {
    let id = *world.get::<Id<K>>(context.entity).expect("the hook runs on entities with the id");
    let before = world.resource_mut::<Index<K>>().entities.insert(id, context.entity);
    assert!(before.is_none(), "two entities have the {} id {id}: commands check first", K::NAME);
}

/// Clears, at the end of a tick, the list of ids that left in it.
pub(crate) fn forget_departed<K: Kind>(world: &mut World) {
    world.resource_mut::<Index<K>>().bypass_change_detection().departed.clear();
}

fn leave_index<K: Kind>(mut world: DeferredWorld, context: HookContext) {
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

impl<K: Kind> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K: Kind> Copy for Id<K> {}
impl<K: Kind> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<K: Kind> Eq for Id<K> {}
impl<K: Kind> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K: Kind> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<K: Kind> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<K: Kind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
impl<K: Kind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", K::NAME, self.0)
    }
}

impl<K: Kind> Serialize for Id<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Id<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return Uuid::deserialize(deserializer).map(Self::new);
        }
        let text = String::deserialize(deserializer)?;
        if let Ok(uuid) = Uuid::try_parse(&text) {
            return Ok(Self::new(uuid));
        }
        if text.is_empty() || text.len() > NAME_BYTES_MAX {
            return Err(de::Error::custom(format!(
                "a {} is named by a UUID or by 1 to {NAME_BYTES_MAX} bytes, found {} bytes",
                K::NAME,
                text.len()
            )));
        }
        Ok(Self::named(&text))
    }
}
