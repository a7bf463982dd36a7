//! The mesh as its nodes measure it: who hears whom, and how well.

use std::collections::BTreeMap;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::heartbeat::MeshLink;
use super::liveness::NodeState;
use super::view::{Fleet, FleetNode};
use crate::identity::Mac;
use crate::route::Adjacency;
use crate::site::NodeId;

/// What makes a link of a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// B.A.T.M.A.N. measured it.
    Batman,
    /// 802.11s peers over it.
    Plink,
    /// A tunnel.
    Wireguard,
    /// Nobody measured it; it is planned.
    Planned,
}

/// Whether a link carries traffic.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EdgeStatus {
    /// A node that is online hears it.
    Up,
    /// Only nodes that are stale heard it.
    Stale,
    /// Nobody who is there hears it.
    Down,
}

/// A link between two nodes of the fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// The end with the lower id.
    pub a: NodeId,
    /// The end with the higher id.
    pub b: NodeId,
    /// Whether it carries traffic.
    pub status: EdgeStatus,
    /// How `a` hears `b`.
    pub at_a: Option<MeshLink>,
    /// How `b` hears `a`.
    pub at_b: Option<MeshLink>,
}

/// Transmit quality of a link without loss.
pub const TQ_FULL: f64 = 255.0;

/// Cost of one direction: 255/TQ of B.A.T.M.A.N. IV, 10^6/throughput of B.A.T.M.A.N. V.
fn cost(link: &MeshLink) -> Option<f64> {
    let by_tq = link
        .tq
        .filter(|tq| *tq > 0)
        .map(|tq| TQ_FULL / f64::from(tq));
    let throughput_kbps = link.throughput_kbps.filter(|rate| *rate > 0);
    by_tq.or(throughput_kbps.map(|rate| 1e6 / f64::from(rate)))
}

/// Share of full quality of one direction, [0, 1]: of TQ, or of 1 Gbit/s on a logarithmic scale
/// from 100 kbit/s.
fn quality(link: &MeshLink) -> Option<f64> {
    let by_tq = link.tq.map(|tq| f64::from(tq) / TQ_FULL);
    let by_rate = link.throughput_kbps.map(|rate| {
        let decades = (f64::from(rate.max(1)) / 100.0).log10() / 4.0;
        decades.clamp(0.0, 1.0)
    });
    by_tq.or(by_rate)
}

impl Edge {
    fn directions(&self) -> impl Iterator<Item = &MeshLink> {
        self.at_a.iter().chain(&self.at_b)
    }

    /// Cost of the worse direction, where one was measured.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        self.directions().filter_map(cost).max_by(f64::total_cmp)
    }

    /// Quality of the worse direction, [0, 1], where one was measured.
    #[must_use]
    pub fn quality(&self) -> Option<f64> {
        self.directions().filter_map(quality).min_by(f64::total_cmp)
    }

    /// By how much the two directions differ in quality, [0, 1], where both were measured.
    #[must_use]
    pub fn asymmetry(&self) -> Option<f64> {
        let a = self.at_a.as_ref().and_then(quality)?;
        let b = self.at_b.as_ref().and_then(quality)?;
        Some((a - b).abs())
    }
}

/// Who hears whom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TopologyGraph {
    /// Links in order of their ends.
    pub edges: Vec<Edge>,
    /// Neighbours that are no nodes of the fleet, each counted once for each node that hears it.
    pub strangers: usize,
}

/// Whose interface a hardware address is: neighbours are heard on the interfaces under the mesh,
/// whose addresses are others than the mesh's own. `None` for one that several nodes say is theirs.
fn radios(fleet: &Fleet) -> BTreeMap<Mac, Option<NodeId>> {
    let mut owners: BTreeMap<Mac, Option<NodeId>> = BTreeMap::new();
    for node in fleet.nodes.values() {
        let Some(received) = &node.last_heartbeat else {
            continue;
        };
        let macs = received.heartbeat.interfaces.iter();
        for mac in macs.filter_map(|one| one.mac.as_ref()?.parse().ok()) {
            let owner = owners.entry(mac).or_insert(Some(node.id));
            if *owner != Some(node.id) {
                *owner = None;
            }
        }
    }
    owners
}

