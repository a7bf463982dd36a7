//! Links: executions that start when the status of a link changes.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_simulation::site::NodeId;
use serde_json::json;
use uuid::Uuid;

use super::basis::object;
use super::execution::{Start, Starts};
use super::state::{Pass, Progress};
use super::triggers::{FleetNodes, Watched, record};
use crate::automation::language::{LinkEventKind, StepKind};
use crate::fleet::{EdgeStatus, MeshEdges};

impl From<EdgeStatus> for LinkEventKind {
    fn from(status: EdgeStatus) -> Self {
        match status {
            EdgeStatus::Up => Self::Up,
            EdgeStatus::Stale => Self::Stale,
            EdgeStatus::Down => Self::Down,
        }
    }
}

/// Queues executions for links whose status changed. The first status of a link is no change.
pub(super) fn match_links(
    (pass, watched): (Res<Pass>, Res<Watched>),
    edges: Query<(&NodeId, &MeshEdges), Changed<MeshEdges>>,
    nodes: FleetNodes,
    mut progress: ResMut<Progress>,
    mut starts: ResMut<Starts>,
) {
    if !(pass.evaluates && pass.watches) {
        return;
    }
    let mut changes = Vec::new();
    let by_node: BTreeMap<NodeId, &MeshEdges> =
        edges.iter().map(|(id, edges)| (*id, edges)).collect();
    let links = &mut progress.links;
    for (node, edges) in by_node {
        let present: BTreeMap<_, _> = edges
            .0
            .iter()
            .filter(|edge| edge.at_a.is_some() || edge.at_b.is_some())
            .map(|edge| ((edge.a, edge.b), edge.status))
            .collect();
        let (first, last) = (NodeId::from_u128(0), NodeId::from_u128(u128::MAX));
        let earlier = links.range((node, first)..=(node, last));
        let earlier: Vec<_> = earlier.map(|(ends, status)| (*ends, *status)).collect();
        for (ends, before) in earlier {
            if !present.contains_key(&ends) && before != EdgeStatus::Down {
                links.insert(ends, EdgeStatus::Down);
                changes.push((ends, before, EdgeStatus::Down));
            }
        }
        for (ends, status) in present {
            if let Some(before) = links.insert(ends, status).filter(|before| *before != status) {
                changes.push((ends, before, status));
            }
        }
    }
    for ((a, b), before, status) in changes {
        let kind = LinkEventKind::from(status);
        for (flow, number, plan) in &watched.0.links {
            let StepKind::LinkEvent(trigger) = &plan.steps[*number].kind else {
                continue;
            };
            let of_node = |node: Uuid| node == a.uuid() || node == b.uuid();
            if !trigger.events.contains(&kind) || !trigger.node_id.is_none_or(of_node) {
                continue;
            }
            let data = json!({
                "event": kind,
                "before": LinkEventKind::from(before),
                "node_id": a,
                "node_name": nodes.described(a).0,
                "peer_id": b,
                "peer_name": nodes.described(b).0,
            });
            let cause = record(plan, *number, object(data));
            starts.0.push(Start::of(*flow, cause));
        }
    }
}
