//! Surroundings of stations, and optional parts of an environment: clutter, vegetation and the climate that
//! makes links fade.

use garde::Validate;
use groundwave_propagation::building_entry::Building;
use groundwave_values::bounds::{finite, finite_if_some};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::terrain::CoverKind;

/// Parameters of multipath fading on line-of-sight paths (ITU-R P.530 section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// Refractivity gradient dN1 of the lowest 65 m not exceeded 1 % of the average year
    /// (ITU-R P.453), N-units/km, [-1500, 500].
    #[garde(range(min = -1500.0, max = 500.0), custom(finite))]
    pub gradient_1_percent_n_units_km: f64,
    /// Standard deviation of terrain heights over 110 km by 110 km, m, [0, 5000].
    #[garde(range(min = 0.0, max = 5000.0), custom(finite))]
    pub terrain_roughness_m: f64,
}

/// Clutter around the terminals (ITU-R P.2108).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Clutter {
    /// Height-gain correction of ITU-R P.2108 section 3.1, 0.03 to 3 GHz. Terrain is judged from
    /// the top of the clutter, and the way down to an antenna below it is added.
    HeightGain {
        /// Category of the clutter around the terminals.
        #[garde(skip)]
        category: ClutterCategory,
        /// Height of the surroundings, m, [1, 100]; absent takes the default of the category.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[garde(range(min = 1.0, max = 100.0), custom(finite_if_some))]
        representative_height_m: Option<f64>,
    },
    /// Statistical model of ITU-R P.2108 section 3.2 for urban and suburban paths of 0.25 km and
    /// more, 0.5 to 67 GHz.
    Statistical {
        /// An antenna at or above this height is taken to stand clear, m, [1, 100].
        #[serde(default = "roof_height_m")]
        #[garde(range(min = 1.0, max = 100.0), custom(finite))]
        below_height_m: f64,
        /// Share of places with less loss, percent, [0.1, 99.9].
        #[serde(default = "half_percent")]
        #[garde(range(min = 0.1, max = 99.9), custom(finite))]
        location_percent: f64,
    },
}

/// Kinds of surroundings with a default height (ITU-R P.2108 table 3).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClutterCategory {
    /// Water or sea.
    WaterSea,
    /// Open or rural.
    OpenRural,
    /// Suburban.
    Suburban,
    /// Urban.
    Urban,
    /// Trees or forest.
    TreesForest,
    /// Dense urban.
    DenseUrban,
}

impl ClutterCategory {
    /// All categories, from the most open, with their names for people.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::OpenRural, "open or rural"),
        (Self::Suburban, "suburban"),
        (Self::Urban, "urban"),
        (Self::TreesForest, "trees or forest"),
        (Self::DenseUrban, "dense urban"),
        (Self::WaterSea, "water"),
    ];
}

/// Woodland on a path (ITU-R P.833 section 2.1). Table 1 there gives for mixed forest, at 105.9,
/// 466, 949, 1852 and 2118 MHz, 0.04, 0.12, 0.17, 0.30 and 0.34 dB/m and at most 9.4, 18.0, 26.5,
/// 29.0 and 34.1 dB.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Vegetation {
    /// Length of the ray within the woodland, m, [0, 100000].
    #[garde(range(min = 0.0, max = 100000.0), custom(finite))]
    pub depth_m: f64,
    /// Attenuation of a very short path, dB/m, [0, 10].
    #[garde(range(min = 0.0, max = 10.0), custom(finite))]
    pub specific_attenuation_db_m: f64,
    /// Attenuation of a very long path, dB, [0, 100].
    #[garde(range(min = 0.0, max = 100.0), custom(finite))]
    pub maximum_attenuation_db: f64,
}

/// Buildings and trees around an antenna.
///
/// Up to 3 GHz an antenna below their tops loses what ITU-R P.2108 section 3.1 has for the way down from
/// there; among buildings the statistical loss of section 3.2 counts above. Under a model with clutter along
/// its paths their height stands on the half of the path that is nearer to the station.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Surroundings {
    /// Not described: the clutter of the environment counts, where it has any.
    #[default]
    Unknown,
    /// Fields, water or rock: nothing above the antenna.
    Open,
    /// Trees of 12 m.
    Forest,
    /// Houses and gardens, 10 m.
    Suburban,
    /// Closed rows of buildings, 10 m in effect: with it ITU-R P.1812 fits the measured links of five cities
    /// best, better than with the 15 m of the Recommendation.
    Urban,
    /// High buildings, 15 m in effect.
    DenseUrban,
}

impl Surroundings {
    /// All surroundings, with their names in scenarios and tables.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::Unknown, "unknown"),
        (Self::Open, "open"),
        (Self::Forest, "forest"),
        (Self::Suburban, "suburban"),
        (Self::Urban, "urban"),
        (Self::DenseUrban, "dense_urban"),
    ];

    /// Name in scenarios and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(value, _)| *value == self);
        entry.map_or("", |(_, name)| name)
    }

    /// `true` if nothing is described.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// Height of buildings and trees, m above ground; `None` where it is unknown.
    #[must_use]
    pub const fn height_agl_m(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::Open => Some(0.0),
            Self::Forest => Some(12.0),
            Self::Suburban | Self::Urban => Some(10.0),
            Self::DenseUrban => Some(15.0),
        }
    }
}

impl From<CoverKind> for Surroundings {
    fn from(cover: CoverKind) -> Self {
        match cover {
            CoverKind::Unknown => Self::Unknown,
            CoverKind::Open => Self::Open,
            CoverKind::Forest => Self::Forest,
            CoverKind::Suburban => Self::Suburban,
            CoverKind::Urban => Self::Urban,
            CoverKind::DenseUrban => Self::DenseUrban,
        }
    }
}

/// Building around an antenna (ITU-R P.2109).
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Indoor {
    /// The antenna stands outdoors.
    #[default]
    Outdoors,
    /// A building with ordinary windows and walls.
    Traditional,
    /// A building with metallised glass or foil-backed panels.
    ThermallyEfficient,
}

impl Indoor {
    /// All kinds, with their names in scenarios and tables.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Outdoors, "outdoors"),
        (Self::Traditional, "traditional"),
        (Self::ThermallyEfficient, "thermally_efficient"),
    ];

    /// Name in scenarios and tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(value, _)| *value == self);
        entry.map_or("", |(_, name)| name)
    }

    /// `true` if the antenna stands outdoors.
    #[must_use]
    pub fn is_outdoors(&self) -> bool {
        *self == Self::Outdoors
    }

    /// Kind of the building; `None` outdoors.
    #[must_use]
    pub const fn building(self) -> Option<Building> {
        match self {
            Self::Outdoors => None,
            Self::Traditional => Some(Building::Traditional),
            Self::ThermallyEfficient => Some(Building::ThermallyEfficient),
        }
    }
}

/// Below a typical two- to three-storey roof line.
fn roof_height_m() -> f64 {
    10.0
}

/// The median.
fn half_percent() -> f64 {
    50.0
}
