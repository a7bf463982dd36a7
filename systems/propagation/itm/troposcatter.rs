//! Troposcatter loss (TN101 chapter 9; Algorithm eqs 4.60 to 4.67 and 6.8 to 6.14).

use std::f64::consts::SQRT_2;

use super::constants::Constants;
use super::path::{Path, Sight};
use crate::numeric::{exp, greater, lesser, log10};

/// The troposcatter loss of a path as a function of distance.
pub(super) struct Troposcatter<'a> {
    path: &'a Path,
    sight_angle_rad: f64,
    wavenumber: f64,
    /// Difference of the horizon distances, m.
    asymmetry_m: f64,
    /// Effective height at the nearer horizon over that at the farther.
    height_ratio: f64,
}

/// Losses at two distances, dB; they mean nothing where the model gives no finite loss at the
/// nearer.
pub struct Losses {
    pub near_db: f64,
    pub far_db: f64,
    pub defined: bool,
}

/// A frequency gain function, dB, unless "not defined (or is infinite)" (Algorithm page 11).
struct Gain {
    db: f64,
    defined: bool,
}

impl<'a> Troposcatter<'a> {
    #[inline(always)]
    pub fn new(path: &'a Path, sight: &Sight, of: &Constants) -> Self {
        let difference_m = path.horizon_distance_m[0] - path.horizon_distance_m[1];
        let ratio = path.effective_height_m[1] / path.effective_height_m[0];
        Self {
            path,
            sight_angle_rad: sight.angle_rad,
            wavenumber: of.wavenumber,
            asymmetry_m: difference_m.abs(),
            height_ratio: if difference_m < 0.0 { 1.0 / ratio } else { ratio },
        }
    }

    /// Losses at distances `d_5_m` and, farther, `d_6_m`.
    #[inline(always)]
    pub fn losses_db(&self, d_5_m: f64, d_6_m: f64) -> Losses {
        let far = self.frequency_gain(d_6_m);
        let near = self.frequency_gain(d_5_m);
        // "If, at d_5, calculations show that H_0 will exceed 15 dB, they are replaced by the
        // value it has at d_6" (Algorithm page 12).
        let far_exceeds = far.defined & (far.db > 15.0);
        let replaced = far_exceeds | (far.defined & (near.db > 15.0));
        let near_gain_db = if replaced { far.db } else { near.db };
        let near_db = self.loss_db(d_5_m, near_gain_db);
        let far_db = self.loss_db(d_6_m, far.db);
        Losses {
            near_db,
            far_db: if far.defined { far_db } else { UNDEFINED_DB },
            defined: (far_exceeds | near.defined) & (near_db < 1000.0),
        }
    }

    /// Basic attenuation F(θ d) with its corrections, `gain_db` being H_0 (Algorithm eq. 4.63).
    #[inline(always)]
    fn loss_db(&self, distance_m: f64, gain_db: f64) -> f64 {
        let angle_rad = distance_m / self.path.earth_radius_m - self.sight_angle_rad;
        let arc_m = angle_rad * distance_m;
        let refraction_db = 0.1 * (self.path.n_s - 301.0) * exp(-arc_m / 40e3);
        let angle_4 = (angle_rad * angle_rad) * (angle_rad * angle_rad);
        attenuation_function_db(arc_m) + 10.0 * log10(self.wavenumber * 47.7 * angle_4)
            - refraction_db
            + gain_db
    }

