//! Document of a node of the fleet.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal, State};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::clock::GatewayClock;
use super::command_queue::{CommandQueue, NodeCommands};
use super::components::{
    Deregistered, LastHeartbeat, LatestReadings, LivenessState, NodeInfo, NodeRecord,
    ReceivedHeartbeat,
};
use super::liveness::{Liveness, LivenessRules};
use super::metrics::Readings;
use super::sample_buffer::{RecentSamples, SampleBuffer};
use crate::site::{NodeId, NodeKind};

/// Serde form of an `Arc`: that of its value.
pub(super) mod shared {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        held: &Arc<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        held.as_ref().serialize(out)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// Serde form of an optional `Arc`: that of its value.
pub(super) mod shared_option {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        held: &Option<Arc<T>>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        held.as_deref().serialize(out)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Ok(Option::<T>::deserialize(from)?.map(Arc::new))
    }
}

/// A node of the fleet in the store; empty for a deregistered node that is still planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FleetDocument(Option<Content>);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Content {
    #[serde(rename = "member", with = "shared")]
    record: Arc<NodeInfo>,
    #[serde(rename = "condition", with = "shared")]
    liveness: Arc<Liveness>,
    #[serde(rename = "said", with = "shared_option")]
    last_heartbeat: Option<Arc<ReceivedHeartbeat>>,
    #[serde(with = "shared")]
    latest: Arc<Readings>,
    #[serde(rename = "minutes", with = "shared")]
    recent_samples: Arc<SampleBuffer>,
    #[serde(rename = "orders", with = "shared")]
    commands: Arc<CommandQueue>,
}

impl Document for FleetDocument {
    const TABLE: &'static str = "fleet";
    type Kind = NodeKind;
    type Changed = Or<(
        Changed<NodeRecord>,
        Changed<LivenessState>,
        Changed<LastHeartbeat>,
        Changed<LatestReadings>,
        Changed<RecentSamples>,
        Changed<NodeCommands>,
        Changed<Deregistered>,
    )>;

    fn shows(entity: EntityRef<'_>) -> bool {
        entity.contains::<NodeRecord>()
    }

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let content = || {
            Some(Content {
                record: Arc::clone(&entity.get::<NodeRecord>()?.0),
                liveness: Arc::clone(&entity.get::<LivenessState>()?.0),
                last_heartbeat: entity.get::<LastHeartbeat>()?.0.clone(),
                latest: Arc::clone(&entity.get::<LatestReadings>()?.0),
                recent_samples: Arc::clone(&entity.get::<RecentSamples>()?.0),
                commands: Arc::clone(&entity.get::<NodeCommands>()?.0),
            })
        };
        Self(content())
    }

    fn restore(self, id: NodeId, world: &mut World) -> Result<(), Refusal> {
        let Some(content) = self.0 else { return Ok(()) };
        let found = world.resource::<Index<NodeKind>>().get(id).ok();
        let entity = found.unwrap_or_else(|| world.spawn(id).id());
        world.entity_mut(entity).insert((
            NodeRecord(content.record),
            LivenessState(content.liveness),
            LastHeartbeat(content.last_heartbeat),
            LatestReadings(content.latest),
            RecentSamples(content.recent_samples),
            NodeCommands(content.commands),
        ));
        Ok(())
    }
}

/// Gateway clock and timing of liveness.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FleetState {
    rules: LivenessRules,
    now_ns: u64,
}

impl State for FleetState {
    const TABLE: &'static str = "fleet clock";

    fn save(world: &World) -> Self {
        Self {
            rules: *world.resource::<LivenessRules>(),
            now_ns: world.resource::<GatewayClock>().now_ns,
        }
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.rules);
        world.resource_mut::<GatewayClock>().now_ns = self.now_ns;
        Ok(())
    }
}
