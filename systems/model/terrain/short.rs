//! The inverse geodesic problem over short distances, without branches, so that many ends of one
//! site are solved at once.
//!
//! Bessel's solution on the auxiliary sphere: with reduced latitudes the geodesic becomes a great
//! circle, whose longitude difference follows by iteration. Over short distances a good first value
//! and the slope are known, so that one step of Newton's does, and series in the third power are
//! exact to rounding (C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87, 2013,
//! eqs 5 to 25). Against `geographiclib` the distance differs by less than 1e-11 of itself or
//! 5 nm, and positions along the path by less than 0.1 mm (see the tests).

mod circle;

use groundwave_propagation::numeric::{Kernel, ROUNDER, atan2, sin_cos, vectorised};

use super::geodesic::{WGS84_A_M, WGS84_F};
use super::{Curve, GeoPoint};
use circle::Circle;

/// Maximum length of a path solved here, m.
pub(crate) const MAX_M: f64 = 100_000.0;

/// Greatest product of length and tangent of latitude, m: towards the poles longitude is no
/// smooth function of distance.
const MAX_STRETCH_M: f64 = 275_000.0;

/// Beyond this latitude nothing is solved here (sine of 82 degrees).
const MAX_SIN_LAT: f64 = 0.990_268;

const E2: f64 = WGS84_F * (2.0 - WGS84_F);
const POLAR_AXIS_M: f64 = WGS84_A_M * (1.0 - WGS84_F);
/// Third flattening.
const N: f64 = WGS84_F / (2.0 - WGS84_F);
/// Square of the second eccentricity.
const EP2: f64 = E2 / (1.0 - E2);

/// Quantities fixed by the latitude of an end: the same for a whole row of cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Parallel {
    pub lat_deg: f64,
    sin_lat: f64,
    tan_lat: f64,
    sin_beta: f64,
    cos_beta: f64,
    /// Degrees of latitude in a metre northwards.
    north_deg_m: f64,
    /// Degrees of longitude in a metre eastwards.
    east_deg_m: f64,
    /// 1/N, 1/m.
    curvature_m: f64,
    /// Relative change of the meridian's radius with latitude, 1/rad.
    meridian_change: f64,
}

impl Parallel {
    #[inline(always)]
    pub fn new(lat_deg: f64) -> Self {
        let (sin_lat, cos_lat) = sin_cos(lat_deg.to_radians());
        let w2 = 1.0 - E2 * sin_lat * sin_lat;
        let w = w2.sqrt();
        let tan_lat = sin_lat / cos_lat;
        let tan_beta = (1.0 - WGS84_F) * tan_lat;
        let cos_beta = 1.0 / (1.0 + tan_beta * tan_beta).sqrt();
        let curvature_m = w / WGS84_A_M;
        Self {
            lat_deg,
            sin_lat,
            tan_lat,
            sin_beta: tan_beta * cos_beta,
            cos_beta,
            north_deg_m: (curvature_m * w2 / (1.0 - E2)).to_degrees(),
            east_deg_m: (curvature_m / cos_lat).to_degrees(),
            curvature_m,
            meridian_change: 3.0 * E2 * sin_lat * cos_lat / w2,
        }
    }
}

/// A short geodesic: its length, its bearings and its positions as polynomials of the share
/// 0 to 1 of the way, lowest power first. Where not `valid` the others mean nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Geodesic {
    pub distance_m: f64,
    /// Bearings of the onward direction at both ends, rad, [-π, π].
    pub azimuth_rad: [f64; 2],
    pub lat_deg: [f64; 6],
    /// Not wrapped: starts at the first end's longitude and is continuous.
    pub lon_deg: [f64; 6],
    pub valid: bool,
}

/// Geodesic from one point to another.
pub(crate) fn between(from: GeoPoint, to: GeoPoint) -> Geodesic {
    struct Between([GeoPoint; 2]);
    impl Kernel for Between {
        type Output = Geodesic;

        #[inline(always)]
        fn run(self) -> Geodesic {
            let Self([from, to]) = self;
            let ends = [Parallel::new(from.lat_deg()), Parallel::new(to.lat_deg())];
            geodesic(&ends[0], from.lon_deg(), &ends[1], to.lon_deg())
        }
    }
    // Not for the width, but for its fused operations, which are calls elsewhere.
    vectorised(Between([from, to]))
}

