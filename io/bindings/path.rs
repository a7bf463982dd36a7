//! Samples of a profile with Earth bulge, ray and Fresnel zone.

use groundwave_model::link::path_samples;
use groundwave_model::terrain::Terrain;
use serde::Serialize;

use crate::Invalid;
use crate::link::LinkRequest;

/// Names of the columns of [`PathAnswer`], in their order.
pub const COLUMNS: [&str; 9] = [
    "distance_m",
    "lat_deg",
    "lon_deg",
    "elevation_msl_m",
    "elevation_hae_m",
    "clutter_agl_m",
    "earth_bulge_m",
    "ray_msl_m",
    "fresnel_radius_m",
];

/// A profile.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathAnswer {
    /// Length of the path, m.
    pub distance_m: f64,
    /// Bearing at the start, clockwise from true north, deg.
    pub azimuth_deg: f64,
    /// Bearing at the end back to the start, deg.
    pub back_azimuth_deg: f64,
    /// Number of samples.
    pub samples: usize,
    /// Samples in voids of the terrain, interpolated.
    pub void_samples: u32,
    /// Samples off the terrain, taken as sea level.
    pub missing_samples: u32,
    /// Names of the columns.
    pub columns: [&'static str; 9],
    /// Columns one after the other, each with a value per sample; NaN where a height or land cover is unknown.
    #[serde(skip)]
    pub values: Vec<f64>,
}

/// Samples along the path of a request, from its first end to its second.
///
/// # Errors
/// The first value out of its range.
pub fn path(request: &LinkRequest, terrain: &dyn Terrain) -> Result<PathAnswer, Invalid> {
    let checked = request.check()?;
    let profile = checked.trace(terrain);
    let [forward, _] = checked.judge(terrain, &profile)?;
    let samples = path_samples(&profile, &forward, terrain);
    let mut values = Vec::with_capacity(COLUMNS.len() * samples.len());
    values.extend(samples.iter().map(|sample| sample.distance_m));
    values.extend(samples.iter().map(|sample| sample.lat_deg));
    values.extend(samples.iter().map(|sample| sample.lon_deg));
    values.extend(samples.iter().map(|sample| sample.elevation_msl_m));
    values.extend(samples.iter().map(|sample| sample.elevation_hae_m.unwrap_or(f64::NAN)));
    values.extend(samples.iter().map(|sample| sample.clutter_agl_m.unwrap_or(f64::NAN)));
    values.extend(samples.iter().map(|sample| sample.earth_bulge_m));
    values.extend(samples.iter().map(|sample| sample.ray_msl_m));
    values.extend(samples.iter().map(|sample| sample.fresnel_radius_m));
    Ok(PathAnswer {
        distance_m: profile.distance_m,
        azimuth_deg: profile.azimuth_deg,
        back_azimuth_deg: profile.back_azimuth_deg,
        samples: samples.len(),
        void_samples: profile.terrain.void_samples,
        missing_samples: profile.terrain.missing_samples,
        columns: COLUMNS,
        values,
    })
}
