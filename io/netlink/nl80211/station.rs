//! Stations: peers of a mesh, clients of an access point, or the access point of a client.

use groundwave_protocol::HardwareAddress;
use netlink_packet_core::DecodeError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;

/// State of a mesh peering (IEEE 802.11-2020, 14.4; `enum nl80211_plink_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PlinkState {
    /// Idle.
    Listen,
    /// Open frame sent.
    OpnSnt,
    /// Open frame received.
    OpnRcvd,
    /// Confirm frame received.
    CnfRcvd,
    /// Established.
    Estab,
    /// Closing.
    Holding,
    /// Blocked by an operator.
    Blocked,
}

impl PlinkState {
    fn read(number: u8) -> Result<Self, DecodeError> {
        Ok(match number {
            0 => Self::Listen,
            1 => Self::OpnSnt,
            2 => Self::OpnRcvd,
            3 => Self::CnfRcvd,
            4 => Self::Estab,
            5 => Self::Holding,
            6 => Self::Blocked,
            other => return Err(DecodeError::from(format!("plink state {other}"))),
        })
    }
}

/// `NL80211_STA_INFO_*`.
mod info {
    pub const INACTIVE_TIME: u16 = 1;
    pub const RX_BYTES: u16 = 2;
    pub const TX_BYTES: u16 = 3;
    pub const LLID: u16 = 4;
    pub const PLID: u16 = 5;
    pub const PLINK_STATE: u16 = 6;
    pub const SIGNAL: u16 = 7;
    pub const TX_BITRATE: u16 = 8;
    pub const TX_RETRIES: u16 = 11;
    pub const TX_FAILED: u16 = 12;
    pub const SIGNAL_AVG: u16 = 13;
    pub const RX_BITRATE: u16 = 14;
    pub const CONNECTED_TIME: u16 = 16;
    pub const STA_FLAGS: u16 = 17;
    pub const RX_BYTES64: u16 = 23;
    pub const TX_BYTES64: u16 = 24;
    pub const EXPECTED_THROUGHPUT: u16 = 27;
    pub const AIRTIME_LINK_METRIC: u16 = 41;
}

/// `NL80211_RATE_INFO_*`: 16 bits, and 32 bits for higher rates.
const BITRATE: u16 = 1;
const BITRATE32: u16 = 5;
/// `NL80211_STA_FLAG_AUTHORIZED`.
const AUTHORIZED: u32 = 1;

/// A station; `None` for values that the driver does not report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Station {
    /// Hardware address.
    pub mac: HardwareAddress,
    /// Index of the local interface.
    #[serde(skip)]
    pub ifindex: u32,
    /// State of the mesh peering; `None` outside meshes.
    pub plink_state: Option<PlinkState>,
    /// Local link id of the peering.
    pub llid: Option<u16>,
    /// Peer link id of the peering.
    pub plid: Option<u16>,
    /// Signal of the last frame, dBm.
    pub signal_dbm: Option<i8>,
    /// Signal averaged over frames, dBm.
    pub signal_avg_dbm: Option<i8>,
    /// Rate of the last transmitted frame, Mbit/s.
    pub tx_bitrate_mbps: Option<f64>,
    /// Rate of the last received frame, Mbit/s.
    pub rx_bitrate_mbps: Option<f64>,
    /// Throughput expected by rate control, kbit/s.
    pub expected_throughput_kbps: Option<u32>,
    /// Airtime link metric, units of 10.24 µs (IEEE 802.11-2020, 14.9).
    pub airtime_link_metric: Option<u32>,
    /// Retransmissions.
    pub tx_retries: Option<u32>,
    /// Failed transmissions.
    pub tx_failed: Option<u32>,
    /// Bytes received.
    pub rx_bytes: Option<u64>,
    /// Bytes sent.
    pub tx_bytes: Option<u64>,
    /// Time since the last activity, ms.
    pub inactive_ms: Option<u32>,
    /// Duration of the association, s.
    pub connected_s: Option<u32>,
    /// Authorisation for data frames.
    pub authorized: Option<bool>,
}

impl Station {
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let found = attrs.need(attr::STA_INFO, attrs.nest(attr::STA_INFO)?)?;
        let signal = |kind| Ok::<_, DecodeError>(found.u8(kind)?.map(u8::cast_signed));
        let bytes = |wide, narrow| match found.u64(wide)? {
            Some(bytes) => Ok(Some(bytes)),
            None => Ok::<_, DecodeError>(found.u32(narrow)?.map(u64::from)),
        };
        // `struct nl80211_sta_flag_update`: mask of known flags, set flags.
        let flags = found.bytes::<8>(info::STA_FLAGS)?;
        let authorized = flags.and_then(|flags| {
            let word = |at: usize| {
                u32::from_ne_bytes([flags[at], flags[at + 1], flags[at + 2], flags[at + 3]])
            };
            let bit = 1 << AUTHORIZED;
            (word(0) & bit != 0).then_some(word(4) & bit != 0)
        });
        Ok(Self {
            mac: attrs.need(attr::MAC, attrs.mac(attr::MAC)?)?,
            ifindex: attrs.need(attr::IFINDEX, attrs.u32(attr::IFINDEX)?)?,
            plink_state: found.u8(info::PLINK_STATE)?.map(PlinkState::read).transpose()?,
            llid: found.u16(info::LLID)?,
            plid: found.u16(info::PLID)?,
            signal_dbm: signal(info::SIGNAL)?,
            signal_avg_dbm: signal(info::SIGNAL_AVG)?,
            tx_bitrate_mbps: rate(found.nest(info::TX_BITRATE)?)?,
            rx_bitrate_mbps: rate(found.nest(info::RX_BITRATE)?)?,
            expected_throughput_kbps: found.u32(info::EXPECTED_THROUGHPUT)?,
            airtime_link_metric: found.u32(info::AIRTIME_LINK_METRIC)?,
            tx_retries: found.u32(info::TX_RETRIES)?,
            tx_failed: found.u32(info::TX_FAILED)?,
            rx_bytes: bytes(info::RX_BYTES64, info::RX_BYTES)?,
            tx_bytes: bytes(info::TX_BYTES64, info::TX_BYTES)?,
            inactive_ms: found.u32(info::INACTIVE_TIME)?,
            connected_s: found.u32(info::CONNECTED_TIME)?,
            authorized,
        })
    }
}

/// Bit rate, Mbit/s, from units of 100 kbit/s; 0 is none.
fn rate(found: Option<Attrs<'_>>) -> Result<Option<f64>, DecodeError> {
    let Some(found) = found else {
        return Ok(None);
    };
    let wide = found.u32(BITRATE32)?;
    let units = wide.or(found.u16(BITRATE)?.map(u32::from));
    Ok(units.filter(|units| *units > 0).map(|units| f64::from(units) / 10.0))
}
