//! Evenly spaced positions along a geodesic, cheap enough for every cell of a coverage.
//!
//! Karney's solution costs some hundred nanoseconds a position; a profile has hundreds of
//! positions. So it is solved at anchors at most 10 km apart, and between two anchors latitude
//! and longitude are cubic Hermite polynomials of distance whose end slopes are the exact
//!
//! `dlat/ds = cos(az) / M`, `dlon/ds = sin(az) / (N cos lat)`
//!
//! with the curvature radii M, N at the anchor. The result stays within 1 mm of the geodesic
//! (see the tests). Towards the poles longitude stops being smooth, so a path that comes
//! within 8 degrees of one is solved exactly at every position.

use thiserror::Error;

use super::GeoPoint;
use super::geodesic::{Line, Station, compass_deg, curvature_radii_m, inverse};

/// Longest path (m): half a meridian of WGS84, which no shortest path exceeds.
pub const MAX_PATH_M: f64 = 20_003_931.5;

/// Greatest distance between anchors (m). The error of a cubic grows with its fourth power.
const MAX_ANCHOR_SPACING_M: f64 = 10_000.0;

/// From here towards a pole (degrees) every position is solved exactly.
const POLAR_LAT_DEG: f64 = 82.0;

/// Why no path starts with the given bearing and length.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error(
    "a path needs a finite azimuth and a length of 0 to {MAX_PATH_M} m, \
     found {azimuth_deg} degrees and {distance_m} m"
)]
pub struct BadPath {
    /// The bearing asked for (degrees).
    pub azimuth_deg: f64,
    /// The length asked for (m).
    pub distance_m: f64,
}

/// Latitude and longitude (degrees) as cubics of t in [0, 1], lowest power first.
#[derive(Debug, Clone, Copy)]
struct Segment {
    lat: [f64; 4],
    lon: [f64; 4],
}

/// A geodesic prepared for sampling. Reusable: [`Path::set_between`] keeps its buffers.
#[derive(Debug, Clone)]
pub struct Path {
    distance_m: f64,
    azimuth_deg: f64,
    back_azimuth_deg: f64,
    line: Line,
    from: GeoPoint,
    /// Last position; longitude continuous along the path.
    end: [f64; 2],
    segments: Vec<Segment>,
    /// Comes too near a pole for polynomials.
    polar: bool,
}

impl Path {
    /// The shortest path between two points; they may be equal.
    #[must_use]
    pub fn between(from: GeoPoint, to: GeoPoint) -> Self {
        let mut path = Self {
            distance_m: 0.0,
            azimuth_deg: 0.0,
            back_azimuth_deg: 0.0,
            line: Line::new(from, 0.0),
            from,
            end: [0.0; 2],
            segments: Vec::new(),
            polar: false,
        };
        path.set_between(from, to);
        path
    }

    /// Like [`Path::between`], reusing the buffers of this path.
    pub fn set_between(&mut self, from: GeoPoint, to: GeoPoint) {
        let way = inverse(from, to);
        self.set_line(from, way.azimuth_deg, way.distance_m);
        self.back_azimuth_deg = way.back_azimuth_deg;
        // The last position is `to` itself; only its turn is taken from the line.
        let turns = ((self.end[1] - to.lon_deg()) / 360.0).round();
        self.end = [to.lat_deg(), to.lon_deg() + 360.0 * turns];
    }

    /// The path that leaves `from` at a bearing and is `distance_m` (m) long.
    ///
    /// # Errors
    /// When the bearing is not finite or the length not in [0, [`MAX_PATH_M`]].
    pub fn along(from: GeoPoint, azimuth_deg: f64, distance_m: f64) -> Result<Self, BadPath> {
        let mut path = Self::between(from, from);
        path.set_along(from, azimuth_deg, distance_m)?;
        Ok(path)
    }

    /// Like [`Path::along`], reusing the buffers of this path.
    ///
    /// # Errors
    /// As [`Path::along`]; the path is then unchanged.
    pub fn set_along(
        &mut self,
        from: GeoPoint,
        azimuth_deg: f64,
        distance_m: f64,
    ) -> Result<(), BadPath> {
        if !azimuth_deg.is_finite() || !(0.0..=MAX_PATH_M).contains(&distance_m) {
            return Err(BadPath {
                azimuth_deg,
                distance_m,
            });
        }
        self.set_line(from, compass_deg(azimuth_deg), distance_m);
        Ok(())
    }

    /// Length (m).
    #[must_use]
    pub fn distance_m(&self) -> f64 {
        self.distance_m
    }

    /// Bearing at the start towards the end, clockwise from true north, [0, 360).
    #[must_use]
    pub fn azimuth_deg(&self) -> f64 {
        self.azimuth_deg
    }

    /// Bearing at the end back towards the start, [0, 360).
    #[must_use]
    pub fn back_azimuth_deg(&self) -> f64 {
        self.back_azimuth_deg
    }

    /// Distance between neighbours (m) when the path is cut into `samples` positions.
    #[must_use]
    pub fn step_m(&self, samples: usize) -> f64 {
        self.distance_m / whole(samples.max(2) - 1)
    }

