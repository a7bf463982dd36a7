//! Node representation.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::{FleetNode, LocationSource};
use groundwave_http::time::rfc3339;
use groundwave_protocol::{Mac, PublicKey, RegistrationState};
use groundwave_protocol::{NodeState, TransportKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Origin of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Live mesh.
    Live,
    /// Replay of a recording.
    Replay,
    /// Simulation.
    Sim,
}

/// Position of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePosition {
    /// Latitude, WGS 84, degrees.
    pub lat: f64,
    /// Longitude, WGS 84, degrees.
    pub lon: f64,
    /// Height above mean sea level, m.
    pub alt_m: Option<f64>,
    /// Present mode: 0 no fix, 2 in the plane, 3 in space; without one the position is that of the last
    /// fix.
    pub fix_mode: Option<u8>,
    /// Satellites in use.
    pub sats_used: Option<u32>,
    /// Time of the fix, RFC 3339.
    pub ts: String,
    /// Source of the position.
    pub source: LocationSource,
}

/// Node.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Node id, the same as in the plan.
    pub node_id: Uuid,
    /// Name.
    pub name: String,
    /// Host name.
    pub hostname: Option<String>,
    /// MAC address of the mesh interface.
    pub mac: Option<Mac>,
    /// Role id.
    pub role_id: Option<String>,
    /// Liveness state.
    pub state: NodeState,
    /// Registration state; absent before registration.
    pub registration: Option<RegistrationState>,
    /// Origin.
    pub origin: Origin,
    /// Part of a plan.
    pub planned: bool,
    /// Underlay address.
    pub underlay_ip: Option<IpAddr>,
    /// Overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// WireGuard public key.
    pub public_key: Option<PublicKey>,
    /// Source address of the last heartbeat.
    pub endpoint: Option<IpAddr>,
    /// Active transport.
    pub active_transport: Option<TransportKind>,
    /// Mean received signal level, dBm.
    pub signal_dbm: Option<f64>,
    /// Capabilities.
    pub capabilities: Vec<String>,
    /// Firmware versions by component.
    pub firmware: BTreeMap<String, String>,
    /// Board.
    pub board: Option<String>,
    /// Agent version.
    pub agent_version: Option<String>,
    /// Position.
    pub position: Option<NodePosition>,
    /// Time of the first heartbeat, RFC 3339.
    pub first_seen: Option<String>,
    /// Time of the last heartbeat, RFC 3339.
    pub last_seen: Option<String>,
    /// Time since the last heartbeat, ms.
    pub last_seen_msecs: Option<u64>,
    /// Uptime, s.
    pub uptime_s: Option<u64>,
    /// Tags.
    pub tags: Vec<String>,
    /// Revision; also the `ETag`.
    pub revision: u64,
}

/// Registration state of a node.
#[must_use]
pub fn registration(view: &Snapshot, node: &FleetNode) -> Option<RegistrationState> {
    let id = node.record.registration?;
    Some(view.onboarding.registrations.get(&id)?.state)
}

/// Position of a node.
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
        ts: rfc3339(place.ts_ms.saturating_mul(1_000_000)),
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
            overlay_ip: member.overlay_ip.or_else(|| member.preregistration.as_ref()?.overlay_ip),
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

groundwave_http::schema_refs!(Origin);
