//! View of the fleet.

use core::net::Ipv4Addr;
use std::sync::{Arc, OnceLock};

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::terrain::GeoPoint;
use groundwave_protocol::Mac;
use groundwave_protocol::metrics::Readings;
use groundwave_simulation::site::{NodeId, NodeKind, Position};
use groundwave_values::persistent::PersistentMap;
use serde::Serialize;
use serde::ser::Serializer;

use super::command_queue::{CommandQueue, NodeCommands};
use super::components::{
    LastHeartbeat, LatestReadings, LivenessState, Location, LocationSource, NodeInfo, NodeRecord,
    ReceivedHeartbeat,
};
use super::document::{shared, shared_option};
use super::liveness::Liveness;
use super::prediction::PredictionQueue;
use super::sample_buffer::{RecentSamples, SampleBuffer};
use super::score::{MeshScore, ScoredNode, mesh_score};
use super::topology::{Edge, MeshEdges, TopologyIndex};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetNode {
    pub id: NodeId,
    /// Node record.
    #[serde(rename = "member", with = "shared")]
    pub record: Arc<NodeInfo>,
    #[serde(rename = "condition", with = "shared")]
    pub liveness: Arc<Liveness>,
    #[serde(rename = "said", with = "shared_option")]
    pub last_heartbeat: Option<Arc<ReceivedHeartbeat>>,
    /// Latest reading of each metric.
    #[serde(with = "shared")]
    pub latest: Arc<Readings>,
    /// Samples the history does not have yet.
    #[serde(rename = "minutes", with = "shared")]
    pub recent_samples: Arc<SampleBuffer>,
    /// Commands for the node.
    #[serde(rename = "orders", with = "shared")]
    pub commands: Arc<CommandQueue>,
    /// Planned position.
    pub planned_at: Option<GeoPoint>,
    /// Links to nodes with higher ids, as measured and as predicted; derived.
    #[serde(skip)]
    pub edges: Arc<Vec<Edge>>,
}

impl FleetNode {
    /// Location: set by an operator, else of the last fix of its GPS receiver, else planned.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        if let Some(location) = self.record.location {
            return Some(location);
        }
        let reading = |name: &str| self.latest.get(name).copied();
        if let (Some(lat), Some(lon)) = (reading("gps.lat_deg"), reading("gps.lon_deg"))
            && GeoPoint::new(lat.value, lon.value).is_ok()
            && (lat.value, lon.value) != (0.0, 0.0)
        {
            return Some(Location {
                lat_deg: lat.value,
                lon_deg: lon.value,
                alt_msl_m: reading("gps.alt_m").map(|alt| alt.value),
                ts_ms: lat.ts_ms,
                source: LocationSource::Gps,
            });
        }
        self.planned_at.map(|point| Location {
            lat_deg: point.lat_deg(),
            lon_deg: point.lon_deg(),
            alt_msl_m: None,
            ts_ms: self.record.created_ns / 1_000_000,
            source: LocationSource::Plan,
        })
    }
}

/// All nodes of the fleet.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// In id order.
    pub nodes: PersistentMap<NodeId, Arc<FleetNode>>,
    by_mac: PersistentMap<Mac, NodeId>,
    by_overlay: PersistentMap<Ipv4Addr, NodeId>,
    /// Reported neighbors outside the fleet, each counted once for each reporter.
    pub unknown_neighbors: usize,
    /// Links whose prediction is still to be evaluated.
    pub predictions_pending: usize,
    /// Predictions evaluated since the gateway started.
    pub predictions_evaluated: u64,
    score: OnceLock<MeshScore>,
}

impl Fleet {
    /// `true` if there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Node with this hardware address of its mesh interface.
    #[must_use]
    pub fn with_mac(&self, mac: Mac) -> Option<NodeId> {
        self.by_mac.get(&mac).copied()
    }

    /// Node with this overlay address.
    #[must_use]
    pub fn with_overlay(&self, ip: Ipv4Addr) -> Option<NodeId> {
        self.by_overlay.get(&ip).copied()
    }

