//! Components of a node. The doc of each names its writers.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_model::radio::station::HEIGHT_AGL_M_MAX;
use groundwave_model::radio::{Environment, Role, Station};
use groundwave_model::terrain::{GeoPoint, Terrain};
use serde::{Deserialize, Serialize};

/// Display name and role of a node. Written by `node.add`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(OperState)]
pub struct Label {
    /// Display name, 1 to 64 characters.
    pub name: String,
    pub role: Role,
}

/// Position of a node. Written by commands and by `move_nodes`.
#[derive(Component, Debug, Clone, Copy, PartialEq)]
pub struct Position(pub GeoPoint);

/// The station at a node. Written by commands; its height by `move_nodes`.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct StationConfig(pub Station);

/// `true` if a node runs. A failed one keeps its link budgets, but carries no traffic. Written by
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

/// A node whose position is not known: that of [`Position`] is not its place, and no link is predicted but those that
/// were measured, to nodes without a position as well. Written by `node.add_unplaced`, removed by what moves the node.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq)]
#[component(storage = "SparseSet")]
pub struct Unplaced;

/// A node without a position got one by command.
#[derive(EntityEvent, Debug)]
pub struct Placed {
    /// The node.
    pub entity: Entity,
}

/// A node was put at another position by command.
#[derive(EntityEvent, Debug)]
pub struct Relocated {
    /// The node.
    pub entity: Entity,
}

/// Position and station of a node.
pub type Site<'a> = (&'a Position, &'a StationConfig);

/// The propagation settings of the world. Written by `environment.set`.
#[derive(Resource, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorldEnvironment(pub Environment);

/// The terrain under the world. Fixed when the world is built; `terrain.renew` marks other files in it.
#[derive(Resource, Clone)]
pub struct WorldTerrain(pub Arc<dyn Terrain>);

impl WorldTerrain {
    /// Ground above mean sea level, m; where it is not known 0, as links take it.
    pub(crate) fn ground_msl_m(&self, at: GeoPoint) -> f64 {
        self.0.elevation_msl_m(at).unwrap_or(0.0)
    }

    /// Height above ground, m, of one above mean sea level, m: on the ground where that is higher, and no higher
    /// than a station may be.
    pub(crate) fn height_agl_m(&self, at: GeoPoint, height_msl_m: f64) -> f64 {
        (height_msl_m - self.ground_msl_m(at)).clamp(0.0, HEIGHT_AGL_M_MAX)
    }
}
