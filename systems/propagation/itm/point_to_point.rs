//! Point-to-point mode: the terrain between the antennas is known.

use super::longley_rice::Path;
use super::medium::effective_curvature;
use super::quick_pfl::geometry;
use super::{Invalid, Medium, PathProfile, Prediction, Quantile, Reference};

/// The part of a point-to-point prediction that does not depend on the quantile.
///
/// Antenna heights are above ground, m, 0.5 to 3000. The work is linear in the number of
/// profile points; nothing is allocated.
///
/// # Errors
/// [`Invalid`], for the first input found outside its range, or where the terrain is so high or
/// the ground such that the model does not apply.
pub fn reference(
    profile: &PathProfile,
    h_tx_agl_m: f64,
    h_rx_agl_m: f64,
    medium: &Medium,
) -> Result<Reference, Invalid> {
    let antenna_agl_m = [h_tx_agl_m, h_rx_agl_m];
    let warnings = medium.check(antenna_agl_m)?;
    profile.check()?;

    let n_s = medium.surface_refractivity(profile.mean_msl_m());
    let earth_radius_m = 1.0 / effective_curvature(n_s);
    let geometry = geometry(profile, earth_radius_m, antenna_agl_m);
    let path = Path {
        distance_m: profile.distance_m(),
        antenna_agl_m,
        effective_height_m: geometry.effective_height_m,
        horizon_distance_m: geometry.horizon_distance_m,
        horizon_angle_rad: geometry.horizon_angle_rad,
        delta_h_m: geometry.delta_h_m,
        n_s,
        earth_radius_m,
        frequency_mhz: medium.frequency_mhz,
        impedance: medium.ground_impedance(),
        point_to_point: true,
    };
    Reference::of(&path, medium, warnings)
}

/// Basic transmission loss over a known terrain profile, not exceeded at `quantile`. See
/// [`reference()`], which is the better choice for more than one quantile.
///
/// # Errors
/// As [`reference()`].
pub fn point_to_point(
    profile: &PathProfile,
    h_tx_agl_m: f64,
    h_rx_agl_m: f64,
    medium: &Medium,
    quantile: Quantile,
) -> Result<Prediction, Invalid> {
    Ok(reference(profile, h_tx_agl_m, h_rx_agl_m, medium)?.predict(quantile))
}
