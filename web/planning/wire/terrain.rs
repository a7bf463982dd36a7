//! Terrain profiles.

use groundwave_http::strict::{saturating, whole_number};
use groundwave_model::radio::Surroundings;
use groundwave_model::terrain::{
    CoverKind, GeoPoint, HeightSource, KnownGround, Posts, Profile, Terrain, WEB_ZOOM,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Place;

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
    /// End.
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
    /// Above the WGS84 ellipsoid, m; null without a geoid.
    pub elevation_hae_m: Option<f64>,
    /// Buildings and trees above ground, m; absent where no land cover is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clutter_agl_m: Option<f64>,
    /// Kind of this land cover; absent where none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub land_cover: Option<Surroundings>,
    /// True off every tile: the heights are assumed. Absent where the ground is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
}

/// Height above the ellipsoid, m; `None` without a geoid.
fn hae_m(terrain: &dyn Terrain, at: GeoPoint, elevation_msl_m: f64) -> Option<f64> {
    terrain.has_geoid().then(|| elevation_msl_m + terrain.undulation_m(at))
}

impl TerrainProfile {
    /// A measured profile, whose points stand on `terrain`'s geoid.
    #[must_use]
    pub fn new(profile: &Profile, terrain: &dyn Terrain) -> Self {
        // The step of the profile is rounded for the models.
        let spacing_m = profile.distance_m / (profile.elevation_msl_m.len().max(2) - 1) as f64;
        let sample = |(i, &elevation_msl_m): (usize, &f64)| {
            let point = profile.point(i)?;
            let share = i as f64 * spacing_m / profile.distance_m;
            Some(TerrainSample {
                lat: point.lat_deg(),
                lon: point.lon_deg(),
                distance_m: i as f64 * spacing_m,
                elevation_msl_m,
                elevation_hae_m: hae_m(terrain, point, elevation_msl_m),
                clutter_agl_m: profile.clutter_at(share),
                land_cover: profile.cover_at(share).map(Surroundings::from),
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

/// Point whose height is asked for.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ElevationQuestion {
    /// Degrees north
    #[param(minimum = -90, maximum = 90)]
    pub lat: f64,
    /// Degrees east
    #[param(minimum = -180, maximum = 180)]
    pub lon: f64,
}

/// Options of a square of heights.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct TileOptions {
    /// Unknown ground goes on at the nearest known height
    pub opaque: Option<bool>,
}

/// Options of a square of relief.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ReliefOptions {
    /// More than the light, in channels of its own
    pub detail: Option<ReliefDetail>,
}

/// Channels of a square of relief besides the light.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReliefDetail {
    /// Heights.
    Heights,
    /// Heights and contour lines.
    Contours,
}

/// Height of the ground at a point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointElevation {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Above mean sea level (EGM96), m; null where it is not known.
    pub elevation_msl_m: Option<f64>,
    /// Above the WGS84 ellipsoid, m; null where it is not known.
    pub elevation_hae_m: Option<f64>,
    /// Spacing of the posts, arc-seconds; null off every tile.
    pub resolution_arcsec: Option<f64>,
    /// Buildings and trees above ground, m; absent where no land cover is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clutter_agl_m: Option<f64>,
    /// Kind of this land cover; absent where none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub land_cover: Option<Surroundings>,
}

impl PointElevation {
    /// The height at a point of `terrain`.
    #[must_use]
    pub fn new(at: GeoPoint, terrain: &dyn Terrain) -> Self {
        // Only ground that is known: where it is assumed, the sample counts as missing.
        let mut height_m = [f64::NAN];
        let used = terrain.sample(&[at.lat_deg()], &[at.lon_deg()], &mut height_m);
        let known = height_m[0].is_finite() && used.missing_samples == 0;
        let elevation_msl_m = known.then_some(height_m[0]);
        let cover = terrain.land_cover(at).filter(|cover| cover.kind != CoverKind::Unknown);
        Self {
            lat: at.lat_deg(),
            lon: at.lon_deg(),
            elevation_msl_m,
            elevation_hae_m: elevation_msl_m.and_then(|m| hae_m(terrain, at, m)),
            resolution_arcsec: terrain.resolution_arcsec(at),
            clutter_agl_m: cover.map(|cover| f64::from(cover.height_agl_m)),
            land_cover: cover.map(|cover| cover.kind.into()),
        }
    }
}

/// Known ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TerrainArea {
    /// Source of the terrain in one line.
    pub source: String,
    /// True if heights above the ellipsoid come from a geoid.
    pub has_geoid: bool,
    /// Least zoom of the squares.
    pub zoom_min: u8,
    /// Largest zoom of the squares.
    pub zoom_max: u8,
    /// Rectangles of known ground, from the south; empty where nothing is known.
    pub areas: Vec<KnownArea>,
    /// Data sets behind it, with ground, vertical datum, licence and attribution.
    #[serde(default)]
    pub sources: Vec<HeightSource>,
    /// Height between posts.
    #[serde(default)]
    pub posts: Posts,
}

/// Rectangle of known ground.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownArea {
    /// Latitude of the southern edge, degrees.
    pub south: f64,
    /// Longitude of the western edge, degrees.
    pub west: f64,
    /// Latitude of the northern edge, degrees.
    pub north: f64,
    /// Longitude of the eastern edge, degrees.
    pub east: f64,
    /// Spacing of the posts, arc-seconds; null for ground that is said to be flat.
    pub resolution_arcsec: Option<f64>,
    /// Source of the heights.
    pub source: String,
}

impl TerrainArea {
    /// Known ground of `terrain`.
    #[must_use]
    pub fn new(terrain: &dyn Terrain) -> Self {
        let source = terrain.describe();
        let area = |known: KnownGround| KnownArea {
            south: known.south_west.lat_deg(),
            west: known.south_west.lon_deg(),
            north: known.north_east.lat_deg(),
            east: known.north_east.lon_deg(),
            resolution_arcsec: known.resolution_arcsec,
            source: known.source,
        };
        let [zoom_min, zoom_max] = WEB_ZOOM;
        Self {
            source: source.name,
            has_geoid: source.has_geoid,
            zoom_min,
            zoom_max,
            areas: terrain.known_ground().into_iter().map(area).collect(),
            sources: source.sources,
            posts: source.posts,
        }
    }
}
