//! Trait of configuration objects, and an object with its revision.

use std::fmt::Debug;
use std::marker::PhantomData;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A kind of configuration object: a component with bounds (`garde`) and a schema. Its fields are
/// checked by [`groundwave_values::bounds`], so it denies unknown fields in its `serde` attributes.
pub trait ConfigObject:
    Kind
    + Component
    + Serialize
    + DeserializeOwned
    + JsonSchema
    + Validate<Context = ()>
    + Clone
    + PartialEq
    + Debug
{
    /// Prefix of its commands and name of its table, for example `network`.
    const KIND: &'static str;

    /// Objects of this kind at most.
    const COUNT_MAX: usize = 1_000;

    /// Name of the object, unique in its kind; `None` for kinds without names.
    fn name(&self) -> Option<&str> {
        None
    }

    /// `true` if there cannot be another object beside this one: by default for one with its name.
    fn is_duplicate(&self, other: &Self) -> bool {
        self.name().is_some() && self.name() == other.name()
    }

    /// Other objects that this one refers to: they must exist, and cannot be removed.
    fn references(&self) -> Vec<Reference> {
        Vec::new()
    }

    /// Checks a new or changed object against the world, beyond bounds, name and references.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the key, or [`Refusal::Conflict`].
    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let _ = (id, world);
        Ok(())
    }

    /// Checks that nothing but configuration objects needs this one, before it is removed.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] naming who needs it.
    fn check_removal(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let _ = (id, world);
        Ok(())
    }

    /// The object without a node that is removed from the fleet.
    fn without_node(&self, node: NodeId) -> WithoutNode<Self> {
        let _ = node;
        WithoutNode::Same
    }

    /// Derives state that later commands of the same tick read, after an object of this kind was put,
    /// removed or restored.
    fn derive(world: &mut World) {
        let _ = world;
    }
}

/// An object without a node that is removed from the fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum WithoutNode<T> {
    /// It does not name the node.
    Same,
    /// It is of no use without the node.
    Nothing,
    /// It stays, changed.
    Other(T),
}

/// A reference of an object to another one.
#[derive(Debug, Clone)]
pub struct Reference {
    pub(super) key: String,
    pub(super) kind: &'static str,
    pub(super) word: &'static str,
    pub(super) id: Uuid,
    pub(super) exists: fn(&World, Uuid) -> bool,
}

impl Reference {
    /// Reference to the object `id` at `key` of the document, for example
    /// `underlay_domain_ids[0]`.
    pub fn to<T: ConfigObject>(key: impl Into<String>, id: Id<T>) -> Self {
        Self {
            key: key.into(),
            kind: T::KIND,
            word: T::NAME,
            id: id.uuid(),
            exists: |world, id| world.resource::<Index<T>>().get(Id::new(id)).is_ok(),
        }
    }

    /// References of a list at `key`.
    pub fn list<T: ConfigObject>(key: &str, ids: &[Id<T>]) -> Vec<Self> {
        ids.iter().enumerate().map(|(i, id)| Self::to(format!("{key}[{i}]"), *id)).collect()
    }
}

/// An object with its revision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Versioned<T> {
    /// Revision, from 1, for `If-Match`.
    pub revision: u64,
    /// Time of creation, ns since the Unix epoch.
    pub created_ns: u64,
    /// Time of the last change, ns since the Unix epoch.
    pub changed_ns: u64,
    pub object: T,
}

/// Revision of an object. Written by `KIND.put`, together with the object.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    pub revision: u64,
    pub created_ns: u64,
    pub changed_ns: u64,
}

impl Stamp {
    pub(super) fn of<T>(self, object: T) -> Versioned<T> {
        Versioned {
            revision: self.revision,
            created_ns: self.created_ns,
            changed_ns: self.changed_ns,
            object,
        }
    }
}

/// The object of an entity, with its revision.
pub(super) fn get<T: ConfigObject>(world: &World, entity: Entity) -> (&T, Stamp) {
    let object = world.get::<T>(entity).expect("an object has one");
    let stamp = world.get::<Stamp>(entity).expect("an object has one");
    (object, *stamp)
}

/// All objects of a kind, in id order.
pub fn all<T: ConfigObject>(world: &World) -> impl Iterator<Item = (Id<T>, &T)> {
    let index = world.resource::<Index<T>>();
    index.iter().map(|(id, entity)| {
        let object = world.get::<T>(entity).expect("an object has one");
        (id, object)
    })
}

/// The object with this id, if there is one.
pub fn find<T: ConfigObject>(world: &World, id: Id<T>) -> Option<&T> {
    let entity = world.resource::<Index<T>>().get(id).ok()?;
    world.get::<T>(entity)
}

/// Revision of the object with this id, if there is one.
pub fn revision<T: ConfigObject>(world: &World, id: Id<T>) -> Option<u64> {
    let entity = world.resource::<Index<T>>().get(id).ok()?;
    Some(get::<T>(world, entity).1.revision)
}

/// Maximum length of a name of a command or table, bytes.
const NAME_BYTES: usize = 64;

const fn joined(parts: [&str; 2]) -> [u8; NAME_BYTES] {
    let mut bytes = [0; NAME_BYTES];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let text = parts[part].as_bytes();
        let mut i = 0;
        while i < text.len() {
            bytes[at] = text[i];
            at += 1;
            i += 1;
        }
        part += 1;
    }
    bytes
}

const fn text(bytes: &'static [u8; NAME_BYTES], length: usize) -> &'static str {
    let (name, _) = bytes.as_slice().split_at(length);
    match std::str::from_utf8(name) {
        Ok(name) => name,
        Err(_) => panic!("joined from texts"),
    }
}

/// Names that derive from [`ConfigObject::KIND`].
pub(super) struct Names<T>(PhantomData<T>);

impl<T: ConfigObject> Names<T> {
    const PUT_BYTES: &'static [u8; NAME_BYTES] = &joined([T::KIND, ".put"]);
    const REMOVE_BYTES: &'static [u8; NAME_BYTES] = &joined([T::KIND, ".remove"]);
    const TABLE_BYTES: &'static [u8; NAME_BYTES] = &joined(["config.", T::KIND]);
    /// Name of the command that creates or replaces an object.
    pub const PUT: &'static str = text(Self::PUT_BYTES, T::KIND.len() + ".put".len());
    /// Name of the command that removes an object.
    pub const REMOVE: &'static str = text(Self::REMOVE_BYTES, T::KIND.len() + ".remove".len());
    /// Name of the table in the store.
    pub const TABLE: &'static str = text(Self::TABLE_BYTES, "config.".len() + T::KIND.len());
}
