//! The usable links as a directed graph in id order.

use crate::id::NodeId;
use crate::link::{LinkBudget, LinkKey, Probe};
use crate::radio::modulation::ModulationId;

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
    /// Expected transmissions of a probe, at least 1, where the graph has one.
    pub probe_etx: Option<f64>,
    /// SNR, dB.
    pub snr_db: f64,
}

/// Nodes in id order and their outgoing edges, in id order of the nodes they lead to.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    nodes: Vec<NodeId>,
    out: Vec<Vec<Edge>>,
    packet_octets: u32,
    probe: Option<Probe>,
}

impl Edge {
    /// ETX that metrics count: that of probes where there are any.
    #[must_use]
    pub fn metric_etx(&self) -> f64 {
        self.probe_etx.unwrap_or(self.etx)
    }

    /// ETT that metrics count, s: at the data rate, with the ETX that they count.
    #[must_use]
    pub fn metric_ett_s(&self) -> f64 {
        self.probe_etx.map_or(self.ett_s, |probe_etx| self.ett_s / self.etx * probe_etx)
    }
}

impl Graph {
    /// A graph over `nodes`, which must rise, without edges; ETT is that of packets of `packet_bytes`, or of the
    /// longest frame of a link where that is shorter.
    ///
    /// # Panics
    /// When `nodes` do not rise strictly.
    #[must_use]
    pub fn new(nodes: Vec<NodeId>, packet_bytes: u32) -> Self {
        assert!(nodes.is_sorted_by(|a, b| a < b), "nodes come in id order, once each");
        Self { out: vec![Vec::new(); nodes.len()], nodes, packet_octets: packet_bytes, probe: None }
    }

    /// The graph with metrics that count the ETX of a probe, of links that are set from now on.
    #[must_use]
    pub fn with_probe(self, probe: Option<Probe>) -> Self {
        Self { probe, ..self }
    }

    /// Sets both directions of a link, if both are usable and both nodes are in the graph; otherwise, and
    /// without a budget, removes them. A link that works in one direction only cannot acknowledge, and
    /// carries nothing. Returns whether the link was there before and whether it is there now.
    pub fn set(&mut self, key: LinkKey, budget: Option<&LinkBudget>) -> (bool, bool) {
        let (Some(a), Some(b)) = (self.index(key.a()), self.index(key.b())) else {
            return (false, false);
        };
        let usable = budget.and_then(|budget| Some((budget, budget.etx()?)));
        let before = self.out[a].binary_search_by_key(&b, |edge| edge.to).is_ok();
        let Some((budget, etx)) = usable else {
            if before {
                self.out[a].retain(|edge| edge.to != b);
                self.out[b].retain(|edge| edge.to != a);
            }
            return (before, false);
        };
        let probe_etx = self
            .probe
            .map(|probe| probe.delivery(budget).map_or(f64::INFINITY, |delivery| delivery.etx));
        for (from, to, direction) in [(a, b, &budget.forward), (b, a, &budget.backward)] {
            let octets_max = direction.modulation.map_or(u32::MAX, ModulationId::packet_octets_max);
            let packet_bits = f64::from(self.packet_octets.min(octets_max)) * 8.0;
            let edge = Edge {
                to,
                distance_m: budget.distance_m,
                data_rate_bps: direction.data_rate_bps,
                per: direction.per,
                etx,
                ett_s: etx * packet_bits / direction.data_rate_bps,
                probe_etx,
                snr_db: direction.snr_db,
            };
            let edges = &mut self.out[from];
            match edges.binary_search_by_key(&to, |edge| edge.to) {
                Ok(at) => edges[at] = edge,
                Err(at) => edges.insert(at, edge),
            }
        }
        (before, true)
    }

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
        &self.out[node]
    }

    /// The connected component of each node, by the lowest index in it.
    #[must_use]
    pub fn components(&self) -> Vec<usize> {
        let mut component = vec![usize::MAX; self.nodes.len()];
        let mut waiting = Vec::new();
        for root in 0..self.nodes.len() {
            if component[root] != usize::MAX {
                continue;
            }
            component[root] = root;
            waiting.push(root);
            while let Some(node) = waiting.pop() {
                for edge in &self.out[node] {
                    if component[edge.to] == usize::MAX {
                        component[edge.to] = root;
                        waiting.push(edge.to);
                    }
                }
            }
        }
        component
    }
}
