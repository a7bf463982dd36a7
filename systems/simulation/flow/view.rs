//! Views of flows.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::route::Route;
use serde::Serialize;

use super::{Flow, FlowId, FlowKind, FlowRoute};
use crate::site::NodeId;

/// A flow and its route.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowView {
    pub id: FlowId,
    /// Display name.
    pub name: String,
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub target: NodeId,
    /// Required rate, bit/s.
    pub rate_bps: f64,
    /// Present route; `None` while there is none.
    pub route: Option<Route>,
}

/// Redraws the flow section when any flow or route changed, came or went.
pub(super) fn publish_flows(
    index: Res<Index<FlowKind>>,
    changed: Query<(), Or<(Changed<Flow>, Changed<FlowRoute>)>>,
    flows: Query<(&Flow, &FlowRoute)>,
    mut section: ResMut<Section<Vec<FlowView>>>,
) {
    if !index.is_changed() && changed.is_empty() {
        return;
    }
    let view = |(id, entity)| {
        let (flow, route) = flows.get(entity).expect("every indexed flow has its components");
        FlowView {
            id,
            name: flow.name.clone(),
            source: flow.source,
            target: flow.target,
            rate_bps: flow.rate_bps,
            route: route.0.clone(),
        }
    };
    section.redraw(index.iter().map(view).collect());
}
