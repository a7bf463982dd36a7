//! Nodes as this interface shows them.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use groundwave_systems::Snapshot;
use groundwave_systems::fleet::{FleetNode, NodeState, PlaceSource, TransportKind};
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
    pub source: PlaceSource,
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
    let id = node.member.registration?;
    Some(view.onboarding.registrations.get(&id)?.state)
}

/// Where a node is.
#[must_use]
pub fn position(node: &FleetNode) -> Option<NodePosition> {
    let place = node.place()?;
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
        let member = &node.member;
        let said = node.said.as_deref();
        let beat = said.map(|said| &said.beat);
        Self {
            node_id: node.id.uuid(),
            name: member.name.clone(),
            hostname: member.hostname.clone(),
            mac: member.mac,
            role_id: member.role_id.clone(),
            state: node.condition.state,
            registration: registration(view, node),
            origin: Origin::Live,
            planned: node.planned_at.is_some(),
            underlay_ip: beat.and_then(|beat| beat.underlay_ip),
            overlay_ip: member.overlay_ip,
            public_key: member.public_key,
            endpoint: said.map(|said| said.source_ip),
            active_transport: beat.map(|beat| beat.active_transport),
            signal_dbm: beat.and_then(|beat| beat.signal_dbm),
            capabilities: beat.map_or_else(Vec::new, |beat| beat.capabilities.clone()),
            firmware: member.firmware.clone(),
            board: member.board.clone(),
            agent_version: beat.map(|beat| beat.agent_version.clone()),
            position: position(node),
            first_seen: said.map(|said| rfc3339(said.first_ns)),
            last_seen: said.map(|said| rfc3339(said.wall_ns)),
            last_seen_msecs: said.map(|said| wall_ns.saturating_sub(said.wall_ns) / 1_000_000),
            uptime_s: beat.map(|beat| beat.uptime_s),
            tags: member.tags.clone(),
            revision: member.revision,
        }
    }
}
