//! Propagation settings, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};

use super::components::WorldEnvironment;

impl State for WorldEnvironment {
    const TABLE: &'static str = "air";

    fn save(world: &World) -> Self {
        world.resource::<Self>().clone()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        self.0.validate()?;
        *world.resource_mut::<Self>() = self;
        Ok(())
    }
}
