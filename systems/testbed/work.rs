//! The effects by which the desired testbed leaves the world.

use std::collections::BTreeMap;

use groundwave_engine::Effect;
use serde::{Deserialize, Serialize};

use super::components::{Seat, Side};
use super::settings::Settings;
use crate::site::NodeId;

/// Work for the outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A node needs a seat.
    Seat {
        /// Which node.
        node: NodeId,
        /// Its place.
        seat: Seat,
        /// How the testbed is set up.
        settings: Settings,
    },
    /// A direction should do this; its wire is to be laid if it is not there.
    Shape {
        /// The node that sends.
        from: NodeId,
        /// The node that receives.
        to: NodeId,
        /// Number of the wire.
        number: u32,
        /// What it should do, and how often that changed.
        side: Side,
    },
    /// A node's routes: the neighbour by destination, and no others.
    Routes {
        /// Which node.
        node: NodeId,
        /// Neighbour by destination.
        next_hops: BTreeMap<NodeId, NodeId>,
    },
}

/// What a piece of work is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkKey {
    /// The seat of a node.
    Seat(NodeId),
    /// A direction, from one node to another.
    Shape(NodeId, NodeId),
    /// The routes of a node.
    Routes(NodeId),
}

impl Effect for Work {
    type Key = WorkKey;
    fn key(&self) -> WorkKey {
        match self {
            Self::Seat { node, .. } => WorkKey::Seat(*node),
            Self::Shape { from, to, .. } => WorkKey::Shape(*from, *to),
            Self::Routes { node, .. } => WorkKey::Routes(*node),
        }
    }
}
