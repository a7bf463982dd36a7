//! Heartbeat of a node, as sent, and its acknowledgement.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use garde::Validate;
use groundwave_values::Refusal;
use groundwave_values::bounds;
use groundwave_values::bounds::finite_if_some;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::metrics::{METRICS_MAX, check_metric};
use crate::NodeState;
use crate::{Mac, PublicKey};

/// Type of an uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// 802.11ah.
    Halow,
    /// 802.11.
    Wifi,
    /// Ethernet.
    Ethernet,
    /// Cellular network.
    Cellular,
    /// No uplink.
    #[default]
    None,
}

/// An uplink of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Transport {
    /// Interface name.
    #[garde(length(chars, max = 128))]
    pub name: String,
    /// Type.
    pub kind: TransportKind,
    /// `true` if it is usable.
    pub up: bool,
    /// IP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// Round-trip time to the gateway, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0), custom(finite_if_some))]
    pub rtt_ms: Option<f64>,
}

/// A network interface of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Interface {
    /// Name.
    #[garde(length(chars, max = 128))]
    pub name: String,
    /// Hardware address, as the node writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 128))]
    pub mac: Option<String>,
    /// MTU, bytes.
    #[serde(default)]
    pub mtu: u32,
    /// Operational state, as the kernel names it.
    #[serde(default)]
    #[garde(length(chars, max = 128))]
    pub operstate: String,
    /// IP addresses, up to 32.
    #[serde(default)]
    #[garde(length(max = 32))]
    pub ips: Vec<IpAddr>,
    /// Bytes received.
    #[serde(default)]
    pub rx_bytes: u64,
    /// Bytes sent.
    #[serde(default)]
    pub tx_bytes: u64,
    /// Receive errors.
    #[serde(default)]
    pub rx_errors: u64,
    /// Transmit errors.
    #[serde(default)]
    pub tx_errors: u64,
}

/// A neighbor as a node measures it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct MeshLink {
    /// Hardware address of the neighbor.
    pub neigh_address: Mac,
    /// Transmit quality of B.A.T.M.A.N. IV, of 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of B.A.T.M.A.N. V, kbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u32>,
    /// Received signal level, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = -200.0, max = 100.0), custom(finite_if_some))]
    pub signal_dbm: Option<f64>,
    /// Time since the neighbor was last heard, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_msecs: Option<u64>,
    /// `true` if it is the current next hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
}

/// Mesh state of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct MeshReport {
    /// `BATMAN_IV` or `BATMAN_V`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 128))]
    pub algo_name: Option<String>,
    /// Hardware address of the selected gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_gateway: Option<Mac>,
    /// Known originators.
    #[serde(default)]
    pub originators: u32,
    /// Direct neighbors.
    #[serde(default)]
    pub neighbor_count: u32,
    /// Established 802.11s peerings.
    #[serde(default)]
    pub plink_estab: u32,
    /// Neighbors, up to 64.
    #[serde(default)]
    #[garde(length(max = 64), dive)]
    pub links: Vec<MeshLink>,
}

/// A radio of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct RadioReport {
    /// Interface name.
    #[garde(length(chars, max = 128))]
    pub ifname: String,
    /// Name of the radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 128))]
    pub phy: Option<String>,
    /// `mesh_point`, `ap`, `managed`, `adhoc`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 128))]
    pub kind: Option<String>,
    /// Mesh ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 128))]
    pub mesh_id: Option<String>,
    /// Frequency, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq_mhz: Option<u32>,
    /// Channel width, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width_mhz: Option<u32>,
    /// Transmit power, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_power_dbm: Option<f64>,
    /// Mean received signal level, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_dbm: Option<f64>,
    /// Noise level, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_dbm: Option<f64>,
    /// Established peerings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plink_estab: Option<u32>,
    /// Retried transmissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_retries: Option<u64>,
    /// Failed transmissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_failed: Option<u64>,
}

