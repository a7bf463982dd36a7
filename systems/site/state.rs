//! Propagation settings, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};

use super::components::WorldEnvironment;
use crate::radio::Environment;

impl State for Environment {
    const TABLE: &'static str = "air";

    fn save(world: &World) -> Self {
        world.resource::<WorldEnvironment>().0.clone()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        self.validate()?;
        *world.resource_mut::<WorldEnvironment>() = WorldEnvironment(self);
        Ok(())
    }
}
