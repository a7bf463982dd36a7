//! The check that a node is approved.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Index, Refusal};
use groundwave_protocol::RegistrationState;
use groundwave_simulation::site::{NodeId, NodeKind};

use super::components::NodeRecord;
use crate::identity::{Registration, RegistrationKind};

/// The entity of an approved node.
///
/// # Errors
/// [`Refusal::NotFound`] unless the registration of the node is approved.
pub(crate) fn approved_node(world: &World, node: NodeId) -> Result<Entity, Refusal> {
    let entity = world.resource::<Index<NodeKind>>().get(node)?;
    let registrations = world.resource::<Index<RegistrationKind>>();
    check(node, world.get(entity), registrations, |entity| world.get(entity))?;
    Ok(entity)
}

/// Nodes by their ids, with their registrations.
#[derive(SystemParam)]
pub(crate) struct ApprovedNodes<'w, 's> {
    index: Res<'w, Index<NodeKind>>,
    registrations: Res<'w, Index<RegistrationKind>>,
    records: Query<'w, 's, &'static NodeRecord>,
    states: Query<'w, 's, &'static Registration>,
}

impl ApprovedNodes<'_, '_> {
    /// The entity of an approved node, as [`approved_node`].
    ///
    /// # Errors
    /// [`Refusal::NotFound`] unless the registration of the node is approved.
    pub fn get(&self, node: NodeId) -> Result<(Entity, &NodeRecord), Refusal> {
        let entity = self.index.get(node)?;
        let record = self.records.get(entity).ok();
        let state = |entity| self.states.get(entity).ok();
        let record = check(node, record, &self.registrations, state)?;
        Ok((entity, record))
    }

    /// Nodes of the fleet with their entities, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, Entity)> {
        self.index.iter()
    }
}

/// The record of a node, if its registration is approved.
fn check<'a>(
    node: NodeId,
    record: Option<&'a NodeRecord>,
    registrations: &Index<RegistrationKind>,
    state: impl FnOnce(Entity) -> Option<&'a Registration>,
) -> Result<&'a NodeRecord, Refusal> {
    let missing = || Refusal::NotFound { kind: "approved node", id: node.to_string() };
    let record = record.ok_or_else(missing)?;
    let id = record.0.registration.ok_or_else(missing)?;
    let registration = state(registrations.get(id)?).ok_or_else(missing)?;
    match registration.state == RegistrationState::Approved {
        true => Ok(record),
        false => Err(missing()),
    }
}
