//! Walks under way, for checkpoints.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal, State};
use serde::{Deserialize, Serialize};

use super::Motion;
use crate::site::{NodeId, NodeKind, node};

/// Motions of nodes, in id order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Walks(Vec<(NodeId, Motion)>);

impl State for Walks {
    const TABLE: &'static str = "walks";

    fn save(world: &World) -> Self {
        let index = world.resource::<Index<NodeKind>>();
        let walk = |(id, entity)| Some((id, world.get::<Motion>(entity)?.clone()));
        Self(index.iter().filter_map(walk).collect())
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        for (id, motion) in self.0 {
            motion.check()?;
            let entity = node(world, id)?;
            world.entity_mut(entity).insert(motion);
        }
        Ok(())
    }
}
