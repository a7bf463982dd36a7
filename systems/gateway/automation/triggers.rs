//! Triggers of flows, and those that events of the fleet fire.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_simulation::site::{NodeId, NodeKind};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::components::{
    Automation, AutomationId, ExecutionCause, ExecutionId, ExecutionKind, PlannedFlow,
    TriggerRecord,
};
use super::execution::{Start, Starts};
use super::outage_values::OutageValues;
use super::state::{Pass, Progress};
use crate::automation::language::{FlowPlan, NodeEventKind, StepKind, Threshold, time};
use crate::fleet::{EventBuffer, FleetEvent, FleetEventKind, NodeRecord};

/// Executions that led to one another at most: a flow that triggers itself ends there.
const DEPTH_MAX: u32 = 4;

/// A trigger: flow, number of the step, plan.
pub(super) type Watch = (AutomationId, usize, Arc<FlowPlan>);

/// Triggers of enabled flows, by their kind. Derived when a flow changes.
#[derive(Default)]
pub(super) struct Triggers {
    /// By metric.
    pub sensors: BTreeMap<String, Vec<Watch>>,
    pub events: Vec<Watch>,
    pub links: Vec<Watch>,
    /// Flows with schedules or thresholds that wait.
    pub timed: Vec<(AutomationId, Arc<FlowPlan>)>,
}

/// The triggers that are watched. Derived by `watch_triggers`.
#[derive(Resource, Default)]
pub(super) struct Watched(pub Triggers);

/// Lists the triggers of enabled flows where a flow changed.
pub(super) fn watch_triggers(
    index: Res<Index<Automation>>,
    changed: Query<(), Changed<Automation>>,
    flows: Query<(&Automation, &PlannedFlow)>,
    mut watched: ResMut<Watched>,
) {
    if changed.is_empty() && index.departed().is_empty() {
        return;
    }
    let mut triggers = Triggers::default();
    for (id, entity) in index.iter() {
        let (flow, planned) = flows.get(entity).expect("a flow has both");
        let Some(plan) = planned.0.as_ref().filter(|_| flow.0.enabled) else {
            continue;
        };
        let mut is_timed = false;
        for (number, step) in plan.triggers() {
            let entry = || (id, number, Arc::clone(plan));
            match &step.kind {
                StepKind::SensorValue(sensor) => {
                    let of_metric = triggers.sensors.entry(sensor.metric.clone());
                    of_metric.or_default().push(entry());
                    is_timed |= thresholds(plan, number).any(|(_, threshold)| threshold.for_s > 0);
                }
                StepKind::NodeEvent(_) => triggers.events.push(entry()),
                StepKind::LinkEvent(_) => triggers.links.push(entry()),
                StepKind::Schedule(_) => is_timed = true,
                _ => {}
            }
        }
        if is_timed {
            triggers.timed.push((id, Arc::clone(plan)));
        }
    }
    watched.0 = triggers;
}

/// Thresholds that follow a trigger, with their numbers.
pub(super) fn thresholds(
    plan: &FlowPlan,
    trigger: usize,
) -> impl Iterator<Item = (usize, &Threshold)> {
    let after = plan.steps[trigger].outgoing.iter();
    after.filter_map(|(to, _)| match &plan.steps[*to].kind {
        StepKind::Threshold(threshold) => Some((*to, threshold)),
        _ => None,
    })
}

pub(super) fn record(plan: &FlowPlan, trigger: usize, data: Map<String, Value>) -> TriggerRecord {
    let step = &plan.steps[trigger];
    TriggerRecord {
        step_id: step.id.clone(),
        kind: step.kind.word().to_owned(),
        data,
        crossed: BTreeMap::new(),
        depth: 0,
    }
}

/// Nodes of the fleet.
#[derive(SystemParam)]
pub(super) struct FleetNodes<'w, 's> {
    index: Res<'w, Index<NodeKind>>,
    records: Query<'w, 's, &'static NodeRecord>,
}

impl FleetNodes<'_, '_> {
    /// Name and tags of a node.
    pub fn described(&self, node: NodeId) -> (Option<String>, Vec<String>) {
        let entity = self.index.get(node).ok();
        let record = entity.and_then(|entity| self.records.get(entity).ok());
        record.map_or((None, Vec::new()), |record| {
            (Some(record.0.name.clone()), record.0.tags.clone())
        })
    }
}

