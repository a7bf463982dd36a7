//! The last measurements, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::{LevelView, Measurements};

/// In the order of the directions.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Known(Vec<LevelView>);

impl State for Known {
    const TABLE: &'static str = "measurements";

    fn save(world: &World) -> Self {
        Self(
            world
                .resource::<Measurements>()
                .0
                .values()
                .copied()
                .collect(),
        )
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        let known = self.0.into_iter();
        let known = known.map(|view| ((view.from, view.to), view));
        world.resource_mut::<Measurements>().0 = known.collect();
        Ok(())
    }
}
