//! What links share and which were cut, for checkpoints. Links themselves follow from the nodes.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::commands::Limits;
use super::components::Severed;
use crate::model::link::LinkKey;

impl State for Limits {
    const TABLE: &'static str = "limits";

    fn save(world: &World) -> Self {
        world.resource::<Self>().clone()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        self.validate()?;
        *world.resource_mut::<Self>() = self;
        Ok(())
    }
}

/// Pairs that were cut.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Cuts(BTreeSet<LinkKey>);

impl State for Cuts {
    const TABLE: &'static str = "cuts";

    fn save(world: &World) -> Self {
        Self(world.resource::<Severed>().0.clone())
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.resource_mut::<Severed>().0 = self.0;
        Ok(())
    }
}
