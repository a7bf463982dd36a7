//! What the model needs to know of a terrain profile (Algorithm function `qlrpfl`).

use super::PathProfile;
use super::fit::line_ends;
use super::horizons::horizons;
use super::longley_rice::Path;
use super::medium::{effective_curvature, surface_refractivity};
use super::roughness::{delta_h_m, interdecile_range_m};
use crate::numeric::{exp, greater, lesser};

/// What a profile says, before any formula is applied to it; pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    /// Length of the path, m.
    pub distance_m: f64,
    /// Surface refractivity at its mean height, N-units.
    pub n_s: f64,
    /// Radius of the effective earth, m.
    pub earth_radius_m: f64,
    /// Distances to the horizons, m.
    pub horizon_distance_m: [f64; 2],
    /// Elevation angles of the horizons, rad.
    pub horizon_angle_rad: [f64; 2],
    /// How far the ground at the ends stands out above the line fitted to the terrain, m.
    pub raised_m: [f64; 2],
    /// Interdecile range of the terrain about a line, m.
    pub range_m: f64,
    /// Length of the stretch it was taken over, m.
    pub extent_m: f64,
}

/// Takes what the model needs from `profile`, between antennas `antenna_agl_m` above ground and
/// under a refractivity of `n_0` at sea level.
#[inline(always)]
pub(super) fn measure(profile: &PathProfile, n_0: f64, antenna_agl_m: [f64; 2]) -> Measured {
    let n_s = surface_refractivity(n_0, profile.mean_msl_m());
    let earth_radius_m = 1.0 / effective_curvature(n_s);
    let distance_m = profile.distance_m();
    let seen = horizons(profile, earth_radius_m, antenna_agl_m);

    let skipped = [0, 1].map(|end| skipped_m(seen[end].distance_m, antenna_agl_m[end]));
    let (start_m, end_m) = (skipped[0], distance_m - skipped[1]);
    let elevation = profile.elevation_msl_m;
    let (start, end) = (start_m / profile.step_m, end_m / profile.step_m);
    let [near, far] = [seen[0].distance_m, seen[1].distance_m];
    let [fit_tx, fit_rx] = if is_well_in_sight(near + far, distance_m) {
        line_ends(elevation, start, end)
    } else {
        [
            line_ends(elevation, start, 0.9 * near / profile.step_m)[0],
            line_ends(elevation, (distance_m - 0.9 * far) / profile.step_m, end)[1],
        ]
    };
    Measured {
        distance_m,
        n_s,
        earth_radius_m,
        horizon_distance_m: [near, far],
        horizon_angle_rad: [seen[0].angle_rad, seen[1].angle_rad],
        // An antenna gains by ground that stands out above the fitted line.
        raised_m: [
            greater(elevation[0] - fit_tx, 0.0),
            greater(elevation[elevation.len() - 1] - fit_rx, 0.0),
        ],
        range_m: interdecile_range_m(profile, start_m, end_m),
        extent_m: end_m - start_m,
    }
}

/// Length next to a terminal whose terrain does not count, m: it counts from 15 antenna heights on
/// (TR 82-100 page 25), or from a tenth of the way to the horizon if that is nearer.
#[inline(always)]
pub(super) fn skipped_m(horizon_m: f64, antenna_agl_m: f64) -> f64 {
    lesser(0.1 * horizon_m, 15.0 * antenna_agl_m)
}

/// Whether the horizons, `sum_m` apart from their terminals in all, lie so far that the path is
/// taken as one in line of sight.
#[inline(always)]
fn is_well_in_sight(sum_m: f64, distance_m: f64) -> bool {
    sum_m > 1.5 * distance_m
}

impl Measured {
    /// The geometric parameters of the path.
    #[inline(always)]
    pub(super) fn path(&self, antenna_agl_m: [f64; 2]) -> Path {
        let [near, far] = self.horizon_distance_m;
        let raised = [
            antenna_agl_m[0] + self.raised_m[0],
            antenna_agl_m[1] + self.raised_m[1],
        ];
        let path = Path {
            distance_m: self.distance_m,
            antenna_agl_m,
            effective_height_m: raised,
            horizon_distance_m: self.horizon_distance_m,
            horizon_angle_rad: self.horizon_angle_rad,
            delta_h_m: delta_h_m(self.range_m, self.extent_m),
            n_s: self.n_s,
            earth_radius_m: self.earth_radius_m,
            point_to_point: true,
        };
        if is_well_in_sight(near + far, self.distance_m) {
            path.with_smooth_horizons()
        } else {
            path
        }
    }
}

impl Path {
    /// The same with its horizons, none of which were met, replaced by typical ones beyond its
    /// ends (Algorithm eqs 3.3 and 3.4), and with effective heights raised if those horizons fell
    /// short of the path.
    #[inline(always)]
    fn with_smooth_horizons(mut self) -> Self {
        let [near, far] = self.typical_horizons_m();
        let combined_m = near + far;
        let short = if combined_m <= self.distance_m {
            self.distance_m / combined_m
        } else {
            1.0
        };
        self.effective_height_m[0] *= short * short;
        self.effective_height_m[1] *= short * short;
        self.horizon_distance_m = self.typical_horizons_m();
        self.horizon_angle_rad = [self.typical_angle_rad(0), self.typical_angle_rad(1)];
        self
    }

    #[inline(always)]
    fn typical_angle_rad(&self, end: usize) -> f64 {
        typical_horizon_angle_rad(
            self.effective_height_m[end],
            smooth_horizon_m(self.effective_height_m[end], self.earth_radius_m),
            self.horizon_distance_m[end],
            self.delta_h_m,
        )
    }

    #[inline(always)]
    fn typical_horizons_m(&self) -> [f64; 2] {
        let of = |height_m: f64| {
            let smooth_m = smooth_horizon_m(height_m, self.earth_radius_m);
            typical_horizon_m(height_m, smooth_m, self.delta_h_m)
        };
        [
            of(self.effective_height_m[0]),
            of(self.effective_height_m[1]),
        ]
    }
}

/// Horizon distance over a smooth earth, m, from `height_m`.
#[inline(always)]
pub(super) fn smooth_horizon_m(height_m: f64, earth_radius_m: f64) -> f64 {
    (2.0 * height_m * earth_radius_m).sqrt()
}

/// Horizon distance over terrain of irregularity `delta_h_m`, m (Algorithm eq. 3.3).
#[inline(always)]
pub(super) fn typical_horizon_m(height_m: f64, smooth_m: f64, delta_h_m: f64) -> f64 {
    smooth_m * exp(-0.07 * (delta_h_m / greater(height_m, 5.0)).sqrt())
}

/// Horizon angle that goes with that distance, rad (Algorithm eq. 3.4).
#[inline(always)]
pub(super) fn typical_horizon_angle_rad(
    height_m: f64,
    smooth_m: f64,
    horizon_m: f64,
    delta_h_m: f64,
) -> f64 {
    (0.65 * delta_h_m * (smooth_m / horizon_m - 1.0) - 2.0 * height_m) / smooth_m
}
