//! Links that carry traffic, and reachability between running nodes.

use std::sync::Arc;

use crate::WorldView;
use crate::link::LinkView;
use crate::site::{NodeId, NodeView};

/// Links that carry traffic, of the nodes and links that it was made of.
#[derive(Debug, Clone, Default)]
pub(super) struct Carrying {
    nodes: Arc<Vec<NodeView>>,
    links: Arc<Vec<LinkView>>,
    /// `true` at the places of links that carry traffic.
    pub up: Vec<bool>,
    /// Running nodes.
    pub nodes_up: usize,
    /// Links that carry traffic.
    pub links_up: usize,
    /// Share of the ordered pairs of running nodes that can reach each other, [0, 1]; 1 where there
    /// are fewer than two.
    pub reachable_share: f64,
}

impl Carrying {
    pub fn of(now: &WorldView) -> Self {
        let running: Vec<NodeId> =
            now.nodes.iter().filter(|node| node.operating).map(|node| node.id).collect();
        let mut reached = Reached::new(running.len());
        // Links are in the order of their lower ends.
        let mut lower = None;
        let up = now.links.iter().map(|link| {
            let place = |id: NodeId| running.binary_search(&id).ok();
            let a = match lower {
                Some((id, a)) if id == link.a => a,
                _ => place(link.a),
            };
            lower = Some((link.a, a));
            let carries = !link.severed && link.budget.etx().is_some();
            match a.filter(|_| carries).zip(carries.then(|| place(link.b)).flatten()) {
                Some((a, b)) => {
                    reached.join(a, b);
                    true
                }
                None => false,
            }
        });
        let up: Vec<bool> = up.collect();
        Self {
            nodes: Arc::clone(&now.nodes),
            links: Arc::clone(&now.links),
            nodes_up: running.len(),
            links_up: up.iter().filter(|up| **up).count(),
            reachable_share: reached.share(),
            up,
        }
    }

    /// `true` if it was made of these nodes.
    pub fn is_of(&self, nodes: &Arc<Vec<NodeView>>) -> bool {
        Arc::ptr_eq(&self.nodes, nodes)
    }

    /// Makes it that of `now`, unless it is.
    pub fn update(&mut self, now: &WorldView) {
        if !Arc::ptr_eq(&self.nodes, &now.nodes) || !Arc::ptr_eq(&self.links, &now.links) {
            *self = Self::of(now);
        }
    }
}

/// Trees of nodes that reach each other; each node refers to its root, the root has the
/// size.
struct Reached {
    roots: Vec<usize>,
    sizes: Vec<usize>,
}

impl Reached {
    fn new(count: usize) -> Self {
        Self { roots: (0..count).collect(), sizes: vec![1; count] }
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.roots[at] != at {
            self.roots[at] = self.roots[self.roots[at]];
            at = self.roots[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            let (small, large) = if self.sizes[a] < self.sizes[b] { (a, b) } else { (b, a) };
            self.roots[small] = large;
            self.sizes[large] += self.sizes[small];
        }
    }

    /// Share of the ordered pairs in one tree, [0, 1].
    fn share(&self) -> f64 {
        let count = self.roots.len();
        if count < 2 {
            return 1.0;
        }
        let pairs: usize = (0..count)
            .filter(|at| self.roots[*at] == *at)
            .map(|at| self.sizes[at] * (self.sizes[at] - 1))
            .sum();
        pairs as f64 / (count * (count - 1)) as f64
    }
}
