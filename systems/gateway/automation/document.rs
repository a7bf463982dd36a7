//! Documents of automation.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal, StoredComponent};
use serde::{Deserialize, Serialize};

use super::components::{
    AlertKind, AlertRecord, Automation, AutomationId, Delivery, DeliveryKind, Execution,
    ExecutionId, ExecutionKind, ExecutionRecord, FlowMemory,
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
    type Changed = Changed<Execution>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let held = entity.get::<Execution>().expect("an execution has one");
        Self(ExecutionRecord::clone(&held.0))
    }

    fn restore(self, id: ExecutionId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<ExecutionKind>>().vacant(id)?;
        world.spawn((id, Execution(Arc::new(self.0))));
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