/// Length of the way from one end to another, m, as [`geodesic`] gives it, but without asking whether the
/// way is valid.
pub(crate) fn distance_m(
    from: &Parallel,
    from_lon_deg: f64,
    to: &Parallel,
    to_lon_deg: f64,
) -> f64 {
    struct Length<'a>([&'a Parallel; 2], [f64; 2]);
    impl Kernel for Length<'_> {
        type Output = f64;

        #[inline(always)]
        fn run(self) -> f64 {
            let Self([from, to], [from_lon_deg, to_lon_deg]) = self;
            let east_rad = east_deg(from_lon_deg, to_lon_deg).to_radians();
            solve(from, to, east_rad).0
        }
    }
    // Not for the width, but for its fused operations, which are calls elsewhere.
    vectorised(Length([from, to], [from_lon_deg, to_lon_deg]))
}

/// Difference of two longitudes, eastward positive, degrees, [-180, 180].
#[inline(always)]
pub(crate) fn east_deg(from_lon_deg: f64, to_lon_deg: f64) -> f64 {
    let east_deg = to_lon_deg - from_lon_deg;
    let east_deg = if east_deg > 180.0 { east_deg - 360.0 } else { east_deg };
    if east_deg < -180.0 { east_deg + 360.0 } else { east_deg }
}

/// Geodesic between two ends, given by their parallels and longitudes.
#[inline(always)]
pub(crate) fn geodesic(
    from: &Parallel,
    from_lon_deg: f64,
    to: &Parallel,
    to_lon_deg: f64,
) -> Geodesic {
    let east_deg = east_deg(from_lon_deg, to_lon_deg);
    let (arc, [one, two]) = solve(from, to, east_deg.to_radians());
    let distance_m = arc;
    let steep = if from.tan_lat.abs() > to.tan_lat.abs() { from.tan_lat } else { to.tan_lat }.abs();
    let polar = (from.sin_lat.abs() > MAX_SIN_LAT) | (to.sin_lat.abs() > MAX_SIN_LAT);
    let start = derivatives(from, one, distance_m);
    let end = derivatives(to, two, distance_m);
    let [lat_deg, lon_deg] = economised([
        quintic(from.lat_deg, start[0], to.lat_deg, end[0]),
        quintic(from_lon_deg, start[1], from_lon_deg + east_deg, end[1]),
    ]);
    Geodesic {
        distance_m,
        azimuth_rad: [atan2(one[0], one[1]), atan2(two[0], two[1])],
        lat_deg,
        lon_deg,
        valid: (distance_m <= MAX_M) & (distance_m * steep <= MAX_STRETCH_M) & !polar,
    }
}

/// Geodesics solved together.
pub(crate) const BATCH: usize = 64;

/// Geodesics from one point to the points of a parallel.
#[derive(Debug, Clone)]
pub(crate) struct Geodesics {
    distance_m: [f64; BATCH],
    azimuth_rad: [[f64; BATCH]; 2],
    lat_deg: [[f64; BATCH]; 6],
    lon_deg: [[f64; BATCH]; 6],
    /// Not 0 where the way is valid.
    valid: [f64; BATCH],
    /// Bearings from each end to the other, deg, as those of [`super::Path`].
    pub bearing_deg: [[f64; BATCH]; 2],
    /// Longitude of the end, continuous along the way.
    end_lon_deg: [f64; BATCH],
}

impl Default for Geodesics {
    fn default() -> Self {
        Self {
            distance_m: [0.0; BATCH],
            azimuth_rad: [[0.0; BATCH]; 2],
            lat_deg: [[0.0; BATCH]; 6],
            lon_deg: [[0.0; BATCH]; 6],
            valid: [0.0; BATCH],
            bearing_deg: [[0.0; BATCH]; 2],
            end_lon_deg: [0.0; BATCH],
        }
    }
}

impl Geodesics {
    /// Solves the geodesics from `from` at `from_lon_deg` to the points of `to` at `to_lon_deg`: the
    /// bits of [`between`].
    pub fn solve(
        &mut self,
        from: &Parallel,
        from_lon_deg: f64,
        to: &Parallel,
        to_lon_deg: &[f64; BATCH],
    ) {
        vectorised(Solve { geodesics: self, from: *from, from_lon_deg, to: *to, to_lon_deg });
    }

