//! Times: schedules that are due, and thresholds that were crossed for long enough.

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use serde_json::json;

use super::components::{Automation, FlowMemory};
use super::execution::{self, Start};
use super::readings::{cross, remember};
use super::state::Progress;
use super::triggers::{Triggers, described, object, record};
use crate::fleet::unit_of;
use crate::model::automation::{StepKind, next_run_ms, time};
use crate::site::NodeId;

/// Time between two looks at schedules and thresholds that wait, ms.
const TIMES_MS: u64 = 100;

/// Starts executions of schedules that are due and of thresholds that were crossed for long enough.
pub(super) fn match_times(world: &mut World, watched: &Triggers, now_ms: u64) {
    let looked_ms = world.resource::<Progress>().timed_ms;
    if now_ms.abs_diff(looked_ms) < TIMES_MS {
        return;
    }
    world.resource_mut::<Progress>().timed_ms = now_ms;
    for (flow, plan) in &watched.timed {
        let Ok(entity) = world.resource::<Index<Automation>>().get(*flow) else {
            continue;
        };
        let memory = world.get::<FlowMemory>(entity).expect("required");
        let is_due = |(_, next_ms): &(&String, &u64)| **next_ms <= now_ms;
        let due = memory.next_ms.iter().filter(is_due);
        let due: Vec<_> = due.map(|(step, at)| (step.clone(), *at)).collect();
        let waiting = memory.thresholds.iter();
        let waiting = waiting.filter(|(_, held)| held.since_ms.is_some());
        let waiting: Vec<_> = waiting
            .map(|(key, held)| (key.clone(), held.value))
            .collect();
        for (step_id, at_ms) in due {
            let number = plan.find(&step_id);
            let Some((number, StepKind::Schedule(schedule))) =
                number.map(|number| (number, &plan.steps[number].kind))
            else {
                continue;
            };
            let next_ms = next_run_ms(&schedule.cron, &schedule.tz, now_ms);
            let mut memory = world.get_mut::<FlowMemory>(entity).expect("required");
            match next_ms {
                Some(next_ms) => memory.next_ms.insert(step_id, next_ms),
                None => memory.next_ms.remove(&step_id),
            };
            let data = json!({ "scheduled_at": time(at_ms) });
            let trigger = record(plan, number, object(data));
            execution::start(world, Start::of(*flow, trigger));
        }
        for ((step_id, node), value) in waiting {
            let Some(step) = plan.find(&step_id) else {
                continue;
            };
            let StepKind::Threshold(threshold) = &plan.steps[step].kind else {
                continue;
            };
            let node = Some(node).filter(|node| !node.is_nil());
            let crossing = remember(world, *flow, plan, step, node, |memory| {
                threshold.mature(memory, now_ms)
            });
            let Some(crossing) = crossing else { continue };
            let sensor = plan.steps[step].incoming.iter().find_map(|(from, _)| {
                match &plan.steps[*from].kind {
                    StepKind::SensorValue(sensor) => Some((*from, sensor)),
                    _ => None,
                }
            });
            let Some((trigger, sensor)) = sensor else {
                continue;
            };
            let name = node.and_then(|node| described(world, NodeId::new(node)).0);
            let data = json!({
                "node_id": node,
                "node_name": name,
                "metric": sensor.metric,
                "value": value,
                "unit": unit_of(&sensor.metric),
            });
            cross(
                world,
                *flow,
                plan,
                trigger,
                object(data),
                &[(step, crossing)],
            );
        }
    }
}
