//! The testbed, for checkpoints: shapes are remembered, for a wish moves only beyond a threshold.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};

use super::desired::Desired;
use super::observed::Observed;

impl State for Desired {
    const TABLE: &'static str = "testbed_desired";

    fn save(world: &World) -> Self {
        world.resource::<Self>().clone()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        *world.resource_mut::<Self>() = self;
        Ok(())
    }
}

impl State for Observed {
    const TABLE: &'static str = "testbed_observed";

    fn save(world: &World) -> Self {
        world.resource::<Self>().clone()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        *world.resource_mut::<Self>() = self;
        Ok(())
    }
}
