//! What the model needs to know of a terrain profile (Algorithm function `qlrpfl`).

use super::PathProfile;
use super::fit::line_ends;
use super::horizons::horizons;
use super::roughness::delta_h_m;

/// A profile reduced to the model's geometric parameters; pairs are transmitter, receiver.
pub(super) struct Geometry {
    pub horizon_angle_rad: [f64; 2],
    pub horizon_distance_m: [f64; 2],
    pub effective_height_m: [f64; 2],
    pub delta_h_m: f64,
}

/// Horizons, effective heights and irregularity of `profile` between antennas `antenna_agl_m`
/// above ground, on an earth of effective radius `earth_radius_m`.
pub(super) fn geometry(
    profile: &PathProfile,
    earth_radius_m: f64,
    antenna_agl_m: [f64; 2],
) -> Geometry {
    let distance_m = profile.distance_m();
    let seen = horizons(profile, earth_radius_m, antenna_agl_m);

    // Terrain counts from 15 antenna heights on (TR 82-100 page 25), or from a tenth of the way
    // to the horizon if that is nearer.
    let skipped = [0, 1].map(|end| (15.0 * antenna_agl_m[end]).min(0.1 * seen[end].distance_m));
    let (start_m, end_m) = (skipped[0], distance_m - skipped[1]);

    let mut path = Geometry {
        horizon_angle_rad: seen.map(|horizon| horizon.angle_rad),
        horizon_distance_m: seen.map(|horizon| horizon.distance_m),
        effective_height_m: antenna_agl_m,
        delta_h_m: delta_h_m(profile, start_m, end_m),
    };
    let elevation = profile.elevation_msl_m;
    let fit = |from_m: f64, to_m: f64| {
        line_ends(elevation, from_m / profile.step_m, to_m / profile.step_m)
    };
    let [near, far] = path.horizon_distance_m;
    let line_of_sight = near + far > 1.5 * distance_m;
    let [fit_tx, fit_rx] = if line_of_sight {
        fit(start_m, end_m)
    } else {
        [
            fit(start_m, 0.9 * near)[0],
            fit(distance_m - 0.9 * far, end_m)[1],
        ]
    };
    // An antenna gains by ground that stands out above the fitted line.
    path.effective_height_m[0] += (elevation[0] - fit_tx).max(0.0);
    path.effective_height_m[1] += (elevation[elevation.len() - 1] - fit_rx).max(0.0);

    if line_of_sight {
        path.assume_smooth_horizons(distance_m, earth_radius_m);
    }
    path
}

impl Geometry {
    /// Replaces the horizons of a path well within line of sight, where none were met, by
    /// typical ones beyond its ends (Algorithm eqs 3.3 and 3.4), raising the effective heights
    /// if those horizons fell short of the path.
    fn assume_smooth_horizons(&mut self, distance_m: f64, earth_radius_m: f64) {
        self.horizon_distance_m = self.typical_horizons_m(earth_radius_m);
        let combined_m = self.horizon_distance_m[0] + self.horizon_distance_m[1];
        if combined_m <= distance_m {
            let short = distance_m / combined_m;
            self.effective_height_m = self.effective_height_m.map(|h| h * (short * short));
            self.horizon_distance_m = self.typical_horizons_m(earth_radius_m);
        }
        for end in 0..2 {
            self.horizon_angle_rad[end] = typical_horizon_angle_rad(
                self.effective_height_m[end],
                smooth_horizon_m(self.effective_height_m[end], earth_radius_m),
                self.horizon_distance_m[end],
                self.delta_h_m,
            );
        }
    }

    fn typical_horizons_m(&self, earth_radius_m: f64) -> [f64; 2] {
        self.effective_height_m.map(|height_m| {
            let smooth_m = smooth_horizon_m(height_m, earth_radius_m);
            typical_horizon_m(height_m, smooth_m, self.delta_h_m)
        })
    }
}

/// Horizon distance over a smooth earth, m, from `height_m`.
pub(super) fn smooth_horizon_m(height_m: f64, earth_radius_m: f64) -> f64 {
    (2.0 * height_m * earth_radius_m).sqrt()
}

/// Horizon distance over terrain of irregularity `delta_h_m`, m (Algorithm eq. 3.3).
pub(super) fn typical_horizon_m(height_m: f64, smooth_m: f64, delta_h_m: f64) -> f64 {
    smooth_m * (-0.07 * (delta_h_m / height_m.max(5.0)).sqrt()).exp()
}

/// Horizon angle that goes with that distance, rad (Algorithm eq. 3.4).
pub(super) fn typical_horizon_angle_rad(
    height_m: f64,
    smooth_m: f64,
    horizon_m: f64,
    delta_h_m: f64,
) -> f64 {
    (0.65 * delta_h_m * (smooth_m / horizon_m - 1.0) - 2.0 * height_m) / smooth_m
}
