//! Heartbeat of a node, as sent, and its acknowledgement.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::liveness::NodeState;
use super::metrics::{METRICS_MAX, check_metric};
use crate::identity::{Mac, PublicKey};
use groundwave_engine::Refusal;

/// Interfaces, radios and transports of a heartbeat at most.
pub const INTERFACES_MAX: usize = 32;
/// Links of a heartbeat at most.
pub const LINKS_MAX: usize = 64;
/// Longest text in a heartbeat, characters.
const WORD_CHARS_MAX: usize = 128;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transport {
    /// Interface name.
    #[schemars(length(max = 128))]
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
    #[schemars(range(min = 0.0))]
    pub rtt_ms: Option<f64>,
}

/// A network interface of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Name.
    #[schemars(length(max = 128))]
    pub name: String,
    /// Hardware address, as the node writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub mac: Option<String>,
    /// MTU, bytes.
    #[serde(default)]
    pub mtu: u32,
    /// Operational state, as the kernel names it.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub operstate: String,
    /// IP addresses.
    #[serde(default)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[schemars(range(min = -200.0, max = 100.0))]
    pub signal_dbm: Option<f64>,
    /// Time since the neighbor was last heard, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_msecs: Option<u64>,
    /// `true` if it is the current next hop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
}

/// Mesh state of a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshReport {
    /// `BATMAN_IV` or `BATMAN_V`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
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
    #[schemars(length(max = 64))]
    pub links: Vec<MeshLink>,
}

/// A radio of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RadioReport {
    /// Interface name.
    #[schemars(length(max = 128))]
    pub ifname: String,
    /// Name of the radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub phy: Option<String>,
    /// `mesh_point`, `ap`, `managed`, `adhoc`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub kind: Option<String>,
    /// Mesh ID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[schemars(length(max = 128))]
    pub agent_version: String,
    /// Boot id, unique to one boot.
    #[schemars(length(min = 1, max = 64))]
    pub boot_id: String,
    /// Sequence number within a boot.
    pub seq: u64,
    /// Send time by the node's clock, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
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
    #[schemars(range(min = -200.0, max = 100.0))]
    pub signal_dbm: Option<f64>,
    /// Type of the uplink in use.
    #[serde(default)]
    pub active_transport: TransportKind,
    /// Uplinks, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub transports: Vec<Transport>,
    /// Capabilities, up to 64.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub capabilities: Vec<String>,
    /// Network interfaces, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub interfaces: Vec<Interface>,
    /// Radios, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub radios: Vec<RadioReport>,
    /// Mesh state.
    #[serde(default)]
    pub mesh: MeshReport,
    /// Readings at the time of the heartbeat, up to 64.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub metrics: BTreeMap<String, f64>,
}

impl Heartbeat {
    /// Checks lengths and ranges.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the offending field.
    pub fn check(&self) -> Result<(), Refusal> {
        crate::identity::check_hostname(&self.hostname)?;
        let count = |key: &str, found: usize, most: usize| match found <= most {
            true => Ok(()),
            false => Err(Refusal::invalid(
                key,
                found,
                format!("up to {most} entries"),
            )),
        };
        count("transports", self.transports.len(), INTERFACES_MAX)?;
        count("interfaces", self.interfaces.len(), INTERFACES_MAX)?;
        count("radios", self.radios.len(), INTERFACES_MAX)?;
        count("capabilities", self.capabilities.len(), LINKS_MAX)?;
        count("mesh.links", self.mesh.links.len(), LINKS_MAX)?;
        count("metrics", self.metrics.len(), METRICS_MAX)?;
        let boot = 1..=64;
        if !boot.contains(&self.boot_id.chars().count()) {
            return Err(Refusal::invalid(
                "boot_id",
                "its length",
                "1 to 64 characters",
            ));
        }
        let words = self.capabilities.iter().map(|word| ("capabilities", word));
        let names = self
            .interfaces
            .iter()
            .map(|entry| ("interfaces", &entry.name));
        let states = self
            .interfaces
            .iter()
            .map(|entry| ("interfaces", &entry.operstate));
        let ways = self
            .transports
            .iter()
            .map(|entry| ("transports", &entry.name));
        let radios = self.radios.iter().map(|entry| ("radios", &entry.ifname));
        let version = [("agent_version", &self.agent_version)];
        let mut words = words
            .chain(names)
            .chain(states)
            .chain(ways)
            .chain(radios)
            .chain(version);
        if let Some((key, _)) = words.find(|(_, word)| word.chars().count() > WORD_CHARS_MAX) {
            let allowed = format!("words of up to {WORD_CHARS_MAX} characters");
            return Err(Refusal::invalid(key, "a longer word", allowed));
        }
        let ips = self.interfaces.iter().map(|entry| entry.ips.len()).max();
        count("interfaces.ips", ips.unwrap_or(0), INTERFACES_MAX)?;
        let levels = self.mesh.links.iter().filter_map(|link| link.signal_dbm);
        for level_dbm in levels.chain(self.signal_dbm) {
            if !(-200.0..=100.0).contains(&level_dbm) {
                return Err(Refusal::invalid("signal_dbm", level_dbm, "-200 to 100"));
            }
        }
        self.metrics
            .iter()
            .try_for_each(|(name, value)| check_metric(name, *value))
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
}
