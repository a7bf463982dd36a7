//! Transverse Mercator on an ellipsoid: the series of Krüger to the sixth order.
//!
//! C. F. F. Karney, "Transverse Mercator with an accuracy of a few nanometers", Journal of Geodesy 85
//! (2011), equations 7 to 11, 14, 15, 19 to 21, 35 and 36. Sine and the like come from `libm`: equal bits
//! on all processors.

// Ellipsoid WGS84; GRS 80 differs by 0.1 mm.
const AXIS_M: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// Scale on the central meridian.
const SCALE: f64 = 0.9996;

/// Easting of the central meridian, m.
const FALSE_EASTING_M: f64 = 500_000.0;

/// Transverse Mercator projection with the scale and easting of UTM.
#[derive(Debug, Clone, PartialEq)]
pub struct Utm {
    meridian_deg: f64,
    false_northing_m: f64,
    /// Eccentricity.
    e: f64,
    /// Radius of the rectified meridian times the scale, m.
    radius_m: f64,
    alpha: [f64; 6],
    beta: [f64; 6],
}

/// Value of a polynomial of the third flattening whose lowest power is `first`.
fn series(n: f64, first: i32, factors: &[f64]) -> f64 {
    let high = factors.iter().rev().fold(0.0, |sum, factor| sum * n + factor);
    high * n.powi(first)
}

impl Utm {
    /// Zone 1 to 60 of a hemisphere.
    #[must_use]
    pub fn zone(zone: u16, is_south: bool) -> Self {
        let n = FLATTENING / (2.0 - FLATTENING);
        let mean = 1.0 + n.powi(2) / 4.0 + n.powi(4) / 64.0 + n.powi(6) / 256.0;
        Self {
            meridian_deg: f64::from(zone) * 6.0 - 183.0,
            false_northing_m: if is_south { 1e7 } else { 0.0 },
            e: (FLATTENING * (2.0 - FLATTENING)).sqrt(),
            radius_m: SCALE * AXIS_M / (1.0 + n) * mean,
            alpha: [
                series(
                    n,
                    1,
                    &[
                        1.0 / 2.0,
                        -2.0 / 3.0,
                        5.0 / 16.0,
                        41.0 / 180.0,
                        -127.0 / 288.0,
                        7_891.0 / 37_800.0,
                    ],
                ),
                series(
                    n,
                    2,
                    &[
                        13.0 / 48.0,
                        -3.0 / 5.0,
                        557.0 / 1_440.0,
                        281.0 / 630.0,
                        -1_983_433.0 / 1_935_360.0,
                    ],
                ),
                series(
                    n,
                    3,
                    &[61.0 / 240.0, -103.0 / 140.0, 15_061.0 / 26_880.0, 167_603.0 / 181_440.0],
                ),
                series(n, 4, &[49_561.0 / 161_280.0, -179.0 / 168.0, 6_601_661.0 / 7_257_600.0]),
                series(n, 5, &[34_729.0 / 80_640.0, -3_418_889.0 / 1_995_840.0]),
                series(n, 6, &[212_378_941.0 / 319_334_400.0]),
            ],
            beta: [
                series(
                    n,
                    1,
                    &[
                        1.0 / 2.0,
                        -2.0 / 3.0,
                        37.0 / 96.0,
                        -1.0 / 360.0,
                        -81.0 / 512.0,
                        96_199.0 / 604_800.0,
                    ],
                ),
                series(
                    n,
                    2,
                    &[
                        1.0 / 48.0,
                        1.0 / 15.0,
                        -437.0 / 1_440.0,
                        46.0 / 105.0,
                        -1_118_711.0 / 3_870_720.0,
                    ],
                ),
                series(n, 3, &[17.0 / 480.0, -37.0 / 840.0, -209.0 / 4_480.0, 5_569.0 / 90_720.0]),
                series(n, 4, &[4_397.0 / 161_280.0, -11.0 / 504.0, -830_251.0 / 7_257_600.0]),
                series(n, 5, &[4_583.0 / 161_280.0, -108_847.0 / 3_991_680.0]),
                series(n, 6, &[20_648_693.0 / 638_668_800.0]),
            ],
        }
    }

