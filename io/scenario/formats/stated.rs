//! Radios of nodes as far as their documents state them.

use groundwave_model::radio::presets::modems;
use groundwave_model::radio::{Station, Waveform, presets};

/// Transmit power of a LoRa device whose document states none, dBm: the most that an SX1262 has.
const LORA_DBM: f64 = 22.0;

/// Edges of the bands of regions of Meshtastic, MHz (its firmware, `RadioInterface.cpp`), and the slot of LongFast
/// where it is documented.
const REGIONS: [(&str, f64, f64, Option<f64>); 16] = [
    ("US", 902.0, 928.0, Some(906.875)),
    ("EU_868", 869.4, 869.65, Some(869.525)),
    ("EU_433", 433.0, 434.0, None),
    ("CN", 470.0, 510.0, None),
    ("JP", 920.5, 923.5, None),
    ("ANZ", 915.0, 928.0, None),
    ("KR", 920.0, 923.0, None),
    ("TW", 920.0, 925.0, None),
    ("RU", 868.7, 869.2, None),
    ("IN", 865.0, 867.0, None),
    ("NZ_865", 864.0, 868.0, None),
    ("TH", 920.0, 925.0, None),
    ("UA_433", 433.0, 434.7, None),
    ("UA_868", 868.0, 868.6, None),
    ("MY_919", 919.0, 924.0, None),
    ("SG_923", 917.0, 925.0, None),
];

/// Radio, antenna and height of a node, as far as a document states them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Stated {
    pub frequency_mhz: Option<f64>,
    pub bandwidth_hz: Option<f64>,
    /// Spreading factor and denominator of the code rate of a LoRa radio.
    pub lora: Option<(u8, u8)>,
    pub tx_power_dbm: Option<f64>,
    pub gain_dbi: Option<f64>,
    pub height_agl_m: Option<f64>,
}

impl Stated {
    /// The radio of Meshtastic in a region with a modem preset, by their names; `None` for an unknown region.
    pub fn meshtastic(region: &str, modem: &str) -> Option<Self> {
        let region = region.to_ascii_uppercase();
        let (_, low_mhz, high_mhz, slot_mhz) = REGIONS.iter().find(|own| own.0 == region)?;
        let plain = |name: &str| name.replace(['_', ' '], "").to_ascii_lowercase();
        let own = &modems::MODEMS[..modems::MESHTASTIC];
        let named = |name: &str| own.iter().find(|own| plain(own.1) == plain(name));
        let (modem, _) = named(modem).or_else(|| named("LongFast"))?;
        Some(Self {
            frequency_mhz: slot_mhz.or(Some(f64::midpoint(*low_mhz, *high_mhz))),
            bandwidth_hz: Some(modem.bandwidth_hz),
            lora: Some((modem.spreading_factor, modem.coding_rate)),
            ..Self::default()
        })
    }

    /// The station, completed by `base`; `None` where nothing is stated, or nothing valid.
    pub fn station(self, base: &Station) -> Option<Station> {
        if self == Self::default() {
            return None;
        }
        let mut station = base.clone();
        if let Some((spreading_factor, coding_rate)) = self.lora {
            let radio = &presets::radio("lora_868_eu")?.radio;
            if !matches!(station.radio.waveform, Waveform::Lora { .. }) {
                station.radio = radio.clone();
                station.radio.tx_power_dbm = LORA_DBM;
                station.antenna = presets::antenna("omni_2_15")?.antenna.clone();
            }
            station.radio.waveform = Waveform::Lora { spreading_factor, coding_rate };
        }
        let radio = &mut station.radio;
        radio.frequency_mhz = self.frequency_mhz.unwrap_or(radio.frequency_mhz);
        radio.bandwidth_hz = self.bandwidth_hz.unwrap_or(radio.bandwidth_hz);
        radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(radio.tx_power_dbm);
        station.antenna.gain_dbi = self.gain_dbi.unwrap_or(station.antenna.gain_dbi);
        station.height_agl_m = self.height_agl_m.unwrap_or(station.height_agl_m);
        station.validate().is_ok().then_some(station)
    }
}
