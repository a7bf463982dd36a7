//! The reference attenuation: line of sight, diffraction and troposcatter, each along its range
//! of distances (Algorithm section 4, function `lrprop`).
//!
//! Straight-line arithmetic, so that the compiler can work out many paths at once.

use super::constants::Constants;
use super::diffraction::{Diffraction, Line};
use super::line_of_sight::TwoRay;
use super::path::{Path, Sight};
use super::troposcatter::Troposcatter;
use super::{PropagationMode, Warnings};
use crate::numeric::{greater, lesser, ln};

/// The outcome.
#[derive(Clone, Copy)]
pub(super) struct Attenuation {
    /// 0 or more; not finite where the formulas have no value.
    pub a_ref_db: f64,
    /// NTIA's number of the [`PropagationMode`].
    pub mode: f64,
}

/// Reference attenuation of `path` relative to free space.
#[inline(always)]
pub(super) fn attenuation(path: &Path, of: &Constants) -> Attenuation {
    attenuation_where::<true, true, true>(path, of)
}

/// As [`attenuation`], for paths that may lie `WITHIN` the smooth-earth horizons or `BEYOND`, and
/// there so far that troposcatter may decide: in vector code all are worked out of every path,
/// unless none can be.
#[inline(always)]
pub(super) fn attenuation_where<const WITHIN: bool, const BEYOND: bool, const SCATTER: bool>(
    path: &Path,
    of: &Constants,
) -> Attenuation {
    let sight = Sight::new(path);
    // Two distances far in the diffraction region fix the diffraction line.
    let scale_m = sight.scale_m(path, of);
    let d_3 = greater(sight.sum_m + 5.0 * scale_m, sight.smooth_sum_m);
    let d_4 = d_3 + 10.0 * scale_m;
    let diffraction = Diffraction::new(path, &sight, of);
    let line = Line::through(d_3, diffraction.loss_db(d_3), d_4, diffraction.loss_db(d_4));

    let result = if !BEYOND || (WITHIN && sight.reaches(path)) {
        Attenuation { a_ref_db: line_of_sight_db(path, &sight, &line, of), mode: 1.0 }
    } else {
        beyond_horizon::<SCATTER>(path, &sight, &line, of)
    };
    let negative = result.a_ref_db < 0.0;
    Attenuation { a_ref_db: if negative { 0.0 } else { result.a_ref_db }, ..result }
}

impl Attenuation {
    pub fn mode(&self) -> PropagationMode {
        match self.mode as u8 {
            1 => PropagationMode::LineOfSight,
            2 => PropagationMode::Diffraction,
            _ => PropagationMode::Troposcatter,
        }
    }
}

/// Warnings about `path`.
pub(super) fn doubts(path: &Path) -> Warnings {
    let sight = Sight::new(path);
    let steep = path.horizon_angle_rad.map(|angle| angle.abs() > 200e-3);
    let near = [0, 1].map(|end| path.horizon_distance_m[end] < 0.1 * sight.smooth_m[end]);
    let far = [0, 1].map(|end| path.horizon_distance_m[end] > 3.0 * sight.smooth_m[end]);
    let rise_m = (path.effective_height_m[0] - path.effective_height_m[1]).abs();

    let mut warnings = Warnings::NONE;
    warnings.note(steep[0], Warnings::TX_HORIZON_ANGLE);
    warnings.note(steep[1], Warnings::RX_HORIZON_ANGLE);
    warnings.note(near[0], Warnings::TX_HORIZON_DISTANCE_1);
    warnings.note(near[1], Warnings::RX_HORIZON_DISTANCE_1);
    warnings.note(far[0], Warnings::TX_HORIZON_DISTANCE_2);
    warnings.note(far[1], Warnings::RX_HORIZON_DISTANCE_2);
    warnings.note(path.n_s < 250.0, Warnings::SURFACE_REFRACTIVITY);
    warnings.note(path.distance_m < rise_m / 200e-3, Warnings::PATH_DISTANCE_TOO_SMALL_1);
    warnings.note(path.distance_m < 1e3, Warnings::PATH_DISTANCE_TOO_SMALL_2);
    warnings.note(path.distance_m > 1e6, Warnings::PATH_DISTANCE_TOO_BIG_1);
    warnings.note(path.distance_m > 2e6, Warnings::PATH_DISTANCE_TOO_BIG_2);
    warnings
}

