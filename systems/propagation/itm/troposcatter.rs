//! Troposcatter loss (TN101 chapter 9; Algorithm eqs 4.60 to 4.67 and 6.8 to 6.14).

use std::f64::consts::SQRT_2;

use super::longley_rice::{Path, Sight, wavenumber};

/// The troposcatter loss of a path as a function of distance.
pub(super) struct Troposcatter<'a> {
    path: &'a Path,
    sight_angle_rad: f64,
    wavenumber: f64,
    /// How much farther one horizon is than the other, m.
    asymmetry_m: f64,
    /// Effective height at the nearer horizon over that at the farther.
    height_ratio: f64,
}

impl<'a> Troposcatter<'a> {
    pub fn new(path: &'a Path, sight: &Sight) -> Self {
        let difference_m = path.horizon_distance_m[0] - path.horizon_distance_m[1];
        let ratio = path.effective_height_m[1] / path.effective_height_m[0];
        Self {
            path,
            sight_angle_rad: sight.angle_rad,
            wavenumber: wavenumber(path.frequency_mhz),
            asymmetry_m: difference_m.abs(),
            height_ratio: if difference_m < 0.0 {
                1.0 / ratio
            } else {
                ratio
            },
        }
    }

    /// Losses at distances `d_5_m` and, farther, `d_6_m`, dB; `None` where the model gives no
    /// finite loss at `d_5_m`.
    pub fn losses_db(&self, d_5_m: f64, d_6_m: f64) -> Option<[f64; 2]> {
        let far = self.frequency_gain_db(d_6_m);
        // "If, at d_5, calculations show that H_0 will exceed 15 dB, they are replaced by the
        // value it has at d_6" (Algorithm page 12).
        let near = match far {
            Some(far_db) if far_db > 15.0 => far_db,
            _ => {
                let near_db = self.frequency_gain_db(d_5_m)?;
                far.filter(|_| near_db > 15.0).unwrap_or(near_db)
            }
        };
        let a_5 = self.loss_db(d_5_m, near);
        let a_6 = far.map_or(UNDEFINED_DB, |far_db| self.loss_db(d_6_m, far_db));
        (a_5 < 1000.0).then_some([a_5, a_6])
    }

    /// Basic attenuation F(θ d) with its corrections, `gain_db` being H_0 (Algorithm eq. 4.63).
    fn loss_db(&self, distance_m: f64, gain_db: f64) -> f64 {
        let angle_rad = distance_m / self.path.earth_radius_m - self.sight_angle_rad;
        let arc_m = angle_rad * distance_m;
        let refraction_db = 0.1 * (self.path.n_s - 301.0) * (-arc_m / 40e3).exp();
        let angle_4 = (angle_rad * angle_rad) * (angle_rad * angle_rad);
        attenuation_function_db(arc_m) + 10.0 * (self.wavenumber * 47.7 * angle_4).log10()
            - refraction_db
            + gain_db
    }

    /// The frequency gain function H_0, dB; `None` where both r_1 and r_2 are below 0.2 and
    /// scatter is "not defined (or is infinite)" (Algorithm page 11).
    fn frequency_gain_db(&self, distance_m: f64) -> Option<f64> {
        let angles = self.path.horizon_angle_rad[0] + self.path.horizon_angle_rad[1];
        let angle_rad = angles + distance_m / self.path.earth_radius_m;
        // TN101 eq. 9.4a.
        let [r_1, r_2] = self
            .path
            .effective_height_m
            .map(|height_m| 2.0 * self.wavenumber * angle_rad * height_m);
        if r_1 < 0.2 && r_2 < 0.2 {
            return None;
        }

        // Asymmetry s and q, "truncated at 0.1 and 10" (Algorithm page 16).
        let (shorter_m, longer_m) = (distance_m - self.asymmetry_m, distance_m + self.asymmetry_m);
        let s = shorter_m / longer_m;
        let q = (self.height_ratio / s).clamp(0.1, 10.0);
        let s = s.max(0.1);

        let eta = self.scatter_efficiency(shorter_m * longer_m * angle_rad * 0.25 / distance_m);
        let even_db = 0.5 * (gain_db(r_1, eta) + gain_db(r_2, eta));
        let uneven_db = 6.0 * (0.6 - eta.max(1.0).log10()) * s.log10() * q.log10();
        // TN101 eq. 9.5; "if ΔH_0 would make H_0 negative, use H_0 = 0" (page 9.4).
        let h_0 = (even_db + uneven_db.min(even_db)).max(0.0);
        if eta >= 1.0 {
            return Some(h_0);
        }
        // Between the special case of η_s = 0 and that of 1.
        let product = (1.0 + SQRT_2 / r_1) * (1.0 + SQRT_2 / r_2);
        let share = (r_1 + r_2) / (r_1 + r_2 + 2.0 * SQRT_2);
        let low_db = 10.0 * (product * product * share).log10();
        Some(eta * h_0 + (1.0 - eta) * low_db)
    }

    /// η_s, from the height of the cross-over, m (TN101 eq. 9.3a; Algorithm eq. 4.67).
    fn scatter_efficiency(&self, crossing_m: f64) -> f64 {
        const SCALE_HEIGHT_M: f64 = 1755.6;
        let n_s = self.path.n_s;
        let relative = (crossing_m / 8e3).min(1.7);
        let cube = relative * relative * relative;
        let lapse = 0.031 - n_s * 2.32e-3 + n_s * n_s * 5.67e-6;
        crossing_m / SCALE_HEIGHT_M * (1.0 + lapse * (-cube * cube).exp())
    }
}

/// What stands for an undefined loss at the farther distance.
const UNDEFINED_DB: f64 = 1001.0;

/// F(θ d), dB, from θ d in m (Algorithm eq. 6.9).
fn attenuation_function_db(arc_m: f64) -> f64 {
    let [level_db, slope_db_m, decade_db] = if arc_m <= 10e3 {
        [133.4, 0.332e-3, -10.0]
    } else if arc_m <= 70e3 {
        [104.6, 0.212e-3, -2.5]
    } else {
        [71.8, 0.157e-3, 5.0]
    };
    level_db + slope_db_m * arc_m + decade_db * arc_m.log10()
}

/// H_00(r, η_s), dB, interpolated between whole η_s from 1 to 5 (Algorithm eqs 6.10 to 6.13).
fn gain_db(r: f64, eta: f64) -> f64 {
    const CURVES: [(f64, f64); 5] = [
        (25.0, 24.0),
        (80.0, 45.0),
        (177.0, 68.0),
        (395.0, 80.0),
        (705.0, 105.0),
    ];
    let inverse_square = 1.0 / (r * r);
    let curve = |index: usize| {
        let (a, b) = CURVES[index];
        10.0 * (1.0 + (a * inverse_square + b) * inverse_square).log10()
    };
    let eta = eta.clamp(1.0, 5.0);
    let whole = eta as usize;
    let part = eta - whole as f64;
    if part == 0.0 {
        curve(whole - 1)
    } else {
        (1.0 - part) * curve(whole - 1) + part * curve(whole)
    }
}
