//! Steps of running executions, a bounded number in each tick.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use serde_json::{Value, json};
use uuid::Uuid;

use super::act::{Actions, act};
use super::acting::{Acted, Acting};
use super::basis::bounded;
use super::components::{
    ExecutionCause, ExecutionDefinition, ExecutionId, ExecutionPlan, ExecutionState,
    ExecutionSteps, MayAdvance, StepRecord,
};
use super::each::act_for_each;
use super::execution::{Executions, Flows};
use super::state::Progress;
use crate::automation::language::{
    ContextParts, CooldownScope, FlowPlan, Outcome, StepKind, StepRole, StepState, compare,
    context as context_document, in_window, next_step, outcome, plan, time,
};

/// Maximum steps evaluated in one tick; executions take turns.
pub(super) const STEPS_PER_TICK: usize = 512;

/// Plans unfinished executions that were restored.
pub(super) fn plan_executions(
    unplanned: Query<(Entity, &ExecutionDefinition), Without<ExecutionPlan>>,
    mut commands: Commands,
) {
    for (entity, definition) in &unplanned {
        // It was checked when it was put; without a plan the execution fails.
        if let Ok(plan) = plan(&definition.0) {
            commands.entity(entity).insert(ExecutionPlan(Arc::new(plan)));
        }
    }
}

/// Runs steps that are ready, from the execution after the one served last.
pub(super) fn advance_executions(
    ready: Query<&ExecutionId, With<MayAdvance>>,
    mut progress: ResMut<Progress>,
    mut advance: Advance,
    mut commands: Commands,
) {
    let mut ready: BTreeSet<ExecutionId> = ready.iter().copied().collect();
    let mut budget = STEPS_PER_TICK;
    while budget > 0 {
        let after = progress.served.map_or(Bound::Unbounded, Bound::Excluded);
        let next = ready.range((after, Bound::Unbounded)).next().or_else(|| ready.first());
        let Some(id) = next.copied() else { break };
        let before = budget;
        let Progression { waits, next } = advance.run(id, &mut budget);
        if waits {
            ready.remove(&id);
            if let Some(entity) = advance.executions.entity(id) {
                commands.entity(entity).remove::<MayAdvance>();
            }
        }
        ready.extend(next);
        if budget < before {
            progress.served = Some(id);
        }
    }
    advance.actions.spawn();
}

/// Result of a turn of an execution.
struct Progression {
    /// No step is ready any more.
    waits: bool,
    /// Execution that began where this one ended.
    next: Option<ExecutionId>,
}

/// Parts of the world that a turn of an execution reads and writes.
#[derive(SystemParam)]
pub(super) struct Advance<'w, 's> {
    flows: Flows<'w, 's>,
    executions: Executions<'w, 's>,
    actions: Actions<'w, 's>,
}

/// An execution in its turn.
struct Turn {
    id: ExecutionId,
    cause: ExecutionCause,
    started_ms: u64,
    definition: ExecutionDefinition,
    plan: Arc<FlowPlan>,
    steps: Vec<StepRecord>,
    now_ms: u64,
}

impl Turn {
    /// States and results of the steps.
    fn progress(&self) -> Vec<(StepState, Option<bool>)> {
        self.steps.iter().map(|step| (step.state, step.result)).collect()
    }

    fn acting<'a>(&'a self, step_id: &'a str, context: &'a Value) -> Acting<'a> {
        let definition = &*self.definition.0;
        let Self { id, cause, now_ms, .. } = self;
        Acting { execution: *id, cause, definition, step_id, context, now_ms: *now_ms, node: None }
    }
}

impl Advance<'_, '_> {
    /// Runs the steps of an execution that are ready, `budget` at most.
    fn run(&mut self, id: ExecutionId, budget: &mut usize) -> Progression {
        let Some(mut turn) = self.turn(id) else {
            let why = Some("the flow of this version cannot be read".to_owned());
            let next = self.executions.finish(&self.flows, id, ExecutionState::Failed, why);
            return Progression { waits: true, next };
        };
        let before = turn.steps.clone();
        let mut context = self.context(&turn);
        let mut waits = true;
        loop {
            let mut progress = turn.progress();
            let next = next_step(&turn.plan, &mut progress);
            for (step, (state, _)) in turn.steps.iter_mut().zip(&progress) {
                step.state = *state;
            }
            let Some(number) = next else { break };
            if *budget == 0 {
                waits = false;
                break;
            }
            let count = self.step(&mut turn, number, &context);
            *budget = budget.saturating_sub(count);
            let step = &turn.steps[number];
            if let Some(output) = &step.output {
                context["steps"][&step.step_id] = output.clone();
            }
            if matches!(turn.plan.steps[number].kind, StepKind::SetVariable(_)) {
                context["variables"] = json!(self.variables(&turn));
            }
        }
        let outcome = outcome(&turn.plan, &turn.progress());
        let failed = turn.steps.iter().find(|step| step.state == StepState::Failed);
        let error = failed.map(|step| {
            let why = step.error.as_deref().unwrap_or("failed");
            format!("step {:?}: {why}", step.step_id)
        });
        if turn.steps != before
            && let Some(entity) = self.executions.entity(id)
            && let Ok(mut parts) = self.executions.parts.get_mut(entity)
        {
            *parts.steps = ExecutionSteps(turn.steps);
        }
        let (state, error) = match outcome {
            None => return Progression { waits, next: None },
            Some(Outcome::Succeeded) => (ExecutionState::Succeeded, None),
            Some(Outcome::Failed) => (ExecutionState::Failed, error),
            Some(Outcome::Skipped) => {
                (ExecutionState::Skipped, Some("no action was reached".to_owned()))
            }
        };
        let next = self.executions.finish(&self.flows, id, state, error);
        Progression { waits: true, next }
    }

