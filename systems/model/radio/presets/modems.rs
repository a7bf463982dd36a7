//! Modem presets of LoRa: Meshtastic, MeshCore and the data rates of LoRaWAN.
//!
//! * Meshtastic: `modemPresetToParams` of its firmware and its documentation, Radio Settings. `VeryLongSlow` is
//!   deprecated there.
//! * MeshCore: `suggested_radio_settings` of `api.meshcore.nz/api/v1/config`, which its apps read, of September 2026:
//!   `MeshCore-EU-Narrow`, `-EU433-LongRange`, `-US`, `-AU`, `-NZ` (there "Gisborne") and `-NZ-Narrow`.
//!   `-EU-LongRange` is deprecated there; `-EU-Medium` is of earlier lists.
//! * LoRaWAN: RP002 "Regional Parameters", tables of data rates of EU863-870 and US902-928 (read in the copies of
//!   RAKwireless RUI3 and of RP002-1.0.3, which have the same values), uplinks and downlinks, on the first channel
//!   of each kind.
//!
//! Sensitivities follow from bandwidth, spreading factor and the noise figure of the radio. Those of the data sheets
//! are the typical ones of Semtech SX1276/77/78/79, Rev. 7, table 10 (`RFS_L125_HF`, `RFS_L250_HF`, `RFS_L500_HF`),
//! and SX1261/2, Rev. 2.2, table 3-8 (`RXS_LB`). With 7 and 6 dB they differ by up to 1 dB in 125 and 250 kHz, where
//! the sheets round to whole dB. In 500 kHz the sheets have up to 1.5 and 2 dB less than that formula. For 62.5 kHz
//! neither has a value.

use super::super::station::{Radio, Waveform};

/// Settings of a modem preset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modem {
    /// Frequency of the preset, MHz; absent where regions differ.
    pub frequency_mhz: Option<f64>,
    /// Bandwidth, Hz.
    pub bandwidth_hz: f64,
    /// Bits per symbol.
    pub spreading_factor: u8,
    /// Denominator of the code rate 4/n.
    pub coding_rate: u8,
}

const fn modem(bandwidth_hz: f64, spreading_factor: u8, coding_rate: u8) -> Modem {
    Modem { frequency_mhz: None, bandwidth_hz, spreading_factor, coding_rate }
}

const fn at_mhz(frequency_mhz: f64, modem: Modem) -> Modem {
    Modem { frequency_mhz: Some(frequency_mhz), ..modem }
}

