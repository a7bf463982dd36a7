//! Parts that the models of Hata's family share: the lower antenna is the mobile, around which the area lies. Of
//! antennas of about one height each is the mobile in part.

use groundwave_propagation::free_space::free_space_loss_db;
use groundwave_propagation::hata::Area;

use super::heights;
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

/// An end of a path as the mobile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Role {
    /// The mobile: 0 for the transmitter, 1 for the receiver.
    pub mobile: usize,
    /// Share of the loss, above 0 to 1: half of it at one height, and by the logarithm of the ratio of heights all of
    /// it for the lower end from `heights::ROLE_RATIO` on. With one role alone the loss would step where the antennas change
    /// rank.
    pub share: f64,
}

/// Roles between antennas of these heights, m above ground, whose shares add up to 1; `None` beyond [`HEIGHTS`].
pub(super) fn roles([tx_agl_m, rx_agl_m]: [f64; 2]) -> Option<impl Iterator<Item = Role>> {
    let is_within = |value: f64, [low, high]: [f64; 2]| (low..=high).contains(&value);
    let is_low = [tx_agl_m <= rx_agl_m, rx_agl_m <= tx_agl_m];
    let (low_m, high_m) = if is_low[0] { (tx_agl_m, rx_agl_m) } else { (rx_agl_m, tx_agl_m) };
    if !is_within(low_m, HEIGHTS.lower_agl_m) || !is_within(high_m, HEIGHTS.higher_agl_m) {
        return None;
    }
    let apart = heights::apart(low_m, high_m);
    let low_share = if apart < 1.0 { 0.5 + 0.5 * apart } else { 1.0 };
    let role = move |mobile: usize| Role {
        mobile,
        share: if is_low[mobile] { low_share } else { 1.0 - low_share },
    };
    Some([0, 1].into_iter().map(role).filter(|role| role.share > 0.0))
}

/// Terms of one role over one path.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoleLoss {
    /// Share of the loss.
    pub share: f64,
    /// Median excess over free space, dB.
    pub median_db: f64,
    /// Addition for the share of places, dB.
    pub location_db: f64,
    /// Standard deviation over places, dB.
    pub sigma_db: f64,
    pub warnings: Warnings,
}

/// Attenuation of all roles, in proportion to their shares.
pub(super) fn attenuation(roles: impl Iterator<Item = RoleLoss>) -> Attenuation {
    let mut sums = [0.0; 4];
    let mut warnings = Warnings::default();
    for role in roles {
        let terms = [1.0, role.median_db, role.location_db, role.sigma_db];
        for (sum, term) in sums.iter_mut().zip(terms) {
            *sum += role.share * term;
        }
        warnings = warnings.union(role.warnings);
    }
    let [share, median_db, location_db, sigma_db] = sums;
    limited(median_db / share, location_db / share, sigma_db / share, warnings)
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
fn limited(median_db: f64, location_db: f64, sigma_db: f64, mut warnings: Warnings) -> Attenuation {
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
