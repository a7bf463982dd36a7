//! Stable ids that the models speak of.

use groundwave_values::{Id, Kind};

/// The kind of a node: planned, simulated or running.
pub struct NodeKind;
impl Kind for NodeKind {
    const NAME: &'static str = "node";
}
/// Stable id of a node.
pub type NodeId = Id<NodeKind>;
