//! Loss in the line-of-sight region: two rays, blended with extended diffraction.

use std::f64::consts::{FRAC_PI_2, PI};

use super::constants::Constants;
use super::diffraction::Line;
use super::medium::Complex;
use super::path::{Path, Sight};
use super::roughness::{at_distance_m, sigma_h_m};
use crate::numeric::{exp, greater, lesser, log10, sin_cos};

/// The line-of-sight loss of a path as a function of distance.
pub(super) struct TwoRay<'a> {
    effective_height_m: [f64; 2],
    delta_h_m: f64,
    /// Weight of the two-ray loss against that of diffraction.
    weight: f64,
    diffraction: &'a Line,
    of: &'a Constants,
}

impl<'a> TwoRay<'a> {
    #[inline(always)]
    pub fn new(path: &Path, sight: &Sight, diffraction: &'a Line, of: &'a Constants) -> Self {
        let extent_m = greater(sight.smooth_sum_m, 10e3);
        Self {
            effective_height_m: path.effective_height_m,
            delta_h_m: path.delta_h_m,
            weight: 1.0 / (1.0 + of.frequency_mhz * path.delta_h_m / extent_m),
            diffraction,
            of,
        }
    }

    /// Loss at `distance_m`, dB.
    #[inline(always)]
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        let extended_db = self.diffraction.at_db(distance_m);
        self.weight * self.two_ray_db(distance_m) + (1.0 - self.weight) * extended_db
    }

    #[inline(always)]
    fn two_ray_db(&self, distance_m: f64) -> f64 {
        let [tx_m, rx_m] = self.effective_height_m;
        let sum_m = tx_m + rx_m;
        // Algorithm eq. 4.46.
        let sin_psi = sum_m / (distance_m * distance_m + sum_m * sum_m).sqrt();
        let reflected = self.reflection(sin_psi, distance_m);

        // Phase difference of the rays, rad (Algorithm eqs 4.49 and 4.50).
        let phase = self.of.wavenumber * 2.0 * tx_m * rx_m / distance_m;
        let bent = PI - FRAC_PI_2 * FRAC_PI_2 / phase;
        let (sin, cos) = sin_cos(if phase > FRAC_PI_2 { bent } else { phase });
        let received = Complex { re: cos + reflected.re, im: reflected.im - sin };
        -10.0 * log10(received.norm_squared())
    }

    /// Effective reflection coefficient of the ground at grazing angle ψ (Algorithm eqs 4.47
    /// and 4.48), not let fall below what a rough ground still sends on.
    #[inline(always)]
    fn reflection(&self, sin_psi: f64, distance_m: f64) -> Complex {
        let rough_m = sigma_h_m(at_distance_m(self.delta_h_m, distance_m));
        let scattered = lesser(self.of.wavenumber * rough_m * sin_psi, 10.0);
        let Complex { re, im } = self.of.impedance;
        let below = Complex { re: sin_psi - re, im: -im };
        let above = Complex { re: sin_psi + re, im };
        let coefficient = (below / above).scaled(exp(-scattered));
        let power = coefficient.norm_squared();
        let raised = (sin_psi / power).sqrt();
        let weak = (power < 0.25) | (power < sin_psi);
        coefficient.scaled(if weak { raised } else { 1.0 })
    }
}
