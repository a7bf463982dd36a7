//! A short path as the polynomials it is sampled by.

use super::TerrainUse;

/// Evenly spaced positions on a path: latitude and longitude (degrees) are polynomials of the share
/// 0 to 1 of the way, lowest power first; longitudes are not wrapped. The last position is given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
    /// The highest power that is not 0 in both: 3, 4 or 5.
    pub degree: u8,
}

/// A curve and a buffer for the heights along it.
#[derive(Debug)]
pub struct CurveRow<'a> {
    /// The curve.
    pub curve: &'a Curve,
    /// Heights at its positions but the first, m above mean sea level.
    pub elevation_msl_m: &'a mut [f64],
    /// Upper bound of their absolute values, m, once all are filled.
    pub greatest_m: Option<f64>,
    /// Record of the sources of the heights, if wanted.
    pub used: Option<&'a mut TerrainUse>,
}

impl Curve {
    /// Cuts a way into `last` steps.
    #[inline]
    pub(crate) fn new([lat_deg, lon_deg]: [[f64; 6]; 2], last: usize, end_deg: [f64; 2]) -> Self {
        Self {
            lat_deg,
            lon_deg,
            pace: 1.0 / last as f64,
            last,
            end_deg,
            degree: degree(&lat_deg, &lon_deg),
        }
    }

    /// Bounds of the latitudes and of the longitudes of all positions from the second on, deg, but
    /// for rounding: a polynomial of shares leaves the straight line between its ends by no more
    /// than its upper powers together.
    #[must_use]
    pub fn bounds_deg(&self) -> [[f64; 2]; 2] {
        let bounds = |c: &[f64; 6], end: f64| {
            let bent: f64 = c[2..].iter().map(|c| c.abs()).sum();
            // Where even the least slope takes it away from its start, it never comes back.
            let least = c[1].abs() - bent;
            if least > 0.0 {
                let away = self.pace * least;
                return if c[1] > 0.0 { [c[0] + away, end] } else { [end, c[0] - away] };
            }
            let there: f64 = c.iter().sum();
            let (low, high) = (c[0].min(there), c[0].max(there));
            [(low - bent).min(end), (high + bent).max(end)]
        };
        let [end_lat, end_lon] = self.end_deg;
        [bounds(&self.lat_deg, end_lat), bounds(&self.lon_deg, end_lon)]
    }

    /// Latitude and longitude, deg, of a position.
    #[must_use]
    pub fn position(&self, number: usize) -> [f64; 2] {
        if number == self.last {
            return self.end_deg;
        }
        let t = number as f64 * self.pace;
        // Omitted powers are 0 and change no bit of the result.
        [quintic_at(&self.lat_deg, t), quintic_at(&self.lon_deg, t)]
    }
}

/// The highest power that is not 0 in both, 3 at least.
#[inline(always)]
pub(super) fn degree(lat_deg: &[f64; 6], lon_deg: &[f64; 6]) -> u8 {
    let none = |power: usize| lat_deg[power] == 0.0 && lon_deg[power] == 0.0;
    match (none(5), none(4)) {
        (true, true) => 3,
        (true, false) => 4,
        _ => 5,
    }
}

/// The value at `t` of a polynomial of such powers.
#[inline(always)]
pub(super) fn quintic_at(c: &[f64; 6], t: f64) -> f64 {
    let high = t * (t * c[5] + c[4]) + c[3];
    t * (t * (t * high + c[2]) + c[1]) + c[0]
}
