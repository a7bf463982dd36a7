//! The identity of a link.

use serde::{Deserialize, Serialize};

use crate::id::NodeId;

/// Two different nodes in id order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinkKey(NodeId, NodeId);

impl LinkKey {
    /// The pair of `one` and `other`; `None` when they are the same node.
    #[must_use]
    pub fn new(one: NodeId, other: NodeId) -> Option<Self> {
        (one != other).then(|| Self(one.min(other), one.max(other)))
    }

    /// The end with the lower id.
    #[must_use]
    pub const fn a(self) -> NodeId {
        self.0
    }

    /// `true` for a link from or to this node.
    #[must_use]
    pub fn has(self, node: NodeId) -> bool {
        self.0 == node || self.1 == node
    }

    /// The end with the higher id.
    #[must_use]
    pub const fn b(self) -> NodeId {
        self.1
    }
}
