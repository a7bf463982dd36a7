//! Dijkstra's algorithm (E. W. Dijkstra, "A note on two problems in connexion with graphs", 1959)
//! with a binary heap, over any metric whose cost only grows.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Edge, Graph};
use super::metric::{Cost, Metric};

/// The best walks from one node of a graph to all.
#[derive(Debug, Clone)]
pub struct Tree<'a> {
    graph: &'a Graph,
    source: usize,
    before: Vec<Step>,
}

/// Last step of the best walk to a node: the node before it, and the place of the edge among its edges.
#[derive(Debug, Clone, Copy)]
struct Step {
    from: u32,
    edge: u32,
}

impl Step {
    /// That of a node which is out of reach.
    const NONE: Self = Self { from: u32::MAX, edge: u32::MAX };

    fn is_none(self) -> bool {
        self.from == u32::MAX
    }
}

impl Tree<'_> {
    /// The hops to `target`, each with the node it leaves; empty when it is the source, `None`
    /// when it is out of reach.
    #[must_use]
    pub fn path(&self, target: usize) -> Option<Vec<(usize, Edge)>> {
        let mut hops = Vec::new();
        let mut at = target;
        while at != self.source {
            let step = self.before[at];
            if step.is_none() {
                return None;
            }
            let from = step.from as usize;
            hops.push((from, self.graph.out(from)[step.edge as usize]));
            at = from;
        }
        hops.reverse();
        Some(hops)
    }
}

/// A node that waits to be settled, by cost. Bits of numbers of at least 0 have the order of these, and whole numbers are
/// compared faster.
type Waiting = Reverse<([u64; 2], u32)>;

fn waiting(cost: Cost, node: u32) -> Waiting {
    Reverse(([cost.first, cost.second].map(f64::to_bits), node))
}

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
) -> Tree<'_> {
    let count = graph.nodes().len();
    assert!(source < count, "the source is a node of the graph");
    let mut before = vec![Step::NONE; count];
    let mut best = vec![Cost::ZERO; count];
    let mut settled = vec![false; count];
    let mut heap = BinaryHeap::from([waiting(Cost::ZERO, source as u32)]);
    while let Some(Reverse((cost, node))) = heap.pop() {
        let from = node as usize;
        if std::mem::replace(&mut settled[from], true) {
            continue;
        }
        if Some(from) == target {
            break;
        }
        let [first, second] = cost.map(f64::from_bits);
        let cost = Cost { first, second };
        for (place, edge) in (0..).zip(graph.out(from)) {
            if settled[edge.to] || !admit(edge) {
                continue;
            }
            let cost = metric.extend(cost, edge);
            let (step, other) = (&mut before[edge.to], &mut best[edge.to]);
            let order = cost.total_cmp(other);
            if step.is_none() || order.is_lt() || (order.is_eq() && node < step.from) {
                *step = Step { from: node, edge: place };
                *other = cost;
                heap.push(waiting(cost, edge.to as u32));
            }
        }
    }
    Tree { graph, source, before }
}
