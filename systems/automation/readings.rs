//! Readings: thresholds of sensor triggers, and the executions that start when they are crossed.

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::components::{Automation, AutomationId, FlowMemory};
use super::execution::{self, Start};
use super::state::GatewayReadings;
use super::triggers::{Triggers, admits, described, object, record, thresholds};
use crate::fleet::{LatestReadings, unit_of};
use crate::model::automation::{
    Crossing, FlowPlan, GATEWAY_PREFIX, StepKind, ThresholdMemory, When,
};
use crate::peripheral;
use crate::site::NodeId;

/// A reading of a node, or of the gateway where there is none.
struct Observed<'o> {
    node: Option<NodeId>,
    name: Option<&'o str>,
    tags: &'o [String],
    metric: &'o str,
    value: f64,
}

/// Takes readings into account that arrived in this tick.
pub(super) fn match_readings(
    world: &mut World,
    watched: &Triggers,
    read: &[(NodeId, LatestReadings)],
    now_ms: u64,
) {
    let mut own = std::mem::take(&mut world.resource_mut::<GatewayReadings>().0);
    if watched.sensors.is_empty() {
        return;
    }
    let sensors = peripheral::host_readings(world);
    own.extend(watched.sensors.keys().filter_map(|metric| {
        let reading = sensors.get(metric.strip_prefix(GATEWAY_PREFIX)?)?;
        (reading.ts_ms == now_ms).then(|| (metric.clone(), reading.value))
    }));
    for (metric, value) in &own {
        let observed = Observed {
            node: None,
            name: None,
            tags: &[],
            metric,
            value: *value,
        };
        observe(world, watched, &observed, now_ms);
    }
    for (node, latest) in read {
        let metrics: Vec<&String> = watched.sensors.keys().collect();
        let found: Vec<_> = metrics
            .into_iter()
            .filter_map(|metric| Some((metric, latest.0.get(metric)?.value)))
            .collect();
        if found.is_empty() {
            continue;
        }
        let (name, tags) = described(world, *node);
        for (metric, value) in found {
            let observed = Observed {
                node: Some(*node),
                name: name.as_deref(),
                tags: &tags,
                metric,
                value,
            };
            observe(world, watched, &observed, now_ms);
        }
    }
}

fn observe(world: &mut World, watched: &Triggers, observed: &Observed<'_>, now_ms: u64) {
    let node = observed.node.map(NodeId::uuid);
    let of_metric = watched.sensors.get(observed.metric);
    for (flow, number, plan) in of_metric.into_iter().flatten() {
        let StepKind::SensorValue(wanted) = &plan.steps[*number].kind else {
            continue;
        };
        if !admits(wanted.node_id, wanted.tag.as_ref(), node, observed.tags) {
            continue;
        }
        let mut crossed = Vec::new();
        for (step, threshold) in thresholds(plan, *number) {
            let crossing = remember(world, *flow, plan, step, node, |memory| {
                threshold.observe(memory, observed.value, now_ms)
            });
            crossed.extend(crossing.map(|crossing| (step, crossing)));
        }
        let data = json!({
            "node_id": node,
            "node_name": observed.name,
            "metric": observed.metric,
            "value": observed.value,
            "unit": unit_of(observed.metric),
        });
        cross(world, *flow, plan, *number, object(data), &crossed);
    }
}

/// Changes the memory of a threshold; writes nothing where nothing changes.
pub(super) fn remember(
    world: &mut World,
    flow: AutomationId,
    plan: &FlowPlan,
    step: usize,
    node: Option<Uuid>,
    change: impl FnOnce(&mut ThresholdMemory) -> Option<Crossing>,
) -> Option<Crossing> {
    let entity = world.resource::<Index<Automation>>().get(flow).ok()?;
    let mut held = world.get_mut::<FlowMemory>(entity)?;
    let key = (plan.steps[step].id.clone(), node.unwrap_or_default());
    let before = held.thresholds.get(&key).copied().unwrap_or_default();
    let mut memory = before;
    let crossing = change(&mut memory);
    if memory == before {
        return crossing;
    }
    match memory == ThresholdMemory::default() {
        true => held.thresholds.remove(&key),
        false => held.thresholds.insert(key, memory),
    };
    crossing
}

/// Starts an execution for thresholds that were crossed, where an edge follows the result.
pub(super) fn cross(
    world: &mut World,
    flow: AutomationId,
    plan: &FlowPlan,
    trigger: usize,
    data: Map<String, Value>,
    crossed: &[(usize, Crossing)],
) {
    let leads = |step: usize, crossing: Crossing| {
        let when = match crossing {
            Crossing::Entered => When::True,
            Crossing::Left => When::False,
        };
        plan.steps[step]
            .outgoing
            .iter()
            .any(|(_, held)| *held == when)
    };
    if !crossed
        .iter()
        .any(|(step, crossing)| leads(*step, *crossing))
    {
        return;
    }
    let mut trigger = record(plan, trigger, data);
    trigger.crossed = crossed
        .iter()
        .map(|(step, crossing)| (plan.steps[*step].id.clone(), *crossing == Crossing::Entered))
        .collect();
    execution::start(world, Start::of(flow, trigger));
}
