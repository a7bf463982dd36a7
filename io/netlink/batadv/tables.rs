//! Rows of batman-adv's tables.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::host::Mac;
use crate::netlink::attr::Attrs;
use netlink_packet_core::DecodeError;

/// A way to another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanOriginator")]
pub struct Originator {
    /// The other node, by the address of its first interface.
    pub orig_address: Mac,
    /// The neighbour on the way there.
    pub neigh_address: Mac,
    /// The interface towards it, by number.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// The interface towards it.
    pub hard_ifname: String,
    /// When something was last heard of it, ms ago.
    pub last_seen_msecs: u32,
    /// Whether it is the way in use.
    pub best: bool,
    /// Quality of the way, [0, 255]; BATMAN_IV only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of the way, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
}

impl Originator {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

/// A node in one hop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanNeighbor")]
pub struct Neighbor {
    /// Its address on the interface it is heard on.
    pub neigh_address: Mac,
    /// The interface it is heard on, by number.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// The interface it is heard on.
    pub hard_ifname: String,
    /// When it was last heard, ms ago.
    pub last_seen_msecs: u32,
    /// Throughput of the hop, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
}

impl Neighbor {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

/// A node that offers a way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BatmanGateway")]
pub struct Gateway {
    /// The node.
    pub orig_address: Mac,
    /// The neighbour on the way there.
    pub router: Mac,
    /// The interface towards it, by number.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// The interface towards it.
    pub hard_ifname: String,
    /// Whether it is the one chosen.
    pub best: bool,
    /// Quality of the way, [0, 255]; BATMAN_IV only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tq: Option<u8>,
    /// Throughput of the way, kbit/s; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_kbps: Option<u64>,
    /// What it offers from the outside, kbit/s.
    pub bandwidth_down_kbps: u64,
    /// What it offers to the outside, kbit/s.
    pub bandwidth_up_kbps: u64,
}

impl Gateway {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

/// What is known of a host in a translation table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TranslationFlags")]
pub struct Flags {
    /// It is about to be forgotten.
    pub del: bool,
    /// It moved to another node.
    pub roam: bool,
    /// It is a wireless client.
    pub wifi: bool,
    /// It is isolated from its like.
    pub isolated: bool,
    /// It is never forgotten.
    pub nopurge: bool,
    /// It is not announced yet.
    pub new: bool,
    /// It is about to be withdrawn.
    pub pending: bool,
    /// It was heard before it was announced.
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

/// A host behind this node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransLocal {
    /// The host.
    pub tt_address: Mac,
    /// Its VLAN, -1 without one.
    pub tt_vid: i32,
    /// When it was last heard, ms ago; not of hosts that are never forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_msecs: Option<u32>,
    /// What is known of it.
    pub tt_flags: Flags,
    /// Checksum of the VLAN's table.
    pub tt_crc32: u32,
}

impl TransLocal {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            tt_address: mac(attrs, attr::TT_ADDRESS)?,
            tt_vid: vid(attrs, attr::TT_VID)?,
            last_seen_msecs: attrs.u32(attr::LAST_SEEN_MSECS)?,
            tt_flags: flags(attrs)?,
            tt_crc32: attrs.need(attr::TT_CRC32, attrs.u32(attr::TT_CRC32)?)?,
        })
    }
}

/// A host behind another node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransGlobal {
    /// The host.
    pub tt_address: Mac,
    /// The node it is behind.
    pub orig_address: Mac,
    /// Its VLAN, -1 without one.
    pub tt_vid: i32,
    /// Version of the table it was announced in.
    pub tt_ttvn: u8,
    /// Version of the table now.
    pub tt_last_ttvn: u8,
    /// Checksum of the VLAN's table.
    pub tt_crc32: u32,
    /// What is known of it.
    pub tt_flags: Flags,
    /// Whether it is the node in use for this host.
    pub best: bool,
}

impl TransGlobal {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

/// What the distributed ARP table remembers of an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CachedAddress")]
pub struct DatEntry {
    /// The address.
    pub dat_cache_ip4address: Ipv4Addr,
    /// Who has it.
    pub dat_cache_hwaddress: Mac,
    /// Its VLAN, -1 without one.
    pub dat_cache_vid: i32,
    /// When it was last heard, ms ago.
    pub last_seen_msecs: u32,
}

impl DatEntry {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

/// A host that a backbone gateway claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlaClaim {
    /// The host.
    pub bla_address: Mac,
    /// Its VLAN, -1 without one.
    pub bla_vid: i32,
    /// The gateway that claims it.
    pub bla_backbone: Mac,
    /// Whether that is this node.
    pub bla_own: bool,
    /// Checksum of the gateway's claims.
    pub bla_crc: u16,
}

impl BlaClaim {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            bla_address: mac(attrs, attr::BLA_ADDRESS)?,
            bla_vid: vid(attrs, attr::BLA_VID)?,
            bla_backbone: mac(attrs, attr::BLA_BACKBONE)?,
            bla_own: attrs.flag(attr::BLA_OWN),
            bla_crc: attrs.need(attr::BLA_CRC, attrs.u16(attr::BLA_CRC)?)?,
        })
    }
}

/// An interface under the mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HardInterface {
    /// Its number.
    #[serde(skip)]
    pub hard_ifindex: u32,
    /// Its name.
    pub hard_ifname: String,
    /// Its address.
    pub hard_address: Mac,
    /// Whether it takes part.
    pub active: bool,
    /// What a hop over it costs, [0, 255].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_penalty: Option<u8>,
    /// Time between the probes of neighbours, ms; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elp_interval_ms: Option<u32>,
    /// Throughput it is taken to have, kbit/s, 0 for what is measured; BATMAN_V only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_override_kbps: Option<u64>,
}

impl HardInterface {
    pub(crate) fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
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

fn mac(attrs: &Attrs<'_>, kind: u16) -> Result<Mac, DecodeError> {
    attrs.need(kind, attrs.mac(kind)?)
}

fn hard_ifindex(attrs: &Attrs<'_>) -> Result<u32, DecodeError> {
    attrs.need(attr::HARD_IFINDEX, attrs.u32(attr::HARD_IFINDEX)?)
}

fn flags(attrs: &Attrs<'_>) -> Result<Flags, DecodeError> {
    let bits = attrs.need(attr::TT_FLAGS, attrs.u32(attr::TT_FLAGS)?)?;
    Ok(bits.into())
}

/// A VLAN as `batctl` says it: the top bit tells that there is one.
fn vid(attrs: &Attrs<'_>, kind: u16) -> Result<i32, DecodeError> {
    const TAGGED: u16 = 1 << 15;
    const NUMBER: u16 = (1 << 12) - 1;
    let vid = attrs.need(kind, attrs.u16(kind)?)?;
    Ok(if vid & TAGGED == 0 {
        -1
    } else {
        i32::from(vid & NUMBER)
    })
}
