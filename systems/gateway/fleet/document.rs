//! Document of a node of the fleet.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal, State};
use groundwave_protocol::metrics::{Reading, Readings};
use groundwave_simulation::site::{NodeId, NodeKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::command_queue::{CommandQueue, NodeCommands};
use super::components::{
    Deregistered, LastHeartbeat, LatestReadings, LivenessState, NodeInfo, NodeRecord,
    ReceivedHeartbeat,
};
use super::gateway_clock::GatewayClock;
use super::liveness::{Liveness, LivenessRules};
use super::sample_buffer::{RecentSamples, SampleBuffer};
use super::short_samples;

/// Serde form of an `Arc`: that of its value.
pub(super) mod shared {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        shared: &Arc<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        shared.as_ref().serialize(out)
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
        shared: &Option<Arc<T>>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        shared.as_deref().serialize(out)
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

#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Stored")]
struct Content {
    record: Arc<NodeInfo>,
    liveness: Arc<Liveness>,
    last_heartbeat: Option<Arc<ReceivedHeartbeat>>,
    latest: Arc<Readings>,
    recent_samples: Arc<SampleBuffer>,
    commands: Arc<CommandQueue>,
}

/// Stored form of a node. Readings that the last heartbeat brought are in the heartbeat only.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    #[serde(rename = "member", with = "shared")]
    record: Arc<NodeInfo>,
    #[serde(rename = "condition", with = "shared")]
    liveness: Arc<Liveness>,
    #[serde(rename = "said", with = "shared_option")]
    last_heartbeat: Option<Arc<ReceivedHeartbeat>>,
    /// All latest readings, where not all of the heartbeat are among them, and before layout 4.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_option")]
    latest: Option<Arc<Readings>>,
    /// Latest readings that are not of the last heartbeat.
    #[serde(default)]
    other_latest: Readings,
    /// Samples before layout 4.
    #[serde(default, rename = "minutes", skip_serializing, with = "shared_option")]
    long_samples: Option<Arc<SampleBuffer>>,
    #[serde(default, with = "short_samples")]
    samples: Arc<SampleBuffer>,
    #[serde(rename = "orders", with = "shared")]
    commands: Arc<CommandQueue>,
}

/// Readings of a heartbeat as latest ones.
fn readings(received: &ReceivedHeartbeat) -> impl Iterator<Item = (&String, Reading)> {
    let ts_ms = received.wall_ns / 1_000_000;
    received
        .heartbeat
        .metrics
        .iter()
        .map(move |(name, value)| (name, Reading { value: *value, ts_ms }))
}

/// Latest readings without those of the heartbeat; `None` if one of its metrics is not among them.
fn other_latest(latest: &Readings, received: &ReceivedHeartbeat) -> Option<Readings> {
    let mut others = latest.clone();
    for (name, reading) in readings(received) {
        let same = |other: &Reading| {
            other.ts_ms == reading.ts_ms && other.value.to_bits() == reading.value.to_bits()
        };
        if latest.get(name).map(same)? {
            others.remove(name);
        }
    }
    Some(others)
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let received = self.last_heartbeat.as_deref();
        let others = match received {
            Some(received) => other_latest(&self.latest, received),
            None => None,
        };
        let stored = Stored {
            record: Arc::clone(&self.record),
            liveness: Arc::clone(&self.liveness),
            last_heartbeat: self.last_heartbeat.clone(),
            latest: others.is_none().then(|| Arc::clone(&self.latest)),
            other_latest: others.unwrap_or_default(),
            long_samples: None,
            samples: Arc::clone(&self.recent_samples),
            commands: Arc::clone(&self.commands),
        };
        stored.serialize(out)
    }
}

impl From<Stored> for Content {
    fn from(stored: Stored) -> Self {
        let latest = stored.latest.unwrap_or_else(|| {
            let mut latest = stored.other_latest;
            for (name, reading) in
                stored.last_heartbeat.iter().flat_map(|received| readings(received))
            {
                latest.entry(name.clone()).or_insert(reading);
            }
            Arc::new(latest)
        });
        Self {
            record: stored.record,
            liveness: stored.liveness,
            last_heartbeat: stored.last_heartbeat,
            latest,
            recent_samples: stored.long_samples.unwrap_or(stored.samples),
            commands: stored.commands,
        }
    }
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
        let existing = world.resource::<Index<NodeKind>>().get(id).ok();
        let entity = existing.unwrap_or_else(|| world.spawn(id).id());
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
    /// Minutes do not end by the clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    holds_minutes: bool,
}

impl State for FleetState {
    const TABLE: &'static str = "fleet clock";

    fn save(world: &World) -> Self {
        let GatewayClock { now_ns, holds_minutes } = *world.resource::<GatewayClock>();
        Self { rules: *world.resource::<LivenessRules>(), now_ns, holds_minutes }
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.rules);
        world.insert_resource(GatewayClock {
            now_ns: self.now_ns,
            holds_minutes: self.holds_minutes,
        });
        Ok(())
    }
}
