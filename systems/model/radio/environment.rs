//! Propagation settings of a deployment: path-loss model, atmosphere, ground and weather. One
//! environment holds for a whole deployment.

use garde::Validate;
use groundwave_values::bounds::{bounded, finite, finite_if_some};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, FittedWith};
use super::climate::Climate;
use super::path_loss::{Model, NotModelled, SettingValues};
use super::surroundings::{Clutter, Multipath, Vegetation};

/// Propagation settings of a deployment. Every field has a default, optional ones are absent;
/// together the defaults are the median over temperate land in clear air.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(default, deny_unknown_fields)]
pub struct Environment {
    /// Path-loss model, `itm` by default.
    #[garde(skip)]
    pub model: Model,
    /// Radio climate of ITM, `continental_temperate` by default.
    #[garde(skip)]
    pub climate: Climate,
    /// Minimum monthly surface refractivity reduced to sea level N0, N-units, [250, 400],
    /// 301 by default.
    #[garde(range(min = 250.0, max = 400.0), custom(finite))]
    pub refractivity_n_units: f64,
    /// Relative permittivity of the ground, [1, 100]; 15, the default, is average ground.
    #[garde(range(min = 1.0, max = 100.0), custom(finite))]
    pub permittivity: f64,
    /// Conductivity of the ground, S/m, [1e-5, 10]; 0.005, the default, is average ground.
    #[garde(range(min = 1e-05, max = 10.0), custom(finite))]
    pub conductivity_s_m: f64,
    /// Share of time the loss is not exceeded, percent, [0.1, 99.9], 50 by default.
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub time_percent: f64,
    /// Share of places the loss is not exceeded, percent, [0.1, 99.9], 50 by default.
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub location_percent: f64,
    /// Share of like situations the loss is not exceeded, percent, [0.1, 99.9], 50 by default.
    #[garde(range(min = 0.1, max = 99.9), custom(finite))]
    pub situation_percent: f64,
    /// Effective Earth radius factor for clearance and delta-Bullington, [0.3, 10]; 4/3, the
    /// default, is the standard atmosphere. ITM derives its own from the refractivity.
    #[garde(range(min = 0.3, max = 10.0), custom(finite))]
    pub k_factor: f64,
    /// Air temperature, K, [200, 330], 288.15 by default.
    #[garde(range(min = 200.0, max = 330.0), custom(finite))]
    pub temperature_k: f64,
    /// Total barometric pressure, hPa, [500, 1100], 1013.25 by default.
    #[garde(range(min = 500.0, max = 1100.0), custom(finite))]
    pub pressure_hpa: f64,
    /// Water vapour density, g/m³, [0, 50], 7.5 by default.
    #[garde(range(min = 0.0, max = 50.0), custom(finite))]
    pub water_vapour_g_m3: f64,
    /// Rain falling along every path now, mm/h, [0, 300], none by default.
    #[garde(range(min = 0.0, max = 300.0), custom(finite))]
    pub rain_rate_mm_h: f64,
    /// Rain rate exceeded 0.01 % of the average year, mm/h, [0.1, 300]; absent means rain outage
    /// and availability are not predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.1, max = 300.0), custom(finite_if_some))]
    pub rain_rate_001_mm_h: Option<f64>,
    /// Climate of multipath fading; absent means multipath outage and availability are not
    /// predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub multipath: Option<Multipath>,
    /// Man-made noise surroundings of receivers (ITU-R P.372); absent means thermal noise only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub man_made_noise: Option<NoiseCategory>,
    /// Buildings and trees around terminals that stand below them; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub clutter: Option<Clutter>,
    /// Woodland crossed by every path; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub vegetation: Option<Vegetation>,
    /// Any further loss on every path, dB, [0, 200], none by default.
    #[garde(range(min = 0.0, max = 200.0), custom(finite))]
    pub other_loss_db: f64,
    /// Correction of the model by measured offsets; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub calibration: Option<Calibration>,
    /// Interference at every receiver input, dBm, [-250, 0]; absent means none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(range(min = -250.0, max = 0.0), custom(finite_if_some))]
    pub interference_dbm: Option<f64>,
    /// Reserve kept above the required SNR when a modulation is chosen, dB, [0, 60], none by
    /// default.
    #[garde(range(min = 0.0, max = 60.0), custom(finite))]
    pub required_margin_db: f64,
}

