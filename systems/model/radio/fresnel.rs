//! Clearance of the ray over terrain and its Fresnel zone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mean radius of the Earth, m, as ITU-R P.526 takes it.
pub const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// Share of the first Fresnel radius that should stay clear (ITU-R P.530 section 2.2.2).
pub const CLEAR_RATIO: f64 = 0.6;

/// Clearance of a path over its terrain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clearance {
    /// True if the straight ray over the effective Earth touches no sampled terrain.
    pub line_of_sight: bool,
    /// Smallest height of the ray above terrain and Earth bulge between the ends, m, negative
    /// below; absent when no sample lies between the ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_clearance_m: Option<f64>,
    /// Smallest ratio of clearance to first Fresnel radius; absent as above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresnel_clearance_ratio: Option<f64>,
    /// The terrain point with that ratio, when the ratio is below 0.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstruction: Option<Obstruction>,
    /// Height of the effective Earth's bulge at mid-path, m.
    pub max_earth_bulge_m: f64,
}

/// The terrain point that intrudes most on the first Fresnel zone.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Obstruction {
    /// From the transmitter, m.
    pub distance_m: f64,
    /// Terrain height above mean sea level, m.
    pub height_msl_m: f64,
    /// Fresnel-Kirchhoff diffraction parameter (ITU-R P.526 eq. 26): -sqrt(2) times the ratio.
    pub nu: f64,
}

/// Radius of the first Fresnel zone at `from_tx_m` and `from_rx_m` of the ends, m
/// (ITU-R P.526 eq. 2 for n = 1).
#[must_use]
pub fn first_radius_m(wavelength_m: f64, from_tx_m: f64, from_rx_m: f64) -> f64 {
    let total_m = from_tx_m + from_rx_m;
    if total_m <= 0.0 {
        return 0.0;
    }
    (wavelength_m * from_tx_m * from_rx_m / total_m).sqrt()
}

/// Clearance of the ray between antennas at `antenna_msl_m` (tx, rx) over equally spaced terrain.
///
/// `elevation_msl_m` runs from the transmitter's ground to the receiver's, `step_m` apart; the
/// Earth is bent by `k_factor`. One division a sample and no root: ratios are compared squared.
#[must_use]
pub fn clearance(
    elevation_msl_m: &[f64],
    step_m: f64,
    antenna_msl_m: [f64; 2],
    wavelength_m: f64,
    k_factor: f64,
) -> Clearance {
    let gaps = elevation_msl_m.len().saturating_sub(1);
    let distance_m = step_m * gaps as f64;
    let bulge_m_per_m2 = 1.0 / (2.0 * k_factor * EARTH_RADIUS_M);
    let mut open = Clearance {
        line_of_sight: true,
        min_clearance_m: None,
        fresnel_clearance_ratio: None,
        obstruction: None,
        max_earth_bulge_m: distance_m * distance_m / 4.0 * bulge_m_per_m2,
    };
    if gaps < 2 || distance_m <= 0.0 {
        return open;
    }
    let slope = (antenna_msl_m[1] - antenna_msl_m[0]) / gaps as f64;
    let bulge_m_per_gap2 = bulge_m_per_m2 * step_m * step_m;
    let (mut lowest_m, mut worst, mut worst_at) = (f64::INFINITY, f64::INFINITY, 1);
    for (i, &ground_msl_m) in elevation_msl_m.iter().enumerate().take(gaps).skip(1) {
        let product = (i * (gaps - i)) as f64;
        let clear_m =
            antenna_msl_m[0] + slope * i as f64 - ground_msl_m - bulge_m_per_gap2 * product;
        lowest_m = lowest_m.min(clear_m);
        let signed_square = clear_m * clear_m.abs() / product;
        if signed_square < worst {
            (worst, worst_at) = (signed_square, i);
        }
    }
    // F1^2 = wavelength * step * i * (gaps - i) / gaps; the loop divided by i * (gaps - i).
    let ratio = worst.signum() * (worst.abs() * gaps as f64 / (wavelength_m * step_m)).sqrt();
    open.line_of_sight = lowest_m >= 0.0;
    open.min_clearance_m = Some(lowest_m);
    open.fresnel_clearance_ratio = Some(ratio);
    open.obstruction = (ratio < CLEAR_RATIO).then(|| Obstruction {
        distance_m: step_m * worst_at as f64,
        height_msl_m: elevation_msl_m[worst_at],
        nu: -std::f64::consts::SQRT_2 * ratio,
    });
    open
}

/// Samples that are judged at once.
const SAMPLES_AT_ONCE: usize = 16;

/// `true` if the path over the terrain of [`clearance`] is clear by the rule of [`Clearance::is_clear`]; paths on the
/// very limit may differ by rounding. It begins at the receiver, which most often stands low, and ends at the first
/// terrain in the zone; no division and no root a sample.
#[must_use]
pub fn is_clear(
    elevation_msl_m: &[f64],
    step_m: f64,
    antenna_msl_m: [f64; 2],
    wavelength_m: f64,
    k_factor: f64,
) -> bool {
    let gaps = elevation_msl_m.len().saturating_sub(1);
    if gaps < 2 || step_m <= 0.0 {
        return true;
    }
    let slope_m = (antenna_msl_m[1] - antenna_msl_m[0]) / gaps as f64;
    let bulge_m_per_gap2 = step_m * step_m / (2.0 * k_factor * EARTH_RADIUS_M);
    let zone_m2_per_gap2 = CLEAR_RATIO * CLEAR_RATIO * wavelength_m * step_m / gaps as f64;
    let mut end = gaps;
    while end > 1 {
        let first = end.saturating_sub(SAMPLES_AT_ONCE).max(1);
        let mut blocked = false;
        for (at, ground_msl_m) in (first as i32..).zip(&elevation_msl_m[first..end]) {
            // Whole numbers: exact.
            let (from_tx, from_rx) = (f64::from(at), f64::from(gaps as i32 - at));
            let product = from_tx * from_rx;
            let clear_m =
                antenna_msl_m[0] + slope_m * from_tx - ground_msl_m - bulge_m_per_gap2 * product;
            // Samples without ground block nothing.
            blocked |= clear_m < 0.0 || clear_m * clear_m < zone_m2_per_gap2 * product;
        }
        if blocked {
            return false;
        }
        end = first;
    }
    true
}

impl Clearance {
    /// `true` if 0.6 of the first Fresnel zone is clear of terrain.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        let ratio = self.fresnel_clearance_ratio;
        self.line_of_sight && ratio.is_none_or(|ratio| ratio >= CLEAR_RATIO)
    }

    /// The same path seen from its other end.
    #[must_use]
    pub fn reversed(&self, distance_m: f64) -> Self {
        let obstruction =
            self.obstruction.map(|at| Obstruction { distance_m: distance_m - at.distance_m, ..at });
        Self { obstruction, ..*self }
    }
}
