//! Area mode: the terrain is known by its irregularity only.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use super::constants::Constants;
use super::invalid::within;
use super::medium::effective_curvature;
use super::path::{Path, smooth_horizon_m};
use super::profile::MAX_DISTANCE_M;
use super::quick_pfl::{typical_horizon_angle_rad, typical_horizon_m};
use super::{Invalid, Medium, Prediction, Quantile, Reference};

/// Greatest terrain irregularity in area mode, m; rugged mountains have 500 m.
pub const MAX_AREA_DELTA_H_M: f64 = 100e3;

/// With how much care an antenna is sited (TR 82-100 section 3.2). The discriminants are NTIA's
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Siting {
    /// Anywhere.
    Random = 0,
    /// On locally favourable ground, as far as convenient.
    Careful,
    /// On hilltops, to get the best signal.
    VeryCareful,
}

/// Two antennas a distance apart over statistically described terrain; pairs are transmitter,
/// receiver.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreaPath {
    /// Distance, km, above 0 to 20040.
    pub distance_km: f64,
    /// Terrain irregularity Δh, m, 0 to [`MAX_AREA_DELTA_H_M`]: the interdecile range of
    /// elevations (0 sea, 30 plains, 90 hills, 200 mountains, 500 rugged mountains).
    pub delta_h_m: f64,
    /// Structural antenna heights above ground, m, 0.5 to 3000.
    pub antenna_agl_m: [f64; 2],
    /// Siting of the antennas.
    pub siting: [Siting; 2],
}

/// The part of an area prediction that does not depend on the quantile.
///
/// # Errors
/// [`Invalid`], for the first input found outside its range, or where the ground is such that
/// the model does not apply.
pub fn area_reference(area: &AreaPath, medium: &Medium) -> Result<Reference, Invalid> {
    let warnings = medium.check(area.antenna_agl_m)?;
    let distance_m = area.distance_km * 1e3;
    within(distance_m, f64::MIN_POSITIVE, MAX_DISTANCE_M, Invalid::PathDistance)?;
    within(area.delta_h_m, 0.0, MAX_AREA_DELTA_H_M, Invalid::DeltaH)?;

    let n_s = medium.n_0;
    let earth_radius_m = 1.0 / effective_curvature(n_s);
    let mut path = Path {
        distance_m,
        antenna_agl_m: area.antenna_agl_m,
        effective_height_m: [0.0; 2],
        horizon_distance_m: [0.0; 2],
        horizon_angle_rad: [0.0; 2],
        delta_h_m: area.delta_h_m,
        n_s,
        earth_radius_m,
        point_to_point: false,
    };
    for end in 0..2 {
        let height_m =
            effective_height_m(area.antenna_agl_m[end], area.siting[end], area.delta_h_m);
        let smooth_m = smooth_horizon_m(height_m, earth_radius_m);
        let horizon_m = typical_horizon_m(height_m, smooth_m, area.delta_h_m);
        path.effective_height_m[end] = height_m;
        path.horizon_distance_m[end] = horizon_m;
        path.horizon_angle_rad[end] =
            typical_horizon_angle_rad(height_m, smooth_m, horizon_m, area.delta_h_m);
    }
    Reference::of(&path, &Constants::new(medium), warnings)
}

/// Basic transmission loss of an area path, not exceeded at `quantile`. See [`area_reference`],
/// which is the better choice for more than one quantile.
///
/// # Errors
/// As [`area_reference`].
pub fn area(area: &AreaPath, medium: &Medium, quantile: Quantile) -> Result<Prediction, Invalid> {
    Ok(area_reference(area, medium)?.predict(quantile))
}

/// Effective height, m, of an antenna sited with care (Algorithm eq. 3.2).
fn effective_height_m(antenna_agl_m: f64, siting: Siting, delta_h_m: f64) -> f64 {
    let mut gain_m = match siting {
        Siting::Random => return antenna_agl_m,
        Siting::Careful => 4.0,
        Siting::VeryCareful => 9.0,
    };
    if antenna_agl_m < 5.0 {
        gain_m *= libm::sin(0.1 * PI * antenna_agl_m);
    }
    let exponent = (2.0 * antenna_agl_m / delta_h_m.max(1e-3)).min(20.0);
    antenna_agl_m + (1.0 + gain_m) * libm::exp(-exponent)
}
