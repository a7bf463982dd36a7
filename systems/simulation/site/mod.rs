//! Nodes: positions, stations and operational states.

mod commands;
mod components;
mod document;
mod planned;
mod state;
mod update;
mod view;

use groundwave_engine::{Builder, Phase};

pub use commands::{
    AddNode, AddUnplaced, FailNode, MoveNode, NAME_CHARS_MAX, NODES_MAX, RemoveNode, RenewTerrain,
    RestoreNode, SetEnvironment, SetStation, check_name,
};
pub(crate) use commands::{node, not_live, place};
pub use components::{
    Enrolled, Label, OperState, Placed, Position, Relocated, Site, StationConfig, Unplaced,
    WorldEnvironment, WorldTerrain,
};
pub use document::{NodeDocument, Planned};
pub use groundwave_model::id::{NodeId, NodeKind};
pub use planned::{DeploymentId, DeploymentKind, InDeployment, Members, Stamps};
pub use update::UpdateNode;
pub use view::{NodeView, with_names};

use groundwave_model::radio::Environment;
/// Nodes, their stations and the propagation settings.
pub fn site(engine: &mut Builder) {
    engine
        .kind::<NodeKind>()
        .resource(WorldEnvironment::default())
        .section::<Vec<NodeView>>()
        .section::<Environment>()
        .command::<AddNode>()
        .command::<AddUnplaced>()
        .command::<RemoveNode>()
        .command::<MoveNode>()
        .command::<SetStation>()
        .command::<UpdateNode>()
        .command::<FailNode>()
        .command::<RestoreNode>()
        .command::<SetEnvironment>()
        .command::<RenewTerrain>()
        .document::<NodeDocument>()
        .state::<WorldEnvironment>()
        .systems(Phase::Publish, (view::publish_nodes, view::publish_environment));
}
