//! What a node says of itself, and what it hears back.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::liveness::NodeState;
use super::metrics::{METRICS_MAX, check_metric};
use crate::identity::{Mac, PublicKey};
use groundwave_engine::Refusal;

/// Interfaces one heartbeat may tell of.
pub const INTERFACES_MAX: usize = 32;
/// Links one heartbeat may tell of.
pub const LINKS_MAX: usize = 64;
/// Longest word in a heartbeat, characters.
const WORD_CHARS_MAX: usize = 128;

/// What carries a node's traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportKind {
    /// 802.11ah.
    Halow,
    /// 802.11.
    Wifi,
    /// A cable.
    Ethernet,
    /// A mobile network.
    Cellular,
    /// Nothing.
    #[default]
    None,
}

/// A way out of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transport {
    /// Its interface.
    #[schemars(length(max = 128))]
    pub name: String,
    /// What it is.
    pub kind: TransportKind,
    /// Whether it can be used.
    pub up: bool,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpAddr>,
    /// Round trip to the gateway, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub rtt_ms: Option<f64>,
}

/// An interface of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interface {
    /// Its name.
    #[schemars(length(max = 128))]
    pub name: String,
    /// Its hardware address, as the node writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub mac: Option<String>,
    /// Its largest packet, bytes.
    #[serde(default)]
    pub mtu: u32,
    /// Its state, as the kernel says it.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub operstate: String,
    /// Its addresses.
    #[serde(default)]
    pub ips: Vec<IpAddr>,
    /// Bytes received.
    #[serde(default)]
    pub rx_bytes: u64,
    /// Bytes sent.
    #[serde(default)]
    pub tx_bytes: u64,
    /// Packets received with errors.
    #[serde(default)]
    pub rx_errors: u64,
    /// Packets not sent for errors.
    #[serde(default)]
    pub tx_errors: u64,
}

/// A neighbour as a node measures it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshLink {
    /// The neighbour's hardware address.
    pub neigh_address: Mac,
    /// Transmit quality of B.A.T.M.A.N. IV, of 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of B.A.T.M.A.N. V, kbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u32>,
    /// Received level, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -200.0, max = 100.0))]
    pub signal_dbm: Option<f64>,
    /// Since it was last heard, ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen_msecs: Option<u64>,
    /// Whether it is the next hop now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
}

/// The mesh as a node sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshReport {
    /// `BATMAN_IV` or `BATMAN_V`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub algo_name: Option<String>,
    /// The gateway it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_gateway: Option<Mac>,
    /// Nodes it knows.
    #[serde(default)]
    pub originators: u32,
    /// Neighbours it has.
    #[serde(default)]
    pub neighbor_count: u32,
    /// Peerings of 802.11s it has.
    #[serde(default)]
    pub plink_estab: u32,
    /// Its neighbours, up to 64.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub links: Vec<MeshLink>,
}

/// A radio of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RadioReport {
    /// Its interface.
    #[schemars(length(max = 128))]
    pub ifname: String,
    /// Its radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub phy: Option<String>,
    /// `mesh_point`, `ap`, `managed`, `adhoc`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub kind: Option<String>,
    /// The mesh it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub mesh_id: Option<String>,
    /// Frequency, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freq_mhz: Option<u32>,
    /// Channel width, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width_mhz: Option<u32>,
    /// Power, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_power_dbm: Option<f64>,
    /// Mean received level, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_dbm: Option<f64>,
    /// Noise, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_dbm: Option<f64>,
    /// Peerings it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plink_estab: Option<u32>,
    /// Transmissions repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_retries: Option<u64>,
    /// Transmissions given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_failed: Option<u64>,
}

/// A heartbeat. Fields of later agents are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Heartbeat {
    /// Who it says it is; its credential counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Hardware address of its mesh interface.
    pub mac: Mac,
    /// Its name.
    #[schemars(length(min = 1, max = 63))]
    pub hostname: String,
    /// Version of its agent.
    #[serde(default)]
    #[schemars(length(max = 128))]
    pub agent_version: String,
    /// What tells one boot of it from the next.
    #[schemars(length(min = 1, max = 64))]
    pub boot_id: String,
    /// Counts heartbeats of a boot.
    pub seq: u64,
    /// When it was sent, RFC 3339, by the node's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub sent_at: Option<String>,
    /// Since its boot, s.
    #[serde(default)]
    pub uptime_s: u64,
    /// Its underlay address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub underlay_ip: Option<IpAddr>,
    /// Its overlay address, if it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
    /// Mean received level, dBm; nothing where there is no peer.
    #[serde(default)]
    #[schemars(range(min = -200.0, max = 100.0))]
    pub signal_dbm: Option<f64>,
    /// What carries its traffic.
    #[serde(default)]
    pub active_transport: TransportKind,
    /// Its ways out, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub transports: Vec<Transport>,
    /// What it can do, up to 64 words.
    #[serde(default)]
    #[schemars(length(max = 64), inner(length(max = 128)))]
    pub capabilities: Vec<String>,
    /// Its interfaces, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub interfaces: Vec<Interface>,
    /// Its radios, up to 32.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub radios: Vec<RadioReport>,
    /// The mesh as it sees it.
    #[serde(default)]
    pub mesh: MeshReport,
    /// Readings of this moment, up to 64.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 64))]
    pub metrics: BTreeMap<String, f64>,
}

impl Heartbeat {
    /// Refuses what is too long or no number.
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

/// Something a node is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DispatchedCommand {
    /// Which one it is.
    pub command_id: Uuid,
    /// What, of the words the node said it knows.
    pub kind: String,
    /// How.
    pub args: BTreeMap<String, String>,
    /// Until when it is wanted, RFC 3339.
    pub expires_at: String,
}

/// What a node hears back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatAck {
    /// Who it is.
    pub node_id: Uuid,
    /// How the gateway sees it.
    pub state: NodeState,
    /// Its overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// The gateway's clock, RFC 3339.
    pub server_time: String,
    /// When to beat again, s.
    pub next_heartbeat_s: f64,
    /// Counts changes of its configuration.
    pub config_revision: u64,
    /// What it is asked to do.
    pub commands: Vec<DispatchedCommand>,
}
