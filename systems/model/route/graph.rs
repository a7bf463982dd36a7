//! The usable links as a directed graph in id order.

use crate::model::id::NodeId;
use crate::model::link::{LinkBudget, LinkKey};

/// One direction of a usable link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Edge {
    /// Index of the node it leads to.
    pub to: usize,
    /// Length, m.
    pub distance_m: f64,
    /// Rate left to payload, bit/s, above 0.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost in this direction, [0, 1).
    pub per: f64,
    /// Expected transmissions, at least 1.
    pub etx: f64,
    /// Expected time of a packet, s.
    pub ett_s: f64,
    /// SNR, dB.
    pub snr_db: f64,
}

/// Nodes in id order and their outgoing edges, in id order of their ends.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<NodeId>,
    first: Vec<usize>,
    edges: Vec<Edge>,
}

/// Collects nodes and links into a [`Graph`].
pub struct GraphBuilder {
    nodes: Vec<NodeId>,
    edges: Vec<(usize, Edge)>,
    packet_bits: f64,
}

impl GraphBuilder {
    /// A graph over `nodes`, which must rise; ETT is that of packets of `packet_bytes`.
    ///
    /// # Panics
    /// When `nodes` do not rise strictly.
    #[must_use]
    pub fn new(nodes: Vec<NodeId>, packet_bytes: u32) -> Self {
        assert!(
            nodes.is_sorted_by(|a, b| a < b),
            "nodes come in id order, once each"
        );
        Self {
            nodes,
            edges: Vec::new(),
            packet_bits: f64::from(packet_bytes) * 8.0,
        }
    }

    /// Adds both directions of a link if both are usable and both ends are in the graph. A link
    /// that hears but is not heard cannot acknowledge, and carries nothing.
    pub fn link(&mut self, ends: LinkKey, budget: &LinkBudget) {
        let Some(etx) = budget.etx() else { return };
        let index = |id| self.nodes.binary_search(&id);
        let (Ok(a), Ok(b)) = (index(ends.a()), index(ends.b())) else {
            return;
        };
        for (from, to, direction) in [(a, b, &budget.forward), (b, a, &budget.backward)] {
            let edge = Edge {
                to,
                distance_m: budget.distance_m,
                data_rate_bps: direction.data_rate_bps,
                per: direction.per,
                etx,
                ett_s: etx * self.packet_bits / direction.data_rate_bps,
                snr_db: direction.snr_db,
            };
            self.edges.push((from, edge));
        }
    }

    /// The graph.
    #[must_use]
    pub fn build(mut self) -> Graph {
        self.edges.sort_by_key(|(from, edge)| (*from, edge.to));
        let mut first = vec![0; self.nodes.len() + 1];
        for (from, _) in &self.edges {
            first[from + 1] += 1;
        }
        for i in 0..self.nodes.len() {
            first[i + 1] += first[i];
        }
        let edges = self.edges.into_iter().map(|(_, edge)| edge).collect();
        Graph {
            nodes: self.nodes,
            first,
            edges,
        }
    }
}

impl Graph {
    /// Nodes in id order.
    #[must_use]
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    /// The index of a node.
    #[must_use]
    pub fn index(&self, id: NodeId) -> Option<usize> {
        self.nodes.binary_search(&id).ok()
    }

    /// Edges out of the node with this index.
    ///
    /// # Panics
    /// When there is no such node.
    #[must_use]
    pub fn out(&self, node: usize) -> &[Edge] {
        &self.edges[self.first[node]..self.first[node + 1]]
    }

    /// All edges.
    #[must_use]
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}