    /// Links in order of their ends.
    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.nodes.values().flat_map(|node| node.edges.iter())
    }

    /// Score of the mesh, evaluated at the first call for this view: it takes the whole mesh, and
    /// most views have no reader.
    pub fn mesh_score(&self) -> &MeshScore {
        self.score.get_or_init(|| {
            let nodes = self.nodes.values().map(|node| ScoredNode {
                id: node.id,
                state: node.liveness.state,
                approved: node.record.registration.is_some(),
                edges: &node.edges,
            });
            mesh_score(&nodes.collect::<Vec<_>>())
        })
    }

    fn enter(&mut self, node: FleetNode) {
        let before = self.nodes.get(&node.id);
        if before.is_none_or(|before| !Arc::ptr_eq(&before.record, &node.record)) {
            self.leave(node.id);
            if let Some(mac) = node.record.mac {
                self.by_mac.insert(mac, node.id);
            }
            if let Some(ip) = node.record.overlay_ip {
                self.by_overlay.insert(ip, node.id);
            }
        }
        self.nodes.insert(node.id, Arc::new(node));
    }

    fn leave(&mut self, id: NodeId) {
        let Some(node) = self.nodes.remove(&id) else {
            return;
        };
        // Another node may have taken over the address meanwhile.
        if let Some(mac) = node.record.mac.filter(|mac| self.by_mac.get(mac) == Some(&id)) {
            self.by_mac.remove(&mac);
        }
        let overlay_ip = node.record.overlay_ip;
        if let Some(ip) = overlay_ip.filter(|ip| self.by_overlay.get(ip) == Some(&id)) {
            self.by_overlay.remove(&ip);
        }
    }
}

/// A list of nodes: the form of digests.
impl Serialize for Fleet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.nodes.values().map(|node| &**node))
    }
}

type Parts = (
    &'static NodeId,
    &'static NodeRecord,
    &'static LivenessState,
    &'static LastHeartbeat,
    &'static LatestReadings,
    &'static RecentSamples,
    &'static NodeCommands,
    &'static MeshEdges,
    Option<&'static Position>,
);
type Touched = Or<(
    Changed<NodeRecord>,
    Changed<LivenessState>,
    Changed<LastHeartbeat>,
    Changed<LatestReadings>,
    Changed<RecentSamples>,
    Changed<NodeCommands>,
    Changed<MeshEdges>,
    Changed<Position>,
)>;

/// Publishes nodes that changed, joined or left.
pub(super) fn publish_fleet(
    nodes: Query<Parts, Touched>,
    index: Res<Index<NodeKind>>,
    mut departed: RemovedComponents<NodeRecord>,
    ids: Query<(&NodeId, Has<NodeRecord>)>,
    derived: (Res<TopologyIndex>, Res<PredictionQueue>),
    mut section: ResMut<Section<Fleet>>,
) {
    let dismissed: Vec<NodeId> = departed
        .read()
        .filter_map(|entity| ids.get(entity).ok())
        .filter(|(_, back)| !back)
        .map(|(id, _)| *id)
        .collect();
    let before = section.share();
    let departures = index.departed().iter().chain(&dismissed);
    let departures: Vec<NodeId> =
        departures.copied().filter(|id| before.nodes.contains_key(id)).collect();
    let pending = derived.1.stale.len();
    if nodes.is_empty() && departures.is_empty() && pending == before.predictions_pending {
        return;
    }
    let mut fleet = Fleet::clone(&before);
    departures.into_iter().for_each(|id| fleet.leave(id));
    for (id, record, liveness, heartbeat, latest, samples, commands, edges, position) in &nodes {
        fleet.enter(FleetNode {
            id: *id,
            record: Arc::clone(&record.0),
            liveness: Arc::clone(&liveness.0),
            last_heartbeat: heartbeat.0.clone(),
            latest: Arc::clone(&latest.0),
            recent_samples: Arc::clone(&samples.0),
            commands: Arc::clone(&commands.0),
            planned_at: position.map(|position| position.0),
            edges: Arc::clone(&edges.0),
        });
    }
    fleet.unknown_neighbors = derived.0.unknown_neighbors;
    fleet.predictions_pending = pending;
    fleet.predictions_evaluated = derived.1.evaluated;
    fleet.score = OnceLock::new();
    section.redraw(fleet);
}
