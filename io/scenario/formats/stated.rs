//! Radios of nodes as far as their documents state them.

use groundwave_model::radio::{Pointing, Station, Waveform, presets};

/// Transmit power of a LoRa device whose document states none, dBm: the most that an SX1262 has.
const LORA_DBM: f64 = 22.0;

/// Gain of an antenna by the product of its beamwidths, degrees squared.
const GAIN_DEG2: f64 = 30_000.0;
/// Beamwidths in elevation that follow from gain and azimuth, degrees.
const HEIGHT_DEG: (f64, f64) = (1.0, 120.0);

/// Radio, antenna and height of a node, as far as a document states them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Stated {
    pub frequency_mhz: Option<f64>,
    pub bandwidth_hz: Option<f64>,
    /// Spreading factor and denominator of the code rate of a LoRa radio.
    pub lora: Option<(u8, u8)>,
    pub tx_power_dbm: Option<f64>,
    /// Maximum power in the region, which bounds a power that is not stated.
    pub power_limit_dbm: Option<f64>,
    pub gain_dbi: Option<f64>,
    /// Half-power beamwidth in azimuth, which counts beside a direction.
    pub beamwidth_deg: Option<f64>,
    pub pointing: Option<Pointing>,
    pub height_agl_m: Option<f64>,
}

impl Stated {
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
        let limit_dbm = self.power_limit_dbm.unwrap_or(f64::INFINITY);
        radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(radio.tx_power_dbm.min(limit_dbm));
        let antenna = &mut station.antenna;
        antenna.gain_dbi = self.gain_dbi.unwrap_or(antenna.gain_dbi);
        let directive_deg = self.beamwidth_deg.filter(|width_deg| *width_deg < 360.0);
        if let Some((width_deg, pointing)) = directive_deg.zip(self.pointing) {
            antenna.azimuth_beamwidth_deg = width_deg;
            let gain = libm::pow(10.0, antenna.gain_dbi / 10.0);
            let height_deg = GAIN_DEG2 / (gain * width_deg);
            antenna.elevation_beamwidth_deg = height_deg.clamp(HEIGHT_DEG.0, HEIGHT_DEG.1);
            station.pointing = Some(pointing);
        }
        station.height_agl_m = self.height_agl_m.unwrap_or(station.height_agl_m);
        station.validate().is_ok().then_some(station)
    }
}
