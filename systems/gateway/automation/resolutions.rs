//! Notices of alerts that were closed.

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use groundwave_simulation::site::NodeId;
use serde_json::json;

use super::alert_record::{AlertKind, AlertMessage, AlertOrigin};
use super::basis::object;
use super::execution::{Start, Starts};
use super::state::{Pass, Resolutions};
use super::triggers::{FleetNodes, Watched, admits, depth_refusal, record};
use crate::automation::language::{NodeEventKind, StepKind, time};
use crate::outage::duration;

/// Queues executions for the alerts that steps of this tick closed; they begin in the same tick, so that a
/// kill loses none.
pub(super) fn match_resolutions(
    (pass, watched): (Res<Pass>, Res<Watched>),
    index: Res<Index<AlertKind>>,
    alerts: Query<(&AlertOrigin, &AlertMessage)>,
    nodes: FleetNodes,
    mut resolutions: ResMut<Resolutions>,
    mut starts: ResMut<Starts>,
) {
    for (alert, depth) in std::mem::take(&mut resolutions.bypass_change_detection().0) {
        let parts = index.get(alert).ok().and_then(|entity| alerts.get(entity).ok());
        let Some((origin, message)) = parts else {
            continue;
        };
        let node = origin.node.map(NodeId::new);
        let (name, tags) = node.map_or((None, Vec::new()), |node| nodes.described(node));
        let lasted_s = pass.now_ms.saturating_sub(origin.opened_ms) / 1_000;
        for (flow, number, plan) in &watched.0.events {
            let StepKind::NodeEvent(selection) = &plan.steps[*number].kind else {
                continue;
            };
            let fits = selection.events.contains(&NodeEventKind::Resolved)
                && admits(selection.node_id, selection.tag.as_ref(), origin.node, &tags);
            if !fits {
                continue;
            }
            let data = json!({
                "event": NodeEventKind::Resolved,
                "at": time(pass.now_ms),
                "alert_id": alert,
                "flow_id": origin.flow,
                "key": origin.key,
                "severity": origin.severity,
                "message": message.text,
                "opened_at": time(origin.opened_ms),
                "duration_s": lasted_s,
                "duration": duration(lasted_s),
            });
            let mut data = object(data);
            data.extend(origin.node.map(|node| ("node_id".to_owned(), json!(node))));
            data.extend(name.as_ref().map(|name| ("node_name".to_owned(), json!(name))));
            let mut trigger = record(plan, *number, data);
            trigger.depth = depth;
            let refused = depth_refusal(depth);
            starts.0.push(Start { refused, ..Start::of(*flow, trigger) });
        }
    }
}
