//! Diffraction over a smooth earth by Vogler's three-radii method (Vogler 1964; TN101 section
//! 8.2; Algorithm eqs 4.12 to 4.20).

use super::longley_rice::{Path, Sight};

/// 4/3 of the actual earth's radius, m.
const FOUR_THIRDS_EARTH_M: f64 = 4.0 / 3.0 * 6370e3;

/// The parts of the loss that do not depend on distance.
pub(super) struct SmoothEarth {
    sight_sum_m: f64,
    /// f^(1/3), MHz^(1/3).
    frequency_root: f64,
    /// K / C_0 of every radius (Vogler 1964 eqs 6a and 7a).
    k_per_c: f64,
    /// Sum of the normalised distances from the terminals to their horizons.
    x_horizons: f64,
    /// Sum of the terminals' height functions, dB.
    height_gain_db: f64,
}

impl SmoothEarth {
    pub fn new(path: &Path, sight: &Sight) -> Self {
        let frequency_root = path.frequency_mhz.cbrt();
        let mut earth = Self {
            sight_sum_m: sight.sum_m,
            frequency_root,
            k_per_c: 0.017_778 / (frequency_root * path.impedance.norm()),
            x_horizons: 0.0,
            height_gain_db: 0.0,
        };
        for end in 0..2 {
            // The radius that puts the horizon where it is (Vogler 1964 eq. 3, rearranged).
            let horizon_m = path.horizon_distance_m[end];
            let radius_m = 0.5 * horizon_m * horizon_m / path.effective_height_m[end];
            let (x, k) = earth.normalised(radius_m, horizon_m);
            earth.x_horizons += x;
            earth.height_gain_db += height_function_db(x, k);
        }
        earth
    }

    /// Loss at `distance_m`, dB, `angle_rad` beyond the angle of the line-of-sight region.
    pub fn loss_db(&self, distance_m: f64, angle_rad: f64) -> f64 {
        let beyond_m = distance_m - self.sight_sum_m;
        let (beyond, _) = self.normalised(beyond_m / angle_rad, beyond_m);
        let x = beyond + self.x_horizons;
        // Not a number where the x is negative: K above 1.607 puts a path outside the method.
        let distance_function_db = 0.057_51 * x - 10.0 * x.log10(); // TN101 eq. 8.4
        distance_function_db - self.height_gain_db - 20.0 // Algorithm eq. 4.20
    }

    /// Normalised distance x and ground parameter K on an earth of `radius_m` (Vogler 1964
    /// eqs 2, 6a, 7a and figure 4).
    fn normalised(&self, radius_m: f64, distance_m: f64) -> (f64, f64) {
        let c_0 = (FOUR_THIRDS_EARTH_M / radius_m).cbrt();
        let k = self.k_per_c * c_0;
        let x = (1.607 - k) * c_0 * c_0 * self.frequency_root * (distance_m / 1e3);
        (x, k)
    }
}

/// Height function F(x, K), dB (Vogler 1964; Algorithm eqs 6.4 to 6.7).
fn height_function_db(x: f64, k: f64) -> f64 {
    if x < 200.0 {
        let w = -k.ln();
        if k >= 1e-5 && x * w * w * w <= 5495.0 {
            2.5e-5 * x * x / k - 8.686 * w - 15.0
        } else if x > 1.0 {
            17.372 * x.ln() - 117.0
        } else {
            -117.0
        }
    } else {
        let far_db = 0.057_51 * x - 4.343 * x.ln();
        if x >= 2000.0 {
            return far_db;
        }
        let w = 0.0134 * x * (-0.005 * x).exp();
        (1.0 - w) * far_db + w * (17.372 * x.ln() - 117.0)
    }
}
