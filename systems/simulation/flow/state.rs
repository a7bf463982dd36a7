//! Requests of flows, for checkpoints. Their routes follow from the mesh.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal, State};
use serde::{Deserialize, Serialize};

use super::{Flow, FlowKind, StartFlow};

/// Flows in id order.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Flows(Vec<StartFlow>);

impl State for Flows {
    const TABLE: &'static str = "flows";

    fn save(world: &World) -> Self {
        let index = world.resource::<Index<FlowKind>>();
        let flow = |(flow, entity)| {
            let component = world.get::<Flow>(entity)?;
            Some(StartFlow {
                flow,
                name: component.name.clone(),
                source: component.source,
                target: component.target,
                rate_bps: component.rate_bps,
            })
        };
        Self(index.iter().filter_map(flow).collect())
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        self.0.into_iter().try_for_each(|flow| flow.apply(world))
    }
}
