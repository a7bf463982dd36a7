//! Snapshot of a world that has ports only.

use std::sync::Arc;

use bevy_ecs::world::World;
use groundwave_engine::{Clock, Section};
use serde::Serialize;

use super::Impairments;

/// The whole view of a world of ports.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Tick at whose end it was taken.
    pub tick: u64,
    /// Simulated time of that tick, ns.
    pub now_ns: u64,
    /// The ports.
    pub impairments: Arc<Impairments>,
}

impl Serialize for Snapshot {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        (self.tick, self.now_ns, &*self.impairments).serialize(out)
    }
}

impl groundwave_engine::Snapshot for Snapshot {
    fn gather(world: &World, clock: Clock) -> Self {
        Self {
            tick: clock.tick,
            now_ns: clock.now_ns(),
            impairments: world.resource::<Section<_>>().share(),
        }
    }
}
