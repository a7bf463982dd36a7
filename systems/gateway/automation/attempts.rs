//! Commands of deliveries: outcomes of attempts, restarts, the dead-letter list. Each is a one-shot
//! system over the components that it changes.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::basis::{bounded, run};
use super::components::{
    ExecutionId, ExecutionKind, ExecutionState, ExecutionStatus, ExecutionSteps, MayAdvance,
    StepRecord,
};
use super::delivery::{
    AttemptOutcome, DeadLetter, DeliveryAttempts, DeliveryId, DeliveryKind, DeliveryOrigin,
    InFlight,
};
use crate::automation::language::StepState;

/// Maximum wait between two attempts that a receiver may request, s.
pub(super) const WAIT_REQUESTED_MAX_S: u32 = 3600;

/// Deliveries by their ids.
#[derive(SystemParam)]
struct Deliveries<'w, 's> {
    clock: Res<'w, Clock>,
    index: Res<'w, Index<DeliveryKind>>,
    parts: Query<'w, 's, DeliveryParts>,
    commands: Commands<'w, 's>,
}

type DeliveryParts = (
    Entity,
    &'static DeliveryOrigin,
    &'static mut DeliveryAttempts,
    Has<InFlight>,
    Has<DeadLetter>,
);

impl Deliveries<'_, '_> {
    fn now_ms(&self) -> u64 {
        self.clock.wall_ns / 1_000_000
    }

    /// Entity of a delivery.
    fn entity(&self, id: DeliveryId) -> Result<Entity, Refusal> {
        self.index.get(id)
    }

    /// Entity of a delivery of the dead-letter list.
    fn dead(&self, id: DeliveryId) -> Result<Entity, Refusal> {
        let entity = self.entity(id)?;
        match self.parts.get(entity) {
            Ok((.., true)) => Ok(entity),
            _ => Err(Refusal::conflict("this delivery is being attempted")),
        }
    }
}

/// Takes up deliveries whose attempts were in flight when the gateway ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeDeliveries {}
impl Command for ResumeDeliveries {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let resume = |In(_): In<Self>, mut deliveries: Deliveries| {
            let now_ms = deliveries.now_ms();
            let in_flight = deliveries.parts.iter_mut().filter(|(.., in_flight, _)| *in_flight);
            for (entity, _, mut attempts, ..) in in_flight {
                // The attempt may not have been made: it is not counted.
                attempts.count -= 1;
                attempts.next_ms = now_ms;
                deliveries.commands.entity(entity).remove::<InFlight>();
            }
            Ok(())
        };
        run(world, resume, self)
    }
}
impl Recorded for ResumeDeliveries {
    const NAME: &'static str = "automation.resume";
    type Reply = ();
}

/// Records the outcome of an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishAttempt {
    /// Delivery.
    pub delivery: DeliveryId,
    /// Attempt.
    pub attempt: u32,
    /// Outcome.
    pub outcome: AttemptOutcome,
}
impl Command for FinishAttempt {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        run(world, finish_attempt, self)
    }
}
impl Recorded for FinishAttempt {
    const NAME: &'static str = "automation.finish";
    type Reply = ();
}

fn finish_attempt(
    In(FinishAttempt { delivery: id, attempt, outcome }): In<FinishAttempt>,
    mut deliveries: Deliveries,
    mut steps: WaitingSteps,
) -> Result<(), Refusal> {
    let now_ms = deliveries.now_ms();
    let entity = deliveries.entity(id)?;
    let missing = |_| Refusal::NotFound { kind: "delivery", id: id.to_string() };
    let (_, origin, mut attempts, in_flight, _) =
        deliveries.parts.get_mut(entity).map_err(missing)?;
    if !in_flight || attempts.count != attempt {
        return Err(Refusal::outdated("another attempt of this delivery"));
    }
    let step = WaitingStep { execution: origin.execution, step_id: &origin.step_id };
    let node = origin.node.unwrap_or_default();
    match outcome {
        AttemptOutcome::Delivered { output } => {
            let mut output = bounded(output);
            if let Value::Object(fields) = &mut output {
                fields.insert("attempts".to_owned(), attempt.into());
                fields.insert("delivery_id".to_owned(), json!(id));
            }
            deliveries.commands.entity(entity).despawn();
            steps.end(&step, |record| end_for(record, id, node, Ok(output), now_ms));
        }
        AttemptOutcome::Failed { error, retry, wait_s } => {
            let error: String = error.chars().take(1000).collect();
            let wait_ms = origin.retry.wait_ms(attempt).filter(|_| retry);
            attempts.error = Some(error.clone());
            deliveries.commands.entity(entity).remove::<InFlight>();
            match wait_ms {
                Some(wait_ms) => {
                    // A receiver may request a longer wait.
                    let requested_s = wait_s.unwrap_or(0).min(WAIT_REQUESTED_MAX_S);
                    let requested_ms = u64::from(requested_s) * 1000;
                    attempts.next_ms = now_ms + wait_ms.max(requested_ms);
                    let message = format!("attempt {attempt}: {error}");
                    steps.change(&step, |record| record.error = Some(message));
                }
                None => {
                    deliveries.commands.entity(entity).insert(DeadLetter);
                    let why = format!("{error}; attempts: {attempt}");
                    steps.end(&step, |record| end_for(record, id, node, Err(why), now_ms));
                }
            }
        }
    }
    Ok(())
}

