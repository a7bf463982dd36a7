//! Documents of automation.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::alert_record::{
    AlertChanged, AlertId, AlertKind, AlertMessage, AlertOrigin, AlertRecord,
};
use super::components::{
    Automation, AutomationId, ExecutionCause, ExecutionId, ExecutionKind, ExecutionStatus,
    ExecutionSteps, FinishedOf, FlowMemory, MayAdvance, RunningExecution, UnfinishedOf,
};
use super::delivery::{
    DeadLetter, Delivery, DeliveryAttempts, DeliveryId, DeliveryKind, DeliveryOrigin, InFlight,
};
use super::execution_record::ExecutionRecord;

/// Memory of a flow in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MemoryDocument(FlowMemory);

impl Document for MemoryDocument {
    const TABLE: &'static str = "automation memory";
    type Kind = Automation;
    type Changed = Changed<FlowMemory>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        Self(entity.get::<FlowMemory>().expect("required").clone())
    }

    fn restore(self, id: AutomationId, world: &mut World) -> Result<(), Refusal> {
        let entity = world.resource::<Index<Automation>>().get(id)?;
        world.entity_mut(entity).insert(self.0);
        Ok(())
    }
}

/// An execution in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionDocument(ExecutionRecord);

impl Document for ExecutionDocument {
    const TABLE: &'static str = "automation executions";
    type Kind = ExecutionKind;
    type Changed = Or<(Changed<ExecutionStatus>, Changed<ExecutionSteps>)>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let parts = entity.components::<(&ExecutionCause, &ExecutionStatus, &ExecutionSteps)>();
        let (cause, status, steps) = parts;
        Self(ExecutionRecord::of(cause, status, steps, entity.get()))
    }

    fn restore(self, id: ExecutionId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<ExecutionKind>>().vacant(id)?;
        let flow = world.resource::<Index<Automation>>().get(self.0.flow).ok();
        let is_final = self.0.state.is_final();
        let (parts, definition) = self.0.into_components();
        let running = RunningExecution::of(&parts.0, &parts.1);
        let mut entity = world.spawn((id, parts));
        match (flow, definition.filter(|_| !is_final)) {
            (Some(flow), Some(definition)) => {
                entity.insert((definition, UnfinishedOf(flow)));
            }
            (None, Some(definition)) => {
                entity.insert(definition);
            }
            (Some(flow), None) if is_final => {
                entity.insert(FinishedOf(flow));
            }
            _ => {}
        }
        if let Some(running) = running {
            entity.insert((running, MayAdvance));
        }
        Ok(())
    }
}

/// A delivery in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryDocument(Delivery);

impl Document for DeliveryDocument {
    const TABLE: &'static str = "automation deliveries";
    type Kind = DeliveryKind;
    type Changed = Changed<DeliveryAttempts>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let (origin, attempts) = entity.components::<(&DeliveryOrigin, &DeliveryAttempts)>();
        let (in_flight, dead) = (entity.contains::<InFlight>(), entity.contains::<DeadLetter>());
        Self(Delivery::of(origin, attempts, in_flight, dead))
    }

    fn restore(self, id: DeliveryId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<DeliveryKind>>().vacant(id)?;
        let (in_flight, dead) = (self.0.in_flight, self.0.dead);
        let mut entity = world.spawn((id, self.0.into_components()));
        if in_flight {
            entity.insert(InFlight);
        }
        if dead {
            entity.insert(DeadLetter);
        }
        Ok(())
    }
}

/// An alert in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AlertDocument(AlertRecord);

impl Document for AlertDocument {
    const TABLE: &'static str = "automation alerts";
    type Kind = AlertKind;
    type Changed = AlertChanged;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let (origin, message) = entity.components::<(&AlertOrigin, &AlertMessage)>();
        Self(AlertRecord::of((origin, message, entity.get(), entity.get())))
    }

    fn restore(self, id: AlertId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<AlertKind>>().vacant(id)?;
        let (parts, acknowledgement, end) = self.0.into_components();
        let mut entity = world.spawn((id, parts));
        if let Some(acknowledgement) = acknowledgement {
            entity.insert(acknowledgement);
        }
        if let Some(end) = end {
            entity.insert(end);
        }
        Ok(())
    }
}
