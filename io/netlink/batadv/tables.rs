//! Rows of batman-adv's tables.

use std::net::Ipv4Addr;

use groundwave_protocol::HardwareAddress;
use netlink_packet_core::DecodeError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;

/// A route to an originator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanOriginator")]
pub struct Originator {
    /// Originator, as hardware address of its first interface.
    pub orig_address: HardwareAddress,
    /// Next hop.
    pub neigh_address: HardwareAddress,
    /// Index of the output interface.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// Output interface.
    pub hard_ifname: String,
    /// Time since the last originator message, ms.
    pub last_seen_msecs: u32,
    /// Selection of this route.
    pub best: bool,
    /// Link quality of the route (TQ), [0, 255]; BATMAN_IV only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of the route, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
}

impl Originator {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let seen = attrs.u32(attr::LAST_SEEN_MSECS)?;
        Ok(Self {
            orig_address: mac(attrs, attr::ORIG_ADDRESS)?,
            neigh_address: mac(attrs, attr::NEIGH_ADDRESS)?,
            hard_ifindex: hard_ifindex(attrs)?,
            hard_ifname: attrs.text(attr::HARD_IFNAME).unwrap_or_default(),
            last_seen_msecs: attrs.need(attr::LAST_SEEN_MSECS, seen)?,
            best: attrs.flag(attr::FLAG_BEST),
            tq: attrs.u8(attr::TQ)?,
            throughput_kbps: attrs.u32(attr::THROUGHPUT)?.map(u64::from),
        })
    }
}

/// A single-hop neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanNeighbor")]
pub struct Neighbor {
    /// Hardware address of the neighbour's interface.
    pub neigh_address: HardwareAddress,
    /// Index of the local interface.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// Local interface.
    pub hard_ifname: String,
    /// Time since the last message, ms.
    pub last_seen_msecs: u32,
    /// Throughput of the hop, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
}

impl Neighbor {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let seen = attrs.u32(attr::LAST_SEEN_MSECS)?;
        Ok(Self {
            neigh_address: mac(attrs, attr::NEIGH_ADDRESS)?,
            hard_ifindex: hard_ifindex(attrs)?,
            hard_ifname: attrs.text(attr::HARD_IFNAME).unwrap_or_default(),
            last_seen_msecs: attrs.need(attr::LAST_SEEN_MSECS, seen)?,
            throughput_kbps: attrs.u32(attr::THROUGHPUT)?.map(u64::from),
        })
    }
}

/// A gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanGateway")]
pub struct Gateway {
    /// Gateway node.
    pub orig_address: HardwareAddress,
    /// Next hop.
    pub router: HardwareAddress,
    /// Index of the output interface.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// Output interface.
    pub hard_ifname: String,
    /// Selection of this gateway.
    pub best: bool,
    /// Link quality of the route (TQ), [0, 255]; BATMAN_IV only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of the route, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
    /// Announced downlink bandwidth, kbit/s.
    pub bandwidth_down_kbps: u64,
    /// Announced uplink bandwidth, kbit/s.
    pub bandwidth_up_kbps: u64,
}

impl Gateway {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let kbps = |kind| Ok::<_, DecodeError>(attrs.u32(kind)?.map(|rate| u64::from(rate) * 100));
        Ok(Self {
            orig_address: mac(attrs, attr::ORIG_ADDRESS)?,
            router: mac(attrs, attr::ROUTER)?,
            hard_ifindex: hard_ifindex(attrs)?,
            hard_ifname: attrs.text(attr::HARD_IFNAME).unwrap_or_default(),
            best: attrs.flag(attr::FLAG_BEST),
            tq: attrs.u8(attr::TQ)?,
            throughput_kbps: kbps(attr::THROUGHPUT)?,
            bandwidth_down_kbps: attrs.need(attr::BANDWIDTH_DOWN, kbps(attr::BANDWIDTH_DOWN)?)?,
            bandwidth_up_kbps: attrs.need(attr::BANDWIDTH_UP, kbps(attr::BANDWIDTH_UP)?)?,
        })
    }
}

/// Flags of a translation table entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TranslationFlags")]
pub struct Flags {
    /// Pending deletion.
    pub del: bool,
    /// Roamed to another node.
    pub roam: bool,
    /// Wireless client.
    pub wifi: bool,
    /// Isolated client.
    pub isolated: bool,
    /// Permanent entry.
    pub nopurge: bool,
    /// Not announced yet.
    pub new: bool,
    /// Pending withdrawal.
    pub pending: bool,
    /// Temporary entry, seen before its announcement.
    pub temp: bool,
}

impl From<u32> for Flags {
    fn from(bits: u32) -> Self {
        let bit = |at: u32| bits & (1 << at) != 0;
        Self {
            del: bit(0),
            roam: bit(1),
            wifi: bit(4),
            isolated: bit(5),
            nopurge: bit(8),
            new: bit(9),
            pending: bit(10),
            temp: bit(11),
        }
    }
}

/// Entry of the local translation table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransLocal {
    /// Host.
    pub tt_address: HardwareAddress,
    /// VLAN, -1 without one.
    pub tt_vid: i32,
    /// Time since the last frame, ms; absent for permanent entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_msecs: Option<u32>,
    /// Flags.
    pub tt_flags: Flags,
    /// Checksum of the VLAN's table.
    pub tt_crc32: u32,
}

impl TransLocal {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            tt_address: mac(attrs, attr::TT_ADDRESS)?,
            tt_vid: vid(attrs, attr::TT_VID)?,
            last_seen_msecs: attrs.u32(attr::LAST_SEEN_MSECS)?,
            tt_flags: flags(attrs)?,
            tt_crc32: attrs.need(attr::TT_CRC32, attrs.u32(attr::TT_CRC32)?)?,
        })
    }
}

