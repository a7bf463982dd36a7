//! Parameter grids: the same sites with other masts, powers, frequencies and tilts.

use serde::{Deserialize, Serialize};

use crate::radio::Station;

/// Values to try, each list empty where the site's own value stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Vary {
    /// Antenna heights above ground, m.
    pub height_agl_m: Vec<f64>,
    /// Transmitter powers, dBm.
    pub tx_power_dbm: Vec<f64>,
    /// Frequencies, MHz.
    pub frequency_mhz: Vec<f64>,
    /// Downtilts, deg; positive looks down.
    pub tilt_deg: Vec<f64>,
}

/// One combination; `None` keeps the site's own value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Antenna height above ground, m.
    pub height_agl_m: Option<f64>,
    /// Transmitter power, dBm.
    pub tx_power_dbm: Option<f64>,
    /// Frequency, MHz.
    pub frequency_mhz: Option<f64>,
    /// Downtilt, deg; positive looks down.
    pub tilt_deg: Option<f64>,
}

/// All combinations, the last list turning fastest. At least one: everything as it is.
#[must_use]
pub fn variants(vary: &Vary) -> Vec<Variant> {
    let each = |values: &[f64]| -> Vec<Option<f64>> {
        if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
    };
    let mut all = Vec::new();
    for height_agl_m in each(&vary.height_agl_m) {
        for tx_power_dbm in each(&vary.tx_power_dbm) {
            for frequency_mhz in each(&vary.frequency_mhz) {
                for tilt_deg in each(&vary.tilt_deg) {
                    all.push(Variant { height_agl_m, tx_power_dbm, frequency_mhz, tilt_deg });
                }
            }
        }
    }
    all
}

impl Variant {
    /// `station` with this variant's values. A frequency is set on both ends by the caller.
    #[must_use]
    pub fn apply(&self, station: &Station) -> Station {
        let mut station = station.clone();
        station.height_agl_m = self.height_agl_m.unwrap_or(station.height_agl_m);
        station.radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(station.radio.tx_power_dbm);
        station.radio.frequency_mhz = self.frequency_mhz.unwrap_or(station.radio.frequency_mhz);
        if let (Some(tilt_deg), Some(pointing)) = (self.tilt_deg, &mut station.pointing) {
            pointing.elevation_deg = (pointing.elevation_deg - tilt_deg).clamp(-90.0, 90.0);
        } else if let Some(tilt_deg) = self.tilt_deg {
            // An omnidirectional antenna that stands upright is tilted all round, electrically.
            station.antenna.electrical_tilt_deg += tilt_deg;
        }
        station
    }

    /// A folder name: `h30_p20_f868.1_t2`, or `plain` where nothing varies.
    #[must_use]
    pub fn name(&self) -> String {
        let parts = [
            ("h", self.height_agl_m),
            ("p", self.tx_power_dbm),
            ("f", self.frequency_mhz),
            ("t", self.tilt_deg),
        ];
        let named =
            parts.iter().filter_map(|(key, value)| value.map(|value| format!("{key}{value}")));
        let name = named.collect::<Vec<_>>().join("_");
        if name.is_empty() { "plain".to_owned() } else { name }
    }

    /// Text form of the varied values: `mast 30 m, 20 dBm, 868.1 MHz, tilt 2°`; empty where
    /// nothing does.
    #[must_use]
    pub fn words(&self) -> String {
        let parts = [
            self.height_agl_m.map(|m| format!("mast {m} m")),
            self.tx_power_dbm.map(|dbm| format!("{dbm} dBm")),
            self.frequency_mhz.map(|mhz| format!("{mhz} MHz")),
            self.tilt_deg.map(|deg| format!("tilt {deg}°")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_the_product_of_its_lists() {
        assert_eq!(variants(&Vary::default()), [Variant::default()]);
        let vary =
            Vary { height_agl_m: vec![10.0, 20.0], tilt_deg: vec![0.0, 2.5], ..Vary::default() };
        let names: Vec<_> = variants(&vary).iter().map(Variant::name).collect();
        assert_eq!(names, ["h10_t0", "h10_t2.5", "h20_t0", "h20_t2.5"]);
        assert_eq!(Variant::default().name(), "plain");
        let words: Vec<_> = variants(&vary).iter().map(Variant::words).collect();
        assert_eq!(words[1], "mast 10 m, tilt 2.5°");
        assert_eq!(Variant::default().words(), "");
    }

    #[test]
    fn tilt_looks_down_from_where_the_antenna_looked() {
        let mut station = crate::sample::station();
        let tilt = Variant { tilt_deg: Some(4.0), ..Variant::default() };
        let tilted = tilt.apply(&station);
        assert_eq!((tilted.pointing, tilted.antenna.electrical_tilt_deg), (None, 4.0));
        station.pointing = Some(crate::radio::Pointing { azimuth_deg: 90.0, elevation_deg: 1.0 });
        let tilted = tilt.apply(&station).pointing.unwrap();
        assert_eq!((tilted.azimuth_deg, tilted.elevation_deg), (90.0, -3.0));
    }
}
