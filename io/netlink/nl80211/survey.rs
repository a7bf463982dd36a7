//! Channel surveys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;
use netlink_packet_core::DecodeError;

/// `NL80211_SURVEY_INFO_*`.
const FREQUENCY: u16 = 1;
const NOISE: u16 = 2;
const IN_USE: u16 = 3;
const TIME: u16 = 4;
const TIME_BUSY: u16 = 5;
const TIME_RX: u16 = 7;
const TIME_TX: u16 = 8;

/// Survey of a channel; `None` for values that the driver does not report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Survey {
    /// Index of the interface.
    #[serde(skip)]
    pub ifindex: u32,
    /// Centre frequency, MHz.
    pub freq_mhz: u32,
    /// Noise, dBm.
    pub noise_dbm: Option<i8>,
    /// Current channel of the radio.
    pub in_use: bool,
    /// Time on the channel, ms.
    pub time_ms: Option<u64>,
    /// Part of that time with a busy channel, ms.
    pub busy_ms: Option<u64>,
    /// Part of that time receiving, ms.
    pub rx_ms: Option<u64>,
    /// Part of that time transmitting, ms.
    pub tx_ms: Option<u64>,
}

impl Survey {
    /// `None` for a message without a channel.
    pub fn decode(attrs: &Attrs<'_>) -> Result<Option<Self>, DecodeError> {
        let found = attrs.need(attr::SURVEY_INFO, attrs.nest(attr::SURVEY_INFO)?)?;
        let Some(freq_mhz) = found.u32(FREQUENCY)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            ifindex: attrs.need(attr::IFINDEX, attrs.u32(attr::IFINDEX)?)?,
            freq_mhz,
            noise_dbm: found.u8(NOISE)?.map(u8::cast_signed),
            in_use: found.flag(IN_USE),
            time_ms: found.u64(TIME)?,
            busy_ms: found.u64(TIME_BUSY)?,
            rx_ms: found.u64(TIME_RX)?,
            tx_ms: found.u64(TIME_TX)?,
        }))
    }

    /// Share of `part` in the time on the channel, %; `None` without a measurement.
    #[must_use]
    pub fn percent(&self, part: Option<u64>) -> Option<f64> {
        let (part, whole) = (part?, self.time_ms.filter(|time| *time > 0)?);
        // The times of some drivers differ by a tick.
        Some((part as f64 / whole as f64 * 100.0).min(100.0))
    }
}
