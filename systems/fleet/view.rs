//! What readers see of the fleet.

use core::net::Ipv4Addr;
use std::sync::Arc;

use crate::persistent::PersistentMap;
use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use serde::Serialize;
use serde::ser::Serializer;

use super::command_queue::{CommandQueue, NodeCommands};
use super::components::{
    LastHeartbeat, LatestReadings, LivenessState, Location, LocationSource, NodeInfo, NodeRecord,
    ReceivedHeartbeat,
};
use super::document::{shared, shared_option};
use super::liveness::Liveness;
use super::metrics::Readings;
use super::sample_buffer::{RecentSamples, SampleBuffer};
use crate::identity::Mac;
use crate::site::{NodeId, NodeKind, Position};
use crate::terrain::GeoPoint;

/// A node of the fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetNode {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    #[serde(rename = "member", with = "shared")]
    pub record: Arc<NodeInfo>,
    /// Whether it speaks.
    #[serde(rename = "condition", with = "shared")]
    pub liveness: Arc<Liveness>,
    /// What it said last.
    #[serde(rename = "said", with = "shared_option")]
    pub last_heartbeat: Option<Arc<ReceivedHeartbeat>>,
    /// Its latest readings.
    #[serde(with = "shared")]
    pub latest: Arc<Readings>,
    /// Its readings of late.
    #[serde(rename = "minutes", with = "shared")]
    pub recent_samples: Arc<SampleBuffer>,
    /// What it was asked to do.
    #[serde(rename = "orders", with = "shared")]
    pub commands: Arc<CommandQueue>,
    /// Where it was planned.
    pub planned_at: Option<GeoPoint>,
}

impl FleetNode {
    /// Where it is: as somebody said, as its receiver says, as it was planned.
    #[must_use]
    pub fn location(&self) -> Option<Location> {
        if let Some(location) = self.record.location {
            return Some(location);
        }
        let reading = |name: &str| self.latest.get(name).copied();
        if let (Some(lat), Some(lon)) = (reading("gps.lat_deg"), reading("gps.lon_deg"))
            && GeoPoint::new(lat.value, lon.value).is_ok()
            && reading("gps.fix_mode").is_none_or(|mode| mode.value >= 2.0)
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
}

impl Fleet {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The node with this hardware address.
    #[must_use]
    pub fn with_mac(&self, mac: Mac) -> Option<NodeId> {
        self.by_mac.get(&mac).copied()
    }

    /// The node with this overlay address.
    #[must_use]
    pub fn with_overlay(&self, ip: Ipv4Addr) -> Option<NodeId> {
        self.by_overlay.get(&ip).copied()
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
        if let Some(mac) = node
            .record
            .mac
            .filter(|mac| self.by_mac.get(mac) == Some(&id))
        {
            self.by_mac.remove(&mac);
        }
        let overlay_ip = node.record.overlay_ip;
        if let Some(ip) = overlay_ip.filter(|ip| self.by_overlay.get(ip) == Some(&id)) {
            self.by_overlay.remove(&ip);
        }
    }
}

/// All nodes as a list, as a digest reads them.
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
    Option<&'static Position>,
);
type Touched = Or<(
    Changed<NodeRecord>,
    Changed<LivenessState>,
    Changed<LastHeartbeat>,
    Changed<LatestReadings>,
    Changed<RecentSamples>,
    Changed<NodeCommands>,
    Changed<Position>,
)>;

/// Redraws what changed, came or went.
pub(super) fn publish_fleet(
    nodes: Query<Parts, Touched>,
    index: Res<Index<NodeKind>>,
    mut departed: RemovedComponents<NodeRecord>,
    ids: Query<(&NodeId, Has<NodeRecord>)>,
    mut section: ResMut<Section<Fleet>>,
) {
    let dismissed: Vec<NodeId> = departed
        .read()
        .filter_map(|entity| ids.get(entity).ok())
        .filter(|(_, back)| !back)
        .map(|(id, _)| *id)
        .collect();
    let held = section.share();
    let gone = index.departed().iter().chain(&dismissed);
    let gone: Vec<NodeId> = gone
        .copied()
        .filter(|id| held.nodes.contains_key(id))
        .collect();
    if nodes.is_empty() && gone.is_empty() {
        return;
    }
    let mut fleet = Fleet::clone(&held);
    gone.into_iter().for_each(|id| fleet.leave(id));
    for (id, record, liveness, heartbeat, latest, samples, commands, position) in &nodes {
        fleet.enter(FleetNode {
            id: *id,
            record: Arc::clone(&record.0),
            liveness: Arc::clone(&liveness.0),
            last_heartbeat: heartbeat.0.clone(),
            latest: Arc::clone(&latest.0),
            recent_samples: Arc::clone(&samples.0),
            commands: Arc::clone(&commands.0),
            planned_at: position.map(|position| position.0),
        });
    }
    section.redraw(fleet);
}