/// A heartbeat. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[garde(allow_unvalidated)]
pub struct Heartbeat {
    /// Claimed node id; the credential decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Hardware address of its mesh interface.
    pub mac: Mac,
    /// Host name.
    #[schemars(length(min = 1, max = 63))]
    pub hostname: String,
    /// Agent version.
    #[serde(default)]
    #[garde(length(chars, max = 128))]
    pub agent_version: String,
    /// Boot id, unique to one boot.
    #[garde(length(chars, min = 1, max = 64))]
    pub boot_id: String,
    /// Sequence number within a boot.
    pub seq: u64,
    /// Sequence number of the last heartbeat of this boot whose acknowledgement the node has: commands of later
    /// ones are sent again. Absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledged_seq: Option<u64>,
    /// Send time by the node's clock, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, max = 40))]
    pub sent_at: Option<String>,
    /// Uptime, s.
    #[serde(default)]
    pub uptime_s: u64,
    /// Underlay address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay_ip: Option<IpAddr>,
    /// Overlay address, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// WireGuard public key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
    /// Mean received signal level, dBm; absent without a peer.
    #[serde(default)]
    #[garde(range(min = -200.0, max = 100.0), custom(finite_if_some))]
    pub signal_dbm: Option<f64>,
    /// Type of the uplink in use.
    #[serde(default)]
    pub active_transport: TransportKind,
    /// Uplinks, up to 32.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub transports: Vec<Transport>,
    /// Capabilities, up to 64.
    #[serde(default)]
    #[garde(length(max = 64), inner(length(chars, max = 128)))]
    pub capabilities: Vec<String>,
    /// Network interfaces, up to 32.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub interfaces: Vec<Interface>,
    /// Radios, up to 32.
    #[serde(default)]
    #[garde(length(max = 32), dive)]
    pub radios: Vec<RadioReport>,
    /// Mesh state.
    #[serde(default)]
    #[garde(dive)]
    pub mesh: MeshReport,
    /// Readings at the time of the heartbeat, up to 64.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub metrics: BTreeMap<String, f64>,
}

impl Heartbeat {
    /// `true` if the node states an uplink of its own: the capability `gateway` or `internet`.
    #[must_use]
    pub fn has_uplink(&self) -> bool {
        self.capabilities.iter().any(|word| word == "gateway" || word == "internet")
    }

    /// Checks lengths and ranges.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the offending field.
    pub fn check(&self) -> Result<(), Refusal> {
        crate::check_hostname(&self.hostname)?;
        bounds::check(self, "")?;
        if self.metrics.len() > METRICS_MAX {
            let allowed = format!("up to {METRICS_MAX} entries");
            return Err(Refusal::invalid("metrics", self.metrics.len(), allowed));
        }
        self.metrics.iter().try_for_each(|(name, value)| check_metric(name, *value))
    }
}

/// A command dispatched to a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchedCommand {
    /// Command id.
    pub command_id: Uuid,
    /// Type, one of the commands the node supports.
    pub kind: String,
    /// Arguments.
    pub args: BTreeMap<String, String>,
    /// Expiry, RFC 3339.
    pub expires_at: String,
}

/// An entry of a heartbeat that was not recorded; the rest was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedEntry {
    /// JSON pointer of the entry in the heartbeat.
    pub pointer: String,
    /// 422 for an invalid entry, 429 for one too many, which passes later.
    pub status: u16,
    /// Reason.
    pub message: String,
}

/// Maximum number of rejected entries that an acknowledgement lists.
pub const REJECTED_MAX: usize = 64;

/// Acknowledgement of a heartbeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatAck {
    /// Node id.
    pub node_id: Uuid,
    /// Liveness state as the gateway sees it.
    pub state: NodeState,
    /// Overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Wall clock of the gateway, RFC 3339.
    pub server_time: String,
    /// Time until the next heartbeat, s.
    pub next_heartbeat_s: f64,
    /// Revision of the node's configuration.
    pub config_revision: u64,
    /// Revision of the sensors that the node is to read (`GET /v1/nodes/{node_id}/sensors`); absent
    /// without assigned sensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors_revision: Option<u64>,
    /// Commands for the node.
    pub commands: Vec<DispatchedCommand>,
    /// Number of entries that were not recorded.
    #[serde(default)]
    pub rejected_count: usize,
    /// Entries that were not recorded, the first 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedEntry>,
}
