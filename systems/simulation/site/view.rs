//! Views of nodes and the environment.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::id::{NodeId, NodeKind};
use groundwave_model::radio::{Environment, Role, Station};
use groundwave_model::terrain::GeoPoint;
use serde::Serialize;

use super::components::{Label, OperState, Position, StationConfig, WorldEnvironment};
use super::planned::InDeployment;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeView {
    pub id: NodeId,
    /// Display name.
    pub name: String,
    pub role: Role,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: Station,
    /// `true` if it runs; a failed node carries no traffic.
    pub operating: bool,
}

type NodeChanged =
    Or<(Changed<Position>, Changed<StationConfig>, Changed<OperState>, Changed<Label>)>;

/// Redraws the node section when any node of the running mesh changed or came, or any node went.
pub(super) fn publish_nodes(
    index: Res<Index<NodeKind>>,
    changed: Query<(), (NodeChanged, Without<InDeployment>)>,
    nodes: Query<(&Label, &Position, &StationConfig, &OperState), Without<InDeployment>>,
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

pub(super) fn publish_environment(
    air: Res<WorldEnvironment>,
    mut section: ResMut<Section<Environment>>,
) {
    if air.is_changed() {
        section.redraw(air.0.clone());
    }
}
