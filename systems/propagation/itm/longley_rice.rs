//! The reference attenuation: line of sight, diffraction and troposcatter, each along its range
//! of distances (Algorithm section 4, function `lrprop`).

use super::diffraction::{Diffraction, Line};
use super::invalid::within;
use super::line_of_sight::TwoRay;
use super::medium::Complex;
use super::quick_pfl::smooth_horizon_m;
use super::troposcatter::Troposcatter;
use super::{Invalid, PropagationMode, Warnings};

/// All the reference attenuation depends on; pairs are transmitter, receiver.
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
    pub frequency_mhz: f64,
    /// Surface transfer impedance of the ground.
    pub impedance: Complex,
    /// Whether the terrain is a known profile rather than a statistic.
    pub point_to_point: bool,
}

/// How far line of sight reaches.
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

/// The outcome.
pub(super) struct Attenuation {
    pub a_ref_db: f64,
    pub mode: PropagationMode,
    pub warnings: Warnings,
}

/// Wavenumber, 1/m, as the model reckons it.
pub(super) fn wavenumber(frequency_mhz: f64) -> f64 {
    frequency_mhz / 47.7
}

/// Reference attenuation of `path` relative to free space.
pub(super) fn attenuation(path: &Path) -> Result<Attenuation, Invalid> {
    let sight = Sight::new(path);
    let mut warnings = doubts(path, &sight);
    within(
        path.n_s,
        150.0,
        f64::INFINITY,
        Invalid::SurfaceRefractivitySmall,
    )?;
    within(path.n_s, 150.0, 400.0, Invalid::SurfaceRefractivityLarge)?;
    within(
        path.earth_radius_m,
        4e6,
        13_333_333.0,
        Invalid::EffectiveEarth,
    )?;
    let Complex { re, im } = path.impedance;
    if re <= im.abs() {
        return Err(Invalid::GroundImpedance { re, im });
    }

    // Two distances far in the diffraction region fix the diffraction line.
    let scale_m = (path.earth_radius_m * path.earth_radius_m / path.frequency_mhz).cbrt();
    let d_3 = sight.smooth_sum_m.max(sight.sum_m + 5.0 * scale_m);
    let d_4 = d_3 + 10.0 * scale_m;
    let diffraction = Diffraction::new(path, &sight);
    let line = Line::through(d_3, diffraction.loss_db(d_3), d_4, diffraction.loss_db(d_4));

    let (a_ref_db, mode) = if path.distance_m < sight.smooth_sum_m {
        let loss_db = line_of_sight_db(path, &sight, &line);
        (loss_db, PropagationMode::LineOfSight)
    } else {
        beyond_horizon_db(path, &sight, &line, scale_m)
    };
    warnings.note(!a_ref_db.is_finite(), Warnings::ATTENUATION_UNDEFINED);
    Ok(Attenuation {
        // `max` passes over `NaN`; infinity has no meaning either.
        a_ref_db: if a_ref_db.is_finite() {
            a_ref_db.max(0.0)
        } else {
            0.0
        },
        mode,
        warnings,
    })
}

impl Sight {
    fn new(path: &Path) -> Self {
        let smooth_m = path
            .effective_height_m
            .map(|height_m| smooth_horizon_m(height_m, path.earth_radius_m));
        let sum_m = path.horizon_distance_m[0] + path.horizon_distance_m[1];
        let angles = path.horizon_angle_rad[0] + path.horizon_angle_rad[1];
        Self {
            smooth_m,
            smooth_sum_m: smooth_m[0] + smooth_m[1],
            sum_m,
            angle_rad: -angles.max(-sum_m / path.earth_radius_m),
        }
    }
}

fn doubts(path: &Path, sight: &Sight) -> Warnings {
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
    warnings.note(
        path.distance_m < rise_m / 200e-3,
        Warnings::PATH_DISTANCE_TOO_SMALL_1,
    );
    warnings.note(path.distance_m < 1e3, Warnings::PATH_DISTANCE_TOO_SMALL_2);
    warnings.note(path.distance_m > 1e6, Warnings::PATH_DISTANCE_TOO_BIG_1);
    warnings.note(path.distance_m > 2e6, Warnings::PATH_DISTANCE_TOO_BIG_2);
    warnings
}

