//! Mesh topology as its nodes measure it: links between nodes of the fleet, from the neighbor
//! tables of their heartbeats.
//!
//! A link is kept at its end with the lower id. A heartbeat touches the links of its node; a
//! hardware address that gets another owner touches the nodes that report it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use groundwave_model::radio::Expectation;
use groundwave_protocol::Mac;
use groundwave_protocol::NodeState;
use groundwave_protocol::heartbeat::{Heartbeat, MeshLink};
use groundwave_simulation::site::{NodeId, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::components::{LastHeartbeat, LivenessState, NodeRecord};

/// Source of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Neighbor table of B.A.T.M.A.N.
    Batman,
    /// 802.11s peering.
    Plink,
    /// WireGuard tunnel.
    Wireguard,
    /// Plan only, without a measurement.
    Planned,
}

/// State of a link.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EdgeStatus {
    /// Reported by a node that is online.
    Up,
    /// Reported only by nodes that are stale.
    Stale,
    /// Reported only by nodes that are offline.
    Down,
}

impl From<NodeState> for EdgeStatus {
    fn from(state: NodeState) -> Self {
        match state {
            NodeState::Online => Self::Up,
            NodeState::Stale => Self::Stale,
            NodeState::Joining | NodeState::Offline => Self::Down,
        }
    }
}

/// Predicted budget of a link: its weaker direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictedLink {
    /// Received power, dBm.
    pub rx_power_dbm: f64,
    /// SNR, dB.
    pub snr_db: f64,
    /// SNR above the need of the lowest modulation, dB.
    pub margin_db: f64,
    /// Path loss, dB.
    pub path_loss_db: f64,
    /// `true` if the link closes.
    pub viable: bool,
    /// Interval of the received power and probability that a link like this one works.
    #[serde(flatten)]
    pub expectation: Expectation,
}

/// A link between two nodes of the fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct Edge {
    /// End with the lower id.
    pub a: NodeId,
    /// End with the higher id.
    pub b: NodeId,
    /// State, of the better reporter.
    pub status: EdgeStatus,
    /// Measurement of `b` by `a`.
    pub at_a: Option<MeshLink>,
    /// Measurement of `a` by `b`.
    pub at_b: Option<MeshLink>,
    /// Prediction of the plan, where both ends are planned.
    pub predicted: Option<PredictedLink>,
}

/// Transmit quality of a link without loss.
pub const TQ_FULL: f64 = 255.0;

/// Cost of one direction: 255/TQ of B.A.T.M.A.N. IV, 10^6/throughput of B.A.T.M.A.N. V.
fn cost(link: &MeshLink) -> Option<f64> {
    let by_tq = link.tq.filter(|tq| *tq > 0).map(|tq| TQ_FULL / f64::from(tq));
    let throughput_kbps = link.throughput_kbps.filter(|rate| *rate > 0);
    by_tq.or(throughput_kbps.map(|rate| 1e6 / f64::from(rate)))
}

/// Quality of one direction, [0, 1]: TQ/255, or throughput on a logarithmic scale from 100 kbit/s
/// to 1 Gbit/s.
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

    /// Difference in quality between the directions, [0, 1], where both were measured.
    #[must_use]
    pub fn asymmetry(&self) -> Option<f64> {
        let a = self.at_a.as_ref().and_then(quality)?;
        let b = self.at_b.as_ref().and_then(quality)?;
        Some((a - b).abs())
    }
}

/// Links of a node to nodes with higher ids, by the other end. Derived: written by
/// `update_topology` and `predict_mesh_links`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct MeshEdges(pub Arc<Vec<Edge>>);

/// Neighbor table of a node, resolved to nodes.
#[derive(Debug, Default)]
struct NodeLinks {
    mesh_mac: Option<Mac>,
    /// Hardware addresses of its interfaces, sorted: neighbors are received on the interfaces below
    /// the mesh interface, whose addresses differ from that of the mesh interface.
    interface_macs: Vec<Mac>,
    /// Hardware addresses it reports, sorted.
    reported_macs: Vec<Mac>,
    /// Best report of each neighbor that is a node.
    reports: BTreeMap<NodeId, MeshLink>,
    /// Reported addresses that belong to no node.
    unknown: usize,
    /// Nodes that report it.
    reporters: BTreeSet<NodeId>,
    status: Option<EdgeStatus>,
}

impl NodeLinks {
    fn ends(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.reports.keys().chain(&self.reporters).copied()
    }
}

