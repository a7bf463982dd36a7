//! Commands of deliveries: outcomes of attempts, restarts, the dead-letter list.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::basis::{bounded, now_ms};
use super::components::{
    Delivery, DeliveryId, DeliveryKind, Execution, ExecutionRecord, ExecutionState, StepRecord,
};
use super::delivery::AttemptOutcome;
use super::execution::record_of;
use super::retention;
use super::state::Work;
use crate::automation::language::StepState;

fn delivery(world: &World, id: DeliveryId) -> Result<(Entity, Delivery), Refusal> {
    let entity = world.resource::<Index<DeliveryKind>>().get(id)?;
    let held = world.get::<Delivery>(entity).expect("a delivery is one");
    Ok((entity, held.clone()))
}

/// Takes up deliveries whose attempts were in flight when the gateway ended.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResumeDeliveries {}
impl Command for ResumeDeliveries {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        Work::ensure(world);
        let now_ms = now_ms(world);
        let all: Vec<_> = world.resource::<Index<DeliveryKind>>().iter().collect();
        for (id, entity) in all {
            let held = world.get::<Delivery>(entity).expect("a delivery is one");
            if !held.in_flight {
                continue;
            }
            let mut held = held.clone();
            world.resource_mut::<Work>().leave_delivery(id, &held);
            // The attempt may not have been made: it is not counted.
            held.attempts -= 1;
            held.in_flight = false;
            held.next_ms = now_ms;
            world.resource_mut::<Work>().enter_delivery(id, &held);
            world.entity_mut(entity).insert(held);
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
        let (entity, mut held) = delivery(world, self.delivery)?;
        if !held.in_flight || held.attempts != self.attempt {
            return Err(Refusal::outdated("another attempt of this delivery"));
        }
        Work::ensure(world);
        let now_ms = now_ms(world);
        world.resource_mut::<Work>().leave_delivery(self.delivery, &held);
        match self.outcome {
            AttemptOutcome::Delivered { output } => {
                world.despawn(entity);
                let mut output = bounded(output);
                if let Value::Object(fields) = &mut output {
                    fields.insert("attempts".to_owned(), held.attempts.into());
                    fields.insert("delivery_id".to_owned(), json!(self.delivery));
                }
                end_step(world, &held, self.delivery, Ok(output), now_ms);
            }
            AttemptOutcome::Failed { error, retry, wait_s } => {
                let error: String = error.chars().take(1000).collect();
                let wait_ms = held.retry.wait_ms(held.attempts).filter(|_| retry);
                held.in_flight = false;
                held.error = Some(error.clone());
                match wait_ms {
                    Some(wait_ms) => {
                        // A receiver may ask for a longer wait, up to an hour.
                        let asked_ms = u64::from(wait_s.unwrap_or(0).min(3600)) * 1000;
                        held.next_ms = now_ms + wait_ms.max(asked_ms);
                        note_attempt(world, &held, &error);
                    }
                    None => held.dead = true,
                }
                world.resource_mut::<Work>().enter_delivery(self.delivery, &held);
                world.entity_mut(entity).insert(held.clone());
                if held.dead {
                    retention::trim_dead(world);
                    let why = format!("{error}; attempts: {}", held.attempts);
                    end_step(world, &held, self.delivery, Err(why), now_ms);
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

/// Changes the step that waits for a delivery.
fn with_step(world: &mut World, of: &Delivery, change: impl FnOnce(&mut StepRecord)) -> bool {
    let Some((entity, held)) = record_of(world, of.execution) else {
        return false;
    };
    if held.state != ExecutionState::Running {
        return false;
    }
    let mut record = ExecutionRecord::clone(&held);
    let step = record.steps.iter_mut().find(|s| s.step_id == of.step_id);
    let Some(step) = step.filter(|step| step.state == StepState::Running) else {
        return false;
    };
    change(step);
    world.entity_mut(entity).insert(Execution(Arc::new(record)));
    true
}

fn note_attempt(world: &mut World, held: &Delivery, error: &str) {
    let told = format!("attempt {}: {error}", held.attempts);
    with_step(world, held, |step| step.error = Some(told));
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
    held: &Delivery,
    id: DeliveryId,
    result: Result<Value, String>,
    now_ms: u64,
) {
    let changed = with_step(world, held, |step| {
        let Some(each) = &mut step.each else {
            return settle(step, result, now_ms);
        };
        if each.waiting.remove(&id)
            && let Err(error) = &result
        {
            each.fail(held.node.unwrap_or_default(), error);
        }
        if each.waiting.is_empty() {
            let result = each.result();
            step.each = None;
            settle(step, result, now_ms);
        }
    });
    if changed {
        world.resource_mut::<Work>().runnable.insert(held.execution);
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
        let (entity, mut held) = delivery(world, self.delivery)?;
        if !held.dead {
            return Err(Refusal::conflict("this delivery is being attempted"));
        }
        Work::ensure(world);
        world.resource_mut::<Work>().leave_delivery(self.delivery, &held);
        held.dead = false;
        held.attempts = 0;
        held.next_ms = now_ms(world);
        world.resource_mut::<Work>().enter_delivery(self.delivery, &held);
        world.entity_mut(entity).insert(held);
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
        let (entity, held) = delivery(world, self.delivery)?;
        if !held.dead {
            return Err(Refusal::conflict("this delivery is being attempted"));
        }
        Work::ensure(world);
        world.resource_mut::<Work>().leave_delivery(self.delivery, &held);
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for DiscardDelivery {
    const NAME: &'static str = "automation.discard";
    type Reply = ();
}
