//! The smooth surface fitted to a profile (ITU-R P.526-15 §4.5.2).

use super::greater;
use super::profile::Profile;

/// Heights of the fitted smooth surface at the two ends, m above mean sea level, for antennas at
/// `tx_msl_m` and `rx_msl_m`. Never above the ground there.
pub(super) fn smooth_ends_msl_m(profile: &Profile<'_>, tx_msl_m: f64, rx_msl_m: f64) -> (f64, f64) {
    let length = profile.length_m();
    let (start, end) = least_squares_ends_msl_m(profile);

    // Height, and steepness, of the terrain above the straight line between the antennas.
    let line_slope = (rx_msl_m - tx_msl_m) / length;
    let (mut highest, mut tx_slope, mut rx_slope) = (0.0, 0.0, 0.0);
    for (distance, elevation) in profile.interior() {
        let remaining = length - distance;
        let inverse = 1.0 / (distance * remaining);
        let obstruction = elevation - (tx_msl_m + line_slope * distance);
        highest = greater(highest, obstruction);
        tx_slope = greater(tx_slope, obstruction * remaining * inverse);
        rx_slope = greater(rx_slope, obstruction * distance * inverse);
    }
    let (start, end) = if highest > 0.0 {
        let slopes = tx_slope + rx_slope;
        (start - highest * tx_slope / slopes, end - highest * rx_slope / slopes)
    } else {
        (start, end)
    };
    let (tx_ground, rx_ground) = profile.ends_msl_m();
    (start.min(tx_ground), end.min(rx_ground))
}

/// Ends of the straight line that fits the ground best by least squares, m above mean sea level (ITU-R
/// P.526-15 eq. 40; P.1812-8 eq. 85 and 86).
pub(crate) fn least_squares_ends_msl_m(profile: &Profile<'_>) -> (f64, f64) {
    let length = profile.length_m();
    let (mut v1, mut v2) = (0.0, 0.0);
    let (mut d0, mut h0) = (0.0, profile.ends_msl_m().0);
    for (d1, h1) in profile.points() {
        v1 += (d1 - d0) * (h1 + h0);
        v2 += (d1 - d0) * (h1 * (2.0 * d1 + d0) + h0 * (d1 + 2.0 * d0));
        (d0, h0) = (d1, h1);
    }
    let square = length * length;
    ((2.0 * v1 * length - v2) / square, (v2 - v1 * length) / square)
}
