//! Parameters of an 802.11s mesh.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;
use netlink_packet_core::DecodeError;

/// `NL80211_MESHCONF_*`.
const MAX_PEER_LINKS: u16 = 4;
const TTL: u16 = 6;
const FORWARDING: u16 = 19;
const RSSI_THRESHOLD: u16 = 20;
const GATE_ANNOUNCEMENTS: u16 = 17;

/// Mesh parameters of an interface (IEEE 802.11-2020, 14).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshParameters {
    /// Forwarding by the mesh itself; off under batman-adv.
    pub mesh_fwding: Option<bool>,
    /// Most peer links.
    pub max_peer_links: Option<u16>,
    /// Most hops of a frame.
    pub ttl: Option<u8>,
    /// Gate announcements.
    pub gate_announcements: Option<bool>,
    /// Signal threshold for peers, dBm; 0 for none.
    pub rssi_threshold_dbm: Option<i32>,
}

impl MeshParameters {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let found = attrs.need(attr::MESH_CONFIG, attrs.nest(attr::MESH_CONFIG)?)?;
        let threshold = found.u32(RSSI_THRESHOLD)?;
        Ok(Self {
            mesh_fwding: found.u8(FORWARDING)?.map(|on| on != 0),
            max_peer_links: found.u16(MAX_PEER_LINKS)?,
            ttl: found.u8(TTL)?,
            gate_announcements: found.u8(GATE_ANNOUNCEMENTS)?.map(|on| on != 0),
            rssi_threshold_dbm: threshold.map(u32::cast_signed),
        })
    }
}
