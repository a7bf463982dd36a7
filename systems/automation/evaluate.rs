//! Evaluation of automation in a tick: flows that changed, triggers, steps, deliveries, retention.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Outbox};

use super::advance;
use super::basis::now_ms;
use super::components::{
    AlertKind, Automation, AutomationId, Delivery, DeliveryKind, ExecutionKind, FlowMemory,
    PlannedFlow,
};
use super::delivery::Deliver;
use super::execution;
use super::links::match_links;
use super::readings::match_readings;
use super::retention;
use super::state::{Progress, Work};
use super::times::match_times;
use super::triggers::{Watched, match_events};
use crate::config;
use crate::fleet::{self, LatestReadings, MeshEdges};
use crate::model::automation::{StepKind, next_run_ms, plan};
use crate::site::NodeId;

/// Attempts handed to the workers in one tick at most.
const ATTEMPTS_PER_TICK: usize = 256;

/// Wall clocks before this time are those of a world that was not told the time yet, ns since the
/// Unix epoch: 2001.
const WALL_KNOWN_NS: u64 = 1_000_000_000_000_000_000;

/// `true` if there is anything to evaluate.
pub(super) fn has_automation(
    flows: Res<Index<Automation>>,
    executions: Res<Index<ExecutionKind>>,
    deliveries: Res<Index<DeliveryKind>>,
    alerts: Res<Index<AlertKind>>,
) -> bool {
    !(flows.is_empty() && executions.is_empty() && deliveries.is_empty() && alerts.is_empty())
}

/// The one system of automation; it changes nothing when it runs again at the same tick.
pub(super) fn evaluate(
    world: &mut World,
    flows: &mut QueryState<(&'static AutomationId, &'static Automation), Changed<Automation>>,
    readings: &mut QueryState<(&'static NodeId, &'static LatestReadings), Changed<LatestReadings>>,
    edges: &mut QueryState<(&'static NodeId, &'static MeshEdges), Changed<MeshEdges>>,
) {
    let changed: Vec<(AutomationId, Automation)> = flows
        .iter(world)
        .map(|(id, flow)| (*id, flow.clone()))
        .collect();
    let tick = world.resource::<Clock>().tick;
    let before = world.resource::<Progress>().tick;
    Work::ensure(world);
    prepare(world, &changed);
    if before >= tick {
        // A checkpoint of this tick was taken up: its work is done.
        return;
    }
    let is_watching = before + 1 == tick;
    if !is_watching {
        // Nothing was watched since: what happened before is no news.
        let event = fleet::last_event(world);
        let mut progress = world.resource_mut::<Progress>();
        progress.event = event;
        progress.links.clear();
    }
    world.resource_mut::<Progress>().tick = tick;
    if world.resource::<Clock>().wall_ns < WALL_KNOWN_NS {
        return;
    }
    let now_ms = now_ms(world);
    let watched = Arc::clone(&world.resource::<Watched>().0);
    let read: Vec<(NodeId, LatestReadings)> = match is_watching && !watched.sensors.is_empty() {
        false => Vec::new(),
        true => {
            let read = readings.iter(world);
            read.map(|(node, latest)| (*node, latest.clone())).collect()
        }
    };
    let linked = edges.iter(world).filter(|_| is_watching);
    let linked: Vec<(NodeId, MeshEdges)> =
        linked.map(|(node, edges)| (*node, edges.clone())).collect();
    match_events(world, &watched);
    match_readings(world, &watched, &read, now_ms);
    match_links(world, &watched, &linked);
    match_times(world, &watched, now_ms);
    execution::expire(world, now_ms);
    advance::advance(world, now_ms);
    hand_over(world, now_ms);
    retention::sweep(world, now_ms);
}

/// Plans flows that are new or changed; ends what belongs to flows that are gone.
fn prepare(world: &mut World, changed: &[(AutomationId, Automation)]) {
    let gone = world.resource::<Index<Automation>>().departed().to_vec();
    for id in &gone {
        execution::end_all(world, *id, "the flow was removed");
    }
    if changed.is_empty() && gone.is_empty() {
        return;
    }
    let now_ms = now_ms(world);
    for (id, flow) in changed {
        let Ok(entity) = world.resource::<Index<Automation>>().get(*id) else {
            continue;
        };
        // It was checked when it was put.
        let Ok(plan) = plan(&flow.0) else { continue };
        let version = config::revision::<Automation>(world, *id).unwrap_or_default();
        let held = world.get::<FlowMemory>(entity).expect("required");
        if held.version != version {
            let mut memory = held.clone();
            memory.version = version;
            let has = |step: &str| plan.find(step).is_some();
            memory.thresholds.retain(|(step, _), _| has(step));
            memory.passes.retain(|(step, _), _| has(step));
            let variables = &flow.0.variables;
            memory
                .variables
                .retain(|name, _| variables.contains_key(name));
            memory.next_ms = plan
                .triggers()
                .filter_map(|(_, step)| match &step.kind {
                    StepKind::Schedule(schedule) => {
                        let next_ms = next_run_ms(&schedule.cron, &schedule.tz, now_ms)?;
                        Some((step.id.clone(), next_ms))
                    }
                    _ => None,
                })
                .collect();
            world.entity_mut(entity).insert(memory);
        }
        world.entity_mut(entity).insert(PlannedFlow(Arc::new(plan)));
    }
    let watched = Watched::of(world);
    world.insert_resource(watched);
}

/// Hands deliveries that are due to the workers.
fn hand_over(world: &mut World, now_ms: u64) {
    for _ in 0..ATTEMPTS_PER_TICK {
        let Some(id) = world.resource_mut::<Work>().take_due(now_ms) else {
            return;
        };
        let Ok(entity) = world.resource::<Index<DeliveryKind>>().get(id) else {
            continue;
        };
        let mut held = world.get_mut::<Delivery>(entity).expect("a delivery");
        held.in_flight = true;
        held.attempts += 1;
        let effect = Deliver {
            delivery: id,
            attempt: held.attempts,
            request: held.request.clone(),
        };
        world.resource_mut::<Outbox<Deliver>>().emit(effect);
    }
}