/// Entry of the global translation table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransGlobal {
    /// Host.
    pub tt_address: HardwareAddress,
    /// Node of the host.
    pub orig_address: HardwareAddress,
    /// VLAN, -1 without one.
    pub tt_vid: i32,
    /// Version of the table at the announcement.
    pub tt_ttvn: u8,
    /// Current version of the table.
    pub tt_last_ttvn: u8,
    /// Checksum of the VLAN's table.
    pub tt_crc32: u32,
    /// Flags.
    pub tt_flags: Flags,
    /// Selection of this node for the host.
    pub best: bool,
}

impl TransGlobal {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let last = attrs.u8(attr::TT_LAST_TTVN)?;
        Ok(Self {
            tt_address: mac(attrs, attr::TT_ADDRESS)?,
            orig_address: mac(attrs, attr::ORIG_ADDRESS)?,
            tt_vid: vid(attrs, attr::TT_VID)?,
            tt_ttvn: attrs.need(attr::TT_TTVN, attrs.u8(attr::TT_TTVN)?)?,
            tt_last_ttvn: attrs.need(attr::TT_LAST_TTVN, last)?,
            tt_crc32: attrs.need(attr::TT_CRC32, attrs.u32(attr::TT_CRC32)?)?,
            tt_flags: flags(attrs)?,
            best: attrs.flag(attr::FLAG_BEST),
        })
    }
}

/// Entry of the distributed ARP table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CachedAddress")]
pub struct DatEntry {
    /// IPv4 address.
    pub dat_cache_ip4address: Ipv4Addr,
    /// Hardware address.
    pub dat_cache_hwaddress: HardwareAddress,
    /// VLAN, -1 without one.
    pub dat_cache_vid: i32,
    /// Time since the last use, ms.
    pub last_seen_msecs: u32,
}

impl DatEntry {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let seen = attrs.u32(attr::LAST_SEEN_MSECS)?;
        let ip = attrs.bytes::<4>(attr::DAT_CACHE_IP4ADDRESS)?;
        Ok(Self {
            dat_cache_ip4address: attrs.need(attr::DAT_CACHE_IP4ADDRESS, ip)?.into(),
            dat_cache_hwaddress: mac(attrs, attr::DAT_CACHE_HWADDRESS)?,
            dat_cache_vid: vid(attrs, attr::DAT_CACHE_VID)?,
            last_seen_msecs: attrs.need(attr::LAST_SEEN_MSECS, seen)?,
        })
    }
}

/// A claim of a backbone gateway for a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlaClaim {
    /// Host.
    pub bla_address: HardwareAddress,
    /// VLAN, -1 without one.
    pub bla_vid: i32,
    /// Claiming gateway.
    pub bla_backbone: HardwareAddress,
    /// Claim of this node.
    pub bla_own: bool,
    /// Checksum of the gateway's claims.
    pub bla_crc: u16,
}

impl BlaClaim {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            bla_address: mac(attrs, attr::BLA_ADDRESS)?,
            bla_vid: vid(attrs, attr::BLA_VID)?,
            bla_backbone: mac(attrs, attr::BLA_BACKBONE)?,
            bla_own: attrs.flag(attr::BLA_OWN),
            bla_crc: attrs.need(attr::BLA_CRC, attrs.u16(attr::BLA_CRC)?)?,
        })
    }
}

/// An underlying (hard) interface of the mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HardInterface {
    /// Index.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// Name.
    pub hard_ifname: String,
    /// Hardware address.
    pub hard_address: HardwareAddress,
    /// Active participation in the mesh.
    pub active: bool,
    /// Penalty per hop over this interface, [0, 255].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_penalty: Option<u8>,
    /// Interval of neighbour probes (ELP), ms; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elp_interval_ms: Option<u32>,
    /// Configured throughput, kbit/s, 0 for the measured one; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_override_kbps: Option<u64>,
}

impl HardInterface {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let fixed = attrs.u32(attr::THROUGHPUT_OVERRIDE)?;
        Ok(Self {
            hard_ifindex: hard_ifindex(attrs)?,
            hard_ifname: attrs.text(attr::HARD_IFNAME).unwrap_or_default(),
            hard_address: mac(attrs, attr::HARD_ADDRESS)?,
            active: attrs.flag(attr::ACTIVE),
            hop_penalty: attrs.u8(attr::HOP_PENALTY)?,
            elp_interval_ms: attrs.u32(attr::ELP_INTERVAL)?,
            throughput_override_kbps: fixed.map(|rate| u64::from(rate) * 100),
        })
    }
}

fn mac(attrs: &Attrs<'_>, kind: u16) -> Result<HardwareAddress, DecodeError> {
    attrs.need(kind, attrs.mac(kind)?)
}

fn hard_ifindex(attrs: &Attrs<'_>) -> Result<u32, DecodeError> {
    attrs.need(attr::HARD_IFINDEX, attrs.u32(attr::HARD_IFINDEX)?)
}

fn flags(attrs: &Attrs<'_>) -> Result<Flags, DecodeError> {
    let bits = attrs.need(attr::TT_FLAGS, attrs.u32(attr::TT_FLAGS)?)?;
    Ok(bits.into())
}

/// A VLAN as in `batctl`: the top bit marks its presence.
fn vid(attrs: &Attrs<'_>, kind: u16) -> Result<i32, DecodeError> {
    const TAGGED: u16 = 1 << 15;
    const NUMBER: u16 = (1 << 12) - 1;
    let vid = attrs.need(kind, attrs.u16(kind)?)?;
    Ok(if vid & TAGGED == 0 { -1 } else { i32::from(vid & NUMBER) })
}
