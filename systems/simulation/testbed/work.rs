//! The effects by which the desired testbed leaves the world.

use std::collections::BTreeMap;

use groundwave_engine::Effect;
use serde::{Deserialize, Serialize};

use super::components::{NamespaceAssignment, Side};
use super::settings::Settings;
use crate::site::NodeId;

/// Effect for the driver of the testbed.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// A node needs a namespace.
    NamespaceAssignment {
        /// Node.
        node: NodeId,
        /// Namespace of the node.
        assignment: NamespaceAssignment,
        /// Settings of the testbed.
        settings: Settings,
    },
    /// A removed node gives its namespace back, with its interfaces and processes.
    Release {
        /// Node.
        node: NodeId,
        /// Namespace of the node.
        assignment: NamespaceAssignment,
    },
    /// Desired shape of a direction; its veth pair is created if it is missing.
    Shape {
        /// The node that sends.
        from: NodeId,
        /// The node that receives.
        to: NodeId,
        /// Number of the veth pair.
        number: u32,
        /// Desired shape and its generation.
        side: Side,
    },
    /// A node's routes: the neighbour by destination, and no others.
    Routes {
        /// Node.
        node: NodeId,
        /// Neighbour by destination.
        next_hops: BTreeMap<NodeId, NodeId>,
    },
}

/// Key of an effect: the thing it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkKey {
    /// The namespace of a node.
    NamespaceAssignment(NodeId),
    /// A direction, from one node to another.
    Shape(NodeId, NodeId),
    /// The routes of a node.
    Routes(NodeId),
}

impl Effect for Work {
    type Key = WorkKey;
    fn key(&self) -> WorkKey {
        match self {
            // The later one counts: a node that was added again, or removed before it was there.
            Self::NamespaceAssignment { node, .. } | Self::Release { node, .. } => {
                WorkKey::NamespaceAssignment(*node)
            }
            Self::Shape { from, to, .. } => WorkKey::Shape(*from, *to),
            Self::Routes { node, .. } => WorkKey::Routes(*node),
        }
    }
}