/// What one node says of one neighbour.
struct NeighborReport<'f> {
    /// The node with the lower id, then the other.
    ends: (NodeId, NodeId),
    /// Whether the lower one says it.
    by_a: bool,
    status: EdgeStatus,
    link: &'f MeshLink,
}

/// What a node's last beat says of its neighbours, and how many of those are strangers.
fn told<'f>(
    fleet: &Fleet,
    radios: &BTreeMap<Mac, Option<NodeId>>,
    node: &'f FleetNode,
) -> (Vec<NeighborReport<'f>>, usize) {
    let status = match node.liveness.state {
        NodeState::Online => EdgeStatus::Up,
        NodeState::Stale => EdgeStatus::Stale,
        NodeState::Joining | NodeState::Offline => EdgeStatus::Down,
    };
    let mut strangers = 0;
    let links = node
        .last_heartbeat
        .iter()
        .flat_map(|received| &received.heartbeat.mesh.links);
    let told = links.filter_map(|link| {
        let known = fleet.with_mac(link.neigh_address);
        let below = || radios.get(&link.neigh_address).copied().flatten();
        let Some(other) = known.or_else(below) else {
            strangers += 1;
            return None;
        };
        (other != node.id).then_some(NeighborReport {
            ends: (node.id.min(other), node.id.max(other)),
            by_a: node.id < other,
            status,
            link,
        })
    });
    (told.collect(), strangers)
}

/// An edge of all that was said of it.
fn edge(told: &[NeighborReport<'_>]) -> Edge {
    let best = |by_a: bool| {
        // Several radios may hear the same neighbour: the best one counts, the first of equals.
        let mut best: Option<&MeshLink> = None;
        for one in told.iter().filter(|one| one.by_a == by_a) {
            if best.is_none_or(|best| quality(best) < quality(one.link)) {
                best = Some(one.link);
            }
        }
        best.cloned()
    };
    let status = told.iter().map(|one| one.status).min();
    Edge {
        a: told[0].ends.0,
        b: told[0].ends.1,
        status: status.unwrap_or(EdgeStatus::Down),
        at_a: best(true),
        at_b: best(false),
    }
}

/// What the fleet's last beats say of its links.
#[must_use]
pub fn topology(fleet: &Fleet) -> TopologyGraph {
    let radios = radios(fleet);
    let nodes: Vec<&FleetNode> = fleet.nodes.values().map(|node| &**node).collect();
    let (told, strangers): (Vec<_>, Vec<_>) = nodes
        .into_par_iter()
        .map(|node| told(fleet, &radios, node))
        .unzip();
    let mut told: Vec<NeighborReport<'_>> = told.into_iter().flatten().collect();
    // Stable: what a node said first stays first.
    told.par_sort_by_key(|one| one.ends);
    TopologyGraph {
        edges: told
            .chunk_by(|one, next| one.ends == next.ends)
            .map(edge)
            .collect(),
        strangers: strangers.into_iter().sum(),
    }
}

/// How a mesh hangs together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Connectivity {
    /// Parts that do not reach each other.
    pub partitions: usize,
    /// Nodes without which some part would be cut off, in id order.
    pub articulation_nodes: Vec<NodeId>,
}

/// How the nodes that are there hang together over links that are up.
pub(super) fn hanging(fleet: &Fleet, graph: &TopologyGraph) -> Connectivity {
    let there = |state| matches!(state, NodeState::Online | NodeState::Stale);
    let nodes: Vec<NodeId> = fleet
        .nodes
        .values()
        .filter(|node| there(node.liveness.state))
        .map(|node| node.id)
        .collect();
    let place = |id: NodeId| nodes.binary_search(&id).ok();
    let carries = |edge: &&Edge| edge.status != EdgeStatus::Down;
    let pairs: Vec<(usize, usize)> = graph
        .edges
        .iter()
        .filter(carries)
        .filter_map(|edge| Some((place(edge.a)?, place(edge.b)?)))
        .collect();
    let cuts = Adjacency::of(nodes.len(), &pairs).cuts();
    Connectivity {
        partitions: cuts.component_sizes.len(),
        articulation_nodes: cuts.points.iter().map(|place| nodes[*place]).collect(),
    }
}
