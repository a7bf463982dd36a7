//! Steps of running executions, a bounded number in each tick.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use serde_json::{Value, json};
use uuid::Uuid;

use super::act::act;
use super::acting::{Acted, Acting, node_of};
use super::basis::bounded;
use super::components::{
    Automation, Execution, ExecutionId, ExecutionRecord, ExecutionState, FlowMemory,
};
use super::each::act_for_each;
use super::execution::{self, plan_of, record_of};
use super::state::{Progress, Work};
use crate::automation::language::{
    ContextParts, CooldownScope, FlowPlan, Outcome, StepKind, StepRole, StepState, compare,
    context as context_document, in_window, next_step, outcome, time,
};

/// Steps evaluated in one tick at most; executions take turns.
pub(super) const STEPS_PER_TICK: usize = 512;

/// Runs steps that are ready, from the execution after the one served last.
pub(super) fn advance(world: &mut World, now_ms: u64) {
    let mut left = STEPS_PER_TICK;
    while left > 0 {
        let served = world.resource::<Progress>().served;
        let runnable = &world.resource::<Work>().runnable;
        let next = match served {
            Some(served) => {
                let after = (std::ops::Bound::Excluded(served), std::ops::Bound::Unbounded);
                runnable.range(after).next().or_else(|| runnable.first())
            }
            None => runnable.first(),
        };
        let Some(id) = next.copied() else { return };
        let before = left;
        run(world, id, &mut left, now_ms);
        if left < before {
            world.resource_mut::<Progress>().served = Some(id);
        }
    }
}

/// Runs the steps of an execution that are ready.
fn run(world: &mut World, id: ExecutionId, left: &mut usize, now_ms: u64) {
    let found = record_of(world, id)
        .and_then(|(entity, held)| Some((entity, plan_of(world, entity)?, held)));
    let Some((entity, plan, held)) = found else {
        world.resource_mut::<Work>().runnable.remove(&id);
        let why = "the flow of this version cannot be read".to_owned();
        return execution::finish(world, id, ExecutionState::Failed, Some(why));
    };
    let mut record = ExecutionRecord::clone(&held);
    let mut context = context_of(world, id, &record);
    let mut is_waiting = true;
    loop {
        let mut progress: Vec<_> = record.steps.iter().map(|s| (s.state, s.result)).collect();
        let next = next_step(&plan, &mut progress);
        for (step, (state, _)) in record.steps.iter_mut().zip(&progress) {
            step.state = *state;
        }
        let Some(number) = next else { break };
        if *left == 0 {
            is_waiting = false;
            break;
        }
        let steps = step(world, id, &mut record, &plan, number, &context, now_ms);
        *left = left.saturating_sub(steps);
        let done = &record.steps[number];
        if let Some(output) = &done.output {
            context["steps"][&done.step_id] = output.clone();
        }
        if matches!(plan.steps[number].kind, StepKind::SetVariable(_)) {
            context["variables"] = json!(variables(world, &record));
        }
    }
    let progress: Vec<_> = record.steps.iter().map(|s| (s.state, s.result)).collect();
    let outcome = outcome(&plan, &progress);
    let failed = record.steps.iter().find(|s| s.state == StepState::Failed);
    let error = failed.map(|step| {
        let why = step.error.as_deref().unwrap_or("failed");
        format!("step {:?}: {why}", step.step_id)
    });
    if record != *held {
        world.entity_mut(entity).insert(Execution(Arc::new(record)));
    }
    if is_waiting {
        world.resource_mut::<Work>().runnable.remove(&id);
    }
    match outcome {
        None => {}
        Some(Outcome::Succeeded) => {
            execution::finish(world, id, ExecutionState::Succeeded, None);
        }
        Some(Outcome::Failed) => execution::finish(world, id, ExecutionState::Failed, error),
        Some(Outcome::Skipped) => {
            let why = "no action was reached".to_owned();
            execution::finish(world, id, ExecutionState::Skipped, Some(why));
        }
    }
}

/// Variables of a flow: those of the document, and what executions set.
fn variables(world: &World, record: &ExecutionRecord) -> std::collections::BTreeMap<String, Value> {
    let definition = record.definition.as_deref();
    let mut variables = definition.map_or_else(Default::default, |flow| flow.variables.clone());
    let entity = world.resource::<Index<Automation>>().get(record.flow).ok();
    if let Some(memory) = entity.and_then(|entity| world.get::<FlowMemory>(entity)) {
        let set = memory.variables.iter();
        let known: Vec<_> = set.filter(|(name, _)| variables.contains_key(*name)).collect();
        variables.extend(known.into_iter().map(|(name, value)| (name.clone(), value.clone())));
    }
    variables
}

