//! Parameters of one path, and its distances beyond and within the horizons.

use super::constants::Constants;
use crate::numeric::{cbrt, greater, lesser};

/// All the reference attenuation depends on besides the medium; pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    pub distance_m: f64,
    /// Structural heights.
    pub antenna_agl_m: [f64; 2],
    pub effective_height_m: [f64; 2],
    pub horizon_distance_m: [f64; 2],
    pub horizon_angle_rad: [f64; 2],
    pub delta_h_m: f64,
    /// Surface refractivity, N-units.
    pub n_s: f64,
    /// Radius of the effective earth.
    pub earth_radius_m: f64,
    /// True if the terrain is a known profile rather than a statistic.
    pub point_to_point: bool,
}

/// Range of line of sight.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    /// Smooth-earth horizon distance of each terminal.
    pub smooth_m: [f64; 2],
    /// d_sML: over a smooth earth.
    pub smooth_sum_m: f64,
    /// d_ML: over this terrain.
    pub sum_m: f64,
    /// θ_los: angular distance of the line-of-sight region, rad (Algorithm eq. 4.8).
    pub angle_rad: f64,
}

impl Sight {
    #[inline(always)]
    pub fn new(path: &Path) -> Self {
        let smooth_m = [
            smooth_horizon_m(path.effective_height_m[0], path.earth_radius_m),
            smooth_horizon_m(path.effective_height_m[1], path.earth_radius_m),
        ];
        let sum_m = path.horizon_distance_m[0] + path.horizon_distance_m[1];
        let angles = path.horizon_angle_rad[0] + path.horizon_angle_rad[1];
        Self {
            smooth_m,
            smooth_sum_m: smooth_m[0] + smooth_m[1],
            sum_m,
            angle_rad: -greater(angles, -sum_m / path.earth_radius_m),
        }
    }

    /// True if all of `path` lies within the smooth-earth horizons.
    #[inline(always)]
    pub fn reaches(&self, path: &Path) -> bool {
        path.distance_m < self.smooth_sum_m
    }

    /// True if `path` is so long that troposcatter may dominate.
    #[inline(always)]
    pub fn scatters(&self, path: &Path, of: &Constants) -> bool {
        path.distance_m > self.least_scatter_m(path, of)
    }

    /// The nearest that the range of troposcatter begins, m.
    #[inline(always)]
    pub fn least_scatter_m(&self, path: &Path, of: &Constants) -> f64 {
        let least_m = self.sum_m + 1.088 * self.scale_m(path, of) * of.frequency_ln;
        greater(least_m, self.smooth_sum_m)
    }

    /// The scale of distances beyond the horizons, m.
    #[inline(always)]
    pub fn scale_m(&self, path: &Path, of: &Constants) -> f64 {
        cbrt(path.earth_radius_m * path.earth_radius_m / of.frequency_mhz)
    }
}

/// Length next to a terminal whose terrain does not count, m: it counts from 15 antenna heights on
/// (TR 82-100 page 25), or from a tenth of the way to the horizon if that is nearer.
#[inline(always)]
pub(super) fn skipped_m(horizon_m: f64, antenna_agl_m: f64) -> f64 {
    lesser(0.1 * horizon_m, 15.0 * antenna_agl_m)
}

/// Horizon distance over a smooth earth, m, from `height_m`.
#[inline(always)]
pub(super) fn smooth_horizon_m(height_m: f64, earth_radius_m: f64) -> f64 {
    (2.0 * height_m * earth_radius_m).sqrt()
}