pub(super) fn admits(
    required: Option<Uuid>,
    tag: Option<&String>,
    node: Option<Uuid>,
    tags: &[String],
) -> bool {
    (required.is_none() || required == node) && tag.is_none_or(|tag| tags.contains(tag))
}

fn kind_of(event: &FleetEvent) -> Option<NodeEventKind> {
    let word = |name: &str| event.data.get(name).map(String::as_str);
    Some(match (event.kind, word("to"), word("state")) {
        (FleetEventKind::NodeState, Some("online"), _) => NodeEventKind::Online,
        (FleetEventKind::NodeState, Some("stale"), _) => NodeEventKind::Stale,
        (FleetEventKind::NodeState, Some("offline"), _) => NodeEventKind::Offline,
        (FleetEventKind::Registration, _, Some("pending")) => NodeEventKind::Pending,
        (FleetEventKind::Registration, _, Some("expired")) => NodeEventKind::Expired,
        (FleetEventKind::Registration, _, Some("approved")) => NodeEventKind::Approved,
        (FleetEventKind::Registration, _, Some("rejected")) => NodeEventKind::Rejected,
        (FleetEventKind::Registration, _, Some("revoked")) => NodeEventKind::Revoked,
        (FleetEventKind::Registration, _, Some("gone")) => NodeEventKind::Gone,
        (FleetEventKind::Alert, ..) => NodeEventKind::Alert,
        (FleetEventKind::Outage, _, Some("open")) => NodeEventKind::Outage,
        (FleetEventKind::Outage, _, Some("over")) => NodeEventKind::Recovered,
        _ => return None,
    })
}

/// Reason for which an execution is skipped that so many others led to.
pub(super) fn depth_refusal(depth: u32) -> Option<String> {
    (depth > DEPTH_MAX).then(|| format!("{DEPTH_MAX} executions led to one another already"))
}

/// Queues executions for the events of this tick.
pub(super) fn match_events(
    (pass, watched): (Res<Pass>, Res<Watched>),
    buffer: Res<EventBuffer>,
    nodes: FleetNodes,
    outages: OutageValues,
    (index, executions): (Res<Index<ExecutionKind>>, Query<&ExecutionCause>),
    mut progress: ResMut<Progress>,
    mut starts: ResMut<Starts>,
) {
    if !pass.evaluates {
        return;
    }
    let after = std::mem::replace(&mut progress.event, buffer.last_seq());
    let events = buffer.after(after);
    for event in events.filter(|_| !watched.0.events.is_empty()) {
        let Some(kind) = kind_of(event) else {
            continue;
        };
        let id_of = |name: &str| event.data.get(name).and_then(|id| id.parse::<Uuid>().ok());
        let node = id_of("node_id");
        let (name, tags) =
            node.map_or((None, Vec::new()), |node| nodes.described(NodeId::new(node)));
        // An alert of a flow counts the executions that led to it.
        let cause = id_of("execution_id")
            .map(ExecutionId::new)
            .and_then(|id| executions.get(index.get(id).ok()?).ok());
        let depth = cause.map_or(0, |cause| cause.trigger.depth + 1);
        for (flow, number, plan) in &watched.0.events {
            let StepKind::NodeEvent(selection) = &plan.steps[*number].kind else {
                continue;
            };
            let fits = selection.events.contains(&kind)
                && admits(selection.node_id, selection.tag.as_ref(), node, &tags);
            if !fits {
                continue;
            }
            let values = event.data.iter();
            let mut data: Map<String, Value> =
                values.map(|(key, value)| (key.clone(), Value::from(value.clone()))).collect();
            data.insert("event".to_owned(), json!(kind));
            data.insert("at".to_owned(), time(event.at_ns / 1_000_000).into());
            data.extend(id_of("outage_id").and_then(|id| outages.of(id)).into_iter().flatten());
            if let Some(name) = &name {
                data.insert("node_name".to_owned(), name.clone().into());
            }
            let mut trigger = record(plan, *number, data);
            trigger.depth = depth;
            starts.0.push(Start { refused: depth_refusal(depth), ..Start::of(*flow, trigger) });
        }
    }
}