    /// Easting and northing of a position, m.
    #[must_use]
    pub fn project(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let sin_lat = libm::sin(lat_deg.to_radians());
        let away = (lon_deg - self.meridian_deg + 180.0).rem_euclid(360.0) - 180.0;
        let (sin_lon, cos_lon) = libm::sincos(away.to_radians());
        let tau = libm::sinh(libm::atanh(sin_lat) - self.e * libm::atanh(self.e * sin_lat));
        let xi = libm::atan2(tau, cos_lon);
        let eta = libm::asinh(sin_lon / libm::hypot(tau, cos_lon));
        let [xi, eta] = bent(&self.alpha, xi, eta, 1.0);
        [self.radius_m * eta + FALSE_EASTING_M, self.radius_m * xi + self.false_northing_m]
    }

    /// Latitude and longitude of an easting and a northing, deg.
    #[must_use]
    pub fn unproject(&self, easting_m: f64, northing_m: f64) -> [f64; 2] {
        let xi = (northing_m - self.false_northing_m) / self.radius_m;
        let eta = (easting_m - FALSE_EASTING_M) / self.radius_m;
        let [xi, eta] = bent(&self.beta, xi, eta, -1.0);
        let (sin_xi, cos_xi) = libm::sincos(xi);
        let sinh_eta = libm::sinh(eta);
        let conformal = sin_xi / libm::hypot(sinh_eta, cos_xi);
        let away = libm::atan2(sinh_eta, cos_xi).to_degrees();
        let mut tau = conformal / (1.0 - self.e * self.e);
        // Newton's method doubles the digits in each round.
        for _ in 0..5 {
            let secant = libm::hypot(1.0, tau);
            let sigma = libm::sinh(self.e * libm::atanh(self.e * tau / secant));
            let estimate = tau * libm::hypot(1.0, sigma) - sigma * secant;
            let rest = 1.0 - self.e * self.e;
            tau += (conformal - estimate) / libm::hypot(1.0, estimate) * (1.0 + rest * tau * tau)
                / (rest * secant);
        }
        [libm::atan(tau).to_degrees(), self.meridian_deg + away]
    }
}

/// Coordinates with the terms of a series added, or taken away with a `sign` of -1.
fn bent(terms: &[f64; 6], xi: f64, eta: f64, sign: f64) -> [f64; 2] {
    let (mut north, mut east) = (xi, eta);
    for (index, term) in terms.iter().enumerate() {
        let turn = 2.0 * (index as f64 + 1.0);
        let (sin, cos) = libm::sincos(turn * xi);
        north += sign * term * sin * libm::cosh(turn * eta);
        east += sign * term * cos * libm::sinh(turn * eta);
    }
    [north, east]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with PROJ: `pyproj.Transformer.from_crs(4326, 32600 + zone)`; see
    /// `tests/fixtures/terrain/make.py`.
    const KNOWN: [(u16, bool, [f64; 2], [f64; 2]); 5] =
        include!("../../tests/fixtures/terrain/utm.in");

    #[test]
    fn positions_agree_with_proj_within_a_micrometre() {
        for (zone, is_south, [lat, lon], [easting, northing]) in KNOWN {
            let utm = Utm::zone(zone, is_south);
            let position = utm.project(lat, lon);
            assert!((position[0] - easting).abs() < 1e-6, "{position:?}, not {easting}");
            assert!((position[1] - northing).abs() < 1e-6, "{position:?}, not {northing}");
            let back = utm.unproject(easting, northing);
            assert!((back[0] - lat).abs() < 1e-11 && (back[1] - lon).abs() < 1e-11, "{back:?}");
        }
    }
}