/// Surroundings of a receiver as ITU-R P.372 divides them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NoiseCategory {
    /// City centre.
    City,
    /// Residential.
    Residential,
    /// Rural.
    Rural,
    /// Quiet rural.
    QuietRural,
}

impl NoiseCategory {
    /// All categories, from the loudest, with their names for people.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::City, "city"),
        (Self::Residential, "residential"),
        (Self::Rural, "rural"),
        (Self::QuietRural, "quiet rural"),
    ];
}

/// Effective Earth radius factor of the median atmosphere (ITU-R P.310).
const K_FACTOR: f64 = 4.0 / 3.0;

impl Default for Environment {
    fn default() -> Self {
        Self {
            model: Model::default(),
            climate: Climate::default(),
            refractivity_n_units: 301.0,
            permittivity: 15.0,
            conductivity_s_m: 0.005,
            time_percent: 50.0,
            location_percent: 50.0,
            situation_percent: 50.0,
            k_factor: K_FACTOR,
            temperature_k: 288.15,
            pressure_hpa: 1013.25,
            water_vapour_g_m3: 7.5,
            rain_rate_mm_h: 0.0,
            rain_rate_001_mm_h: None,
            multipath: None,
            man_made_noise: None,
            clutter: None,
            vegetation: None,
            other_loss_db: 0.0,
            calibration: None,
            interference_dbm: None,
            required_margin_db: 0.0,
        }
    }
}

impl Environment {
    /// Values of the settings that path-loss models read.
    #[must_use]
    pub const fn setting_values(&self) -> SettingValues {
        SettingValues {
            climate: self.climate,
            refractivity_n_units: self.refractivity_n_units,
            permittivity: self.permittivity,
            conductivity_s_m: self.conductivity_s_m,
            time_percent: self.time_percent,
            location_percent: self.location_percent,
            situation_percent: self.situation_percent,
            k_factor: self.k_factor,
        }
    }

    /// Values of the settings with the shares of time, locations and situations that the losses of the model
    /// hold for, and the requested ones it does not have.
    #[must_use]
    pub fn modelled_values(&self) -> (SettingValues, Vec<NotModelled>) {
        self.model.get().shares().limited(self.setting_values())
    }

    /// `true` if the model does not read a `k_factor` other than that of the median atmosphere, within the digits of
    /// a scenario.
    #[must_use]
    pub fn is_k_factor_unread(&self) -> bool {
        let is_median = (self.k_factor - K_FACTOR).abs() < 5e-3;
        !is_median && !self.model.get().settings().contains(&"k_factor")
    }

    /// Model and environment of predictions here, with or without land cover, for a calibration profile.
    #[must_use]
    pub fn fitted_with(&self, land_cover: bool) -> FittedWith {
        let (shares, _) = self.modelled_values();
        FittedWith {
            model: self.model,
            time_percent: shares.time_percent,
            location_percent: shares.location_percent,
            situation_percent: shares.situation_percent,
            clutter: self.clutter,
            land_cover,
            antenna_agl_m: None,
            indoor: None,
        }
    }

    /// Differences between the model and environment that the calibration profile was fitted with and those
    /// here, in words; land cover is compared where it is stated.
    #[must_use]
    pub fn calibration_differences(&self, land_cover: Option<bool>) -> Vec<String> {
        let fitted = self.calibration.as_ref().and_then(|profile| profile.fitted);
        fitted.map_or_else(Vec::new, |fitted| {
            fitted.differences(&self.fitted_with(land_cover.unwrap_or(fitted.land_cover)))
        })
    }

    /// Schema of the settings that `model` reads: those properties of the environment's.
    #[must_use]
    pub fn settings_schema(model: Model) -> Schema {
        let own = SchemaGenerator::default().into_root_schema_for::<Self>();
        let property = |name: &&str| {
            let schema = own.pointer(&format!("/properties/{name}"))?;
            Some(((*name).to_owned(), schema.clone()))
        };
        let settings = model.get().settings().iter().filter_map(property);
        let properties: serde_json::Map<_, _> = settings.collect();
        json_schema!({ "type": "object", "properties": properties, "$defs": own.get("$defs") })
    }
}

bounded! { Environment: "environment" }
