//! Properties of a mesh interface.

use groundwave_protocol::HardwareAddress;
use netlink_packet_core::DecodeError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;

/// Gateway mode of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatewayMode {
    /// No gateway function.
    Off,
    /// Client: selects the best gateway.
    Client,
    /// Server: is a gateway.
    Server,
}

/// Bandwidth of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GatewayBandwidth")]
pub struct Bandwidth {
    /// Downlink, kbit/s.
    pub down_kbps: u64,
    /// Uplink, kbit/s.
    pub up_kbps: u64,
}

/// Properties of a mesh interface; `None` for features missing in the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mesh {
    /// Version of batman-adv.
    pub version: String,
    /// `BATMAN_IV` or `BATMAN_V`.
    pub algo_name: String,
    /// Name, usually `bat0`.
    pub mesh_ifname: String,
    /// Hardware address, as seen by hosts.
    pub mesh_address: HardwareAddress,
    /// First underlying interface, whose address identifies the node in the mesh.
    pub hard_ifname: Option<String>,
    /// Hardware address of the first underlying interface.
    pub hard_address: Option<HardwareAddress>,
    /// Version of the local translation table.
    pub tt_ttvn: Option<u8>,
    /// Checksum announced by bridge loop avoidance.
    pub bla_crc: Option<u16>,
    /// Gateway mode.
    pub gw_mode: Option<GatewayMode>,
    /// Announced bandwidth of a gateway.
    pub gw_bandwidth: Option<Bandwidth>,
    /// Gateway selection: a class for `BATMAN_IV`, a rate in 100 kbit/s for `BATMAN_V`.
    pub gw_sel_class: Option<u32>,
    /// Time between originator messages, ms.
    pub orig_interval_ms: Option<u32>,
    /// Penalty per hop, [0, 255].
    pub hop_penalty: Option<u8>,
    /// Bridge loop avoidance.
    pub bridge_loop_avoidance: Option<bool>,
    /// Distributed ARP table.
    pub distributed_arp_table: Option<bool>,
    /// Fragmentation of large frames.
    pub fragmentation: Option<bool>,
    /// Bonding: alternating use of several routes.
    pub bonding: Option<bool>,
    /// Isolation of access point clients from each other.
    pub ap_isolation: Option<bool>,
    /// Multicast optimisation: frames go to listeners only.
    pub multicast_mode: Option<bool>,
}

impl Mesh {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let text = |kind| attrs.need(kind, attrs.text(kind));
        let flag = |kind| Ok::<_, DecodeError>(attrs.u8(kind)?.map(|on| on != 0));
        let down = attrs.u32(attr::GW_BANDWIDTH_DOWN)?;
        let up = attrs.u32(attr::GW_BANDWIDTH_UP)?;
        let mode = |mode| match mode {
            0 => Ok(GatewayMode::Off),
            1 => Ok(GatewayMode::Client),
            2 => Ok(GatewayMode::Server),
            other => Err(DecodeError::from(format!("gateway mode {other}"))),
        };
        Ok(Self {
            version: text(attr::VERSION)?,
            algo_name: text(attr::ALGO_NAME)?,
            mesh_ifname: text(attr::MESH_IFNAME)?,
            mesh_address: attrs.need(attr::MESH_ADDRESS, attrs.mac(attr::MESH_ADDRESS)?)?,
            hard_ifname: attrs.text(attr::HARD_IFNAME),
            hard_address: attrs.mac(attr::HARD_ADDRESS)?,
            tt_ttvn: attrs.u8(attr::TT_TTVN)?,
            bla_crc: attrs.u16(attr::BLA_CRC)?,
            gw_mode: attrs.u8(attr::GW_MODE)?.map(mode).transpose()?,
            gw_bandwidth: down.zip(up).map(|(down, up)| Bandwidth {
                down_kbps: u64::from(down) * 100,
                up_kbps: u64::from(up) * 100,
            }),
            gw_sel_class: attrs.u32(attr::GW_SEL_CLASS)?,
            orig_interval_ms: attrs.u32(attr::ORIG_INTERVAL)?,
            hop_penalty: attrs.u8(attr::HOP_PENALTY)?,
            bridge_loop_avoidance: flag(attr::BRIDGE_LOOP_AVOIDANCE)?,
            distributed_arp_table: flag(attr::DISTRIBUTED_ARP_TABLE)?,
            fragmentation: flag(attr::FRAGMENTATION)?,
            bonding: flag(attr::BONDING)?,
            ap_isolation: flag(attr::AP_ISOLATION)?,
            multicast_mode: flag(attr::MULTICAST_FORCEFLOOD)?.map(|flood| !flood),
        })
    }
}
