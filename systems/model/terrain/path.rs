//! Evenly spaced positions along a geodesic, cheap enough for every cell of a coverage.
//!
//! Karney's solution costs some hundred nanoseconds a position; a profile has hundreds of
//! positions. So latitude and longitude are polynomials of distance that share values, slopes and
//! curvatures with the geodesic at anchors: both ends of a short path (see [`super::short`]), or
//! points at most 40 km apart of a long one. The result stays within 1 mm of the geodesic (see
//! the tests). Towards the poles longitude stops being smooth, so a path that comes within
//! 8 degrees of one is solved exactly at every position.

use groundwave_propagation::numeric::{Kernel, sin_cos, vectorised};
use thiserror::Error;

use super::GeoPoint;
use super::curve::quintic_at;
use super::curve::{Curve, degree};
use super::geodesic::{Line, Station, compass_deg, inverse};
use super::short::{self, Geodesic, Parallel, derivatives, quintic};

/// Maximum length of a path (m): half a meridian of WGS84, which no shortest path exceeds.
pub const MAX_PATH_M: f64 = 20_003_931.5;

/// Greatest distance between anchors (m). The error grows with its sixth power.
const MAX_ANCHOR_SPACING_M: f64 = 40_000.0;

/// From here towards a pole (degrees) every position is solved exactly.
const POLAR_LAT_DEG: f64 = 82.0;

/// Reason for refusing a bearing and length of a path.
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

/// Latitude and longitude (degrees) as polynomials of t in [0, 1], lowest power first.
#[derive(Debug, Clone, Copy)]
struct Segment {
    lat: [f64; 6],
    lon: [f64; 6],
}

/// A geodesic prepared for sampling. Reusable: [`Path::set_between`] keeps its buffers.
#[derive(Debug, Clone)]
pub struct Path {
    distance_m: f64,
    azimuth_deg: f64,
    back_azimuth_deg: f64,
    /// Exact line, where polynomials are not precise enough.
    line: Option<Line>,
    from: GeoPoint,
    /// Last position; longitude continuous along the path.
    end: [f64; 2],
    segments: Vec<Segment>,
    /// True if it is the short geodesic between two points.
    is_short: bool,
}

/// Distance between neighbours of `samples` (at least 2) over `distance_m`, m, rounded to the 24 bits of an
/// `f32`: sums and products of it are exact then, so that the places at which ITM cuts a profile do not hang on
/// the last bit of an `f64`.
#[must_use]
pub(crate) fn step_m(distance_m: f64, samples: usize) -> f64 {
    f64::from((distance_m / whole(samples.max(2) - 1)) as f32)
}

impl Path {
    /// The shortest path between two points; they may be equal.
    #[must_use]
    pub fn between(from: GeoPoint, to: GeoPoint) -> Self {
        let mut path = Self {
            distance_m: 0.0,
            azimuth_deg: 0.0,
            back_azimuth_deg: 0.0,
            line: None,
            from,
            end: [0.0; 2],
            segments: Vec::new(),
            is_short: false,
        };
        path.set_between(from, to);
        path
    }

    /// Like [`Path::between`], reusing the buffers of this path.
    pub fn set_between(&mut self, from: GeoPoint, to: GeoPoint) {
        let geodesic = short::between(from, to);
        self.set_geodesic(from, to, &geodesic);
    }

    /// Like [`Path::set_between`], the short way between the points being known.
    #[inline]
    pub(crate) fn set_geodesic(&mut self, from: GeoPoint, to: GeoPoint, geodesic: &Geodesic) {
        if !geodesic.valid {
            self.set_long(from, to);
            return;
        }
        self.from = from;
        self.is_short = true;
        self.distance_m = geodesic.distance_m;
        self.azimuth_deg = compass_deg(geodesic.azimuth_rad[0].to_degrees());
        self.back_azimuth_deg = compass_deg(geodesic.azimuth_rad[1].to_degrees() + 180.0);
        self.line = None;
        self.segments.clear();
        self.segments.push(Segment { lat: geodesic.lat_deg, lon: geodesic.lon_deg });
        let turn_deg = geodesic.lon_deg.iter().sum::<f64>() - to.lon_deg();
        let turn_deg = 360.0 * (turn_deg / 360.0).round();
        self.end = [to.lat_deg(), to.lon_deg() + turn_deg];
    }