/// Attenuation within the smooth-earth horizons: a curve `A_o + k_1 d + k_2 ln d` through
/// two-ray losses at short range that meets the diffraction line at d_sML (ERL 79-ITS 67
/// eqs 3.16 to 3.21).
fn line_of_sight_db(path: &Path, sight: &Sight, line: &Line) -> f64 {
    let two_ray = TwoRay::new(path, sight, line);
    let d_s = sight.smooth_sum_m;
    let a_s = line.at_db(d_s);

    // Eq. 3.16a, in metres, and 3.16d.
    let mut d_0 =
        0.04 * path.frequency_mhz * path.effective_height_m[0] * path.effective_height_m[1];
    let d_1 = if line.intercept_db >= 0.0 {
        d_0 = d_0.min(0.5 * sight.sum_m);
        d_0 + 0.25 * (sight.sum_m - d_0)
    } else {
        (-line.intercept_db / line.slope_db_m).max(0.25 * sight.sum_m)
    };
    let a_1 = two_ray.loss_db(d_1);

    let mut slopes = None;
    if d_0 < d_1 {
        let a_0 = two_ray.loss_db(d_0);
        let q = (d_s / d_0).ln();
        // Eq. 3.20.
        let rise = (d_s - d_0) * (a_1 - a_0) - (d_1 - d_0) * (a_s - a_0);
        let run = (d_s - d_0) * (d_1 / d_0).ln() - (d_1 - d_0) * q;
        let k_2 = (rise / run).max(0.0);
        if line.intercept_db > 0.0 || k_2 > 0.0 {
            // Eq. 3.21.
            let k_1 = (a_s - a_0 - k_2 * q) / (d_s - d_0);
            slopes = Some(if k_1 < 0.0 {
                let k_2 = (a_s - a_0).max(0.0) / q;
                (if k_2 == 0.0 { line.slope_db_m } else { 0.0 }, k_2)
            } else {
                (k_1, k_2)
            });
        }
    }
    let (k_1, k_2) = slopes.unwrap_or_else(|| {
        let k_1 = (a_s - a_1).max(0.0) / (d_s - d_1);
        (if k_1 == 0.0 { line.slope_db_m } else { k_1 }, 0.0)
    });

    // Eq. 3.19.
    let a_o = a_s - k_1 * d_s - k_2 * d_s.ln();
    a_o + k_1 * path.distance_m + k_2 * path.distance_m.ln()
}

/// Attenuation beyond the smooth-earth horizons: the diffraction line up to where troposcatter
/// loses less, then the troposcatter line (Algorithm eqs 4.58 to 4.62).
fn beyond_horizon_db(
    path: &Path,
    sight: &Sight,
    line: &Line,
    scale_m: f64,
) -> (f64, PropagationMode) {
    let d_5 = sight.sum_m + 200e3;
    let d_6 = sight.sum_m + 400e3;
    let diffracted = (line.at_db(path.distance_m), PropagationMode::Diffraction);
    let Some([a_5, a_6]) = Troposcatter::new(path, sight).losses_db(d_5, d_6) else {
        // Troposcatter has no finite loss; its stand-in is the diffraction line itself.
        let mode = if path.distance_m > 10e6 {
            PropagationMode::Troposcatter
        } else {
            PropagationMode::Diffraction
        };
        return (diffracted.0, mode);
    };

    let slope = (a_6 - a_5) / 200e3;
    let meeting_m = (a_5 - line.intercept_db - slope * d_5) / (line.slope_db_m - slope);
    if meeting_m.is_nan() {
        return diffracted;
    }
    let least_m = sight.sum_m + 1.088 * scale_m * path.frequency_mhz.ln();
    let transition_m = sight.smooth_sum_m.max(least_m).max(meeting_m);
    if path.distance_m > transition_m {
        let intercept_db = (line.slope_db_m - slope) * transition_m + line.intercept_db;
        let scattered_db = slope * path.distance_m + intercept_db;
        (scattered_db, PropagationMode::Troposcatter)
    } else {
        diffracted
    }
}
