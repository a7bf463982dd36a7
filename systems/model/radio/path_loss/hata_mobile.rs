//! Parts that the models of Hata's family share: the lower antenna is the mobile, around which the area lies.

use groundwave_propagation::free_space::free_space_loss_db;
use groundwave_propagation::hata::Area;

use super::{Attenuation, HeightRanges, ShareRanges};
use crate::radio::surroundings::Surroundings;
use crate::radio::warning::{Warning, Warnings};

/// Heights of the base station, m above ground: Hata's antennas stand above their surroundings.
const BASE_AGL_MIN_M: f64 = 10.0;
const BASE_AGL_MAX_M: f64 = 1_000.0;

/// Heights of mobile and base station that are evaluated.
pub(super) const HEIGHTS: HeightRanges = HeightRanges {
    lower_agl_m: [0.0, BASE_AGL_MAX_M],
    higher_agl_m: [BASE_AGL_MIN_M, BASE_AGL_MAX_M],
};

/// Shares of places, percent, 1 to 99 (ITU-R P.1812-8 §4.8).
pub(super) const SHARES: ShareRanges =
    ShareRanges { location_percent: Some([1.0, 99.0]), ..ShareRanges::NONE };

/// `true` if mobile and base station, m above ground, are within [`HEIGHTS`].
pub(super) fn fits(mobile_agl_m: f64, base_agl_m: f64) -> bool {
    let is_within = |value: f64, [low, high]: [f64; 2]| (low..=high).contains(&value);
    is_within(mobile_agl_m, HEIGHTS.lower_agl_m) && is_within(base_agl_m, HEIGHTS.higher_agl_m)
}

/// Surroundings of the mobile. Those that nobody described count as a suburb, the middle one; so do trees.
pub(super) const fn area(surroundings: Surroundings) -> Area {
    match surroundings {
        Surroundings::Open => Area::Rural,
        Surroundings::Unknown | Surroundings::Forest | Surroundings::Suburban => Area::Suburban,
        Surroundings::Urban => Area::Urban,
        Surroundings::DenseUrban => Area::DenseUrban,
    }
}

/// Excess of a loss, dB, over free space between antennas above the first and the last ground, m MSL, over a distance,
/// m.
pub(super) fn excess_db(
    loss_db: f64,
    frequency_mhz: f64,
    distance_m: f64,
    ground_msl_m: [f64; 2],
    antenna_agl_m: [f64; 2],
) -> f64 {
    let [first_m, last_m] = ground_msl_m;
    let rise_m = last_m + antenna_agl_m[1] - first_m - antenna_agl_m[0];
    let slant_m = (distance_m * distance_m + rise_m * rise_m).sqrt();
    loss_db - free_space_loss_db(slant_m, frequency_mhz)
}

/// Attenuation of a median excess, dB, with that of a share of places and their sigma, dB. It is not below free space:
/// on tops of hills, over sea and on short paths the corrections may exceed the loss.
pub(super) fn attenuation(
    median_db: f64,
    location_db: f64,
    sigma_db: f64,
    mut warnings: Warnings,
) -> Attenuation {
    warnings.note(median_db < 0.0, Warning::BelowFreeSpaceClamped);
    let reference_db = if median_db > 0.0 { median_db } else { 0.0 };
    let variability_db = if location_db < -reference_db { -reference_db } else { location_db };
    Attenuation {
        reference_attenuation_db: Some(reference_db),
        variability_db: Some(variability_db),
        median_db: Some(reference_db),
        sigma_db,
        warnings,
        ..Attenuation::default()
    }
}
