//! Components of a node. Each says who writes it.

use std::sync::Arc;

use crate::radio::{Environment, Role, Station};
use crate::terrain::{GeoPoint, Terrain};
use bevy_ecs::prelude::*;

/// What people call a node. Written by `node.add`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(OperState)]
pub struct Label {
    /// Name shown, 1 to 64 characters.
    pub name: String,
    /// What the node is for.
    pub role: Role,
}

/// Where a node stands. Written by commands and by `move_nodes`.
#[derive(Component, Debug, Clone, Copy, PartialEq)]
pub struct Position(pub GeoPoint);

/// The station at a node. Written by commands.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct StationConfig(pub Station);

/// Whether a node runs. A failed one keeps its links' physics, but carries no traffic. Written by
/// `node.fail` and `node.restore`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperState(pub bool);

impl Default for OperState {
    fn default() -> Self {
        Self(true)
    }
}

/// A node that has joined the running mesh; it cannot be removed as a plan. Required by the node's
/// record in the fleet and removed with it.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Enrolled;

/// A node was put at another position by command.
#[derive(EntityEvent, Debug)]
pub struct Relocated {
    /// The node.
    pub entity: Entity,
}

/// A node's place and station together, for those who need both.
pub type Site<'a> = (&'a Position, &'a StationConfig);

/// The propagation settings of the world. Written by `environment.set`.
#[derive(Resource, Debug, Clone, Default, PartialEq)]
pub struct WorldEnvironment(pub Environment);

/// The terrain under the world. Fixed when the world is built.
#[derive(Resource, Clone)]
pub struct WorldTerrain(pub Arc<dyn Terrain>);
