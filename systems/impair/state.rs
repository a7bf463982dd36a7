//! The ports, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::Direction;
use super::ports::{Desired, Observed, Ports, provide};

/// Desired and observed state of each port, in order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct PortStates(Vec<(Desired, Observed)>);

impl State for PortStates {
    const TABLE: &'static str = "ports";

    fn save(world: &World) -> Self {
        let states = world.resource::<Ports>().all().iter().map(|entity| {
            let port = world.entity(*entity);
            let desired = port.get::<Desired>().expect("every port has a desired state");
            let observed = port.get::<Observed>().expect("every port has an observed state");
            (desired.clone(), observed.clone())
        });
        Self(states.collect())
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        if self.0.len() > Direction::COUNT_MAX {
            let allowed = format!("0 to {}", Direction::COUNT_MAX);
            return Err(Refusal::invalid("ports", self.0.len(), allowed));
        }
        for (direction, port) in Direction::first(self.0.len()).zip(self.0) {
            let entity = provide(world, direction);
            world.entity_mut(entity).insert(port);
        }
        Ok(())
    }
}
