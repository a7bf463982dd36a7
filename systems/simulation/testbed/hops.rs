//! The neighbour that a node sends to, for every destination.

use std::collections::BTreeMap;

use groundwave_model::route::{Cost, Edge, Graph, Metric, shortest};

use crate::site::NodeId;

/// The first hops of the best walks from `source` to every node of `graph`, by destination.
/// Destinations out of reach are left out; a source outside the graph has none.
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
    (0..nodes.len()).filter_map(|target| Some((nodes[target], first(target)?))).collect()
}

/// Cost of the best walk from `source` to `destination` whose first hop is `via`, in terms of the best
/// walk: 1 for an equal one. By the first part of the metric, without its tie-break. `None` where
/// no such walk exists.
#[must_use]
pub fn relative_cost(
    graph: &Graph,
    metric: Metric,
    [source, destination, via]: [NodeId; 3],
) -> Option<f64> {
    let [source, destination, via] = [source, destination, via].map(|node| graph.index(node));
    let (source, destination, via) = (source?, destination?, via?);
    let cost = |hops: &mut dyn Iterator<Item = Edge>| {
        hops.fold(Cost::ZERO, |cost, edge| metric.extend(cost, &edge)).first
    };
    let best = shortest(graph, source, Some(destination), metric, |_| true).path(destination)?;
    let best = cost(&mut best.into_iter().map(|(_, edge)| edge));
    let hop = graph.out(source).iter().find(|edge| edge.to == via)?;
    let rest = shortest(graph, via, Some(destination), metric, |_| true)
        .path(destination)?
        .into_iter()
        .map(|(_, edge)| edge);
    Some(cost(&mut std::iter::once(*hop).chain(rest)) / best)
}
