//! Begin and end of executions, by the mode of their flow.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::Index;

use super::basis::{now_ms, timed_id};
use super::components::{
    Automation, AutomationId, Delivery, DeliveryId, DeliveryKind, Execution, ExecutionId,
    ExecutionKind, ExecutionPlan, ExecutionRecord, ExecutionState, FlowMemory, PlannedFlow,
    StepRecord, TriggerRecord,
};
use super::retention;
use super::state::{WALL_LIMIT_MS, Work};
use crate::automation::language::{FlowMode, FlowPlan, StepRole, StepState, plan};
use crate::config;
use crate::fleet;

/// Executions of a flow in a minute at most; the first one beyond it is recorded as skipped, further
/// ones are not recorded.
pub(super) const STARTS_PER_MINUTE: u32 = 600;

/// Executions that are to begin in this tick, in their order. Written by the systems that match
/// triggers.
#[derive(Resource, Default)]
pub(super) struct Starts(pub Vec<Start>);

/// An execution that is to begin.
pub(super) struct Start {
    pub flow: AutomationId,
    pub trigger: TriggerRecord,
    pub id: Option<ExecutionId>,
    pub dry_run: bool,
    /// Reason for which it is skipped.
    pub refused: Option<String>,
}

impl Start {
    pub fn of(flow: AutomationId, trigger: TriggerRecord) -> Self {
        Self { flow, trigger, id: None, dry_run: false, refused: None }
    }
}

/// Begins an execution, or records that it was skipped; `None` beyond the rate of the flow.
pub(super) fn start(world: &mut World, start: Start) -> Option<ExecutionId> {
    Work::ensure(world);
    let now_ms = now_ms(world);
    let entity = world.resource::<Index<Automation>>().get(start.flow).ok()?;
    let planned = world.get::<PlannedFlow>(entity)?.0.clone()?;
    let flow = world.get::<Automation>(entity)?.0.clone();
    let version = config::revision::<Automation>(world, start.flow).unwrap_or_default();
    let mut memory = world.get_mut::<FlowMemory>(entity)?;
    memory.sequence += 1;
    let sequence = memory.sequence;
    let minute = now_ms / 60_000;
    if memory.minute.0 != minute {
        memory.minute = (minute, 0);
    }
    memory.minute.1 = memory.minute.1.saturating_add(1);
    let count = memory.minute.1;
    if count > STARTS_PER_MINUTE + 1 {
        return None;
    }
    let too_many = (count > STARTS_PER_MINUTE)
        .then(|| format!("more than {STARTS_PER_MINUTE} executions in a minute"));
    let unfinished = world.resource::<Work>().unfinished.get(&start.flow);
    let unfinished: Vec<ExecutionId> = unfinished.into_iter().flatten().copied().collect();
    let most = flow.max_concurrency as usize;
    let refused = start.refused.or(too_many);
    let (state, error) = match (refused, flow.mode) {
        (Some(why), _) => (ExecutionState::Skipped, Some(why)),
        (None, FlowMode::Single) if !unfinished.is_empty() => {
            let why = "an execution of this flow is unfinished".to_owned();
            (ExecutionState::Skipped, Some(why))
        }
        (None, FlowMode::Queued | FlowMode::Parallel) if unfinished.len() >= most => {
            let why = format!("{most} executions of this flow are unfinished");
            (ExecutionState::Skipped, Some(why))
        }
        (None, FlowMode::Queued) if !unfinished.is_empty() => (ExecutionState::Queued, None),
        (None, FlowMode::Restart) => {
            for id in unfinished {
                let why = "a later execution began".to_owned();
                finish(world, id, ExecutionState::Cancelled, Some(why));
            }
            (ExecutionState::Running, None)
        }
        (None, _) => (ExecutionState::Running, None),
    };
    let id = start.id.unwrap_or_else(|| {
        ExecutionId::new(timed_id(now_ms, start.flow.uuid(), &sequence.to_be_bytes()))
    });
    if world.resource::<Index<ExecutionKind>>().get(id).is_ok() {
        return None;
    }
    let skipped = state == ExecutionState::Skipped;
    let steps = planned.steps.iter().map(|step| {
        let is_cause = step.id == start.trigger.step_id;
        let mut record = StepRecord { step_id: step.id.clone(), ..StepRecord::default() };
        if is_cause {
            record.state = StepState::Succeeded;
            record.started_ms = Some(now_ms);
            record.ended_ms = Some(now_ms);
        } else if skipped || step.kind.role() == StepRole::Trigger {
            record.state = StepState::Skipped;
        }
        record
    });
    let record = ExecutionRecord {
        flow: start.flow,
        flow_version: version,
        state,
        steps: steps.collect(),
        trigger: start.trigger,
        queued_ms: now_ms,
        started_ms: (state == ExecutionState::Running).then_some(now_ms),
        ended_ms: skipped.then_some(now_ms),
        error,
        dry_run: start.dry_run,
        definition: (!skipped).then(|| Box::new(flow)),
    };
    world.resource_mut::<Work>().enter(id, &record);
    world.spawn((id, Execution(Arc::new(record)), ExecutionPlan(planned)));
    if skipped {
        retention::trim(world, start.flow, state);
    }
    Some(id)
}