/// Modem presets by name: those of Meshtastic first.
pub const MODEMS: [(Modem, &str); MESHTASTIC + 26] = [
    (modem(500e3, 7, 5), "ShortTurbo"),
    (modem(250e3, 7, 5), "ShortFast"),
    (modem(250e3, 8, 5), "ShortSlow"),
    (modem(250e3, 9, 5), "MediumFast"),
    (modem(250e3, 10, 5), "MediumSlow"),
    (modem(500e3, 11, 8), "LongTurbo"),
    (modem(250e3, 11, 5), "LongFast"),
    (modem(125e3, 11, 8), "LongModerate"),
    (modem(125e3, 12, 8), "LongSlow"),
    (modem(62.5e3, 12, 8), "VeryLongSlow"),
    (at_mhz(869.618, modem(62.5e3, 8, 8)), "MeshCore-EU-Narrow"),
    (at_mhz(869.525, modem(250e3, 11, 5)), "MeshCore-EU-LongRange"),
    (at_mhz(869.525, modem(250e3, 10, 5)), "MeshCore-EU-Medium"),
    (at_mhz(433.650, modem(250e3, 11, 5)), "MeshCore-EU433-LongRange"),
    (at_mhz(910.525, modem(62.5e3, 7, 5)), "MeshCore-US"),
    (at_mhz(915.800, modem(250e3, 10, 5)), "MeshCore-AU"),
    (at_mhz(917.375, modem(250e3, 11, 5)), "MeshCore-NZ"),
    (at_mhz(917.375, modem(62.5e3, 7, 5)), "MeshCore-NZ-Narrow"),
    (at_mhz(868.1, modem(125e3, 12, 5)), "EU868-DR0"),
    (at_mhz(868.1, modem(125e3, 11, 5)), "EU868-DR1"),
    (at_mhz(868.1, modem(125e3, 10, 5)), "EU868-DR2"),
    (at_mhz(868.1, modem(125e3, 9, 5)), "EU868-DR3"),
    (at_mhz(868.1, modem(125e3, 8, 5)), "EU868-DR4"),
    (at_mhz(868.1, modem(125e3, 7, 5)), "EU868-DR5"),
    (at_mhz(868.3, modem(250e3, 7, 5)), "EU868-DR6"),
    (at_mhz(902.3, modem(125e3, 10, 5)), "US915-DR0"),
    (at_mhz(902.3, modem(125e3, 9, 5)), "US915-DR1"),
    (at_mhz(902.3, modem(125e3, 8, 5)), "US915-DR2"),
    (at_mhz(902.3, modem(125e3, 7, 5)), "US915-DR3"),
    (at_mhz(903.0, modem(500e3, 8, 5)), "US915-DR4"),
    (at_mhz(923.3, modem(500e3, 12, 5)), "US915-DR8"),
    (at_mhz(923.3, modem(500e3, 11, 5)), "US915-DR9"),
    (at_mhz(923.3, modem(500e3, 10, 5)), "US915-DR10"),
    (at_mhz(923.3, modem(500e3, 9, 5)), "US915-DR11"),
    (at_mhz(923.3, modem(500e3, 8, 5)), "US915-DR12"),
    (at_mhz(923.3, modem(500e3, 7, 5)), "US915-DR13"),
];

/// Number of the presets of Meshtastic, which are the first of [`MODEMS`].
pub const MESHTASTIC: usize = 10;