    /// The frequency gain function H_0, undefined where both r_1 and r_2 are below 0.2.
    #[inline(always)]
    fn frequency_gain(&self, distance_m: f64) -> Gain {
        let angles = self.path.horizon_angle_rad[0] + self.path.horizon_angle_rad[1];
        let angle_rad = angles + distance_m / self.path.earth_radius_m;
        // TN101 eq. 9.4a.
        let r_1 = 2.0 * self.wavenumber * angle_rad * self.path.effective_height_m[0];
        let r_2 = 2.0 * self.wavenumber * angle_rad * self.path.effective_height_m[1];

        // Asymmetry s and q, "truncated at 0.1 and 10" (Algorithm page 16).
        let (shorter_m, longer_m) = (distance_m - self.asymmetry_m, distance_m + self.asymmetry_m);
        let s = shorter_m / longer_m;
        let q = lesser(greater(self.height_ratio / s, 0.1), 10.0);
        let s = greater(s, 0.1);

        let eta = self.scatter_efficiency(shorter_m * longer_m * angle_rad * 0.25 / distance_m);
        let even_db = 0.5 * (gain_db(r_1, eta) + gain_db(r_2, eta));
        let uneven_db = 6.0 * (0.6 - log10(greater(eta, 1.0))) * log10(s) * log10(q);
        // TN101 eq. 9.5; "if ΔH_0 would make H_0 negative, use H_0 = 0" (page 9.4).
        let h_0 = greater(even_db + lesser(uneven_db, even_db), 0.0);
        // Between the special case of η_s = 0 and that of 1.
        let product = (1.0 + SQRT_2 / r_1) * (1.0 + SQRT_2 / r_2);
        let share = (r_1 + r_2) / (r_1 + r_2 + 2.0 * SQRT_2);
        let low_db = 10.0 * log10(product * product * share);
        let between_db = eta * h_0 + (1.0 - eta) * low_db;
        Gain { db: if eta >= 1.0 { h_0 } else { between_db }, defined: (r_1 >= 0.2) | (r_2 >= 0.2) }
    }

    /// η_s, from the height of the cross-over, m (TN101 eq. 9.3a; Algorithm eq. 4.67).
    #[inline(always)]
    fn scatter_efficiency(&self, crossing_m: f64) -> f64 {
        const SCALE_HEIGHT_M: f64 = 1755.6;
        let n_s = self.path.n_s;
        let relative = lesser(crossing_m / 8e3, 1.7);
        let cube = relative * relative * relative;
        let lapse = 0.031 - n_s * 2.32e-3 + n_s * n_s * 5.67e-6;
        crossing_m / SCALE_HEIGHT_M * (1.0 + lapse * exp(-cube * cube))
    }
}

/// Substitute for an undefined loss at the farther distance.
const UNDEFINED_DB: f64 = 1001.0;

/// F(θ d), dB, from θ d in m (Algorithm eq. 6.9).
#[inline(always)]
fn attenuation_function_db(arc_m: f64) -> f64 {
    let (near, middle) = (arc_m <= 10e3, arc_m <= 70e3);
    let level_db = if middle { 104.6 } else { 71.8 };
    let slope_db_m = if middle { 0.212e-3 } else { 0.157e-3 };
    let decade_db = if middle { -2.5 } else { 5.0 };
    let level_db = if near { 133.4 } else { level_db };
    let slope_db_m = if near { 0.332e-3 } else { slope_db_m };
    let decade_db = if near { -10.0 } else { decade_db };
    level_db + slope_db_m * arc_m + decade_db * log10(arc_m)
}

/// H_00(r, η_s), dB, interpolated between whole η_s from 1 to 5 (Algorithm eqs 6.10 to 6.13).
#[inline(always)]
fn gain_db(r: f64, eta: f64) -> f64 {
    const A: [f64; 5] = [25.0, 80.0, 177.0, 395.0, 705.0];
    const B: [f64; 5] = [24.0, 45.0, 68.0, 80.0, 105.0];
    let inverse_square = 1.0 / (r * r);
    let curve = |a: f64, b: f64| 10.0 * log10(1.0 + (a * inverse_square + b) * inverse_square);
    // Selections rather than a table, which would be no vector code.
    let pick = |of: &[f64; 5], from: f64| {
        let value = if from < 2.0 { of[0] } else { of[1] };
        let value = if from < 3.0 { value } else { of[2] };
        let value = if from < 4.0 { value } else { of[3] };
        if from < 5.0 { value } else { of[4] }
    };
    let eta = lesser(greater(eta, 1.0), 5.0);
    let below_db = curve(pick(&A, eta), pick(&B, eta));
    let above_db = curve(pick(&A, eta + 1.0), pick(&B, eta + 1.0));
    let whole = pick(&[1.0, 2.0, 3.0, 4.0, 5.0], eta);
    let part = eta - whole;
    (1.0 - part) * below_db + part * above_db
}