/// Attenuation within the smooth-earth horizons: a curve `A_o + k_1 d + k_2 ln d` through
/// two-ray losses at short range that meets the diffraction line at d_sML (ERL 79-ITS 67
/// eqs 3.16 to 3.21).
#[inline(always)]
fn line_of_sight_db(path: &Path, sight: &Sight, line: &Line, of: &Constants) -> f64 {
    let two_ray = TwoRay::new(path, sight, line, of);
    let d_s = sight.smooth_sum_m;
    let a_s = line.at_db(d_s);
    let rising = line.intercept_db >= 0.0;

    // Eq. 3.16a, in metres, and 3.16d.
    let d_0 = 0.04 * of.frequency_mhz * path.effective_height_m[0] * path.effective_height_m[1];
    let d_0 = if rising { lesser(d_0, 0.5 * sight.sum_m) } else { d_0 };
    let falling_m = greater(-line.intercept_db / line.slope_db_m, 0.25 * sight.sum_m);
    let d_1 = if rising { d_0 + 0.25 * (sight.sum_m - d_0) } else { falling_m };
    let a_1 = two_ray.loss_db(d_1);
    let a_0 = two_ray.loss_db(d_0);

    // Eqs 3.20 and 3.21.
    let q = ln(d_s / d_0);
    let rise = (d_s - d_0) * (a_1 - a_0) - (d_1 - d_0) * (a_s - a_0);
    let run = (d_s - d_0) * ln(d_1 / d_0) - (d_1 - d_0) * q;
    let k_2 = greater(rise / run, 0.0);
    let curved = (d_0 < d_1) & ((line.intercept_db > 0.0) | (k_2 > 0.0));
    let k_1 = (a_s - a_0 - k_2 * q) / (d_s - d_0);
    let steep_2 = greater(a_s - a_0, 0.0) / q;
    let steep_1 = if steep_2 == 0.0 { line.slope_db_m } else { 0.0 };
    let falls = k_1 < 0.0;
    let straight_1 = greater(a_s - a_1, 0.0) / (d_s - d_1);
    let straight_1 = if straight_1 == 0.0 { line.slope_db_m } else { straight_1 };
    let k_1 = if falls { steep_1 } else { k_1 };
    let k_2 = if falls { steep_2 } else { k_2 };
    let k_1 = if curved { k_1 } else { straight_1 };
    let k_2 = if curved { k_2 } else { 0.0 };

    // Eq. 3.19.
    let a_o = a_s - k_1 * d_s - k_2 * ln(d_s);
    a_o + k_1 * path.distance_m + k_2 * ln(path.distance_m)
}

/// Attenuation beyond the smooth-earth horizons: the diffraction line up to where troposcatter
/// loses less, then the troposcatter line (Algorithm eqs 4.58 to 4.62).
#[inline(always)]
fn beyond_horizon<const SCATTER: bool>(
    path: &Path,
    sight: &Sight,
    line: &Line,
    of: &Constants,
) -> Attenuation {
    let diffracted_db = line.at_db(path.distance_m);
    if !SCATTER {
        return Attenuation { a_ref_db: diffracted_db, mode: 2.0 };
    }
    let d_5 = sight.sum_m + 200e3;
    let d_6 = sight.sum_m + 400e3;
    let scatter = Troposcatter::new(path, sight, of).losses_db(d_5, d_6);

    let slope = (scatter.far_db - scatter.near_db) / 200e3;
    let meeting_m = (scatter.near_db - line.intercept_db - slope * d_5) / (line.slope_db_m - slope);
    let transition_m = greater(meeting_m, sight.least_scatter_m(path, of));
    let intercept_db = (line.slope_db_m - slope) * transition_m + line.intercept_db;
    let scattered_db = slope * path.distance_m + intercept_db;
    // Without a finite loss of its own, troposcatter follows the diffraction line.
    let beyond = (path.distance_m > transition_m) & !meeting_m.is_nan() & scatter.defined;
    let very_far = !scatter.defined & (path.distance_m > 10e6);
    Attenuation {
        a_ref_db: if beyond { scattered_db } else { diffracted_db },
        mode: if beyond | very_far { 3.0 } else { 2.0 },
    }
}