    /// Writes `samples` (at least 2) evenly spaced positions, both ends included. Longitudes
    /// are continuous and may leave [-180, 180]. Nothing is allocated once the vectors have
    /// held as many positions before.
    pub fn positions(&self, samples: usize, lat_deg: &mut Vec<f64>, lon_deg: &mut Vec<f64>) {
        let samples = samples.max(2);
        lat_deg.resize(samples, 0.0);
        lon_deg.resize(samples, 0.0);
        if self.distance_m == 0.0 {
            lat_deg.fill(self.from.lat_deg());
            lon_deg.fill(self.from.lon_deg());
            return;
        }
        if self.polar || self.segments.len() >= samples {
            self.exact_positions(lat_deg, lon_deg);
        } else {
            self.polynomial_positions(lat_deg, lon_deg);
        }
        (lat_deg[0], lon_deg[0]) = (self.from.lat_deg(), self.from.lon_deg());
        (lat_deg[samples - 1], lon_deg[samples - 1]) = (self.end[0], self.end[1]);
    }

    fn exact_positions(&self, lat_deg: &mut [f64], lon_deg: &mut [f64]) {
        let step_m = self.step_m(lat_deg.len());
        for (i, (lat, lon)) in lat_deg.iter_mut().zip(lon_deg).enumerate() {
            let here = self.line.at(whole(i) * step_m);
            (*lat, *lon) = (here.lat_deg, here.lon_deg);
        }
    }

    fn polynomial_positions(&self, lat_deg: &mut [f64], lon_deg: &mut [f64]) {
        let samples = lat_deg.len();
        // Segments passed per sample: sample i lies at t = i * pace - k on segment k.
        let pace = whole(self.segments.len()) / whole(samples - 1);
        let mut first = 0;
        for (k, segment) in self.segments.iter().enumerate() {
            // The last sample that is not past this segment, plus one.
            let after = (k + 1) * (samples - 1) / self.segments.len() + 1;
            if after > first {
                let t0 = whole(first) * pace - whole(k);
                evaluate(&segment.lat, t0, pace, &mut lat_deg[first..after]);
                evaluate(&segment.lon, t0, pace, &mut lon_deg[first..after]);
                first = after;
            }
        }
    }

    /// Solves the anchors of a line and everything but the far point of an inverse problem.
    fn set_line(&mut self, from: GeoPoint, azimuth_deg: f64, distance_m: f64) {
        self.from = from;
        self.azimuth_deg = azimuth_deg;
        self.distance_m = distance_m;
        self.line = Line::new(from, azimuth_deg);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most MAX_PATH_M / MAX_ANCHOR_SPACING_M, about 2000"
        )]
        let count = (distance_m / MAX_ANCHOR_SPACING_M).ceil().max(1.0) as usize;
        let spacing_m = distance_m / whole(count);
        self.segments.clear();
        self.polar = false;
        let mut here = Anchor::new(&self.line.at(0.0), spacing_m);
        let mut onward_deg = azimuth_deg;
        for k in 1..=count {
            let station = self.line.at(whole(k) * spacing_m);
            let next = Anchor::new(&station, spacing_m);
            self.polar |= here.is_polar() || next.is_polar();
            self.segments.push(Segment {
                lat: hermite(here.at[0], here.slope[0], next.at[0], next.slope[0]),
                lon: hermite(here.at[1], here.slope[1], next.at[1], next.slope[1]),
            });
            (here, onward_deg) = (next, station.azimuth_deg);
        }
        self.back_azimuth_deg = compass_deg(onward_deg + 180.0);
        self.end = here.at;
    }
}

/// Latitude and longitude (degrees) at an anchor and their change over one segment.
struct Anchor {
    at: [f64; 2],
    slope: [f64; 2],
}

impl Anchor {
    fn new(station: &Station, spacing_m: f64) -> Self {
        let (meridian_m, across_m) = curvature_radii_m(station.lat_deg);
        let (sin_az, cos_az) = station.azimuth_deg.to_radians().sin_cos();
        let parallel_m = across_m * station.lat_deg.to_radians().cos();
        Self {
            at: [station.lat_deg, station.lon_deg],
            slope: [
                (spacing_m * cos_az / meridian_m).to_degrees(),
                (spacing_m * sin_az / parallel_m).to_degrees(),
            ],
        }
    }

    fn is_polar(&self) -> bool {
        self.at[0].abs() > POLAR_LAT_DEG
    }
}

/// Powers of t of the cubic with values `p0`, `p1` and slopes `m0`, `m1` at t = 0 and 1.
fn hermite(p0: f64, m0: f64, p1: f64, m1: f64) -> [f64; 4] {
    let rise = p1 - p0;
    [p0, m0, 3.0 * rise - 2.0 * m0 - m1, m0 + m1 - 2.0 * rise]
}

/// `out[j]` = cubic at `t0 + j * pace`; branchless so that it is vectorised.
fn evaluate(c: &[f64; 4], t0: f64, pace: f64, out: &mut [f64]) {
    for (j, value) in (0_u32..).zip(out) {
        let t = t0 + f64::from(j) * pace;
        *value = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sample counts stay far below 2^53"
)]
fn whole(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
