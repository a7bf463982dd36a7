//! Nodes: what stands where, and whether it runs.

mod commands;
mod components;
mod document;
mod state;
mod update;

use groundwave_engine::{Builder, Phase};

pub use commands::{
    AddNode, FailNode, MoveNode, NAME_CHARS_MAX, NODES_MAX, RemoveNode, RestoreNode,
    SetEnvironment, SetStation, check_name,
};
pub(crate) use commands::{node, not_live};
pub use components::{Air, Ground, Label, NodeId, NodeKind, Operating, Position, Site, Standing};
pub use document::{NodeDocument, Planned};
pub use update::UpdateNode;

use bevy_ecs::prelude::*;

use crate::deployment::InDeployment;
use crate::radio::Environment;
use crate::snapshot::NodeView;
use groundwave_engine::{Index, Section};

/// Nodes, their stations and the air between them.
pub fn site(engine: &mut Builder) {
    engine
        .kind::<NodeKind>()
        .resource(Air::default())
        .section::<Vec<NodeView>>()
        .section::<Environment>()
        .command::<AddNode>()
        .command::<RemoveNode>()
        .command::<MoveNode>()
        .command::<SetStation>()
        .command::<UpdateNode>()
        .command::<FailNode>()
        .command::<RestoreNode>()
        .command::<SetEnvironment>()
        .document::<NodeDocument>()
        .state::<Environment>()
        .systems(Phase::Publish, (publish_nodes, publish_air));
}

type NodeChanged = Or<(
    Changed<Position>,
    Changed<Standing>,
    Changed<Operating>,
    Changed<Label>,
)>;

/// Redraws the node section when any node of the running mesh changed or came, or any node went.
fn publish_nodes(
    index: Res<Index<NodeKind>>,
    changed: Query<(), (NodeChanged, Without<InDeployment>)>,
    nodes: Query<(&Label, &Position, &Standing, &Operating), Without<InDeployment>>,
    mut section: ResMut<Section<Vec<NodeView>>>,
) {
    if changed.is_empty() && index.departed().is_empty() {
        return;
    }
    let view = |(id, entity)| {
        // Planned nodes have a section of their own.
        let (label, position, standing, operating) = nodes.get(entity).ok()?;
        Some(NodeView {
            id,
            name: label.name.clone(),
            role: label.role,
            position: position.0,
            station: standing.0.clone(),
            operating: operating.0,
        })
    };
    section.redraw(index.iter().filter_map(view).collect());
}

fn publish_air(air: Res<Air>, mut section: ResMut<Section<Environment>>) {
    if air.is_changed() {
        section.redraw(air.0.clone());
    }
}
