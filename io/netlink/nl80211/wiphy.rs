//! Radios and their channels.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr;
use crate::attr::Attrs;
use netlink_packet_core::DecodeError;

/// `NL80211_BAND_ATTR_FREQS`.
const FREQS: u16 = 1;
/// `NL80211_FREQUENCY_ATTR_*`.
const FREQ: u16 = 1;
const DISABLED: u16 = 2;
const NO_IR: u16 = 3;
const RADAR: u16 = 5;
const MAX_TX_POWER: u16 = 6;

/// A channel of a radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// Centre frequency, MHz.
    pub freq_mhz: u32,
    /// Disabled by regulation.
    pub disabled: bool,
    /// No initiation of radiation.
    pub no_ir: bool,
    /// Radar detection required.
    pub radar: bool,
    /// Highest transmit power, dBm.
    pub max_tx_power_dbm: Option<f64>,
}

/// A radio.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wiphy {
    /// Index.
    pub wiphy: u32,
    /// Name, for example `phy0`.
    pub phy: String,
    /// Channels by frequency.
    pub channels: Vec<Channel>,
}

impl Wiphy {
    /// Decodes one of several messages about radios.
    pub fn decode(attrs: &Attrs<'_>) -> Result<Self, DecodeError> {
        let mut channels = Vec::new();
        if let Some(bands) = attrs.nest(attr::WIPHY_BANDS)? {
            for (_, band) in bands.all() {
                let band = Attrs::read("a band", band)?;
                let Some(freqs) = band.nest(FREQS)? else {
                    continue;
                };
                for (_, freq) in freqs.all() {
                    channels.push(channel(&Attrs::read("a channel", freq)?)?);
                }
            }
        }
        Ok(Self {
            wiphy: attrs.need(attr::WIPHY, attrs.u32(attr::WIPHY)?)?,
            phy: attrs.text(attr::WIPHY_NAME).unwrap_or_default(),
            channels,
        })
    }

    /// Merges the messages about each radio.
    pub(crate) fn joined(parts: Vec<Self>) -> Vec<Self> {
        let mut radios: BTreeMap<u32, Self> = BTreeMap::new();
        for part in parts {
            let radio = radios.entry(part.wiphy).or_insert_with(|| Self {
                wiphy: part.wiphy,
                phy: String::new(),
                channels: Vec::new(),
            });
            if !part.phy.is_empty() {
                radio.phy = part.phy;
            }
            radio.channels.extend(part.channels);
        }
        for radio in radios.values_mut() {
            radio.channels.sort_by_key(|channel| channel.freq_mhz);
            radio.channels.dedup_by_key(|channel| channel.freq_mhz);
        }
        radios.into_values().collect()
    }
}

fn channel(attrs: &Attrs<'_>) -> Result<Channel, DecodeError> {
    let power = attrs.u32(MAX_TX_POWER)?;
    Ok(Channel {
        freq_mhz: attrs.need(FREQ, attrs.u32(FREQ)?)?,
        disabled: attrs.flag(DISABLED),
        no_ir: attrs.flag(NO_IR),
        radar: attrs.flag(RADAR),
        max_tx_power_dbm: power.map(|power| f64::from(power.cast_signed()) / 100.0),
    })
}
