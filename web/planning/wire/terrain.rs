//! Terrain profiles.

use groundwave_systems::terrain::{Profile, Terrain};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::http::strict::{saturating, whole_number};

/// Fewest samples of a terrain profile.
pub const SAMPLES_MIN: i64 = 2;
/// Most samples of a profile.
pub const SAMPLES_MAX: i64 = 4096;
/// Default number of samples.
pub const SAMPLES: i64 = 256;

/// Two points to look between.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileQuestion {
    /// Start.
    pub from: Place,
    /// Receiving node id.
    pub to: Place,
    /// Samples, clamped to [2, 4096].
    #[serde(default = "samples", deserialize_with = "saturating")]
    #[schemars(schema_with = "whole_number")]
    pub samples: i64,
}

/// 256.
pub(super) fn samples() -> i64 {
    SAMPLES
}

/// Terrain profile between two points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerrainProfile {
    /// Length of the geodesic, m (WGS84).
    pub total_distance_m: f64,
    /// Bearing at its start, clockwise from true north, deg, [0, 360).
    pub forward_azimuth_deg: f64,
    /// Bearing at its end back to its start, deg, [0, 360).
    pub back_azimuth_deg: f64,
    /// Samples whose height was interpolated across a void of a tile.
    pub void_samples: u32,
    /// Samples off every tile, taken as sea level.
    pub missing_samples: u32,
    /// Evenly spaced samples, both ends included.
    pub samples: Vec<TerrainSample>,
}

/// Sample of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerrainSample {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// From the start, m.
    pub distance_m: f64,
    /// Above mean sea level (EGM96), m.
    pub elevation_msl_m: f64,
    /// Above the WGS84 ellipsoid, m.
    pub elevation_hae_m: f64,
    /// True off every tile: the heights are assumed. Absent where the ground is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

impl TerrainProfile {
    /// A measured profile, whose points stand on `terrain`'s geoid.
    #[must_use]
    pub fn new(profile: &Profile, terrain: &dyn Terrain) -> Self {
        let sample = |(i, &elevation_msl_m): (usize, &f64)| {
            let point = profile.point(i)?;
            Some(TerrainSample {
                lat: point.lat_deg(),
                lon: point.lon_deg(),
                distance_m: i as f64 * profile.step_m,
                elevation_msl_m,
                elevation_hae_m: elevation_msl_m + terrain.undulation_m(point),
                missing: profile.missing.get(i).copied().unwrap_or(false),
            })
        };
        let heights = profile.elevation_msl_m.iter().enumerate();
        Self {
            total_distance_m: profile.distance_m,
            forward_azimuth_deg: profile.azimuth_deg,
            back_azimuth_deg: profile.back_azimuth_deg,
            void_samples: profile.terrain.void_samples,
            missing_samples: profile.terrain.missing_samples,
            samples: heights.filter_map(sample).collect(),
        }
    }
}
