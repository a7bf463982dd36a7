//! What readers see of the fleet.

use core::net::Ipv4Addr;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use imbl::OrdMap;
use serde::Serialize;
use serde::ser::Serializer;

use super::components::{
    Condition, LastBeat, Latest, Member, Membership, Place, PlaceSource, Saying,
};
use super::document::{shared, shared_option};
use super::liveness::Liveness;
use super::metrics::Readings;
use super::minutes::{Buffer, Minutes};
use super::orders::{OrderBook, Orders};
use crate::identity::Mac;
use crate::site::{NodeId, NodeKind, Position};
use crate::terrain::GeoPoint;

/// A node of the fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetNode {
    /// Its id.
    pub id: NodeId,
    /// What it is.
    #[serde(with = "shared")]
    pub member: Arc<Member>,
    /// Whether it speaks.
    #[serde(with = "shared")]
    pub condition: Arc<Liveness>,
    /// What it said last.
    #[serde(with = "shared_option")]
    pub said: Option<Arc<LastBeat>>,
    /// Its latest readings.
    #[serde(with = "shared")]
    pub latest: Arc<Readings>,
    /// Its readings of late.
    #[serde(with = "shared")]
    pub minutes: Arc<Buffer>,
    /// What it was asked to do.
    #[serde(with = "shared")]
    pub orders: Arc<OrderBook>,
    /// Where it was planned.
    pub planned_at: Option<GeoPoint>,
}

impl FleetNode {
    /// Where it is: as somebody said, as its receiver says, as it was planned.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        if let Some(place) = self.member.place {
            return Some(place);
        }
        let reading = |name: &str| self.latest.get(name).copied();
        if let (Some(lat), Some(lon)) = (reading("gps.lat_deg"), reading("gps.lon_deg"))
            && GeoPoint::new(lat.value, lon.value).is_ok()
            && reading("gps.fix_mode").is_none_or(|mode| mode.value >= 2.0)
        {
            return Some(Place {
                lat_deg: lat.value,
                lon_deg: lon.value,
                alt_msl_m: reading("gps.alt_m").map(|alt| alt.value),
                ts_ms: lat.ts_ms,
                source: PlaceSource::Gps,
            });
        }
        self.planned_at.map(|point| Place {
            lat_deg: point.lat_deg(),
            lon_deg: point.lon_deg(),
            alt_msl_m: None,
            ts_ms: self.member.created_ns / 1_000_000,
            source: PlaceSource::Plan,
        })
    }
}

/// All nodes of the fleet.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// In id order.
    pub nodes: OrdMap<NodeId, Arc<FleetNode>>,
    by_mac: OrdMap<Mac, NodeId>,
    by_overlay: OrdMap<Ipv4Addr, NodeId>,
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
        if before.is_none_or(|before| !Arc::ptr_eq(&before.member, &node.member)) {
            self.leave(node.id);
            if let Some(mac) = node.member.mac {
                self.by_mac.insert(mac, node.id);
            }
            if let Some(ip) = node.member.overlay_ip {
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
            .member
            .mac
            .filter(|mac| self.by_mac.get(mac) == Some(&id))
        {
            self.by_mac.remove(&mac);
        }
        let overlay_ip = node.member.overlay_ip;
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
    &'static Membership,
    &'static Condition,
    &'static Saying,
    &'static Latest,
    &'static Minutes,
    &'static Orders,
    Option<&'static Position>,
);
type Touched = Or<(
    Changed<Membership>,
    Changed<Condition>,
    Changed<Saying>,
    Changed<Latest>,
    Changed<Minutes>,
    Changed<Orders>,
    Changed<Position>,
)>;

/// Redraws what changed, came or went.
pub(super) fn publish_fleet(
    nodes: Query<Parts, Touched>,
    index: Res<Index<NodeKind>>,
    mut departed: RemovedComponents<Membership>,
    ids: Query<(&NodeId, Has<Membership>)>,
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
    for (id, member, condition, saying, latest, minutes, orders, position) in &nodes {
        fleet.enter(FleetNode {
            id: *id,
            member: Arc::clone(&member.0),
            condition: Arc::clone(&condition.0),
            said: saying.0.clone(),
            latest: Arc::clone(&latest.0),
            minutes: Arc::clone(&minutes.0),
            orders: Arc::clone(&orders.0),
            planned_at: position.map(|position| position.0),
        });
    }
    section.redraw(fleet);
}
