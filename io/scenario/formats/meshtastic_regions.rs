//! Regions and modem presets of Meshtastic, by the names that its settings and topics have.

use groundwave_model::radio::presets::modems::{MESHTASTIC, MODEMS, Modem};

use super::error::quoted;
use super::stated::Stated;

/// A region: edges of its band, MHz, power limit, dBm (its firmware, `RadioInterface.cpp`), and the slot of LongFast, MHz,
/// where it is documented.
type Region = (&'static str, f64, f64, f64, Option<f64>);

const REGIONS: [Region; 28] = [
    ("US", 902.0, 928.0, 30.0, Some(906.875)),
    ("EU_433", 433.0, 434.0, 10.0, None),
    ("EU_866", 865.6, 867.6, 27.0, None),
    ("EU_868", 869.4, 869.65, 27.0, Some(869.525)),
    ("EU_N_868", 869.4, 869.65, 27.0, None),
    ("CN", 470.0, 510.0, 19.0, None),
    ("JP", 920.5, 923.5, 13.0, None),
    ("ANZ", 915.0, 928.0, 30.0, None),
    ("ANZ_433", 433.05, 434.79, 14.0, None),
    ("BR_902", 902.0, 907.5, 30.0, None),
    ("IN", 865.0, 867.0, 30.0, None),
    ("KR", 920.0, 923.0, 23.0, None),
    ("KZ_433", 433.075, 434.775, 10.0, None),
    ("KZ_863", 863.0, 868.0, 30.0, None),
    (WIDE, 2400.0, 2483.5, 10.0, None),
    ("MY_433", 433.0, 435.0, 20.0, None),
    ("MY_919", 919.0, 924.0, 27.0, None),
    ("NP_865", 865.0, 868.0, 30.0, None),
    ("NZ_865", 864.0, 868.0, 36.0, None),
    ("PH_433", 433.0, 434.7, 10.0, None),
    ("PH_868", 868.0, 869.4, 14.0, None),
    ("PH_915", 915.0, 918.0, 24.0, None),
    ("RU", 868.7, 869.2, 20.0, None),
    ("SG_923", 917.0, 925.0, 20.0, None),
    ("TH", 920.0, 925.0, 27.0, None),
    ("TW", 920.0, 925.0, 27.0, None),
    ("UA_433", 433.0, 434.7, 10.0, None),
    ("UA_868", 868.0, 868.6, 14.0, None),
];

/// Region of the SX1280, whose presets have wider bands.
const WIDE: &str = "LORA_24";
/// Bandwidth of a preset there over that elsewhere: 812.5 over 250 kHz.
const WIDE_FACTOR: f64 = 3.25;

const fn modem(bandwidth_hz: f64, spreading_factor: u8, coding_rate: u8) -> Modem {
    Modem { frequency_mhz: None, bandwidth_hz, spreading_factor, coding_rate }
}

/// Presets of the regions with narrow channels, the newest of the others, and the name of LongModerate in topics.
const OTHERS: [(Modem, &str); 6] = [
    (modem(125e3, 9, 5), "LiteFast"),
    (modem(125e3, 10, 5), "LiteSlow"),
    (modem(62.5e3, 7, 6), "NarrowFast"),
    (modem(62.5e3, 8, 6), "NarrowSlow"),
    (modem(500e3, 9, 5), "MediumTurbo"),
    (modem(125e3, 11, 8), "LongMod"),
];

/// Preset where none is stated.
const DEFAULT: &str = "LongFast";

/// The preset of a name.
fn preset(name: &str) -> Option<Modem> {
    let mut own = MODEMS[..MESHTASTIC].iter().chain(&OTHERS);
    own.find(|(_, own)| plain(own) == plain(name)).map(|(modem, _)| *modem)
}

/// A name as settings, topics and older versions write it.
fn plain(name: &str) -> String {
    name.replace(['_', ' '], "").to_ascii_lowercase()
}

impl Stated {
    /// The radio in a region with a modem preset, by their names; `drop` gets notes on unknown ones. Without a region there
    /// is none; one of an unknown region has the modem alone.
    pub fn meshtastic(region: &str, modem: &str, mut drop: impl FnMut(&str)) -> Option<Self> {
        if region.is_empty() {
            return None;
        }
        let own = REGIONS.iter().find(|own| plain(own.0) == plain(region));
        if own.is_none() {
            drop(&format!(
                "unknown region {}: the modem preset is taken, the frequency is not known",
                quoted(region)
            ));
        }
        if !modem.is_empty() && preset(modem).is_none() {
            drop(&format!("no modem preset is called {}: {DEFAULT} is taken", quoted(modem)));
        }
        let modem = preset(modem).or_else(|| preset(DEFAULT))?;
        let is_wide = own.is_some_and(|own| own.0 == WIDE);
        let factor = if is_wide { WIDE_FACTOR } else { 1.0 };
        let frequency_mhz = |(_, low_mhz, high_mhz, _, slot_mhz): &Region| {
            slot_mhz.unwrap_or(f64::midpoint(*low_mhz, *high_mhz))
        };
        Some(Self {
            frequency_mhz: own.map(frequency_mhz),
            bandwidth_hz: Some(modem.bandwidth_hz * factor),
            lora: Some((modem.spreading_factor, modem.coding_rate)),
            power_limit_dbm: own.map(|own| own.3),
            ..Self::default()
        })
    }
}