/// A step that waits for deliveries.
struct WaitingStep<'a> {
    execution: ExecutionId,
    step_id: &'a str,
}

/// Steps of running executions.
#[derive(SystemParam)]
struct WaitingSteps<'w, 's> {
    index: Res<'w, Index<ExecutionKind>>,
    executions: Query<'w, 's, (&'static ExecutionStatus, &'static mut ExecutionSteps)>,
    commands: Commands<'w, 's>,
}

impl WaitingSteps<'_, '_> {
    /// Changes a step that waits for a delivery; the entity of its execution.
    fn change(
        &mut self,
        waiting: &WaitingStep<'_>,
        change: impl FnOnce(&mut StepRecord),
    ) -> Option<Entity> {
        let entity = self.index.get(waiting.execution).ok()?;
        let (status, mut steps) = self.executions.get_mut(entity).ok()?;
        if status.state != ExecutionState::Running {
            return None;
        }
        let is_waiting =
            |step: &StepRecord| step.step_id == waiting.step_id && step.state == StepState::Running;
        let index = steps.0.iter().position(is_waiting)?;
        change(&mut steps.0[index]);
        Some(entity)
    }

    /// Changes a step that a delivery may end; an execution that is over keeps its record.
    fn end(&mut self, waiting: &WaitingStep<'_>, change: impl FnOnce(&mut StepRecord)) {
        if let Some(entity) = self.change(waiting, change) {
            self.commands.entity(entity).insert(MayAdvance);
        }
    }
}

/// Ends a step for one of its deliveries: wholly, unless it waits for more of them.
fn end_for(
    step: &mut StepRecord,
    id: DeliveryId,
    node: Uuid,
    result: Result<Value, String>,
    now_ms: u64,
) {
    let Some(each) = &mut step.each else {
        return settle(step, result, now_ms);
    };
    if each.waiting.remove(&id)
        && let Err(error) = &result
    {
        each.fail(node, error);
    }
    if each.waiting.is_empty() {
        let result = each.result();
        step.each = None;
        settle(step, result, now_ms);
    }
}

fn settle(step: &mut StepRecord, result: Result<Value, String>, now_ms: u64) {
    step.ended_ms = Some(now_ms);
    match result {
        Ok(output) => {
            step.state = StepState::Succeeded;
            step.output = Some(output);
            step.error = None;
        }
        Err(error) => {
            step.state = StepState::Failed;
            step.error = Some(error);
        }
    }
}

/// Makes a further round of attempts of a delivery of the dead-letter list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResendDelivery {
    /// Delivery.
    pub delivery: DeliveryId,
}
impl Command for ResendDelivery {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let resend = |In(resend): In<Self>, mut deliveries: Deliveries| {
            let now_ms = deliveries.now_ms();
            let entity = deliveries.dead(resend.delivery)?;
            if let Ok((_, _, mut attempts, ..)) = deliveries.parts.get_mut(entity) {
                attempts.count = 0;
                attempts.next_ms = now_ms;
                deliveries.commands.entity(entity).remove::<DeadLetter>();
            }
            Ok(())
        };
        run(world, resend, self)
    }
}
impl Recorded for ResendDelivery {
    const NAME: &'static str = "automation.resend";
    type Reply = ();
}

/// Removes a delivery from the dead-letter list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscardDelivery {
    /// Delivery.
    pub delivery: DeliveryId,
}
impl Command for DiscardDelivery {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let discard = |In(discard): In<Self>, mut deliveries: Deliveries| {
            let entity = deliveries.dead(discard.delivery)?;
            deliveries.commands.entity(entity).despawn();
            Ok(())
        };
        run(world, discard, self)
    }
}
impl Recorded for DiscardDelivery {
    const NAME: &'static str = "automation.discard";
    type Reply = ();
}