/// Owners of hardware addresses and resolved neighbor tables. Derived: written by
/// `update_topology` only.
#[derive(Resource, Debug, Default)]
pub(super) struct TopologyIndex {
    by_mesh_mac: BTreeMap<Mac, NodeId>,
    by_interface_mac: BTreeMap<Mac, BTreeSet<NodeId>>,
    reporters_of_mac: BTreeMap<Mac, BTreeSet<NodeId>>,
    nodes: BTreeMap<NodeId, NodeLinks>,
    /// Reported addresses that belong to no node, each counted once for each node that reports it.
    pub unknown_neighbors: usize,
    /// Links that appeared or disappeared in this tick.
    pub appeared: BTreeSet<(NodeId, NodeId)>,
}

fn sorted(macs: impl Iterator<Item = Mac>) -> Vec<Mac> {
    let mut macs: Vec<Mac> = macs.collect();
    macs.sort_unstable();
    macs.dedup();
    macs
}

fn key(one: NodeId, other: NodeId) -> (NodeId, NodeId) {
    (one.min(other), one.max(other))
}

/// Replaces `node` as a value of `before` by one of `after` in a multimap.
fn replace<V: Ord + Copy>(
    map: &mut BTreeMap<Mac, BTreeSet<V>>,
    before: &[Mac],
    after: &[Mac],
    node: V,
) {
    for mac in before {
        if let Some(nodes) = map.get_mut(mac) {
            nodes.remove(&node);
            if nodes.is_empty() {
                map.remove(mac);
            }
        }
    }
    for mac in after {
        map.entry(*mac).or_default().insert(node);
    }
}

impl TopologyIndex {
    /// Owner of a hardware address: of a mesh interface, else of the interface of one node only.
    fn owner(&self, mac: Mac) -> Option<NodeId> {
        let interface = || {
            let nodes = self.by_interface_mac.get(&mac)?;
            (nodes.len() == 1).then(|| nodes.first().copied())?
        };
        self.by_mesh_mac.get(&mac).copied().or_else(interface)
    }

    /// Sets the addresses of a node; nodes that report one that changed owner go to `stale`.
    fn set_macs(
        &mut self,
        node: NodeId,
        mesh_mac: Option<Mac>,
        interface_macs: Vec<Mac>,
        stale: &mut BTreeSet<NodeId>,
    ) {
        let links = self.nodes.entry(node).or_default();
        if links.mesh_mac == mesh_mac && links.interface_macs == interface_macs {
            return;
        }
        let before = std::mem::replace(&mut links.mesh_mac, mesh_mac);
        let previous = std::mem::replace(&mut links.interface_macs, interface_macs.clone());
        let changed = before.iter().chain(&mesh_mac).chain(&previous).chain(&interface_macs);
        stale.extend(changed.filter_map(|mac| self.reporters_of_mac.get(mac)).flatten());
        if before != mesh_mac {
            // Another node may have taken the address over meanwhile.
            if let Some(mac) = before.filter(|mac| self.by_mesh_mac.get(mac) == Some(&node)) {
                self.by_mesh_mac.remove(&mac);
            }
            if let Some(mac) = mesh_mac {
                self.by_mesh_mac.insert(mac, node);
            }
        }
        replace(&mut self.by_interface_mac, &previous, &interface_macs, node);
    }

    /// Resolves the neighbor table of a node; its links before and after go to `touched`.
    fn resolve(
        &mut self,
        node: NodeId,
        heartbeat: Option<&Heartbeat>,
        touched: &mut BTreeSet<(NodeId, NodeId)>,
    ) {
        let table = heartbeat.map_or(&[][..], |heartbeat| &heartbeat.mesh.links);
        let mut reports: BTreeMap<NodeId, MeshLink> = BTreeMap::new();
        let mut unknown = 0;
        for link in table {
            match self.owner(link.neigh_address) {
                None => unknown += 1,
                Some(other) if other == node => {}
                // Several radios may receive the same neighbor: the best report counts, the first of
                // equals.
                Some(other) => match reports.get(&other) {
                    Some(best) if quality(best) >= quality(link) => {}
                    _ => {
                        reports.insert(other, link.clone());
                    }
                },
            }
        }
        let macs = sorted(table.iter().map(|link| link.neigh_address));
        let links = self.nodes.entry(node).or_default();
        let before = std::mem::replace(&mut links.reported_macs, macs.clone());
        let previous = std::mem::replace(&mut links.reports, reports);
        let others: Vec<NodeId> = links.reports.keys().copied().collect();
        self.unknown_neighbors = self.unknown_neighbors + unknown - links.unknown;
        links.unknown = unknown;
        if before != macs {
            replace(&mut self.reporters_of_mac, &before, &macs, node);
        }
        for other in previous.into_keys() {
            touched.insert(key(node, other));
            if let Some(other) = self.nodes.get_mut(&other) {
                other.reporters.remove(&node);
            }
        }
        for other in others {
            touched.insert(key(node, other));
            self.nodes.entry(other).or_default().reporters.insert(node);
        }
    }

