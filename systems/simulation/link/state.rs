//! Link settings, links taken down and positions not yet looked at, for checkpoints. All else of links
//! follows from the nodes.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal, State};
use groundwave_model::link::LinkKey;
use groundwave_model::terrain::GeoPoint;
use serde::{Deserialize, Serialize};

use super::commands::{FailLink, Limits};
use super::components::{AdminDown, LinkPosition, Links};
use crate::site::{NodeId, NodeKind, Position, node};

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

/// Positions from which links are computed, where they are not those of the nodes; in id order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LinkPositions(Vec<(NodeId, GeoPoint)>);

impl State for LinkPositions {
    const TABLE: &'static str = "link_positions";

    fn save(world: &World) -> Self {
        let index = world.resource::<Index<NodeKind>>();
        let elsewhere = |(id, entity)| {
            let at = world.get::<LinkPosition>(entity)?.0?;
            let position = world.get::<Position>(entity)?.0;
            (at != position).then_some((id, at))
        };
        Self(index.iter().filter_map(elsewhere).collect())
    }

    fn is_fresh(&self) -> bool {
        self.0.is_empty()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        for (id, at) in self.0 {
            let entity = node(world, id)?;
            world.entity_mut(entity).insert(LinkPosition(Some(at)));
        }
        Ok(())
    }
}