    fn set_long(&mut self, from: GeoPoint, to: GeoPoint) {
        let geodesic = inverse(from, to);
        self.set_line(from, geodesic.azimuth_deg, geodesic.distance_m);
        self.back_azimuth_deg = geodesic.back_azimuth_deg;
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
            return Err(BadPath { azimuth_deg, distance_m });
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

    /// The polynomials of a short way between two points, cut into `samples` (at least 2) positions:
    /// those of [`Path::positions`].
    #[must_use]
    pub fn curve(&self, samples: usize) -> Option<Curve> {
        let segment = self.segments.first()?;
        let powers = [segment.lat, segment.lon];
        let curve = || Curve::new(powers, samples.max(2) - 1, self.end);
        (self.is_short && self.distance_m > 0.0).then(curve)
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
        match &self.line {
            Some(line) => self.exact_positions(line, lat_deg, lon_deg),
            None => self.polynomial_positions(lat_deg, lon_deg),
        }
        (lat_deg[0], lon_deg[0]) = (self.from.lat_deg(), self.from.lon_deg());
        (lat_deg[samples - 1], lon_deg[samples - 1]) = (self.end[0], self.end[1]);
    }

    fn exact_positions(&self, line: &Line, lat_deg: &mut [f64], lon_deg: &mut [f64]) {
        let step_m = self.step_m(lat_deg.len());
        for (i, (lat, lon)) in lat_deg.iter_mut().zip(lon_deg).enumerate() {
            let here = line.at(whole(i) * step_m);
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
                vectorised(Positions {
                    segment,
                    t0,
                    pace,
                    lat_deg: &mut lat_deg[first..after],
                    lon_deg: &mut lon_deg[first..after],
                });
                first = after;
            }
        }
    }

    /// Solves the anchors of a line and everything but the far point of an inverse problem.
    fn set_line(&mut self, from: GeoPoint, azimuth_deg: f64, distance_m: f64) {
        self.from = from;
        self.is_short = false;
        self.azimuth_deg = azimuth_deg;
        self.distance_m = distance_m;
        let line = Line::new(from, azimuth_deg);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most MAX_PATH_M / MAX_ANCHOR_SPACING_M, about 500"
        )]
        let count = (distance_m / MAX_ANCHOR_SPACING_M).ceil().max(1.0) as usize;
        let spacing_m = distance_m / whole(count);
        self.segments.clear();
        let mut here = Anchor::new(&line.at(0.0), spacing_m);
        let mut polar = here.is_polar();
        let mut onward_deg = azimuth_deg;
        for k in 1..=count {
            let station = line.at(whole(k) * spacing_m);
            let next = Anchor::new(&station, spacing_m);
            polar |= next.is_polar();
            self.segments.push(Segment {
                lat: quintic(here.at[0], here.bends[0], next.at[0], next.bends[0]),
                lon: quintic(here.at[1], here.bends[1], next.at[1], next.bends[1]),
            });
            (here, onward_deg) = (next, station.azimuth_deg);
        }
        self.back_azimuth_deg = compass_deg(onward_deg + 180.0);
        self.end = here.at;
        self.line = polar.then_some(line);
    }
}

/// Latitude and longitude (degrees) at an anchor with their first and second derivatives by the
/// share of one segment.
struct Anchor {
    at: [f64; 2],
    bends: [[f64; 2]; 2],
}

impl Anchor {
    fn new(station: &Station, spacing_m: f64) -> Self {
        let (sine, cosine) = sin_cos(station.azimuth_deg.to_radians());
        let parallel = Parallel::new(station.lat_deg);
        Self {
            at: [station.lat_deg, station.lon_deg],
            bends: derivatives(&parallel, [sine, cosine], spacing_m),
        }
    }

    fn is_polar(&self) -> bool {
        self.at[0].abs() > POLAR_LAT_DEG
    }
}

/// Positions of one segment at `t0 + j * pace`.
struct Positions<'a> {
    segment: &'a Segment,
    t0: f64,
    pace: f64,
    lat_deg: &'a mut [f64],
    lon_deg: &'a mut [f64],
}

impl Kernel for Positions<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Self { segment: Segment { lat, lon }, t0, pace, lat_deg, lon_deg } = self;
        // Indices rather than iterators: these are compiled to vector code.
        let count = lat_deg.len().min(lon_deg.len());
        let (lat_deg, lon_deg) = (&mut lat_deg[..count], &mut lon_deg[..count]);
        // Omitted powers are 0 and change no bit of the result.
        if degree(lat, lon) == 3 {
            for j in 0..count {
                let t = f64::from(j as i32) * pace + t0;
                lat_deg[j] = cubic_at(lat, t);
                lon_deg[j] = cubic_at(lon, t);
            }
            return;
        }
        for j in 0..count {
            let t = f64::from(j as i32) * pace + t0;
            lat_deg[j] = quintic_at(lat, t);
            lon_deg[j] = quintic_at(lon, t);
        }
    }
}

#[inline(always)]
fn cubic_at(c: &[f64; 6], t: f64) -> f64 {
    let high = t * c[3] + c[2];
    t * (t * high + c[1]) + c[0]
}

#[expect(clippy::cast_precision_loss, reason = "sample counts stay far below 2^53")]
fn whole(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
