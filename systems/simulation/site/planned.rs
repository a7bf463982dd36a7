//! Membership of planned nodes in a deployment. The doc of each component names
//! its writers.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of thing that groups planned nodes.
pub struct DeploymentKind;
impl Kind for DeploymentKind {
    const NAME: &'static str = "deployment";
}
/// Stable id of a deployment.
pub type DeploymentId = Id<DeploymentKind>;

/// Times of creation and of the last change, ns since the Unix epoch by the wall clock of the tick.
/// Written by every command that changes a planned thing.
#[derive(
    Component, Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Stamps {
    /// Time of creation, ns since the Unix epoch.
    pub created_ns: u64,
    /// Time of the last change, ns since the Unix epoch.
    pub updated_ns: u64,
}

impl Stamps {
    /// Stamps of a thing created in this tick.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let now_ns = world.resource::<Clock>().wall_ns;
        Self { created_ns: now_ns, updated_ns: now_ns }
    }

    /// Notes a change in this tick on `entity`, if it keeps stamps.
    pub(crate) fn touch(world: &mut World, entity: Entity) {
        let now_ns = world.resource::<Clock>().wall_ns;
        if let Some(mut stamps) = world.get_mut::<Self>(entity) {
            stamps.updated_ns = now_ns;
        }
    }
}

/// The deployment a planned node belongs to, for as long as it lives. A node with it is planned,
/// not simulated: it has no links and carries no flows outside of an analysis. Written by
/// `node.add`.
#[derive(Component, Debug)]
#[relationship(relationship_target = Members)]
pub struct InDeployment(pub Entity);

/// The nodes of a deployment; they are despawned with it.
#[derive(Component, Debug)]
#[relationship_target(relationship = InDeployment, linked_spawn)]
pub struct Members(Vec<Entity>);
