//! Radios and antennas in a scenario: a preset by name, or settings over a preset.

use std::fmt;
use std::marker::PhantomData;

use groundwave_systems::propagation::polarization::Polarization;
use groundwave_systems::radio::station::{Antenna, Radio, Waveform};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

/// The antenna of a station that names none.
pub(super) const ANTENNA_DEFAULT: &str = "omni_2_15";

/// A radio preset by id, or a table of settings.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum RadioChoice {
    /// Id of a built-in preset or of a `[[radio]]`.
    Preset(String),
    /// Settings, over a preset or complete.
    Inline(Box<RadioSettings>),
}

/// An antenna preset by id, or a table of settings.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged)]
pub enum AntennaChoice {
    /// Id of a built-in preset or of an `[[antenna]]`.
    Preset(String),
    /// Settings, over a preset or complete.
    Inline(Box<AntennaSettings>),
}

/// Settings of a radio. Without `preset`, all but the feeder loss are needed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RadioSettings {
    /// Preset to start from.
    pub preset: Option<String>,
    /// Centre frequency, MHz, [10, 100000].
    pub frequency_mhz: Option<f64>,
    /// Occupied and noise bandwidth, Hz, [100, 2e9].
    pub bandwidth_hz: Option<f64>,
    /// Conducted power of one spatial stream, dBm, [-50, 80].
    pub tx_power_dbm: Option<f64>,
    /// Receiver noise figure, dB, [0, 40].
    pub noise_figure_db: Option<f64>,
    /// Loss between radio and antenna, dB, [0, 100].
    pub feeder_loss_db: Option<f64>,
    /// Waveform; replaces the preset's as a whole.
    pub waveform: Option<Waveform>,
}

/// Settings of an antenna. Without `preset`, all are needed.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AntennaSettings {
    /// Preset to start from.
    pub preset: Option<String>,
    /// Gain at boresight, dBi, [-30, 60].
    pub gain_dbi: Option<f64>,
    /// Half-power beamwidth in azimuth, deg, [0.1, 360]; 360 is omnidirectional.
    pub azimuth_beamwidth_deg: Option<f64>,
    /// Half-power beamwidth in elevation, deg, [0.1, 360].
    pub elevation_beamwidth_deg: Option<f64>,
    /// Attenuation limit of the pattern below boresight (front-to-back ratio), dB, [0, 80].
    pub front_to_back_db: Option<f64>,
    /// Polarisation of the radiated field.
    #[schemars(with = "Option<PolarizationName>")]
    pub polarization: Option<Polarization>,
}

/// A radio preset of your own. Without `base`, all but the feeder loss are needed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadioPresetFile {
    /// Id that nodes refer to: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
    pub id: String,
    /// Built-in preset, or `[[radio]]` further up, to start from.
    pub base: Option<String>,
    /// Centre frequency, MHz, [10, 100000].
    pub frequency_mhz: Option<f64>,
    /// Occupied and noise bandwidth, Hz, [100, 2e9].
    pub bandwidth_hz: Option<f64>,
    /// Conducted power of one spatial stream, dBm, [-50, 80].
    pub tx_power_dbm: Option<f64>,
    /// Receiver noise figure, dB, [0, 40].
    pub noise_figure_db: Option<f64>,
    /// Loss between radio and antenna, dB, [0, 100].
    pub feeder_loss_db: Option<f64>,
    /// Waveform; replaces the base's as a whole.
    pub waveform: Option<Waveform>,
}

/// An antenna preset of your own. Without `base`, all fields are needed.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AntennaPresetFile {
    /// Id that nodes refer to: 1 to 64 of A-Z, a-z, 0-9, `.`, `-` and `_`.
    pub id: String,
    /// Built-in preset, or `[[antenna]]` further up, to start from.
    pub base: Option<String>,
    /// Gain at boresight, dBi, [-30, 60].
    pub gain_dbi: Option<f64>,
    /// Half-power beamwidth in azimuth, deg, [0.1, 360]; 360 is omnidirectional.
    pub azimuth_beamwidth_deg: Option<f64>,
    /// Half-power beamwidth in elevation, deg, [0.1, 360].
    pub elevation_beamwidth_deg: Option<f64>,
    /// Attenuation limit of the pattern below boresight (front-to-back ratio), dB, [0, 80].
    pub front_to_back_db: Option<f64>,
    /// Polarisation of the radiated field.
    #[schemars(with = "Option<PolarizationName>")]
    pub polarization: Option<Polarization>,
}

