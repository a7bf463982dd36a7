//! Hardware addresses, keys, host names and registrations: the identity of a node before and after it
//! is admitted.

pub(crate) mod components;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal};

pub(crate) use components::{Registration, RegistrationId, RegistrationKind};

/// The conflict of a change that names an outdated revision.
pub const STALE: &str = "it changed since that revision";

/// The entity of a registration, and the registration.
pub(crate) fn find(world: &World, id: RegistrationId) -> Result<(Entity, Registration), Refusal> {
    let entity = world.resource::<Index<RegistrationKind>>().get(id)?;
    let registration = world.get::<Registration>(entity);
    Ok((entity, registration.expect("a registration has one").clone()))
}
