//! Commands of deliveries: outcomes of attempts, restarts, the dead-letter list.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::basis::{bounded, now_ms};
use super::components::{
    Delivery, DeliveryId, DeliveryKind, ExecutionKind, ExecutionState, ExecutionStatus,
    ExecutionSteps, MayAdvance, StepRecord,
};
use super::delivery::AttemptOutcome;
use crate::automation::language::StepState;

fn delivery(world: &mut World, id: DeliveryId) -> Result<(Entity, Mut<'_, Delivery>), Refusal> {
    let entity = world.resource::<Index<DeliveryKind>>().get(id)?;
    let missing = || Refusal::NotFound { kind: "delivery", id: id.to_string() };
    let delivery = world.get_mut::<Delivery>(entity).ok_or_else(missing)?;
    Ok((entity, delivery))
}

/// Takes up deliveries whose attempts were in flight when the gateway ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeDeliveries {}
impl Command for ResumeDeliveries {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let now_ms = now_ms(world);
        let mut deliveries = world.query::<&mut Delivery>();
        for mut delivery in deliveries.iter_mut(world).filter(|delivery| delivery.in_flight) {
            // The attempt may not have been made: it is not counted.
            delivery.attempts -= 1;
            delivery.in_flight = false;
            delivery.next_ms = now_ms;
        }
        Ok(())
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
        let now_ms = now_ms(world);
        let (entity, mut delivery) = delivery(world, self.delivery)?;
        if !delivery.in_flight || delivery.attempts != self.attempt {
            return Err(Refusal::outdated("another attempt of this delivery"));
        }
        match self.outcome {
            AttemptOutcome::Delivered { output } => {
                let delivery = delivery.clone();
                world.despawn(entity);
                let mut output = bounded(output);
                if let Value::Object(fields) = &mut output {
                    fields.insert("attempts".to_owned(), delivery.attempts.into());
                    fields.insert("delivery_id".to_owned(), json!(self.delivery));
                }
                end_step(world, &delivery, self.delivery, Ok(output), now_ms);
            }
            AttemptOutcome::Failed { error, retry, wait_s } => {
                let error: String = error.chars().take(1000).collect();
                let wait_ms = delivery.retry.wait_ms(delivery.attempts).filter(|_| retry);
                delivery.in_flight = false;
                delivery.error = Some(error.clone());
                match wait_ms {
                    Some(wait_ms) => {
                        // A receiver may ask for a longer wait, up to an hour.
                        let asked_ms = u64::from(wait_s.unwrap_or(0).min(3600)) * 1000;
                        delivery.next_ms = now_ms + wait_ms.max(asked_ms);
                        let delivery = delivery.clone();
                        let message = format!("attempt {}: {error}", delivery.attempts);
                        with_step(world, &delivery, |step| step.error = Some(message));
                    }
                    None => {
                        delivery.dead = true;
                        let delivery = delivery.clone();
                        let why = format!("{error}; attempts: {}", delivery.attempts);
                        end_step(world, &delivery, self.delivery, Err(why), now_ms);
                    }
                }
            }
        }
        Ok(())
    }
}
impl Recorded for FinishAttempt {
    const NAME: &'static str = "automation.finish";
    type Reply = ();
}

/// Changes the step that waits for a delivery; the entity of its execution.
fn with_step(
    world: &mut World,
    of: &Delivery,
    change: impl FnOnce(&mut StepRecord),
) -> Option<Entity> {
    let entity = world.resource::<Index<ExecutionKind>>().get(of.execution).ok()?;
    let status = world.get::<ExecutionStatus>(entity)?;
    if status.state != ExecutionState::Running {
        return None;
    }
    let mut steps = world.get_mut::<ExecutionSteps>(entity)?;
    let waits = |step: &StepRecord| step.step_id == of.step_id && step.state == StepState::Running;
    let place = steps.bypass_change_detection().0.iter().position(waits)?;
    change(&mut steps.0[place]);
    Some(entity)
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

/// Ends the step that waits for a delivery, unless it waits for more of them; an execution that is
/// over keeps its record.
fn end_step(
    world: &mut World,
    delivery: &Delivery,
    id: DeliveryId,
    result: Result<Value, String>,
    now_ms: u64,
) {
    let execution = with_step(world, delivery, |step| {
        let Some(each) = &mut step.each else {
            return settle(step, result, now_ms);
        };
        if each.waiting.remove(&id)
            && let Err(error) = &result
        {
            each.fail(delivery.node.unwrap_or_default(), error);
        }
        if each.waiting.is_empty() {
            let result = each.result();
            step.each = None;
            settle(step, result, now_ms);
        }
    });
    if let Some(entity) = execution {
        world.entity_mut(entity).insert(MayAdvance);
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
        let now_ms = now_ms(world);
        let (_, mut delivery) = delivery(world, self.delivery)?;
        if !delivery.dead {
            return Err(Refusal::conflict("this delivery is being attempted"));
        }
        delivery.dead = false;
        delivery.attempts = 0;
        delivery.next_ms = now_ms;
        Ok(())
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
        let (entity, delivery) = delivery(world, self.delivery)?;
        if !delivery.dead {
            return Err(Refusal::conflict("this delivery is being attempted"));
        }
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for DiscardDelivery {
    const NAME: &'static str = "automation.discard";
    type Reply = ();
}