    /// The execution with this id, if its flow can be read.
    fn turn(&self, id: ExecutionId) -> Option<Turn> {
        let parts = self.executions.parts.get(self.executions.entity(id)?).ok()?;
        Some(Turn {
            id,
            cause: parts.cause.clone(),
            started_ms: parts.status.started_ms.unwrap_or(parts.cause.queued_ms),
            definition: parts.definition?.clone(),
            plan: Arc::clone(&parts.plan?.0),
            steps: parts.steps.0.clone(),
            now_ms: self.executions.now_ms(),
        })
    }

    /// Variables of a flow: those of the document, and what executions set.
    fn variables(&mut self, turn: &Turn) -> BTreeMap<String, Value> {
        let mut variables = turn.definition.0.variables.clone();
        if let Some(memory) = self.flows.memory(turn.cause.flow) {
            let set = memory.variables.iter();
            let own: Vec<_> = set.filter(|(name, _)| variables.contains_key(*name)).collect();
            variables.extend(own.into_iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        variables
    }

    fn context(&mut self, turn: &Turn) -> Value {
        let parts = ContextParts {
            flow_id: &turn.cause.flow.to_string(),
            name: &turn.definition.0.name,
            version: turn.cause.flow_version,
            execution_id: &turn.id.to_string(),
            started_at: &time(turn.started_ms),
            trigger: &turn.cause.trigger.data,
            variables: &self.variables(turn),
        };
        let steps = turn.steps.iter();
        let outputs = steps.filter_map(|step| Some((step.step_id.as_str(), step.output.as_ref()?)));
        context_document(parts, outputs)
    }

    /// Runs one step: the number of steps it counts for.
    fn step(&mut self, turn: &mut Turn, number: usize, context: &Value) -> usize {
        let plan_step = &turn.plan.steps[number];
        let mut count = 1;
        let result = match plan_step.kind.role() {
            StepRole::Condition => match self.decide(turn, number, context) {
                Ok(Some(result)) => {
                    turn.steps[number].result = Some(result);
                    Acted::done(None, json!({ "result": result }))
                }
                Ok(None) => {
                    turn.steps[number].state = StepState::Skipped;
                    return count;
                }
                Err(error) => Acted::failed(None, error),
            },
            _ => {
                let acting = turn.acting(&plan_step.id, context);
                match &plan_step.kind {
                    StepKind::ForEachNode(each) => {
                        let (result, nodes) = act_for_each(
                            &mut self.actions,
                            &mut self.flows,
                            &mut self.executions.events,
                            &acting,
                            each,
                        );
                        count = nodes;
                        result
                    }
                    kind => act(
                        &mut self.actions,
                        &mut self.flows,
                        &mut self.executions.events,
                        &acting,
                        kind,
                    ),
                }
            }
        };
        let now_ms = turn.now_ms;
        let step = &mut turn.steps[number];
        step.started_ms = Some(now_ms);
        step.input = result.input;
        step.delivery = result.delivery;
        step.each = result.each;
        match result.result {
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
        count
    }

    /// Result of a condition; `None` for a threshold that the reading did not cross.
    fn decide(
        &mut self,
        turn: &Turn,
        number: usize,
        context: &Value,
    ) -> Result<Option<bool>, String> {
        let plan_step = &turn.plan.steps[number];
        match &plan_step.kind {
            StepKind::Threshold(threshold) => {
                let of_sensor = plan_step.incoming.iter().any(|(from, _)| {
                    let source = &turn.plan.steps[*from];
                    source.id == turn.cause.trigger.step_id
                        && matches!(source.kind, StepKind::SensorValue(_))
                });
                if of_sensor {
                    return Ok(turn.cause.trigger.crossed.get(&plan_step.id).copied());
                }
                let number = context.pointer(&threshold.pointer).and_then(Value::as_f64);
                let value =
                    number.ok_or_else(|| format!("no number at {:?}", threshold.pointer))?;
                Ok(Some(threshold.holds(value)))
            }
            StepKind::Cooldown(cooldown) => {
                let node = match cooldown.per {
                    CooldownScope::Flow => Uuid::nil(),
                    CooldownScope::Node => turn.cause.node().unwrap_or_default(),
                };
                let waits_ms = u64::from(cooldown.for_s) * 1000;
                let key = (plan_step.id.clone(), node);
                Ok(Some(self.passes(turn, key, waits_ms)))
            }
            StepKind::TimeWindow(window) => in_window(window, turn.now_ms).map(Some),
            StepKind::Response(response) => {
                let value = context.pointer(&response.pointer);
                Ok(Some(compare(value, response.op, &response.value)))
            }
            _ => Err("no condition".to_owned()),
        }
    }

    /// `true` if a cooldown of so many ms passes now, which is remembered.
    fn passes(&mut self, turn: &Turn, key: (String, Uuid), waits_ms: u64) -> bool {
        let now_ms = turn.now_ms;
        let Some(mut memory) = self.flows.memory(turn.cause.flow) else {
            return false;
        };
        let last_ms = memory.bypass_change_detection().passes.get(&key).copied();
        if last_ms.is_some_and(|last_ms| now_ms < last_ms.saturating_add(waits_ms)) {
            return false;
        }
        if !turn.cause.dry_run {
            memory.passes.retain(|(step, _), at_ms| {
                *step != key.0 || now_ms < at_ms.saturating_add(waits_ms)
            });
            memory.passes.insert(key, now_ms);
        }
        true
    }
}
