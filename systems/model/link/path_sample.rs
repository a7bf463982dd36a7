//! Samples of a terrain profile with Earth bulge, ray and Fresnel zone.

use groundwave_propagation::free_space::wavelength_m;
use serde::Serialize;

use crate::radio::LinkResult;
use crate::radio::fresnel::first_radius_m;
use crate::terrain::{Profile, Terrain, earth_bulge_m};

/// A sample of a terrain profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PathSample {
    /// Distance from the start, m.
    pub distance_m: f64,
    /// Latitude, deg.
    pub lat_deg: f64,
    /// Longitude, deg, [-180, 180].
    pub lon_deg: f64,
    /// Height of the ground above mean sea level, m.
    pub elevation_msl_m: f64,
    /// Height of the ground above the ellipsoid, m; absent without a geoid.
    pub elevation_hae_m: Option<f64>,
    /// Height of buildings and trees, m above ground; absent where no land cover is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clutter_agl_m: Option<f64>,
    /// Rise of the Earth above the straight line between the ends, m.
    pub earth_bulge_m: f64,
    /// Height of the straight line between the antennas above mean sea level, m.
    pub ray_msl_m: f64,
    /// Radius of the first Fresnel zone, m; 0 at the ends.
    pub fresnel_radius_m: f64,
}

/// Samples of `profile`, over which `result` is the link from its start to its end.
#[must_use]
pub fn path_samples(
    profile: &Profile,
    result: &LinkResult,
    terrain: &dyn Terrain,
) -> Vec<PathSample> {
    let geometry = &result.geometry;
    let wavelength_m = wavelength_m(result.frequency_mhz);
    // The step of the profile is rounded for the models.
    let spacing_m = profile.distance_m / (profile.elevation_msl_m.len().max(2) - 1) as f64;
    let sample = |(i, &elevation_msl_m): (usize, &f64)| {
        let point = profile.point(i).expect("every sample has a position");
        let distance_m = i as f64 * spacing_m;
        let rest_m = (profile.distance_m - distance_m).max(0.0);
        let share = if profile.distance_m > 0.0 { distance_m / profile.distance_m } else { 0.0 };
        let rise_m = geometry.rx_antenna_msl_m - geometry.tx_antenna_msl_m;
        let radius_m = first_radius_m(wavelength_m, distance_m, rest_m);
        PathSample {
            distance_m,
            lat_deg: point.lat_deg(),
            lon_deg: point.lon_deg(),
            elevation_msl_m,
            elevation_hae_m: terrain
                .has_geoid()
                .then(|| elevation_msl_m + terrain.undulation_m(point)),
            clutter_agl_m: profile.clutter_at(share),
            earth_bulge_m: earth_bulge_m(distance_m, rest_m, geometry.k_factor),
            ray_msl_m: geometry.tx_antenna_msl_m + share * rise_m,
            fresnel_radius_m: if radius_m.is_finite() { radius_m } else { 0.0 },
        }
    };
    profile.elevation_msl_m.iter().enumerate().map(sample).collect()
}
