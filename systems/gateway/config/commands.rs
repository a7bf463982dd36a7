//! Commands on configuration objects of any kind.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Id, Index, Recorded, Refusal};
use groundwave_simulation::site::{NodeId, check_name};
use groundwave_values::bounds;
use serde::{Deserialize, Serialize};

use super::object::{self, ConfigObject, Names, Stamp, Versioned, WithoutNode};
use super::reference;

/// Expected state of an object before a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// There is none.
    Absent,
    /// There is one, of any revision.
    #[default]
    Present,
    /// There is one of this revision.
    Revision(u64),
    /// There is one or none.
    Any,
}

impl Expected {
    /// The revision an `If-Match` names; present where it names none.
    #[must_use]
    pub fn revision(named: Option<u64>) -> Self {
        named.map_or(Self::Present, Self::Revision)
    }

    fn check(self, stamp: Stamp) -> Result<(), Refusal> {
        match self {
            Self::Revision(revision) if revision != stamp.revision => Err(Refusal::stale(format!(
                "stale revision: the present one is {}",
                stamp.revision
            ))),
            _ => Ok(()),
        }
    }
}

/// Creates or replaces an object.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: ConfigObject")]
pub struct Put<T: ConfigObject> {
    /// Id of the object.
    pub id: Id<T>,
    pub object: T,
    /// Expected state before.
    pub expected: Expected,
}

impl<T: ConfigObject> Command for Put<T> {
    type Out = Result<Versioned<T>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let Self { id, object, expected } = self;
        let index = world.resource::<Index<T>>();
        let count = index.len();
        let existing = match (index.get(id), expected) {
            (_, Expected::Absent) => {
                index.vacant(id)?;
                None
            }
            (Err(_), Expected::Any) => None,
            (entity, _) => Some(entity?),
        };
        let before = existing.map(|entity| object::get::<T>(world, entity));
        if let Some((_, stamp)) = before {
            expected.check(stamp)?;
        }
        bounds::check(&object, "")
            .map_err(|bad| Refusal::invalid(bad.key, bad.found, bad.allowed))?;
        if existing.is_none() && count >= T::COUNT_MAX {
            let maximum = T::COUNT_MAX;
            return Err(Refusal::conflict(format!(
                "there are {maximum} of the kind {}, the maximum",
                T::NAME
            )));
        }
        if let Some(name) = object.name() {
            check_name("name", name)?;
        }
        if let Some(name) = object.name()
            && object::all::<T>(world)
                .any(|(other, other_object)| other != id && object.is_duplicate(other_object))
        {
            return Err(Refusal::conflict(format!("another {} is called {name:?}", T::NAME)));
        }
        reference::check(&object, world)?;
        object.check(id, world)?;
        let now_ns = world.resource::<Clock>().wall_ns;
        let stamp = match before {
            Some((same, stamp)) if *same == object => return Ok(stamp.of(object)),
            Some((_, stamp)) => Stamp { revision: stamp.revision + 1, changed_ns: now_ns, ..stamp },
            None => Stamp { revision: 1, created_ns: now_ns, changed_ns: now_ns },
        };
        let versioned = stamp.of(object.clone());
        match existing {
            Some(entity) => {
                world.entity_mut(entity).insert((object, stamp));
            }
            None => {
                world.spawn((id, object, stamp));
            }
        }
        T::derive(world);
        Ok(versioned)
    }
}
impl<T: ConfigObject> Recorded for Put<T> {
    const NAME: &'static str = Names::<T>::PUT;
    type Reply = Versioned<T>;
}

/// Removes an object that nothing refers to.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "T: ConfigObject")]
pub struct Remove<T: ConfigObject> {
    /// Id of the object.
    pub id: Id<T>,
    /// Expected state before.
    #[serde(default)]
    pub expected: Expected,
}

impl<T: ConfigObject> Command for Remove<T> {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<T>>().get(self.id)?;
        let (object, stamp) = object::get::<T>(world, entity);
        self.expected.check(stamp)?;
        reference::check_unused(world, self.id)?;
        object.check_removal(self.id, world)?;
        world.despawn(entity);
        T::derive(world);
        Ok(())
    }
}
impl<T: ConfigObject> Recorded for Remove<T> {
    const NAME: &'static str = Names::<T>::REMOVE;
    type Reply = ();
}

/// Removes or changes the objects of a kind that name a node; returns the names of the changed ones.
pub(super) fn detach<T: ConfigObject>(world: &mut World, node: NodeId) -> Vec<String> {
    let changes: Vec<_> =
        object::all::<T>(world).map(|(id, object)| (id, object.without_node(node))).collect();
    let changed_ns = world.resource::<Clock>().wall_ns;
    let mut names = Vec::new();
    for (id, change) in changes {
        let entity = world.resource::<Index<T>>().get(id).expect("it was just there");
        match change {
            WithoutNode::Same => continue,
            WithoutNode::Nothing => {
                world.despawn(entity);
            }
            WithoutNode::Other(object) => {
                let (_, stamp) = object::get::<T>(world, entity);
                let stamp = Stamp { revision: stamp.revision + 1, changed_ns, ..stamp };
                names.push(format!("{} {:?}", T::NAME, object.name().unwrap_or_default()));
                world.entity_mut(entity).insert((object, stamp));
            }
        }
        T::derive(world);
    }
    names
}
