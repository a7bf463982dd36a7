//! Diffraction loss over rough terrain: smooth earth and knife edges, weighed by roughness.

use super::constants::Constants;
use super::path::{Path, Sight};
use super::roughness::{at_distance_m, sigma_h_m};
use super::smooth_earth::SmoothEarth;
use crate::numeric::{lesser, log10};

/// The diffraction loss of a path as a function of distance.
pub(super) struct Diffraction {
    smooth_earth: SmoothEarth,
    horizon_distance_m: [f64; 2],
    frequency_mhz: f64,
    delta_h_m: f64,
    earth_radius_m: f64,
    sight_sum_m: f64,
    sight_angle_rad: f64,
    /// Square root term of ERL 79-ITS 67 eq. 3.23.
    height_ratio: f64,
    /// Distance beyond the geometric horizon distances, m.
    obstruction_m: f64,
    clutter_db: f64,
}

impl Diffraction {
    #[inline(always)]
    pub fn new(path: &Path, sight: &Sight, of: &Constants) -> Self {
        let heights = path.antenna_agl_m[0] * path.antenna_agl_m[1];
        let effective = path.effective_height_m[0] * path.effective_height_m[1];
        // C, about 10 for low antennas on known paths (ERL 79-ITS 67 page 3-8).
        let softened = if path.point_to_point { heights + 10.0 } else { heights };

        // Clutter factor A_fo (ERL 79-ITS 67 eq. 3.38c), roughness taken at d_sML (page 3-13).
        let sigma_m = sigma_h_m(at_distance_m(path.delta_h_m, sight.smooth_sum_m));
        let clutter_db = 5.0 * log10(1.0 + 1e-5 * heights * of.frequency_mhz * sigma_m);

        Self {
            smooth_earth: SmoothEarth::new(path, sight, of),
            horizon_distance_m: path.horizon_distance_m,
            frequency_mhz: of.frequency_mhz,
            delta_h_m: path.delta_h_m,
            earth_radius_m: path.earth_radius_m,
            sight_sum_m: sight.sum_m,
            sight_angle_rad: sight.angle_rad,
            height_ratio: (1.0 + (effective - heights) / softened).sqrt(),
            obstruction_m: sight.sum_m - sight.angle_rad * path.earth_radius_m,
            clutter_db: lesser(clutter_db, 15.0),
        }
    }

    /// Loss at `distance_m`, beyond the horizons, dB.
    #[inline(always)]
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        // θ_nlos, rad (Algorithm eq. 4.12).
        let angle_rad = distance_m / self.earth_radius_m - self.sight_angle_rad;
        let knife_db = self.knife_edges_db(distance_m - self.sight_sum_m, angle_rad);
        let smooth_db = self.smooth_earth.loss_db(distance_m, angle_rad);

        // ERL 79-ITS 67 eq. 3.23.
        let rough_m = at_distance_m(self.delta_h_m, distance_m);
        let q = (self.height_ratio + self.obstruction_m / distance_m)
            * lesser(rough_m * self.frequency_mhz / 47.7, 6283.2);
        let weight = 25.1 / (25.1 + q.sqrt());
        weight * smooth_db + (1.0 - weight) * knife_db + self.clutter_db
    }

    /// Loss over two knife edges, one at each horizon (TN101 eqs I.1 and I.7), `beyond_m` apart
    /// and bending the path by `angle_rad` in all.
    #[inline(always)]
    fn knife_edges_db(&self, beyond_m: f64, angle_rad: f64) -> f64 {
        // 0.0795775 = 1 / (4 π).
        let scale = 0.079_577_5 * (self.frequency_mhz / 47.7) * (angle_rad * angle_rad) * beyond_m;
        let [tx_m, rx_m] = self.horizon_distance_m;
        knife_edge_db(scale * tx_m / (beyond_m + tx_m))
            + knife_edge_db(scale * rx_m / (beyond_m + rx_m))
    }
}

/// Loss over one ideal knife edge, dB, from the square of the diffraction parameter ν (TN101
/// eqs III.24b and III.24c; ERL 79-ITS 67 eq. 3.27).
#[inline(always)]
fn knife_edge_db(nu_squared: f64) -> f64 {
    let near_db = 6.02 + 9.11 * nu_squared.sqrt() - 1.27 * nu_squared;
    let far_db = 12.953 + 10.0 * log10(nu_squared);
    if nu_squared < 5.76 { near_db } else { far_db }
}

/// Loss as a straight line over distance.
pub(super) struct Line {
    pub slope_db_m: f64,
    pub intercept_db: f64,
}

impl Line {
    /// The line through `loss_a_db` at `a_m` and `loss_b_db` at `b_m`.
    #[inline(always)]
    pub fn through(a_m: f64, loss_a_db: f64, b_m: f64, loss_b_db: f64) -> Self {
        let slope_db_m = (loss_b_db - loss_a_db) / (b_m - a_m);
        Self { slope_db_m, intercept_db: loss_a_db - slope_db_m * a_m }
    }

    /// The loss at `distance_m`, dB.
    #[inline(always)]
    pub fn at_db(&self, distance_m: f64) -> f64 {
        self.slope_db_m * distance_m + self.intercept_db
    }
}