    /// Length, m, and bearings at both ends, rad, of the way in a place, and whether it is valid.
    #[inline]
    pub fn head(&self, place: usize) -> (f64, [f64; 2], bool) {
        let azimuth_rad = [self.azimuth_rad[0][place], self.azimuth_rad[1][place]];
        (self.distance_m[place], azimuth_rad, self.valid[place] != 0.0)
    }

    /// The way in a place, which ends on the parallel `lat_deg`, cut into `last` steps.
    #[inline]
    pub fn curve(&self, place: usize, last: usize, lat_deg: f64) -> Curve {
        let mut powers = [[0.0; 6]; 2];
        for power in 0..6 {
            powers[0][power] = self.lat_deg[power][place];
            powers[1][power] = self.lon_deg[power][place];
        }
        Curve::new(powers, last, [lat_deg, self.end_lon_deg[place]])
    }

    /// Geodesic of a lane.
    #[inline]
    pub fn get(&self, place: usize) -> Geodesic {
        Geodesic {
            distance_m: self.distance_m[place],
            azimuth_rad: [self.azimuth_rad[0][place], self.azimuth_rad[1][place]],
            lat_deg: std::array::from_fn(|power| self.lat_deg[power][place]),
            lon_deg: std::array::from_fn(|power| self.lon_deg[power][place]),
            valid: self.valid[place] != 0.0,
        }
    }
}

struct Solve<'a> {
    geodesics: &'a mut Geodesics,
    from: Parallel,
    from_lon_deg: f64,
    to: Parallel,
    to_lon_deg: &'a [f64; BATCH],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { geodesics, from, from_lon_deg, to, to_lon_deg } = self;
        for place in 0..BATCH {
            let geodesic = geodesic(&from, from_lon_deg, &to, to_lon_deg[place]);
            geodesics.distance_m[place] = geodesic.distance_m;
            geodesics.azimuth_rad[0][place] = geodesic.azimuth_rad[0];
            geodesics.azimuth_rad[1][place] = geodesic.azimuth_rad[1];
            geodesics.valid[place] = if geodesic.valid { 1.0 } else { 0.0 };
            let [onward, there] = geodesic.azimuth_rad;
            geodesics.bearing_deg[0][place] = compass_deg(onward.to_degrees());
            geodesics.bearing_deg[1][place] = compass_deg(there.to_degrees() + 180.0);
            let turns = (geodesic.lon_deg.iter().sum::<f64>() - to_lon_deg[place]) / 360.0;
            let turns = (turns + ROUNDER) - ROUNDER;
            geodesics.end_lon_deg[place] = to_lon_deg[place] + 360.0 * turns;
            for power in 0..6 {
                geodesics.lat_deg[power][place] = geodesic.lat_deg[power];
                geodesics.lon_deg[power][place] = geodesic.lon_deg[power];
            }
        }
    }
}

/// A bearing of -180 to 360 degrees in [0, 360).
#[inline(always)]
fn compass_deg(azimuth_deg: f64) -> f64 {
    let turned = if azimuth_deg < 0.0 { azimuth_deg + 360.0 } else { azimuth_deg };
    // A tiny negative bearing rounds up to 360.
    if turned < 360.0 { turned } else { 0.0 }
}

/// Length, m, and sine and cosine of the bearings at both ends.
#[inline(always)]
fn solve(from: &Parallel, to: &Parallel, east_rad: f64) -> (f64, [[f64; 2]; 2]) {
    let mean = 0.5 * (from.cos_beta + to.cos_beta);
    let guess = east_rad / (1.0 - E2 * mean * mean).sqrt();
    let circle = Circle::new(from, to, guess);
    // Newton's step. The excess is f sin α0 σ but for terms of the order of f, which is
    // f cos β1 cos β2 sin ω σ / sin σ, and its slope is known so well that what is left of the
    // guess's error is a few millionths.
    let slope = WGS84_F * from.cos_beta * to.cos_beta * (1.0 - 0.5 * guess * guess);
    let wrong = east_rad + circle.longitude_excess() - guess;
    let circle = Circle::new(from, to, guess + wrong / (1.0 - slope));
    (circle.distance_m(), [circle.azimuth_1, circle.azimuth_2])
}

