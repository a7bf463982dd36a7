//! Nodes with their liveness, as steps for each node select them.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_protocol::NodeState;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::automation::language::{ForEachNode, NodeLiveness};
use crate::fleet::{ApprovedNodes, LivenessState};

fn liveness(state: NodeState) -> NodeLiveness {
    match state {
        NodeState::Joining => NodeLiveness::Joining,
        NodeState::Online => NodeLiveness::Online,
        NodeState::Stale => NodeLiveness::Stale,
        NodeState::Offline => NodeLiveness::Offline,
    }
}

/// Approved nodes with their liveness.
#[derive(SystemParam)]
pub(super) struct FleetStates<'w, 's> {
    nodes: ApprovedNodes<'w, 's>,
    liveness: Query<'w, 's, &'static LivenessState>,
}

impl FleetStates<'_, '_> {
    /// Approved nodes that fit, with their values for the context, in the order of their ids.
    pub fn fitting(&self, each: &ForEachNode) -> Vec<(Uuid, Value)> {
        let mut selection = Vec::new();
        for (id, entity) in self.nodes.iter() {
            let (Ok((_, record)), Ok(state)) = (self.nodes.get(id), self.liveness.get(entity))
            else {
                continue;
            };
            let (node, info, state) = (id.uuid(), &record.0, liveness(state.0.state));
            let fits = (each.node_ids.is_empty() || each.node_ids.contains(&node))
                && each.tag.as_ref().is_none_or(|tag| info.tags.contains(tag))
                && (each.states.is_empty() || each.states.contains(&state));
            if fits {
                let values = json!({
                    "node_id": node,
                    "name": info.name,
                    "hostname": info.hostname,
                    "state": state,
                    "tags": info.tags,
                    "overlay_ip": info.overlay_ip,
                });
                selection.push((node, values));
            }
        }
        selection
    }
}
