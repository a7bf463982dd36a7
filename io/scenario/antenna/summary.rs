//! Facts of a pattern file, as command line and interface show them.

use groundwave_model::radio::{Antenna, Pattern};
use groundwave_propagation::polarization::Polarization;
use schemars::JsonSchema;
use serde::Serialize;

use super::AntennaFile;

/// Facts of a pattern file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AntennaSummary {
    /// Name of the antenna, or that of the file without its ending.
    pub name: String,
    /// Format: `MSI/Planet`, `SPLAT!`, `TIA/EIA-804` or `Radio Mobile`.
    pub format: &'static str,
    /// Gain of the maximum, dBi; null where the file has none.
    pub gain_dbi: Option<f64>,
    /// Frequency, MHz; null where the file has none.
    pub frequency_mhz: Option<f64>,
    /// Polarization, `vertical` or `horizontal`; null where the file has none or another.
    #[schemars(with = "Option<String>")]
    pub polarization: Option<Polarization>,
    /// Half-power beamwidth of the horizontal cut, deg, (0, 360].
    pub azimuth_beamwidth_deg: f64,
    /// Half-power beamwidth of the vertical cut, deg, (0, 360].
    pub elevation_beamwidth_deg: f64,
    /// Front-to-back ratio of the horizontal cut, dB.
    pub front_to_back_db: f64,
    /// Maximum of the horizontal cut, deg to the right of the boresight, (-180, 180].
    pub maximum_azimuth_deg: f64,
    /// Maximum of the vertical cut, deg above the boresight, [-180, 180).
    pub maximum_elevation_deg: f64,
    /// Losses in all directions.
    pub pattern: Pattern,
}

impl AntennaFile {
    /// The facts; `file_stem` is the name of an antenna without one.
    #[must_use]
    pub fn summary(&self, file_stem: &str) -> AntennaSummary {
        let gain_dbi = self.gain_dbi.unwrap_or(0.0);
        let antenna = {
            let polarization = self.polarization.unwrap_or(Polarization::Vertical);
            Antenna::of_pattern(gain_dbi, polarization, self.pattern.clone())
        };
        let [right_deg, down_deg] = self.pattern.peaks_deg();
        AntennaSummary {
            name: self.name.clone().unwrap_or_else(|| file_stem.to_owned()),
            format: self.format,
            gain_dbi: self.gain_dbi,
            frequency_mhz: self.frequency_mhz,
            polarization: self.polarization,
            azimuth_beamwidth_deg: antenna.azimuth_beamwidth_deg,
            elevation_beamwidth_deg: antenna.elevation_beamwidth_deg,
            front_to_back_db: antenna.front_to_back_db,
            // Not -0.
            maximum_azimuth_deg: right_deg + 0.0,
            maximum_elevation_deg: -down_deg + 0.0,
            pattern: self.pattern.clone(),
        }
    }
}
