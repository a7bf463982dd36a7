//! Values of an environment to choose from.

use groundwave_model::radio::{
    Climate, ClutterCategory, Indoor, Multipath, NoiseCategory, Surroundings, Vegetation,
};
use groundwave_propagation::clutter::ClutterCategory as ClutterModel;
use schemars::JsonSchema;
use serde::Serialize;

/// Mixed forest at 949 MHz (ITU-R P.833, table 1), 100 m of it.
const WOODLAND: Vegetation =
    Vegetation { depth_m: 100.0, specific_attenuation_db_m: 0.17, maximum_attenuation_db: 26.5 };

/// Flat temperate land (ITU-R P.453 and P.530).
const MULTIPATH: Multipath =
    Multipath { gradient_1_percent_n_units_km: -200.0, terrain_roughness_m: 20.0 };

/// Radio climate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ClimatePreset {
    /// Value of `climate`.
    pub id: Climate,
    /// Name for people.
    pub name: &'static str,
}

/// Man-made noise (ITU-R P.372).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct NoisePreset {
    /// Value of `man_made_noise`.
    pub id: NoiseCategory,
    /// Name for people.
    pub name: &'static str,
}

/// Surroundings of antennas (ITU-R P.2108).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ClutterPreset {
    /// Value of `clutter.category`.
    pub id: ClutterCategory,
    /// Name for people.
    pub name: &'static str,
    /// Height where none is given, m.
    pub representative_height_m: f64,
}

/// Surroundings of the antenna of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct SurroundingsPreset {
    /// Value of `surroundings`.
    pub id: Surroundings,
    /// Name for people.
    pub name: &'static str,
    /// Height of buildings and trees, m above ground; null where it is unknown.
    pub height_agl_m: Option<f64>,
}

/// Building around an antenna (ITU-R P.2109).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct IndoorPreset {
    /// Value of `indoor`.
    pub id: Indoor,
    /// Name for people.
    pub name: &'static str,
}

/// Values of an environment to choose from, and usual values of its optional parts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EnvironmentPresets {
    /// Climates.
    pub climates: Vec<ClimatePreset>,
    /// Man-made noise, from the loudest.
    pub man_made_noise: Vec<NoisePreset>,
    /// Surroundings, from the most open.
    pub clutter: Vec<ClutterPreset>,
    /// Surroundings of a node.
    pub surroundings: Vec<SurroundingsPreset>,
    /// Buildings around the antenna of a node.
    pub indoor: Vec<IndoorPreset>,
    /// Woodland on a path: mixed forest at 949 MHz.
    pub vegetation: Vegetation,
    /// Multipath fading over flat temperate land.
    pub multipath: Multipath,
}

impl EnvironmentPresets {
    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        let clutter = |(id, name)| ClutterPreset {
            id,
            name,
            representative_height_m: ClutterModel::from(id).representative_height_m(),
        };
        Self {
            climates: Climate::ALL.map(|(id, name)| ClimatePreset { id, name }).into(),
            man_made_noise: NoiseCategory::ALL.map(|(id, name)| NoisePreset { id, name }).into(),
            clutter: ClutterCategory::ALL.map(clutter).into(),
            surroundings: Surroundings::ALL.map(|(id, _)| SurroundingsPreset::of(id)).into(),
            indoor: Indoor::ALL.map(|(id, _)| IndoorPreset::of(id)).into(),
            vegetation: WOODLAND,
            multipath: MULTIPATH,
        }
    }
}

impl SurroundingsPreset {
    fn of(id: Surroundings) -> Self {
        let name = match id {
            Surroundings::Unknown => "not described",
            Surroundings::Open => "open land",
            Surroundings::Forest => "forest",
            Surroundings::Suburban => "suburban",
            Surroundings::Urban => "urban",
            Surroundings::DenseUrban => "dense urban",
        };
        Self { id, name, height_agl_m: id.height_agl_m() }
    }
}

impl IndoorPreset {
    fn of(id: Indoor) -> Self {
        let name = match id {
            Indoor::Outdoors => "none, outdoors",
            Indoor::Traditional => "ordinary windows and walls",
            Indoor::ThermallyEfficient => "metallised glass, insulated",
        };
        Self { id, name }
    }
}
