//! The last measurements, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::commands::record;
use super::components::LinkMeasurements;
use super::values::LevelView;
use crate::link::Links;

/// In the order of senders, then of receivers.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Known(Vec<LevelView>);

impl State for Known {
    const TABLE: &'static str = "measurements";

    fn save(world: &World) -> Self {
        let measured = world
            .resource::<Links>()
            .iter()
            .filter_map(|(_, link)| world.get::<LinkMeasurements>(link));
        let mut levels: Vec<LevelView> =
            measured.flat_map(|component| component.0).flatten().collect();
        levels.sort_by_key(|level| (level.from, level.to));
        Self(levels)
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        self.0.into_iter().try_for_each(|level| record(world, level))
    }
}
