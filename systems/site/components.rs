//! Components of a node. Each says who writes it.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};

use crate::radio::{Environment, Role, Station};
use crate::terrain::{GeoPoint, Terrain};

/// The kind of thing that has a place and a station.
pub struct NodeKind;
impl Kind for NodeKind {
    const NAME: &'static str = "node";
}
/// Stable id of a node.
pub type NodeId = Id<NodeKind>;

/// What people call a node. Written by `node.add`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(Operating)]
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
pub struct Standing(pub Station);

/// Whether a node runs. A failed one keeps its links' physics, but carries no traffic. Written by
/// `node.fail` and `node.restore`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operating(pub bool);

impl Default for Operating {
    fn default() -> Self {
        Self(true)
    }
}

/// A node's place and station together, for those who need both.
pub type Site<'a> = (&'a Position, &'a Standing);

/// The propagation settings of the world. Written by `environment.set`.
#[derive(Resource, Debug, Clone, Default, PartialEq)]
pub struct Air(pub Environment);

/// The terrain under the world. Fixed when the world is built.
#[derive(Resource, Clone)]
pub struct Ground(pub Arc<dyn Terrain>);
