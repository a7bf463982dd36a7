//! Wireless interfaces.

use groundwave_protocol::HardwareAddress;
use netlink_packet_core::DecodeError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;

/// Type of a wireless interface (`enum nl80211_iftype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WirelessKind")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Member of an independent network (IBSS).
    Adhoc,
    /// A client of an access point.
    Managed,
    /// An access point.
    Ap,
    /// A VLAN of an access point.
    ApVlan,
    /// Monitor: receives all frames.
    Monitor,
    /// A node of an 802.11s mesh.
    MeshPoint,
    /// A client of a peer-to-peer group.
    P2pClient,
    /// The owner of a peer-to-peer group.
    P2pGo,
    /// Any other type.
    Other,
}

impl From<u32> for Kind {
    fn from(number: u32) -> Self {
        match number {
            1 => Self::Adhoc,
            2 => Self::Managed,
            3 => Self::Ap,
            4 => Self::ApVlan,
            6 => Self::Monitor,
            7 => Self::MeshPoint,
            8 => Self::P2pClient,
            9 => Self::P2pGo,
            _ => Self::Other,
        }
    }
}

/// A wireless interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WirelessInterface {
    /// Index.
    pub ifindex: u32,
    /// Name.
    pub ifname: String,
    /// Index of the radio (wiphy).
    pub wiphy: u32,
    /// Type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Hardware address.
    pub mac: Option<HardwareAddress>,
    /// SSID, or mesh id; bytes that are not UTF-8 are replaced.
    pub network: Option<String>,
    /// Centre frequency of the primary channel, MHz; `None` without a channel.
    pub freq_mhz: Option<u32>,
    /// Channel width, MHz.
    pub width_mhz: Option<u32>,
    /// Transmit power, dBm.
    pub tx_power_dbm: Option<f64>,
}

impl WirelessInterface {
    /// `None` for a device without an interface.
    pub fn decode(attrs: &Attrs<'_>) -> Result<Option<Self>, DecodeError> {
        let (Some(ifindex), Some(ifname)) = (attrs.u32(attr::IFINDEX)?, attrs.text(attr::IFNAME))
        else {
            return Ok(None);
        };
        let kind = attrs.need(attr::IFTYPE, attrs.u32(attr::IFTYPE)?)?;
        let power = attrs.u32(attr::WIPHY_TX_POWER_LEVEL)?;
        let network = attrs.get(attr::SSID);
        Ok(Some(Self {
            ifindex,
            ifname,
            wiphy: attrs.need(attr::WIPHY, attrs.u32(attr::WIPHY)?)?,
            kind: kind.into(),
            mac: attrs.mac(attr::MAC)?,
            network: network.map(|name| String::from_utf8_lossy(name).into_owned()),
            freq_mhz: attrs.u32(attr::WIPHY_FREQ)?,
            width_mhz: width(attrs)?,
            // mBm, signed although the attribute's type is not.
            tx_power_dbm: power.map(|power| f64::from(power.cast_signed()) / 100.0),
        }))
    }
}

/// Channel width, MHz (`enum nl80211_chan_width`); drivers before 802.11ac report a channel type.
fn width(attrs: &Attrs<'_>) -> Result<Option<u32>, DecodeError> {
    const HT40: std::ops::RangeInclusive<u32> = 2..=3;
    if let Some(width) = attrs.u32(attr::CHANNEL_WIDTH)? {
        return Ok(match width {
            0 | 1 => Some(20),
            2 => Some(40),
            3 => Some(80),
            4 | 5 => Some(160),
            6 => Some(5),
            7 => Some(10),
            8 => Some(1),
            9 => Some(2),
            10 => Some(4),
            11 => Some(8),
            12 => Some(16),
            13 => Some(320),
            _ => None,
        });
    }
    let kind = attrs.u32(attr::WIPHY_CHANNEL_TYPE)?;
    Ok(kind.map(|kind| if HT40.contains(&kind) { 40 } else { 20 }))
}
