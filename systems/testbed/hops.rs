//! The neighbour that a node sends to, for every destination.

use std::collections::BTreeMap;

use crate::route::{Graph, Metric, shortest};
use crate::site::NodeId;

/// The first hops of the best walks from `source` to every node of `graph`, by destination. Destinations
/// out of reach are left out; a source outside the graph has none.
#[must_use]
pub fn next_hops(graph: &Graph, metric: Metric, source: NodeId) -> BTreeMap<NodeId, NodeId> {
    let Some(index) = graph.index(source) else {
        return BTreeMap::new();
    };
    let nodes = graph.nodes();
    let tree = shortest(graph, index, None, metric, |_| true);
    let first = |target: usize| {
        let path = tree.path(target)?;
        path.first().map(|(_, edge)| nodes[edge.to])
    };
    let found = (0..nodes.len()).filter_map(|target| Some((nodes[target], first(target)?)));
    found.collect()
}
