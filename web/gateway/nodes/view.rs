//! Nodes as this interface shows them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use groundwave_systems::Snapshot;
use groundwave_systems::fleet::{FleetNode, LocationSource, NodeState, TransportKind};
use groundwave_systems::onboarding::{Mac, PublicKey, RegistrationState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::http::time::rfc3339;

/// Which kind of world something is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It is really there.
    Live,
    /// It was there.
    Replay,
    /// It is computed.
    Sim,
}

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePosition {
    /// Latitude, WGS 84, degrees.
    pub lat: f64,
    /// Longitude, WGS 84, degrees.
    pub lon: f64,
    /// Height above mean sea level, m.
    pub alt_m: Option<f64>,
    /// 0 no fix, 2 in the plane, 3 in space.
    pub fix_mode: Option<u8>,
    /// Satellites used.
    pub sats_used: Option<u32>,
    /// When that was said, ms since the Unix epoch.
    pub ts: u64,
    /// Who said so.
    pub source: LocationSource,
}

/// A node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Its id; a planned node has the same one in the plan.
    pub node_id: Uuid,
    /// What people call it.
    pub name: String,
    /// Its own name for itself.
    pub hostname: Option<String>,
    /// Hardware address of its mesh interface.
    pub mac: Option<Mac>,
    /// What it is for.
    pub role_id: Option<String>,
    /// Whether it speaks.
    pub state: NodeState,
    /// Whether it is in; absent before it asked.
    pub registration: Option<RegistrationState>,
    /// Where it is from.
    pub origin: Origin,
    /// Whether it is also planned.
    pub planned: bool,
    /// Its underlay address.
    pub underlay_ip: Option<IpAddr>,
    /// Its overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Its key.
    pub public_key: Option<PublicKey>,
    /// Where its last heartbeat came from.
    pub endpoint: Option<IpAddr>,
    /// What carries its traffic.
    pub active_transport: Option<TransportKind>,
    /// Mean received level, dBm.
    pub signal_dbm: Option<f64>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// Versions of what it runs.
    pub firmware: BTreeMap<String, String>,
    /// What it runs on.
    pub board: Option<String>,
    /// Version of its agent.
    pub agent_version: Option<String>,
    /// Where it is.
    pub position: Option<NodePosition>,
    /// When it was first heard, RFC 3339.
    pub first_seen: Option<String>,
    /// When it was last heard, RFC 3339.
    pub last_seen: Option<String>,
    /// Since it was last heard, ms.
    pub last_seen_msecs: Option<u64>,
    /// Since its boot, s.
    pub uptime_s: Option<u64>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Counts changes; also its `ETag`.
    pub revision: u64,
}

/// The state of a node's registration.
#[must_use]
pub fn registration(view: &Snapshot, node: &FleetNode) -> Option<RegistrationState> {
    let id = node.record.registration?;
    Some(view.onboarding.registrations.get(&id)?.state)
}

/// Where a node is.
#[must_use]
pub fn position(node: &FleetNode) -> Option<NodePosition> {
    let place = node.location()?;
    let reading = |name: &str| node.latest.get(name).map(|reading| reading.value);
    Some(NodePosition {
        lat: place.lat_deg,
        lon: place.lon_deg,
        alt_m: place.alt_msl_m,
        fix_mode: reading("gps.fix_mode").map(|mode| mode as u8),
        sats_used: reading("gps.sats_used").map(|count| count as u32),
        ts: place.ts_ms,
        source: place.source,
    })
}

impl Node {
    /// A node of `view` at `wall_ns`, ns since the Unix epoch.
    #[must_use]
    pub fn of(view: &Snapshot, node: &FleetNode, wall_ns: u64) -> Self {
        let member = &node.record;
        let received = node.last_heartbeat.as_deref();
        let heartbeat = received.map(|received| &received.heartbeat);
        Self {
            node_id: node.id.uuid(),
            name: member.name.clone(),
            hostname: member.hostname.clone(),
            mac: member.mac,
            role_id: member.role_id.clone(),
            state: node.liveness.state,
            registration: registration(view, node),
            origin: Origin::Live,
            planned: node.planned_at.is_some(),
            underlay_ip: heartbeat.and_then(|heartbeat| heartbeat.underlay_ip),
            overlay_ip: member.overlay_ip,
            public_key: member.public_key,
            endpoint: received.map(|received| received.source_ip),
            active_transport: heartbeat.map(|heartbeat| heartbeat.active_transport),
            signal_dbm: heartbeat.and_then(|heartbeat| heartbeat.signal_dbm),
            capabilities: heartbeat
                .map_or_else(Vec::new, |heartbeat| heartbeat.capabilities.clone()),
            firmware: member.firmware.clone(),
            board: member.board.clone(),
            agent_version: heartbeat.map(|heartbeat| heartbeat.agent_version.clone()),
            position: position(node),
            first_seen: received.map(|received| rfc3339(received.first_ns)),
            last_seen: received.map(|received| rfc3339(received.wall_ns)),
            last_seen_msecs: received
                .map(|received| wall_ns.saturating_sub(received.wall_ns) / 1_000_000),
            uptime_s: heartbeat.map(|heartbeat| heartbeat.uptime_s),
            tags: member.tags.clone(),
            revision: member.revision,
        }
    }
}

crate::schema_refs!(Origin);
