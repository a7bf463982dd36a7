//! Link settings and links taken down, for checkpoints. All else of links follows from the nodes.

use bevy_ecs::prelude::*;
use groundwave_engine::{Refusal, State};
use serde::{Deserialize, Serialize};

use super::commands::{FailLink, Limits};
use super::components::{AdminDown, Links};
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

/// Links that are taken down, in key order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct DownLinks(Vec<LinkKey>);

impl State for DownLinks {
    const TABLE: &'static str = "cuts";

    fn save(world: &World) -> Self {
        let links = world.resource::<Links>().iter();
        let down = links.filter(|(_, link)| world.get::<AdminDown>(*link).is_some());
        Self(down.map(|(key, _)| key).collect())
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        for key in self.0 {
            let (a, b) = (key.a(), key.b());
            FailLink { a, b }.apply(world)?;
        }
        Ok(())
    }
}
