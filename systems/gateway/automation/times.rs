//! Times: schedules that are due, and thresholds that were crossed for long enough.

use bevy_ecs::prelude::*;
use groundwave_protocol::unit_of;
use groundwave_simulation::site::NodeId;
use serde_json::json;

use super::basis::object;
use super::components::AutomationId;
use super::readings::Memories;
use super::state::{Pass, Progress};
use super::triggers::{FleetNodes, Watched, record};
use crate::automation::language::{FlowPlan, StepKind, next_run_ms, time};

/// Time between two looks at schedules and thresholds that wait, ms.
const TIMES_MS: u64 = 100;
/// Step of the wall clock backwards after which times of the clock before it are taken back, ms; smaller
/// ones are waited for.
const BACK_MS: u64 = 60_000;

/// Queues executions of schedules that are due and of thresholds that were crossed for long enough.
pub(super) fn match_times(
    (pass, watched): (Res<Pass>, Res<Watched>),
    nodes: FleetNodes,
    mut progress: ResMut<Progress>,
    mut memories: Memories,
) {
    let now_ms = pass.now_ms;
    if !pass.evaluates || now_ms.abs_diff(progress.timed_ms) < TIMES_MS {
        return;
    }
    let before_ms = std::mem::replace(&mut progress.timed_ms, now_ms);
    if now_ms.saturating_add(BACK_MS) < before_ms {
        memories.set_back(now_ms);
        let timed = watched.0.timed.iter();
        timed.for_each(|(flow, plan)| reschedule(&mut memories, *flow, plan, now_ms));
    }
    for (flow, plan) in &watched.0.timed {
        let Some(memory) = memories.of(*flow) else {
            continue;
        };
        let is_due = |(_, next_ms): &(&String, &u64)| **next_ms <= now_ms;
        let due = memory.next_ms.iter().filter(is_due);
        let due: Vec<_> = due.map(|(step, at)| (step.clone(), *at)).collect();
        let waiting =
            memory.thresholds.iter().filter(|(_, threshold)| threshold.since_ms.is_some());
        let waiting: Vec<_> =
            waiting.map(|(key, threshold)| (key.clone(), threshold.value)).collect();
        for (step_id, at_ms) in due {
            let number = plan.find(&step_id);
            let Some((number, StepKind::Schedule(schedule))) =
                number.map(|number| (number, &plan.steps[number].kind))
            else {
                continue;
            };
            let next_ms = next_run_ms(&schedule.cron, &schedule.tz, now_ms);
            let mut memory = memories.of(*flow).expect("it had one");
            match next_ms {
                Some(next_ms) => memory.next_ms.insert(step_id, next_ms),
                None => memory.next_ms.remove(&step_id),
            };
            let data = json!({ "scheduled_at": time(at_ms) });
            let trigger = record(plan, number, object(data));
            memories.start(*flow, trigger);
        }
        for ((step_id, node), value) in waiting {
            let Some(step) = plan.find(&step_id) else {
                continue;
            };
            let StepKind::Threshold(threshold) = &plan.steps[step].kind else {
                continue;
            };
            let node = Some(node).filter(|node| !node.is_nil());
            let crossing = memories
                .remember(*flow, plan, step, node, |memory| threshold.mature(memory, now_ms));
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
            let name = node.and_then(|node| nodes.described(NodeId::new(node)).0);
            let data = json!({
                "node_id": node,
                "node_name": name,
                "metric": sensor.metric,
                "value": value,
                "unit": unit_of(&sensor.metric),
            });
            memories.cross(*flow, plan, trigger, object(data), &[(step, crossing)]);
        }
    }
}

/// Takes schedules of a flow back that wait for a time of a clock that was ahead.
fn reschedule(memories: &mut Memories, flow: AutomationId, plan: &FlowPlan, now_ms: u64) {
    let Some(mut memory) = memories.of(flow) else { return };
    for (_, step) in plan.triggers() {
        let StepKind::Schedule(schedule) = &step.kind else { continue };
        let Some(next_ms) = next_run_ms(&schedule.cron, &schedule.tz, now_ms) else { continue };
        let at_ms = memory.next_ms.entry(step.id.clone()).or_insert(next_ms);
        *at_ms = next_ms.min(*at_ms);
    }
}
