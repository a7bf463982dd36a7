//! Actions for each of several nodes.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_protocol::NodeState;
use serde_json::{Value, json};
use uuid::Uuid;

use super::act::{Actions, act};
use super::acting::{Acted, Acting};
use super::components::EachProgress;
use super::execution::Flows;
use crate::automation::language::{ForEachNode, NodeLiveness};
use crate::fleet::{ApprovedNodes, EventBuffer, LivenessState};

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
    fn fitting(&self, each: &ForEachNode) -> Vec<(Uuid, Value)> {
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

/// Performs an action for each node that fits; the step ends with the last of its deliveries.
pub(super) fn act_for_each(
    actions: &mut Actions<'_, '_>,
    flows: &mut Flows<'_, '_>,
    events: &mut EventBuffer,
    acting: &Acting<'_>,
    each: &ForEachNode,
) -> (Acted, usize) {
    let nodes = actions.fleet.fitting(each);
    let (count, most) = (nodes.len(), each.max_nodes as usize);
    let input = Some(json!({ "action": each.action.kind, "nodes": count }));
    if count > most {
        let why = format!("found {count} nodes, allowed {most}");
        return (Acted::failed(input, why), 1);
    }
    let kind = match each.action.parse() {
        Ok(kind) => kind,
        Err(bad) => return (Acted::failed(input, bad.to_string()), 1),
    };
    let mut context = acting.context.clone();
    let mut progress =
        EachProgress { nodes: u32::try_from(count).unwrap_or(u32::MAX), ..EachProgress::default() };
    for (node, values) in nodes {
        context["node"] = values;
        let for_node = Acting { context: &context, node: Some(node), ..*acting };
        let outcome = act(actions, flows, events, &for_node, &kind);
        match outcome.result {
            Some(Ok(_)) => {}
            Some(Err(error)) => progress.fail(node, &error),
            None => progress.waiting.extend(outcome.delivery),
        }
    }
    let result = progress.waiting.is_empty().then(|| progress.result());
    let progress = result.is_none().then_some(progress);
    let outcome = Acted { input, result, delivery: None, each: progress };
    (outcome, count.max(1))
}
