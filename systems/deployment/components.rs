//! Components of deployments and templates. Each says who writes it.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::region::Region;
use crate::radio::{Environment, Role, Station};
use crate::terrain::GeoPoint;

/// The kind of thing that groups planned nodes.
pub struct DeploymentKind;
impl Kind for DeploymentKind {
    const NAME: &'static str = "deployment";
}
/// Stable id of a deployment.
pub type DeploymentId = Id<DeploymentKind>;

/// The kind of thing that keeps a node's configuration for reuse.
pub struct TemplateKind;
impl Kind for TemplateKind {
    const NAME: &'static str = "template";
}
/// Stable id of a template.
pub type TemplateId = Id<TemplateKind>;

/// What a deployment is. Written by `deployment.create` and `deployment.update`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// What people call it, 1 to 64 characters.
    pub name: String,
    /// Where a map of it opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<GeoPoint>,
    /// The area it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Propagation settings of all its analyses.
    #[serde(default)]
    pub environment: Environment,
}

/// When something was made and last changed, nanoseconds since the Unix epoch by the clock of the
/// tick. Written by every command that changes a planned thing.
#[derive(
    Component, Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Stamps {
    /// When it was made.
    pub created_ns: u64,
    /// When it was last changed.
    pub updated_ns: u64,
}

impl Stamps {
    /// Of a thing made in this tick.
    #[must_use]
    pub fn new(world: &World) -> Self {
        let now_ns = world.resource::<Clock>().wall_ns;
        Self {
            created_ns: now_ns,
            updated_ns: now_ns,
        }
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
/// not simulated: it has no links and carries no flows until somebody analyses it. Written by
/// `node.add`.
#[derive(Component, Debug)]
#[relationship(relationship_target = Members)]
pub struct InDeployment(pub Entity);

/// The nodes of a deployment; they go when it goes.
#[derive(Component, Debug)]
#[relationship_target(relationship = InDeployment, linked_spawn)]
pub struct Members(Vec<Entity>);

/// A node's configuration kept for reuse. Written by `template.create`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// What people call it, 1 to 64 characters, unique.
    pub name: String,
    /// What it is good for, up to 1024 characters.
    #[serde(default)]
    pub description: String,
    /// What its nodes are for.
    pub role: Role,
    /// What stands there.
    pub station: Station,
}
