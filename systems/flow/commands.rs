//! What can be asked of flows.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::{Flow, FlowFrom, FlowId, FlowKind, FlowTo};
use crate::site::{NodeId, check_name, node};

/// Flows one world may have; each costs a shortest path whenever the mesh changes.
pub const FLOWS_MAX: usize = 10_000;

/// Starts a flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartFlow {
    /// Its id, minted by the caller.
    pub flow: FlowId,
    /// What people call it.
    pub name: String,
    /// Where it begins.
    pub source: NodeId,
    /// Where it ends.
    pub target: NodeId,
    /// Rate it needs, bit/s, 1 to 1e12. Hops slower than this are avoided where possible.
    pub rate_bps: f64,
}
impl Command for StartFlow {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_name("name", &self.name)?;
        if !(1.0..=1e12).contains(&self.rate_bps) {
            return Err(Refusal::invalid("rate_bps", self.rate_bps, "1 to 1e12"));
        }
        let (from, to) = (node(world, self.source)?, node(world, self.target)?);
        if self.source == self.target {
            return Err(Refusal::invalid(
                "target",
                self.target,
                "another node than source",
            ));
        }
        let index = world.resource::<Index<FlowKind>>();
        index.vacant(self.flow)?;
        if index.len() >= FLOWS_MAX {
            return Err(Refusal::conflict(format!(
                "the world has {FLOWS_MAX} flows, the most"
            )));
        }
        let Self {
            flow,
            name,
            source,
            target,
            rate_bps,
        } = self;
        let ends = (FlowFrom(from), FlowTo(to));
        world.spawn((
            flow,
            Flow {
                name,
                source,
                target,
                rate_bps,
            },
            ends,
        ));
        Ok(())
    }
}
impl Recorded for StartFlow {
    const NAME: &'static str = "flow.start";
    type Reply = ();
}

/// LinkKey a flow.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopFlow {
    /// Which flow.
    pub flow: FlowId,
}
impl Command for StopFlow {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<FlowKind>>().get(self.flow)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for StopFlow {
    const NAME: &'static str = "flow.stop";
    type Reply = ();
}