/// Record of an execution.
pub(super) fn record_of(world: &World, id: ExecutionId) -> Option<(Entity, Arc<ExecutionRecord>)> {
    let entity = world.resource::<Index<ExecutionKind>>().get(id).ok()?;
    let held = world.get::<Execution>(entity)?;
    Some((entity, Arc::clone(&held.0)))
}

/// Plans a flow for a command, perhaps of the tick in which it was put.
pub(super) fn plan_flow(world: &mut World, entity: Entity, plan: FlowPlan) {
    world.entity_mut(entity).insert(PlannedFlow(Some(Arc::new(plan))));
}

/// Plan of an unfinished execution.
pub(super) fn plan_of(world: &mut World, entity: Entity) -> Option<Arc<FlowPlan>> {
    if let Some(held) = world.get::<ExecutionPlan>(entity) {
        return Some(Arc::clone(&held.0));
    }
    let record = &world.get::<Execution>(entity)?.0;
    let planned = Arc::new(plan(record.definition.as_deref()?).ok()?);
    let held = ExecutionPlan(Arc::clone(&planned));
    world.entity_mut(entity).insert(held);
    Some(planned)
}

/// Ends an unfinished execution; the next one in the queue of its flow begins.
pub(super) fn finish(
    world: &mut World,
    id: ExecutionId,
    state: ExecutionState,
    error: Option<String>,
) {
    let Some((entity, held)) = record_of(world, id) else {
        return;
    };
    if held.state.is_final() {
        return;
    }
    let now_ms = now_ms(world);
    world.resource_mut::<Work>().leave(id, &held);
    let mut record = ExecutionRecord::clone(&held);
    record.state = state;
    record.ended_ms = Some(now_ms);
    record.error = error;
    record.definition = None;
    for step in &mut record.steps {
        step.each = None;
        match step.state {
            StepState::Pending => step.state = StepState::Skipped,
            StepState::Running => {
                step.state = StepState::Failed;
                step.ended_ms = Some(now_ms);
                if step.error.is_none() {
                    step.error.clone_from(&record.error);
                }
            }
            _ => {}
        }
    }
    if state == ExecutionState::Cancelled {
        let each = held.steps.iter().filter_map(|step| step.each.as_ref());
        let each = each.flat_map(|each| each.waiting.iter().copied());
        let single = held.steps.iter().filter_map(|step| step.delivery);
        let deliveries: Vec<DeliveryId> = single.chain(each).collect();
        for delivery in deliveries {
            withdraw(world, delivery);
        }
    }
    let flow = record.flow;
    world.resource_mut::<Work>().enter(id, &record);
    world.entity_mut(entity).insert(Execution(Arc::new(record))).remove::<ExecutionPlan>();
    retention::trim(world, flow, state);
    fleet::executed(world, flow.uuid(), id.uuid(), state.word());
    begin_next(world, flow, now_ms);
}

/// Begins the first queued execution of a flow, if none is running.
fn begin_next(world: &mut World, flow: AutomationId, now_ms: u64) {
    let unfinished = world.resource::<Work>().unfinished.get(&flow);
    let unfinished: Vec<ExecutionId> = unfinished.into_iter().flatten().copied().collect();
    let state = |id: &ExecutionId| record_of(world, *id).map(|(_, held)| held.state);
    if unfinished.iter().any(|id| state(id) == Some(ExecutionState::Running)) {
        return;
    }
    let Some((id, (entity, held))) =
        unfinished.first().and_then(|id| Some((*id, record_of(world, *id)?)))
    else {
        return;
    };
    let mut record = ExecutionRecord::clone(&held);
    record.state = ExecutionState::Running;
    record.started_ms = Some(now_ms);
    world.resource_mut::<Work>().enter(id, &record);
    world.entity_mut(entity).insert(Execution(Arc::new(record)));
}

/// Removes a delivery that was not made yet; an attempt in flight goes on without a consequence.
fn withdraw(world: &mut World, id: DeliveryId) {
    let Ok(entity) = world.resource::<Index<DeliveryKind>>().get(id) else {
        return;
    };
    let held = world.get::<Delivery>(entity).expect("a delivery").clone();
    if held.dead {
        return;
    }
    world.resource_mut::<Work>().leave_delivery(id, &held);
    world.despawn(entity);
}

/// Cancels all unfinished executions of a flow.
pub(super) fn end_all(world: &mut World, flow: AutomationId, why: &str) {
    // Queued ones first, so that none of them begins.
    let unfinished = world.resource::<Work>().unfinished.get(&flow);
    let unfinished: Vec<ExecutionId> = unfinished.into_iter().flatten().rev().copied().collect();
    for id in unfinished {
        finish(world, id, ExecutionState::Cancelled, Some(why.to_owned()));
    }
}

/// Ends executions whose time ran out; their deliveries go on.
pub(super) fn expire(world: &mut World, now_ms: u64) {
    loop {
        let first = world.resource::<Work>().deadlines.first().copied();
        let Some((due_ms, id)) = first.filter(|(due_ms, _)| *due_ms <= now_ms) else {
            return;
        };
        world.resource_mut::<Work>().deadlines.remove(&(due_ms, id));
        let why = format!("unfinished after {} s", WALL_LIMIT_MS / 1000);
        finish(world, id, ExecutionState::Failed, Some(why));
    }
}