impl RadioSettings {
    /// These settings over `base`, or the first setting that is missing without one.
    pub(crate) fn over(&self, base: Option<&Radio>) -> Result<Radio, &'static str> {
        let number =
            |own: Option<f64>, of: fn(&Radio) -> f64, key| own.or_else(|| base.map(of)).ok_or(key);
        Ok(Radio {
            frequency_mhz: number(self.frequency_mhz, |b| b.frequency_mhz, "frequency_mhz")?,
            bandwidth_hz: number(self.bandwidth_hz, |b| b.bandwidth_hz, "bandwidth_hz")?,
            tx_power_dbm: number(self.tx_power_dbm, |b| b.tx_power_dbm, "tx_power_dbm")?,
            noise_figure_db: number(
                self.noise_figure_db,
                |b| b.noise_figure_db,
                "noise_figure_db",
            )?,
            feeder_loss_db: number(self.feeder_loss_db, |b| b.feeder_loss_db, "").unwrap_or(0.0),
            waveform: self
                .waveform
                .clone()
                .or_else(|| base.map(|b| b.waveform.clone()))
                .ok_or("waveform")?,
        })
    }
}

impl AntennaSettings {
    /// These settings over `base`, or the first setting that is missing without one.
    pub(crate) fn over(&self, base: Option<&Antenna>) -> Result<Antenna, &'static str> {
        let number = |own: Option<f64>, of: fn(&Antenna) -> f64, key| {
            own.or_else(|| base.map(of)).ok_or(key)
        };
        Ok(Antenna {
            gain_dbi: number(self.gain_dbi, |b| b.gain_dbi, "gain_dbi")?,
            azimuth_beamwidth_deg: number(
                self.azimuth_beamwidth_deg,
                |b| b.azimuth_beamwidth_deg,
                "azimuth_beamwidth_deg",
            )?,
            elevation_beamwidth_deg: number(
                self.elevation_beamwidth_deg,
                |b| b.elevation_beamwidth_deg,
                "elevation_beamwidth_deg",
            )?,
            front_to_back_db: number(
                self.front_to_back_db,
                |b| b.front_to_back_db,
                "front_to_back_db",
            )?,
            polarization: self
                .polarization
                .or(base.map(|b| b.polarization))
                .ok_or("polarization")?,
        })
    }
}

impl RadioPresetFile {
    /// The settings without the id.
    pub(super) fn settings(&self) -> RadioSettings {
        RadioSettings {
            preset: self.base.clone(),
            frequency_mhz: self.frequency_mhz,
            bandwidth_hz: self.bandwidth_hz,
            tx_power_dbm: self.tx_power_dbm,
            noise_figure_db: self.noise_figure_db,
            feeder_loss_db: self.feeder_loss_db,
            waveform: self.waveform.clone(),
        }
    }
}

impl AntennaPresetFile {
    /// The settings without the id.
    pub(super) fn settings(&self) -> AntennaSettings {
        AntennaSettings {
            preset: self.base.clone(),
            gain_dbi: self.gain_dbi,
            azimuth_beamwidth_deg: self.azimuth_beamwidth_deg,
            elevation_beamwidth_deg: self.elevation_beamwidth_deg,
            front_to_back_db: self.front_to_back_db,
            polarization: self.polarization,
        }
    }
}

impl Default for AntennaChoice {
    fn default() -> Self {
        Self::Preset(ANTENNA_DEFAULT.to_owned())
    }
}

/// The schema of [`Polarization`], whose module knows no schemas.
#[derive(JsonSchema)]
#[schemars(rename = "PolarizationName", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum PolarizationName {
    /// Electric field parallel to the ground.
    Horizontal,
    /// Electric field in the vertical plane through the path.
    Vertical,
}

/// Reads a string as a preset and a table as settings. An untagged derive would do the same but
/// forget where in the table an error was.
struct Choice<C, S> {
    expecting: &'static str,
    preset: fn(String) -> C,
    inline: fn(Box<S>) -> C,
    settings: PhantomData<S>,
}

impl<'de, C, S: Deserialize<'de>> Visitor<'de> for Choice<C, S> {
    type Value = C;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expecting)
    }

    fn visit_str<E>(self, id: &str) -> Result<C, E> {
        Ok((self.preset)(id.to_owned()))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<C, M::Error> {
        let settings = S::deserialize(MapAccessDeserializer::new(map))?;
        Ok((self.inline)(Box::new(settings)))
    }
}

impl<'de> Deserialize<'de> for RadioChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Choice {
            expecting: "the id of a radio preset or a table of radio settings",
            preset: Self::Preset,
            inline: Self::Inline,
            settings: PhantomData,
        })
    }
}

impl<'de> Deserialize<'de> for AntennaChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Choice {
            expecting: "the id of an antenna preset or a table of antenna settings",
            preset: Self::Preset,
            inline: Self::Inline,
            settings: PhantomData,
        })
    }
}
