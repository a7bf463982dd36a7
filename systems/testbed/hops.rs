//! Which neighbour a node sends to, for every destination.

use std::collections::BTreeMap;

use crate::route::{Graph, Metric, shortest};
use crate::site::NodeId;

/// The neighbour to send to, by node and destination. Destinations out of reach are left out.
pub type NextHops = BTreeMap<NodeId, BTreeMap<NodeId, NodeId>>;

/// The next hops of the best walks from each of `from` to every node of `graph`.
#[must_use]
pub fn next_hops(
    graph: &Graph,
    metric: Metric,
    from: impl IntoIterator<Item = NodeId>,
) -> NextHops {
    let nodes = graph.nodes();
    let mut hops = NextHops::new();
    for source in from {
        let Some(index) = graph.index(source) else {
            continue;
        };
        let tree = shortest(graph, index, None, metric, |_| true);
        let first = |target: usize| {
            let path = tree.path(target)?;
            path.first().map(|(_, edge)| nodes[edge.to])
        };
        let found = (0..nodes.len()).filter_map(|target| Some((nodes[target], first(target)?)));
        hops.insert(source, found.collect());
    }
    hops
}
