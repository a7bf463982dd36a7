//! The ports, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::Direction;
use super::ports::{Desired, Observed, Ports};

/// Desired and observed state of each port, in order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct BothPorts([(Desired, Observed); 2]);

impl State for BothPorts {
    const TABLE: &'static str = "ports";

    fn save(world: &World) -> Self {
        Self(Direction::ALL.map(|direction| {
            let port = world.entity(world.resource::<Ports>().entity(direction));
            let desired = port.get::<Desired>().expect("every port has a desired state");
            let observed = port.get::<Observed>().expect("every port has an observed state");
            (desired.clone(), observed.clone())
        }))
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        for (direction, port) in Direction::ALL.into_iter().zip(self.0) {
            let entity = world.resource::<Ports>().entity(direction);
            world.entity_mut(entity).insert(port);
        }
        Ok(())
    }
}
