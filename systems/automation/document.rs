//! Documents of automation.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::components::{
    AlertId, AlertKind, AlertRecord, Automation, AutomationId, Delivery, DeliveryId, DeliveryKind,
    Execution, ExecutionId, ExecutionKind, ExecutionRecord, FlowMemory,
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

macro_rules! documents {
    ($($(#[$doc:meta])* $name:ident($record:ident of $kind:ident, $id:ident) = $table:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name($record);

        impl Document for $name {
            const TABLE: &'static str = $table;
            type Kind = $kind;
            type Changed = Changed<$record>;

            fn read(_: &World, entity: EntityRef<'_>) -> Self {
                Self(entity.get::<$record>().expect("its kind has one").clone())
            }

            fn restore(self, id: $id, world: &mut World) -> Result<(), Refusal> {
                world.resource::<Index<$kind>>().vacant(id)?;
                world.spawn((id, self.0));
                Ok(())
            }
        }
    )+};
}

documents! {
    /// A delivery in the store.
    DeliveryDocument(Delivery of DeliveryKind, DeliveryId) = "automation deliveries";
    /// An alert in the store.
    AlertDocument(AlertRecord of AlertKind, AlertId) = "automation alerts";
}
