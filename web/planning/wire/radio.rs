//! Radio and pointing configurations.

use groundwave_systems::propagation::polarization::Polarization;
use groundwave_systems::radio::{Antenna, Radio, Station, Waveform, presets};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::http::Problem;

/// Radio and antenna of a node. Absent fields come from the preset, or, without
/// one, from what the node has already; for a new node that is the preset `wifi_5g_mesh` with the
/// antenna `omni_5`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioConfig {
    /// Radio preset (see `/api/v1/presets/radios`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "radio_ids")]
    pub preset: Option<String>,
    /// Centre frequency, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10.0, max = 100_000.0))]
    pub frequency_mhz: Option<f64>,
    /// Occupied and noise bandwidth, Hz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100.0, max = 2e9))]
    pub bandwidth_hz: Option<f64>,
    /// Conducted power of one spatial stream, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -50.0, max = 80.0))]
    pub tx_power_dbm: Option<f64>,
    /// Receiver noise figure, dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 40.0))]
    pub noise_figure_db: Option<f64>,
    /// Loss between radio and antenna, dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub feeder_loss_db: Option<f64>,
    /// Modulation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waveform: Option<Waveform>,
    /// Antenna.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub antenna: Option<AntennaConfig>,
}

/// An antenna. Fields left out come from the preset, or, without one, from the antenna in place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AntennaConfig {
    /// An antenna preset to start from (see `/api/v1/presets/antennas`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "antenna_ids")]
    pub preset: Option<String>,
    /// Gain at boresight, dBi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -30.0, max = 60.0))]
    pub gain_dbi: Option<f64>,
    /// Half-power beamwidth in azimuth, deg; 360 is omnidirectional.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 360.0))]
    pub azimuth_beamwidth_deg: Option<f64>,
    /// Half-power beamwidth in elevation, deg; 360 is isotropic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.1, max = 360.0))]
    pub elevation_beamwidth_deg: Option<f64>,
    /// Attenuation limit of the pattern below boresight (front-to-back ratio), dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 80.0))]
    pub front_to_back_db: Option<f64>,
    /// Polarisation of the radiated field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "polarizations")]
    pub polarization: Option<Polarization>,
}

fn one_of(ids: impl Iterator<Item = &'static str>) -> schemars::Schema {
    let mut ids: Vec<_> = ids.map(serde_json::Value::from).collect();
    ids.push(serde_json::Value::Null);
    schemars::json_schema!({ "enum": ids })
}

fn radio_ids(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    one_of(presets::RADIOS.iter().map(|preset| preset.id))
}

fn antenna_ids(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    one_of(presets::ANTENNAS.iter().map(|preset| preset.id))
}

fn polarizations(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    one_of(["horizontal", "vertical"].into_iter())
}

fn unknown(key: &str, found: &str, ids: &[&str]) -> Problem {
    Problem::bad_request(format!(
        "`{key}` is {found:?}, allowed is one of {}",
        ids.join(", ")
    ))
}

/// Default station.
#[must_use]
pub fn default_station() -> Station {
    let radio = presets::radio("wifi_5g_mesh").expect("the catalogue has it");
    let antenna = presets::antenna("omni_5").expect("the catalogue has it");
    Station {
        height_agl_m: 10.0,
        radio: radio.radio.clone(),
        antenna: antenna.antenna.clone(),
        pointing: None,
    }
}

impl RadioConfig {
    /// Radio and antenna of the request, based on `before`.
    ///
    /// # Errors
    /// 400 for an unknown preset.
    pub fn resolve(self, before: &Station) -> Result<(Radio, Antenna), Problem> {
        let base = match &self.preset {
            None => before.radio.clone(),
            Some(id) => presets::radio(id)
                .ok_or_else(|| {
                    unknown(
                        "radio.preset",
                        id,
                        &presets::RADIOS.each_ref().map(|p| p.id),
                    )
                })?
                .radio
                .clone(),
        };
        let radio = Radio {
            frequency_mhz: self.frequency_mhz.unwrap_or(base.frequency_mhz),
            bandwidth_hz: self.bandwidth_hz.unwrap_or(base.bandwidth_hz),
            tx_power_dbm: self.tx_power_dbm.unwrap_or(base.tx_power_dbm),
            noise_figure_db: self.noise_figure_db.unwrap_or(base.noise_figure_db),
            feeder_loss_db: self.feeder_loss_db.unwrap_or(base.feeder_loss_db),
            waveform: self.waveform.unwrap_or(base.waveform),
        };
        let antenna = match self.antenna {
            None => before.antenna.clone(),
            Some(config) => config.resolve(&before.antenna)?,
        };
        Ok((radio, antenna))
    }

    /// Full configuration of a station.
    #[must_use]
    pub fn of(station: &Station) -> Self {
        let Radio {
            frequency_mhz,
            bandwidth_hz,
            tx_power_dbm,
            noise_figure_db,
            feeder_loss_db,
            waveform,
        } = station.radio.clone();
        Self {
            preset: None,
            frequency_mhz: Some(frequency_mhz),
            bandwidth_hz: Some(bandwidth_hz),
            tx_power_dbm: Some(tx_power_dbm),
            noise_figure_db: Some(noise_figure_db),
            feeder_loss_db: Some(feeder_loss_db),
            waveform: Some(waveform),
            antenna: Some(AntennaConfig {
                preset: None,
                gain_dbi: Some(station.antenna.gain_dbi),
                azimuth_beamwidth_deg: Some(station.antenna.azimuth_beamwidth_deg),
                elevation_beamwidth_deg: Some(station.antenna.elevation_beamwidth_deg),
                front_to_back_db: Some(station.antenna.front_to_back_db),
                polarization: Some(station.antenna.polarization),
            }),
        }
    }
}

impl AntennaConfig {
    fn resolve(self, before: &Antenna) -> Result<Antenna, Problem> {
        let base = match &self.preset {
            None => before.clone(),
            Some(id) => presets::antenna(id)
                .ok_or_else(|| {
                    let ids = presets::ANTENNAS.each_ref().map(|p| p.id);
                    unknown("radio.antenna.preset", id, &ids)
                })?
                .antenna
                .clone(),
        };
        Ok(Antenna {
            gain_dbi: self.gain_dbi.unwrap_or(base.gain_dbi),
            azimuth_beamwidth_deg: self
                .azimuth_beamwidth_deg
                .unwrap_or(base.azimuth_beamwidth_deg),
            elevation_beamwidth_deg: self
                .elevation_beamwidth_deg
                .unwrap_or(base.elevation_beamwidth_deg),
            front_to_back_db: self.front_to_back_db.unwrap_or(base.front_to_back_db),
            polarization: self.polarization.unwrap_or(base.polarization),
        })
    }
}
