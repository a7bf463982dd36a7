//! Dijkstra's algorithm (E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959)
//! with a binary heap, over any metric whose cost only grows.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::graph::{Edge, Graph};
use super::metric::{Cost, Metric};

/// The best walks from one node to all.
#[derive(Debug, Clone)]
pub struct Tree {
    source: usize,
    /// For each node the node before it and the edge taken; `None` where unreached.
    before: Vec<Option<(usize, Edge)>>,
}

impl Tree {
    /// The hops to `target`, each with the node it leaves; empty when it is the source, `None`
    /// when it is out of reach.
    #[must_use]
    pub fn path(&self, target: usize) -> Option<Vec<(usize, Edge)>> {
        let mut hops = Vec::new();
        let mut at = target;
        while at != self.source {
            let (from, edge) = self.before[at]?;
            hops.push((from, edge));
            at = from;
        }
        hops.reverse();
        Some(hops)
    }
}

/// A node waiting to be settled; the heap gives the cheapest, of equals the lowest.
struct Waiting {
    cost: Cost,
    node: usize,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.node.cmp(&self.node))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Waiting {}

/// The best walks from `source` under `metric`, over edges that `admit`. Ties go to the walk whose
/// last step comes from the lower node, so that equal inputs give equal routes. Stops early once
/// `target` is settled, when one is given.
///
/// # Panics
/// When `source` is not a node of `graph`.
#[must_use]
pub fn shortest(
    graph: &Graph,
    source: usize,
    target: Option<usize>,
    metric: Metric,
    admit: impl Fn(&Edge) -> bool,
) -> Tree {
    let count = graph.nodes().len();
    assert!(source < count, "the source is a node of the graph");
    let mut before: Vec<Option<(usize, Edge)>> = vec![None; count];
    let mut best: Vec<Option<Cost>> = vec![None; count];
    let mut settled = vec![false; count];
    let mut waiting = BinaryHeap::new();
    best[source] = Some(Cost::ZERO);
    waiting.push(Waiting { cost: Cost::ZERO, node: source });
    while let Some(Waiting { cost, node }) = waiting.pop() {
        if std::mem::replace(&mut settled[node], true) {
            continue;
        }
        if Some(node) == target {
            break;
        }
        for edge in graph.out(node).iter().filter(|edge| admit(edge)) {
            if settled[edge.to] {
                continue;
            }
            let cost = metric.extend(cost, edge);
            let order = best[edge.to].map_or(Ordering::Less, |other| cost.total_cmp(&other));
            let lower = before[edge.to].is_some_and(|(from, _)| node < from);
            if order.is_lt() || (order.is_eq() && lower) {
                best[edge.to] = Some(cost);
                before[edge.to] = Some((node, *edge));
                waiting.push(Waiting { cost, node: edge.to });
            }
        }
    }
    Tree { source, before }
}