    /// The link between two nodes, if one of them reports the other.
    fn edge(&self, (a, b): (NodeId, NodeId)) -> Option<Edge> {
        let direction = |from: NodeId, to: NodeId| {
            let links = self.nodes.get(&from)?;
            let report = links.reports.get(&to)?;
            Some((links.status.unwrap_or(EdgeStatus::Down), report.clone()))
        };
        let (at_a, at_b) = (direction(a, b), direction(b, a));
        let status = at_a.iter().chain(&at_b).map(|(status, _)| *status).min()?;
        Some(Edge {
            a,
            b,
            status,
            at_a: at_a.map(|(_, link)| link),
            at_b: at_b.map(|(_, link)| link),
            predicted: None,
        })
    }

    /// Links of a node, by both ends.
    pub fn links_of(&self, node: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let links = self.nodes.get(&node).into_iter();
        links.flat_map(move |links| links.ends().map(move |other| key(node, other)))
    }
}

type TopologyChanged = Or<(Changed<NodeRecord>, Changed<LastHeartbeat>, Changed<LivenessState>)>;
type TopologyInputs =
    (&'static NodeId, &'static NodeRecord, Ref<'static, LastHeartbeat>, &'static LivenessState);

/// Updates the links that heartbeats, liveness and records changed.
pub(super) fn update_topology(
    changed: Query<TopologyInputs, TopologyChanged>,
    heartbeats: Query<&LastHeartbeat>,
    nodes: Res<Index<NodeKind>>,
    mut removed: RemovedComponents<NodeRecord>,
    records: Query<(&NodeId, Has<NodeRecord>)>,
    mut edges: Query<&mut MeshEdges>,
    mut index: ResMut<TopologyIndex>,
) {
    let deregistered = removed
        .read()
        .filter_map(|entity| records.get(entity).ok())
        .filter(|(_, enrolled)| !enrolled)
        .map(|(id, _)| *id);
    let departures: Vec<NodeId> = nodes
        .departed()
        .iter()
        .copied()
        .chain(deregistered)
        .filter(|id| index.nodes.contains_key(id))
        .collect();
    let index = index.bypass_change_detection();
    index.appeared.clear();
    if changed.is_empty() && departures.is_empty() {
        return;
    }
    let (mut stale, mut touched) = (BTreeSet::new(), BTreeSet::new());
    for id in &departures {
        index.set_macs(*id, None, Vec::new(), &mut stale);
        index.resolve(*id, None, &mut touched);
    }
    for (id, record, last, liveness) in &changed {
        let heartbeat = last.0.as_ref().map(|last| &last.heartbeat);
        if last.is_changed() {
            stale.insert(*id);
        }
        let interfaces = heartbeat.map_or(&[][..], |heartbeat| &heartbeat.interfaces);
        let macs = interfaces.iter().filter_map(|interface| interface.mac.as_ref()?.parse().ok());
        index.set_macs(*id, record.0.mac, sorted(macs), &mut stale);
        let status = Some(EdgeStatus::from(liveness.0.state));
        let links = index.nodes.entry(*id).or_default();
        if std::mem::replace(&mut links.status, status) != status {
            touched.extend(index.links_of(*id));
        }
    }
    for id in stale {
        let last = nodes.get(id).ok().and_then(|node| heartbeats.get(node).ok());
        let heartbeat = last.and_then(|last| Some(&last.0.as_ref()?.heartbeat));
        index.resolve(id, heartbeat, &mut touched);
    }
    for id in departures {
        // Back in the same tick, it has been resolved again.
        let back = nodes.get(id).is_ok_and(|node| edges.contains(node));
        if !back {
            index.nodes.remove(&id);
        }
    }
    for ends in touched {
        let Ok(mut node_edges) =
            nodes.get(ends.0).map_or(Err(()), |node| edges.get_mut(node).map_err(|_| ()))
        else {
            continue;
        };
        let position = node_edges.0.binary_search_by_key(&ends.1, |edge| edge.b);
        match (index.edge(ends), position) {
            (Some(edge), Ok(at)) => {
                let predicted = node_edges.0[at].predicted;
                let edge = Edge { predicted, ..edge };
                if node_edges.0[at] != edge {
                    Arc::make_mut(&mut node_edges.0)[at] = edge;
                }
            }
            (Some(edge), Err(at)) => {
                Arc::make_mut(&mut node_edges.0).insert(at, edge);
                index.appeared.insert(ends);
            }
            (None, Ok(at)) => {
                Arc::make_mut(&mut node_edges.0).remove(at);
                index.appeared.insert(ends);
            }
            (None, Err(_)) => {}
        }
    }
}
