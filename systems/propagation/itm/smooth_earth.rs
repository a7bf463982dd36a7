//! Diffraction over a smooth earth by Vogler's three-radii method (Vogler 1964; TN101 section
//! 8.2; Algorithm eqs 4.12 to 4.20).

use super::constants::Constants;
use super::path::{Path, Sight};
use crate::numeric::{cbrt, exp, ln, log10};

/// 4/3 of the actual earth's radius, m.
const FOUR_THIRDS_EARTH_M: f64 = 4.0 / 3.0 * 6370e3;

/// The parts of the loss that do not depend on distance.
pub(super) struct SmoothEarth {
    sight_sum_m: f64,
    frequency_root: f64,
    k_per_c: f64,
    /// Sum of the normalised distances from the terminals to their horizons.
    x_horizons: f64,
    /// Sum of the terminals' height functions, dB.
    height_gain_db: f64,
}

impl SmoothEarth {
    #[inline(always)]
    pub fn new(path: &Path, sight: &Sight, of: &Constants) -> Self {
        let mut earth = Self {
            sight_sum_m: sight.sum_m,
            frequency_root: of.frequency_root,
            k_per_c: of.k_per_c,
            x_horizons: 0.0,
            height_gain_db: 0.0,
        };
        earth.add(path.horizon_distance_m[0], path.effective_height_m[0]);
        earth.add(path.horizon_distance_m[1], path.effective_height_m[1]);
        earth
    }

    /// Adds what a terminal contributes. On its own radius of the earth its horizon lies where it
    /// is (Vogler 1964 eq. 3, rearranged).
    #[inline(always)]
    fn add(&mut self, horizon_m: f64, effective_height_m: f64) {
        let radius_m = 0.5 * horizon_m * horizon_m / effective_height_m;
        let (x, k) = self.normalised(radius_m, horizon_m);
        self.x_horizons += x;
        self.height_gain_db += height_function_db(x, k);
    }

    /// Loss at `distance_m`, dB, `angle_rad` beyond the angle of the line-of-sight region.
    #[inline(always)]
    pub fn loss_db(&self, distance_m: f64, angle_rad: f64) -> f64 {
        let beyond_m = distance_m - self.sight_sum_m;
        let (beyond, _) = self.normalised(beyond_m / angle_rad, beyond_m);
        let x = beyond + self.x_horizons;
        // Not a number where the x is negative: K above 1.607 puts a path outside the method.
        let distance_function_db = 0.057_51 * x - 10.0 * log10(x); // TN101 eq. 8.4
        distance_function_db - self.height_gain_db - 20.0 // Algorithm eq. 4.20
    }

    /// Normalised distance x and ground parameter K on an earth of `radius_m` (Vogler 1964
    /// eqs 2, 6a, 7a and figure 4).
    #[inline(always)]
    fn normalised(&self, radius_m: f64, distance_m: f64) -> (f64, f64) {
        let c_0 = cbrt(FOUR_THIRDS_EARTH_M / radius_m);
        let k = self.k_per_c * c_0;
        let x = (1.607 - k) * c_0 * c_0 * self.frequency_root * (distance_m / 1e3);
        (x, k)
    }
}

/// Height function F(x, K), dB (Vogler 1964; Algorithm eqs 6.4 to 6.7).
#[inline(always)]
fn height_function_db(x: f64, k: f64) -> f64 {
    let ln_x = ln(x);
    let w = -ln(k);
    let low_db = 2.5e-5 * x * x / k - 8.686 * w - 15.0;
    let rising_db = 17.372 * ln_x - 117.0;
    let far_db = 0.057_51 * x - 4.343 * ln_x;
    let share = 0.0134 * x * exp(-0.005 * x);
    let blend_db = (1.0 - share) * far_db + share * rising_db;

    let is_low = (k >= 1e-5) & (x * w * w * w <= 5495.0);
    let near_db = if x > 1.0 { rising_db } else { -117.0 };
    let near_db = if is_low { low_db } else { near_db };
    let beyond_db = if x >= 2000.0 { far_db } else { blend_db };
    if x < 200.0 { near_db } else { beyond_db }
}