fn context_of(world: &World, id: ExecutionId, record: &ExecutionRecord) -> Value {
    let parts = ContextParts {
        flow_id: &record.flow.to_string(),
        name: record.definition.as_deref().map_or("", |flow| &flow.name),
        version: record.flow_version,
        execution_id: &id.to_string(),
        started_at: &time(record.started_ms.unwrap_or(record.queued_ms)),
        trigger: &record.trigger.data,
        variables: &variables(world, record),
    };
    let outputs =
        record.steps.iter().filter_map(|step| Some((step.step_id.as_str(), step.output.as_ref()?)));
    context_document(parts, outputs)
}

/// Runs one step: the number of steps it counts for.
fn step(
    world: &mut World,
    id: ExecutionId,
    record: &mut ExecutionRecord,
    plan: &FlowPlan,
    number: usize,
    context: &Value,
    now_ms: u64,
) -> usize {
    let planned = &plan.steps[number];
    let mut steps = 1;
    let done = match planned.kind.role() {
        StepRole::Condition => match decide(world, record, plan, number, context, now_ms) {
            Ok(Some(result)) => {
                record.steps[number].result = Some(result);
                Acted::done(None, json!({ "result": result }))
            }
            Ok(None) => {
                record.steps[number].state = StepState::Skipped;
                return steps;
            }
            Err(error) => Acted::failed(None, error),
        },
        _ => {
            let acting =
                Acting { execution: id, record, step_id: &planned.id, context, now_ms, node: None };
            match &planned.kind {
                StepKind::ForEachNode(wanted) => {
                    let (acted, count) = act_for_each(world, &acting, wanted);
                    steps = count;
                    acted
                }
                kind => act(world, &acting, kind),
            }
        }
    };
    let step = &mut record.steps[number];
    step.started_ms = Some(now_ms);
    step.input = done.input;
    step.delivery = done.delivery;
    step.each = done.each;
    match done.result {
        Some(Ok(output)) => {
            step.state = StepState::Succeeded;
            step.output = Some(bounded(output));
            step.ended_ms = Some(now_ms);
        }
        Some(Err(error)) => {
            step.state = StepState::Failed;
            step.error = Some(error);
            step.ended_ms = Some(now_ms);
        }
        None => step.state = StepState::Running,
    }
    steps
}

/// Result of a condition; `None` for a threshold that the reading did not cross.
fn decide(
    world: &mut World,
    record: &ExecutionRecord,
    plan: &FlowPlan,
    number: usize,
    context: &Value,
    now_ms: u64,
) -> Result<Option<bool>, String> {
    let planned = &plan.steps[number];
    match &planned.kind {
        StepKind::Threshold(threshold) => {
            let of_sensor = planned.incoming.iter().any(|(from, _)| {
                let source = &plan.steps[*from];
                source.id == record.trigger.step_id
                    && matches!(source.kind, StepKind::SensorValue(_))
            });
            if of_sensor {
                return Ok(record.trigger.crossed.get(&planned.id).copied());
            }
            let found = context.pointer(&threshold.pointer).and_then(Value::as_f64);
            let value = found.ok_or_else(|| format!("no number at {:?}", threshold.pointer))?;
            Ok(Some(threshold.holds(value)))
        }
        StepKind::Cooldown(cooldown) => {
            let node = match cooldown.per {
                CooldownScope::Flow => Uuid::nil(),
                CooldownScope::Node => node_of(record).unwrap_or_default(),
            };
            let entity = world.resource::<Index<Automation>>().get(record.flow);
            let Ok(entity) = entity else {
                return Ok(Some(false));
            };
            let mut memory = world.get_mut::<FlowMemory>(entity).expect("required");
            let key = (planned.id.clone(), node);
            let waits_ms = u64::from(cooldown.for_s) * 1000;
            let last_ms = memory.bypass_change_detection().passes.get(&key).copied();
            if last_ms.is_some_and(|last_ms| now_ms < last_ms.saturating_add(waits_ms)) {
                return Ok(Some(false));
            }
            if !record.dry_run {
                memory.passes.retain(|(step, _), at_ms| {
                    *step != planned.id || now_ms < at_ms.saturating_add(waits_ms)
                });
                memory.passes.insert(key, now_ms);
            }
            Ok(Some(true))
        }
        StepKind::TimeWindow(window) => in_window(window, now_ms).map(Some),
        StepKind::Response(wanted) => {
            let found = context.pointer(&wanted.pointer);
            Ok(Some(compare(found, wanted.op, &wanted.value)))
        }
        _ => Err("no condition".to_owned()),
    }
}
