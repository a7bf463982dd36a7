//! Facts of a mesh interface.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::host::Mac;
use crate::netlink::attr::Attrs;
use netlink_packet_core::DecodeError;

/// Whether a node offers a way out, or seeks one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GatewayMode {
    /// Neither.
    Off,
    /// It seeks the best gateway.
    Client,
    /// It is one.
    Server,
}

/// What a gateway offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GatewayBandwidth")]
pub struct Bandwidth {
    /// From the outside, kbit/s.
    pub down_kbps: u64,
    /// To the outside, kbit/s.
    pub up_kbps: u64,
}

/// Facts of a mesh interface. What a kernel was built without is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mesh {
    /// Version of batman-adv.
    pub version: String,
    /// `BATMAN_IV` or `BATMAN_V`.
    pub algo_name: String,
    /// Its name, usually `bat0`.
    pub mesh_ifname: String,
    /// Its address, that hosts see.
    pub mesh_address: Mac,
    /// The first interface under it; its address names this node to other nodes.
    pub hard_ifname: Option<String>,
    /// Address of the first interface under it.
    pub hard_address: Option<Mac>,
    /// Version of the local translation table.
    pub tt_ttvn: Option<u8>,
    /// Checksum that bridge loop avoidance announces.
    pub bla_crc: Option<u16>,
    /// Whether it offers a way out, or seeks one.
    pub gw_mode: Option<GatewayMode>,
    /// What it offers if it is one.
    pub gw_bandwidth: Option<Bandwidth>,
    /// How gateways are chosen: `BATMAN_IV` a class, `BATMAN_V` a rate in 100 kbit/s.
    pub gw_sel_class: Option<u32>,
    /// Time between originator messages, ms.
    pub orig_interval_ms: Option<u32>,
    /// What a hop costs, [0, 255].
    pub hop_penalty: Option<u8>,
    /// Loops through bridges are avoided.
    pub bridge_loop_avoidance: Option<bool>,
    /// ARP is answered from a distributed table.
    pub distributed_arp_table: Option<bool>,
    /// Large frames are cut.
    pub fragmentation: Option<bool>,
    /// Several ways are used in turn.
    pub bonding: Option<bool>,
    /// Clients of access points cannot reach each other.
    pub ap_isolation: Option<bool>,
    /// Multicast goes to those who want it only.
    pub multicast_mode: Option<bool>,
}

impl Mesh {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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
