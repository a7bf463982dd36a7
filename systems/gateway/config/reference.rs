//! References between configuration objects of any kinds.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Refusal};
use uuid::Uuid;

use super::object::{self, ConfigObject};

/// Refuses references to nothing.
pub(super) fn check<T: ConfigObject>(object: &T, world: &World) -> Result<(), Refusal> {
    let references = object.references();
    let missing = references.iter().find(|reference| !(reference.exists)(world, reference.id));
    match missing {
        None => Ok(()),
        Some(missing) => Err(Refusal::invalid(
            missing.key.clone(),
            missing.id,
            format!("the id of an existing {}", missing.word),
        )),
    }
}

/// Searches of one kind for an object that refers to another one.
#[derive(Resource, Default)]
struct Referrers(Vec<fn(&World, &'static str, Uuid) -> Option<String>>);

/// Adds a kind to those whose references are kept whole.
pub(super) fn register<T: ConfigObject>(world: &mut World) {
    let mut referrers = world.get_resource_or_init::<Referrers>();
    referrers.0.push(|world, kind, target| {
        let referrer = object::all::<T>(world).find(|(_, object)| {
            object
                .references()
                .into_iter()
                .any(|reference| reference.kind == kind && reference.id == target)
        });
        referrer.map(|(id, object)| match object.name() {
            Some(name) => format!("{} {name:?}", T::NAME),
            None => format!("{} {id}", T::NAME),
        })
    });
}

/// Refuses to remove an object that another one refers to.
pub(super) fn check_unused<T: ConfigObject>(world: &World, id: Id<T>) -> Result<(), Refusal> {
    let referrers = world.resource::<Referrers>();
    let mut searches = referrers.0.iter();
    match searches.find_map(|search| search(world, T::KIND, id.uuid())) {
        None => Ok(()),
        Some(who) => {
            Err(Refusal::conflict(format!("this {} is in use: {who} refers to it", T::NAME)))
        }
    }
}