impl Modem {
    /// Sets bandwidth, spreading factor, coding rate and, where the preset has one, frequency of a LoRa radio; `false`
    /// for another radio, which stays as it is.
    #[must_use]
    pub fn apply(self, radio: &mut Radio) -> bool {
        let Waveform::Lora { spreading_factor, coding_rate } = &mut radio.waveform else {
            return false;
        };
        (*spreading_factor, *coding_rate) = (self.spreading_factor, self.coding_rate);
        radio.bandwidth_hz = self.bandwidth_hz;
        radio.frequency_mhz = self.frequency_mhz.unwrap_or(radio.frequency_mhz);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{antenna, radio};
    use super::*;
    use crate::radio::{Environment, Station, evaluate};
    use crate::terrain::Profile;

    #[test]
    fn modem_presets_are_those_of_the_devices_and_need_lora() {
        let radio = |id| radio(id).unwrap().radio.clone();
        let (long_fast, _) = MODEMS.iter().find(|(_, name)| *name == "LongFast").unwrap();
        let mut european = radio("lora_868_eu");
        assert!(long_fast.apply(&mut european));
        let american = radio("lora_915_us");
        assert_eq!(european.waveform, american.waveform);
        assert_eq!(european.bandwidth_hz, american.bandwidth_hz);
        assert!(!long_fast.apply(&mut radio("wifi_5g_mesh")));
    }

    /// Sensitivity of a modem with a noise figure, dBm, without noise from outside.
    fn sensitivity_dbm(modem: Modem, noise_figure_db: f64) -> f64 {
        let mut radio = radio("lora_868_eu").unwrap().radio.clone();
        assert!(modem.apply(&mut radio));
        let station = Station::new(10.0, radio, antenna("omni_2_15").unwrap().antenna.clone());
        let ground = Profile {
            distance_m: 5_000.0,
            step_m: 50.0,
            elevation_msl_m: vec![0.0; 101],
            ..Profile::default()
        };
        let environment = Environment::default();
        let result = evaluate(&ground, [0.0; 2], &station, &station, &environment, 20).unwrap();
        let snr_db = result.margin.sensitivity_dbm - result.receiver.noise_floor_dbm;
        let thermal_dbm = -173.975 + 10.0 * libm::log10(modem.bandwidth_hz);
        thermal_dbm + noise_figure_db + snr_db
    }

    #[test]
    fn sensitivities_are_those_of_the_data_sheets() {
        // Semtech SX1276/77/78/79 data sheet, Rev. 7, table 10, bands of 868 and 915 MHz, LnaBoost: SF7 to SF12.
        for (bandwidth_hz, sheet_dbm, db_max) in [
            (125e3, [-123.0, -126.0, -129.0, -132.0, -133.0, -136.0], 1.0),
            (250e3, [-120.0, -123.0, -125.0, -128.0, -130.0, -133.0], 1.0),
            (500e3, [-116.0, -119.0, -122.0, -125.0, -128.0, -130.0], 1.5),
        ] {
            for (spreading_factor, sheet_dbm) in (7..).zip(sheet_dbm) {
                let own_dbm = sensitivity_dbm(modem(bandwidth_hz, spreading_factor, 5), 7.0);
                let is_near = (own_dbm - sheet_dbm).abs() < db_max + 0.01;
                assert!(
                    is_near,
                    "SF{spreading_factor}, {bandwidth_hz} Hz: {own_dbm}, not {sheet_dbm}"
                );
            }
        }
        // Semtech SX1261/2 data sheet, Rev. 2.2, table 3-8, boosted gain: SF7 and SF12.
        for (bandwidth_hz, sheet_dbm, db_max) in [
            (125e3, [-124.0, -137.0], 0.5),
            (250e3, [-121.0, -134.0], 0.5),
            (500e3, [-117.0, -129.0], 2.0),
        ] {
            for (spreading_factor, sheet_dbm) in [7, 12].into_iter().zip(sheet_dbm) {
                let own_dbm = sensitivity_dbm(modem(bandwidth_hz, spreading_factor, 5), 6.0);
                let is_near = (own_dbm - sheet_dbm).abs() < db_max + 0.01;
                assert!(
                    is_near,
                    "SF{spreading_factor}, {bandwidth_hz} Hz: {own_dbm}, not {sheet_dbm}"
                );
            }
        }
    }

    #[test]
    fn data_rates_have_the_modems_of_their_region() {
        let of = |name: &str| {
            let (modem, _) = MODEMS.iter().find(|(_, own)| *own == name).unwrap();
            (modem.bandwidth_hz, modem.spreading_factor)
        };
        for (rate, spreading_factor) in (0..6).zip([12, 11, 10, 9, 8, 7]) {
            assert_eq!(of(&format!("EU868-DR{rate}")), (125e3, spreading_factor));
        }
        assert_eq!(of("EU868-DR6"), (250e3, 7));
        for (rate, spreading_factor) in (0..4).zip([10, 9, 8, 7]) {
            assert_eq!(of(&format!("US915-DR{rate}")), (125e3, spreading_factor));
        }
        assert_eq!(of("US915-DR4"), (500e3, 8));
        for (rate, spreading_factor) in (8..14).zip([12, 11, 10, 9, 8, 7]) {
            assert_eq!(of(&format!("US915-DR{rate}")), (500e3, spreading_factor));
        }
    }

    #[test]
    fn presets_of_networks_have_their_frequency_and_names_are_unique() {
        let frequency = |name: &str| {
            let (modem, _) = MODEMS.iter().find(|(_, own)| *own == name).unwrap();
            let mut radio = radio("lora_868_eu").unwrap().radio.clone();
            let before_mhz = radio.frequency_mhz;
            assert!(modem.apply(&mut radio));
            (radio.frequency_mhz, radio.frequency_mhz == before_mhz)
        };
        assert_eq!(frequency("MeshCore-US").0, 910.525);
        assert_eq!(frequency("US915-DR13").0, 923.3);
        assert!(frequency("LongFast").1);
        let names: std::collections::BTreeSet<_> = MODEMS.iter().map(|(_, name)| name).collect();
        assert_eq!(names.len(), MODEMS.len());
        assert!(MODEMS[..MESHTASTIC].iter().all(|(modem, _)| modem.frequency_mhz.is_none()));
    }
}