/// First and second derivatives of latitude and longitude (degrees) by the share of a way of
/// `length_m`, where it has the bearing (`sine`, `cosine`).
///
/// `dφ/ds = cos α / M`, `dλ/ds = sin α / (N cos φ)`, `dα/ds = sin α tan φ / N`, and once more.
#[inline(always)]
pub(super) fn derivatives(at: &Parallel, [sine, cosine]: [f64; 2], length_m: f64) -> [[f64; 2]; 2] {
    let north = length_m * cosine * at.north_deg_m;
    let east = length_m * sine * at.east_deg_m;
    let turn = length_m * at.tan_lat * at.curvature_m;
    let north_bends = -(length_m * at.north_deg_m * sine * sine * turn)
        - north * north.to_radians() * at.meridian_change;
    [[north, north_bends], [east, 2.0 * cosine * east * turn]]
}

/// Powers of the polynomial of fifth degree with values `p0`, `p1` at 0 and 1 and the given first
/// and second derivatives there.
#[inline(always)]
pub(super) fn quintic(p0: f64, [d0, a0]: [f64; 2], p1: f64, [d1, a1]: [f64; 2]) -> [f64; 6] {
    let rise = p1 - p0;
    [
        p0,
        d0,
        0.5 * a0,
        10.0 * rise - 6.0 * d0 - 4.0 * d1 - 0.5 * (3.0 * a0 - a1),
        8.0 * d0 + 7.0 * d1 - 15.0 * rise + 0.5 * (3.0 * a0 - 2.0 * a1),
        6.0 * rise - 3.0 * (d0 + d1) - 0.5 * (a0 - a1),
    ]
}

/// Maximum contribution of a power that is omitted, degrees: 0.05 mm.
const NOTHING_DEG: f64 = 4.5e-10;

/// Less the multiple of T5* = 512 t^5 - 1280 t^4 + 1120 t^3 - 400 t^2 + 50 t - 1 with its fifth power.
#[inline(always)]
fn without_fifth(c: [f64; 6]) -> [f64; 6] {
    let part = c[5] / 512.0;
    [
        c[0] + part,
        c[1] - 50.0 * part,
        c[2] + 400.0 * part,
        c[3] - 1120.0 * part,
        c[4] + 1280.0 * part,
        0.0,
    ]
}

/// Less the multiple of T4* = 128 t^4 - 256 t^3 + 160 t^2 - 32 t + 1 with its fourth power.
#[inline(always)]
fn without_fourth(c: [f64; 6]) -> [f64; 6] {
    let part = c[4] / 128.0;
    [c[0] - part, c[1] + 32.0 * part, c[2] - 160.0 * part, c[3] + 256.0 * part, 0.0, 0.0]
}

/// Latitude and longitude from 0 to 1 without the fifth power, and without the fourth, where the
/// lower ones can stand in for it: less the multiples of Chebyshev's polynomials that have these
/// powers.
#[inline(always)]
fn economised(both: [[f64; 6]; 2]) -> [[f64; 6]; 2] {
    // Not by `map`, whose closures might be left out of line, and the loop around them no vector code.
    let quartic = [without_fifth(both[0]), without_fifth(both[1])];
    let cubic = [without_fourth(quartic[0]), without_fourth(quartic[1])];
    let off = |upper: [f64; 2], scale: f64| (upper[0].abs() + upper[1].abs()) * scale;
    let fifth_deg = off([both[0][5], both[1][5]], 1.0 / 512.0);
    let fourth_deg = off([quartic[0][4], quartic[1][4]], 1.0 / 128.0);
    let (is_quartic, is_cubic) =
        (fifth_deg < 0.1 * NOTHING_DEG, fourth_deg + fifth_deg < NOTHING_DEG);
    let mut out = both;
    for of in 0..2 {
        for power in 0..6 {
            let lower = if is_cubic { cubic[of][power] } else { quartic[of][power] };
            out[of][power] = if is_quartic { lower } else { both[of][power] };
        }
    }
    out
}

#[cfg(test)]
#[path = "short_tests.rs"]
mod tests;
