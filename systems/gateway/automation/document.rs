//! Documents of automation.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal, StoredComponent};
use serde::{Deserialize, Serialize};

use super::components::{
    AlertKind, AlertRecord, Automation, AutomationId, Delivery, DeliveryKind, ExecutionCause,
    ExecutionId, ExecutionKind, ExecutionRecord, ExecutionState, ExecutionStatus, ExecutionSteps,
    FlowMemory, MayAdvance, UnfinishedOf,
};

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
        let state = self.0.state;
        let (parts, definition) = self.0.into_components();
        let mut entity = world.spawn((id, parts));
        if let Some(definition) = definition.filter(|_| !state.is_final()) {
            entity.insert(definition);
            if let Some(flow) = flow {
                entity.insert(UnfinishedOf(flow));
            }
        }
        if state == ExecutionState::Running {
            entity.insert(MayAdvance);
        }
        Ok(())
    }
}

impl StoredComponent for Delivery {
    const TABLE: &'static str = "automation deliveries";
    type Kind = DeliveryKind;
}

impl StoredComponent for AlertRecord {
    const TABLE: &'static str = "automation alerts";
    type Kind = AlertKind;
}
