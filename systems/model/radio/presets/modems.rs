//! Modem presets of LoRa: Meshtastic, MeshCore and the data rates of LoRaWAN.
//!
//! Meshtastic: its documentation, Radio Settings. MeshCore: the suggested radio settings of its apps (2026). LoRaWAN:
//! RP002-1.0.4 "Regional Parameters", tables of data rates of EU863-870 and US902-928, uplinks and downlinks, on the
//! first channel of each kind.

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
    fn sensitivities_of_data_rates_are_those_of_the_data_sheets() {
        let of = |name: &str, noise_figure_db| {
            let (modem, _) = MODEMS.iter().find(|(_, own)| *own == name).unwrap();
            sensitivity_dbm(*modem, noise_figure_db)
        };
        // SX1276/77/78/79 data sheet, table 10, band 1, LnaBoost: 7 dB of noise figure. Its SF11 stands 1.5 dB
        // above the required SNR of its table 13.
        for (name, sheet_dbm) in [
            ("EU868-DR5", -123.0),
            ("EU868-DR4", -126.0),
            ("EU868-DR3", -129.0),
            ("EU868-DR2", -132.0),
            ("EU868-DR1", -133.0),
            ("EU868-DR0", -136.0),
            ("EU868-DR6", -120.0),
            ("US915-DR0", -132.0),
            ("US915-DR13", -116.0),
            ("US915-DR4", -119.0),
            ("US915-DR8", -130.0),
        ] {
            let own_dbm = of(name, 7.0);
            assert!((own_dbm - sheet_dbm).abs() <= 1.6, "{name}: {own_dbm}, not {sheet_dbm}");
        }
        // SX1261/2 data sheet, table 3-8, boosted gain: 6 dB.
        for (name, sheet_dbm) in
            [("EU868-DR5", -124.0), ("EU868-DR0", -137.0), ("EU868-DR6", -121.0)]
        {
            let own_dbm = of(name, 6.0);
            assert!((own_dbm - sheet_dbm).abs() <= 0.6, "{name}: {own_dbm}, not {sheet_dbm}");
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
