//! A short path as the polynomials it is sampled by.

use super::short::quintic_at;

/// Evenly spaced positions on a path: latitude and longitude (degrees) are polynomials of the share
/// 0 to 1 of the way, lowest power first; longitudes are not wrapped. The last position is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    /// Latitude by share of the way, deg.
    pub lat_deg: [f64; 6],
    /// Longitude by share of the way, deg.
    pub lon_deg: [f64; 6],
    /// Share of the way from one position to the next.
    pub pace: f64,
    /// Number of the last position, 1 or more, counted from 0.
    pub last: usize,
    /// Latitude and longitude of the last position, deg.
    pub end_deg: [f64; 2],
    /// Whether the fourth and fifth powers come to nothing and are left out.
    pub is_cubic: bool,
}

/// A curve and room for the heights along it.
#[derive(Debug)]
pub struct CurveRow<'a> {
    /// The curve.
    pub curve: Curve,
    /// Heights at its positions but the first, m above mean sea level.
    pub elevation_msl_m: &'a mut [f64],
    /// What none of them exceeds, up or down, m, once all are filled.
    pub greatest_m: Option<f64>,
}

/// Half a tenth of a millimetre, degrees.
const NOTHING_DEG: f64 = 5e-10;

impl Curve {
    /// Cuts a way into `last` steps.
    #[inline]
    pub(crate) fn new(
        [lat_deg, lon_deg]: [[f64; 6]; 2],
        last: usize,
        end_deg: [f64; 2],
    ) -> Self {
        Self {
            lat_deg,
            lon_deg,
            pace: 1.0 / last as f64,
            last,
            end_deg,
            is_cubic: is_cubic(&lat_deg, &lon_deg),
        }
    }

    /// Bounds of the latitudes and of the longitudes of all positions, deg: a polynomial of shares
    /// leaves the straight line between its ends by no more than its upper powers together.
    #[must_use]
    pub fn bounds_deg(&self) -> [[f64; 2]; 2] {
        let bounds = |c: &[f64; 6], end: f64| {
            let bent: f64 = c[2..].iter().map(|c| c.abs()).sum();
            let there: f64 = c.iter().sum();
            let (low, high) = (c[0].min(there), c[0].max(there));
            [(low - bent).min(end), (high + bent).max(end)]
        };
        let [end_lat, end_lon] = self.end_deg;
        [
            bounds(&self.lat_deg, end_lat),
            bounds(&self.lon_deg, end_lon),
        ]
    }

    /// Latitude and longitude, deg, of a position.
    #[must_use]
    pub fn position(&self, number: usize) -> [f64; 2] {
        if number == self.last {
            return self.end_deg;
        }
        let t = number as f64 * self.pace;
        [&self.lat_deg, &self.lon_deg].map(|powers| {
            if self.is_cubic {
                cubic_at(powers, t)
            } else {
                quintic_at(powers, t)
            }
        })
    }
}

/// Whether the upper powers of both come to nothing, as on short ways.
#[inline(always)]
pub(super) fn is_cubic(lat_deg: &[f64; 6], lon_deg: &[f64; 6]) -> bool {
    let beyond = |c: &[f64; 6]| c[4].abs() + c[5].abs();
    beyond(lat_deg) + beyond(lon_deg) < NOTHING_DEG
}

/// The value at `t` of the lower powers.
#[inline(always)]
pub(super) fn cubic_at(c: &[f64; 6], t: f64) -> f64 {
    let high = f64::mul_add(t, c[3], c[2]);
    f64::mul_add(t, f64::mul_add(t, high, c[1]), c[0])
}
