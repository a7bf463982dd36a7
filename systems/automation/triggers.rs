//! Triggers of flows, and those that events of the fleet fire.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::components::{
    Automation, AutomationId, Execution, ExecutionId, ExecutionKind, PlannedFlow, TriggerRecord,
};
use super::execution::{self, Start};
use super::state::Progress;
use crate::fleet::{self, FleetEvent, FleetEventKind, NodeRecord};
use crate::model::automation::{FlowPlan, NodeEventKind, StepKind, Threshold, time};
use crate::site::{NodeId, NodeKind};

/// Executions that led to one another at most: a flow that triggers itself ends there.
const DEPTH_MAX: u32 = 4;

/// A trigger: flow, number of the step, plan.
pub(super) type Watch = (AutomationId, usize, Arc<FlowPlan>);

/// Triggers of enabled flows, by their kind. Derived when a flow changes.
#[derive(Default)]
pub(super) struct Triggers {
    /// By metric.
    pub sensors: BTreeMap<String, Vec<Watch>>,
    events: Vec<Watch>,
    pub links: Vec<Watch>,
    /// Flows with schedules or thresholds that wait.
    pub timed: Vec<(AutomationId, Arc<FlowPlan>)>,
}

/// The triggers that are watched. Derived by `evaluate`.
#[derive(Resource, Default)]
pub(super) struct Watched(pub Arc<Triggers>);

impl Watched {
    /// Triggers of all enabled flows.
    pub fn of(world: &World) -> Self {
        let mut found = Triggers::default();
        for (id, entity) in world.resource::<Index<Automation>>().iter() {
            let flow = world.get::<Automation>(entity).expect("a flow is one");
            let Some(planned) = world.get::<PlannedFlow>(entity).filter(|_| flow.0.enabled) else {
                continue;
            };
            let plan = &planned.0;
            let mut is_timed = false;
            for (number, step) in plan.triggers() {
                let entry = || (id, number, Arc::clone(plan));
                match &step.kind {
                    StepKind::SensorValue(sensor) => {
                        let of_metric = found.sensors.entry(sensor.metric.clone());
                        of_metric.or_default().push(entry());
                        is_timed |= thresholds(plan, number).any(|(_, held)| held.for_s > 0);
                    }
                    StepKind::NodeEvent(_) => found.events.push(entry()),
                    StepKind::LinkEvent(_) => found.links.push(entry()),
                    StepKind::Schedule(_) => is_timed = true,
                    _ => {}
                }
            }
            if is_timed {
                found.timed.push((id, Arc::clone(plan)));
            }
        }
        Self(Arc::new(found))
    }
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

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Name and tags of a node of the fleet.
pub(super) fn described(world: &World, node: NodeId) -> (Option<String>, Vec<String>) {
    let entity = world.resource::<Index<NodeKind>>().get(node).ok();
    let found = entity.and_then(|entity| world.get::<NodeRecord>(entity));
    found.map_or((None, Vec::new()), |found| {
        (Some(found.0.name.clone()), found.0.tags.clone())
    })
}

pub(super) fn admits(
    wanted: Option<Uuid>,
    tag: Option<&String>,
    node: Option<Uuid>,
    tags: &[String],
) -> bool {
    (wanted.is_none() || wanted == node) && tag.is_none_or(|tag| tags.contains(tag))
}

fn kind_of(event: &FleetEvent) -> Option<NodeEventKind> {
    let word = |name: &str| event.data.get(name).map(String::as_str);
    Some(match (event.kind, word("to"), word("state")) {
        (FleetEventKind::NodeState, Some("online"), _) => NodeEventKind::Online,
        (FleetEventKind::NodeState, Some("stale"), _) => NodeEventKind::Stale,
        (FleetEventKind::NodeState, Some("offline"), _) => NodeEventKind::Offline,
        (FleetEventKind::Registration, _, Some("approved")) => NodeEventKind::Approved,
        (FleetEventKind::Registration, _, Some("rejected")) => NodeEventKind::Rejected,
        (FleetEventKind::Registration, _, Some("revoked")) => NodeEventKind::Revoked,
        (FleetEventKind::Registration, _, Some("gone")) => NodeEventKind::Gone,
        (FleetEventKind::Alert, ..) => NodeEventKind::Alert,
        _ => return None,
    })
}

/// Starts executions for the events of this tick.
pub(super) fn match_events(world: &mut World, watched: &Triggers) {
    let after = world.resource::<Progress>().event;
    let events = match watched.events.is_empty() {
        true => Vec::new(),
        false => fleet::events_after(world, after),
    };
    world.resource_mut::<Progress>().event = fleet::last_event(world);
    for event in events {
        let Some(kind) = kind_of(&event) else {
            continue;
        };
        let named = |name: &str| event.data.get(name).and_then(|id| id.parse::<Uuid>().ok());
        let node = named("node_id");
        let (name, tags) = node.map_or((None, Vec::new()), |node| {
            described(world, NodeId::new(node))
        });
        // An alert of a flow counts the executions that led to it.
        let cause = named("execution_id").map(ExecutionId::new);
        let cause = cause.and_then(|id| world.resource::<Index<ExecutionKind>>().get(id).ok());
        let cause = cause.and_then(|entity| world.get::<Execution>(entity));
        let depth = cause.map_or(0, |cause| cause.0.trigger.depth + 1);
        for (flow, number, plan) in &watched.events {
            let StepKind::NodeEvent(wanted) = &plan.steps[*number].kind else {
                continue;
            };
            let fits = wanted.events.contains(&kind)
                && admits(wanted.node_id, wanted.tag.as_ref(), node, &tags);
            if !fits {
                continue;
            }
            let values = event.data.iter();
            let mut data: Map<String, Value> = values
                .map(|(key, value)| (key.clone(), Value::from(value.clone())))
                .collect();
            data.insert("event".to_owned(), json!(kind));
            data.insert("at".to_owned(), time(event.at_ns / 1_000_000).into());
            if let Some(name) = &name {
                data.insert("node_name".to_owned(), name.clone().into());
            }
            let mut trigger = record(plan, *number, data);
            trigger.depth = depth;
            let refused = (depth > DEPTH_MAX)
                .then(|| format!("{DEPTH_MAX} executions led to one another already"));
            execution::start(
                world,
                Start {
                    refused,
                    ..Start::of(*flow, trigger)
                },
            );
        }
    }
}
