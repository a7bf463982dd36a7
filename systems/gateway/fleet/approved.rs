//! The check that a node is approved.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal};
use groundwave_protocol::RegistrationState;
use groundwave_simulation::site::{NodeId, NodeKind};

use super::components::NodeRecord;
use crate::identity::find;

/// The entity of an approved node.
///
/// # Errors
/// [`Refusal::NotFound`] unless the registration of the node is approved.
pub(crate) fn approved_node(world: &World, node: NodeId) -> Result<Entity, Refusal> {
    let entity = world.resource::<Index<NodeKind>>().get(node)?;
    let record = world.get::<NodeRecord>(entity);
    let approved = record
        .and_then(|record| record.0.registration)
        .map(|id| find(world, id))
        .transpose()?
        .is_some_and(|(_, found)| found.state == RegistrationState::Approved);
    if !approved {
        return Err(Refusal::NotFound { kind: "approved node", id: node.to_string() });
    }
    Ok(entity)
}
