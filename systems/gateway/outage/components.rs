//! Components of outages, each with its writer.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind, Refusal, State, StoredComponent};
use groundwave_protocol::Mac;
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

/// Kind of an outage.
pub struct OutageKind;
impl Kind for OutageKind {
    const NAME: &'static str = "outage";
}
/// Stable id of an outage; outages of later milliseconds have higher ids.
pub type OutageId = Id<OutageKind>;

/// End of an outage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutageEnd {
    /// Time, ns since the Unix epoch.
    pub at_ns: u64,
    /// Nodes that were silent still, each with an outage of its own afterwards.
    pub silent: BTreeSet<NodeId>,
}

/// Nodes that became unreachable together. Written by `track_outages`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Node through which the gateway reached the others; absent where none of them has a link to a node
    /// that is not offline, or to the gateway.
    pub relay: Option<NodeId>,
    /// Nodes that are silent, the relay included.
    pub silent: BTreeSet<NodeId>,
    /// Nodes that are online again.
    pub back: BTreeSet<NodeId>,
    /// Begin of the silence of the relay, else of the first node, ns since the Unix epoch.
    pub since_ns: u64,
    /// Time at which the group was complete, ns since the Unix epoch.
    pub opened_ns: u64,
    /// Gateway clock at the return of the relay, else of a first node, ns; absent while it is silent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returning_ns: Option<u64>,
    /// End.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<OutageEnd>,
}

impl StoredComponent for Outage {
    const TABLE: &'static str = "outages";
    type Kind = OutageKind;
}

impl Outage {
    /// Nodes other than the relay, in id order.
    pub fn behind(&self) -> impl Iterator<Item = NodeId> + use<> {
        let nodes: BTreeSet<NodeId> = self.silent.union(&self.back).copied().collect();
        let relay = self.relay;
        nodes.into_iter().filter(move |node| Some(*node) != relay)
    }

    /// `true` if it is not over.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

/// Inputs of outages that belong to no node. Written by `outage.begin` and `outage.gateway_links`.
#[derive(Resource, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutageWatch {
    /// Outages are watched.
    pub is_active: bool,
    /// Hardware addresses of the gateway's own interfaces.
    pub macs: BTreeSet<Mac>,
    /// Hardware addresses of its mesh neighbors.
    pub neighbors: BTreeSet<Mac>,
}

/// Checkpoint of the inputs of outages.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OutageState(OutageWatch);

impl State for OutageState {
    const TABLE: &'static str = "outage watch";

    fn save(world: &World) -> Self {
        Self(world.resource::<OutageWatch>().clone())
    }

    fn is_fresh(&self) -> bool {
        self.0 == OutageWatch::default()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.0);
        Ok(())
    }
}
