//! Map projections of published rasters: equal-area ones of land cover, and Web Mercator.
//!
//! J. P. Snyder, "Map projections: a working manual", USGS Professional Paper 1395 (1987); numbers of equations are
//! his. Sine and the like come from `libm`: equal bits on all processors.

use std::f64::consts::{PI, SQRT_2};

use super::Utm;

// Ellipsoid WGS84; GRS 80 differs by 0.1 mm.
const AXIS_M: f64 = 6_378_137.0;
const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Square of the eccentricity.
const E2: f64 = FLATTENING * (2.0 - FLATTENING);

/// Side of the square of Web Mercator, m.
const WEB_SIDE_M: f64 = 2.0 * PI * AXIS_M;

/// Rounds of Newton's method for a latitude; each doubles the digits.
const ROUNDS: usize = 8;

/// Projection of a raster: eastings and northings, m, of latitudes and longitudes, deg.
#[derive(Debug, Clone, PartialEq)]
pub enum Projection {
    /// Transverse Mercator.
    Utm(Utm),
    /// Albers' equal-area conic.
    Albers(Albers),
    /// Lambert's azimuthal equal-area projection.
    Azimuthal(Azimuthal),
    /// Mollweide's projection of the sphere with the radius of the equator.
    Mollweide,
    /// Web Mercator (EPSG:3857).
    WebMercator,
}

/// Difference of longitudes within [-180, 180), deg.
fn turned(degrees: f64) -> f64 {
    (degrees + 180.0).rem_euclid(360.0) - 180.0
}

impl Projection {
    /// Easting and northing of a position, m; not finite where the projection has none.
    #[must_use]
    pub fn project(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        match self {
            Self::Utm(utm) => utm.project(lat_deg, lon_deg),
            Self::Albers(albers) => albers.project(lat_deg, lon_deg),
            Self::Azimuthal(azimuthal) => azimuthal.project(lat_deg, lon_deg),
            Self::Mollweide => mollweide(lat_deg, turned(lon_deg)),
            Self::WebMercator => {
                let north_m = AXIS_M * libm::asinh(libm::tan(lat_deg.to_radians()));
                [turned(lon_deg) / 360.0 * WEB_SIDE_M, north_m]
            }
        }
    }

    /// Latitude and longitude of an easting and a northing, deg; NaN off the map. The longitude may lie outside
    /// [-180, 180).
    #[must_use]
    pub fn unproject(&self, easting_m: f64, northing_m: f64) -> [f64; 2] {
        match self {
            Self::Utm(utm) => utm.unproject(easting_m, northing_m),
            Self::Albers(albers) => albers.unproject(easting_m, northing_m),
            Self::Azimuthal(azimuthal) => azimuthal.unproject(easting_m, northing_m),
            Self::Mollweide => mollweide_inverse(easting_m, northing_m),
            Self::WebMercator => {
                let lat_deg = libm::atan(libm::sinh(northing_m / AXIS_M)).to_degrees();
                [lat_deg, easting_m / WEB_SIDE_M * 360.0]
            }
        }
    }

    /// Length on the ground of a metre of the map around a latitude, both ways; 1 of projections that keep areas
    /// and of UTM.
    #[must_use]
    pub fn ground_m(&self, lat_deg: f64) -> f64 {
        match self {
            Self::WebMercator => libm::cos(lat_deg.to_radians()),
            _ => 1.0,
        }
    }
}

/// Twice the authalic area north of the equator to a latitude, by its sine, over that of the unit sphere (3-12).
fn area(sin_lat: f64) -> f64 {
    let e = E2.sqrt();
    (1.0 - E2) * (sin_lat / (1.0 - E2 * sin_lat * sin_lat) + libm::atanh(e * sin_lat) / e)
}

/// Latitude with an area (3-16), rad; NaN beyond the pole.
fn latitude(q: f64) -> f64 {
    let pole = area(1.0);
    if q.abs() > pole * (1.0 + 1e-12) {
        return f64::NAN;
    }
    let mut lat = libm::asin((q / pole).clamp(-1.0, 1.0));
    for _ in 0..ROUNDS {
        let (sin, cos) = libm::sincos(lat);
        // At a pole the authalic latitude is the latitude.
        if cos.abs() < 1e-9 {
            break;
        }
        let slope = 2.0 * (1.0 - E2) * cos / (1.0 - E2 * sin * sin).powi(2);
        lat += (q - area(sin)) / slope;
    }
    lat
}

/// Radius of a parallel over the axis of the ellipsoid (14-15).
fn parallel(lat: f64) -> f64 {
    let (sin, cos) = libm::sincos(lat);
    cos / (1.0 - E2 * sin * sin).sqrt()
}

/// Origin of a projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin {
    /// Latitude, deg north.
    pub lat_deg: f64,
    /// Longitude, deg east.
    pub lon_deg: f64,
    /// Coordinates there: eastwards, northwards, m.
    pub false_m: [f64; 2],
}

/// Albers' equal-area conic projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Albers {
    origin: Origin,
    n: f64,
    c: f64,
    rho_m: f64,
}

impl Albers {
    /// Projection with two standard parallels, deg north; `None` unless they make a cone.
    #[must_use]
    pub fn new(parallels_deg: [f64; 2], origin: Origin) -> Option<Self> {
        let is_valid = |deg: f64| deg.abs() < 90.0;
        if !(parallels_deg.iter().all(|deg| is_valid(*deg)) && is_valid(origin.lat_deg)) {
            return None;
        }
        let [first, second] = parallels_deg.map(f64::to_radians);
        let q = |lat: f64| area(libm::sin(lat));
        let (m1, m2) = (parallel(first), parallel(second));
        let n = if (first - second).abs() < 1e-10 {
            libm::sin(first)
        } else {
            (m1 * m1 - m2 * m2) / (q(second) - q(first))
        };
        if n.abs() < 1e-6 {
            return None;
        }
        let c = m1 * m1 + n * q(first);
        let rho_m = AXIS_M * (c - n * q(origin.lat_deg.to_radians())).sqrt() / n;
        (n.is_finite() && rho_m.is_finite()).then_some(Self { origin, n, c, rho_m })
    }

    fn project(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let q = area(libm::sin(lat_deg.to_radians()));
        let rho_m = AXIS_M * (self.c - self.n * q).sqrt() / self.n;
        let away = turned(lon_deg - self.origin.lon_deg).to_radians();
        let (sin, cos) = libm::sincos(self.n * away);
        let [east_m, north_m] = self.origin.false_m;
        [east_m + rho_m * sin, north_m + self.rho_m - rho_m * cos]
    }

    fn unproject(&self, easting_m: f64, northing_m: f64) -> [f64; 2] {
        let [east_m, north_m] = self.origin.false_m;
        let (x, y) = (easting_m - east_m, self.rho_m - (northing_m - north_m));
        let side = self.n.signum();
        let theta = libm::atan2(side * x, side * y);
        let over = libm::hypot(x, y) * self.n / AXIS_M;
        let lat = latitude((self.c - over * over) / self.n);
        [lat.to_degrees(), self.origin.lon_deg + (theta / self.n).to_degrees()]
    }
}

/// Lambert's azimuthal equal-area projection.
#[derive(Debug, Clone, PartialEq)]
pub struct Azimuthal {
    origin: Origin,
    /// Sine and cosine of the authalic latitude of the origin.
    beta: [f64; 2],
    /// Area of the hemisphere (3-12).
    pole: f64,
    radius_m: f64,
    /// Ratio of the scales eastwards and northwards (24-20).
    d: f64,
}

impl Azimuthal {
    /// Projection about an origin; `None` at a pole, of which it is another form.
    #[must_use]
    pub fn new(origin: Origin) -> Option<Self> {
        if origin.lat_deg.is_nan() || origin.lat_deg.abs() > 89.0 {
            return None;
        }
        let lat = origin.lat_deg.to_radians();
        let pole = area(1.0);
        let sin_beta = area(libm::sin(lat)) / pole;
        let cos_beta = (1.0 - sin_beta * sin_beta).sqrt();
        let radius_m = AXIS_M * (pole / 2.0).sqrt();
        let d = AXIS_M * parallel(lat) / (radius_m * cos_beta);
        Some(Self { origin, beta: [sin_beta, cos_beta], pole, radius_m, d })
    }

    fn project(&self, lat_deg: f64, lon_deg: f64) -> [f64; 2] {
        let [sin_origin, cos_origin] = self.beta;
        let sin_beta = (area(libm::sin(lat_deg.to_radians())) / self.pole).clamp(-1.0, 1.0);
        let cos_beta = (1.0 - sin_beta * sin_beta).sqrt();
        let (sin, cos) = libm::sincos(turned(lon_deg - self.origin.lon_deg).to_radians());
        let near = 1.0 + sin_origin * sin_beta + cos_origin * cos_beta * cos;
        let b_m = self.radius_m * (2.0 / near).sqrt();
        let [east_m, north_m] = self.origin.false_m;
        let up = cos_origin * sin_beta - sin_origin * cos_beta * cos;
        [east_m + b_m * self.d * cos_beta * sin, north_m + b_m / self.d * up]
    }

    fn unproject(&self, easting_m: f64, northing_m: f64) -> [f64; 2] {
        let [sin_origin, cos_origin] = self.beta;
        let [east_m, north_m] = self.origin.false_m;
        let (x, y) = ((easting_m - east_m) / self.d, (northing_m - north_m) * self.d);
        let rho_m = libm::hypot(x, y);
        if rho_m == 0.0 {
            return [self.origin.lat_deg, self.origin.lon_deg];
        }
        // NaN beyond the antipode.
        let (sin, cos) = libm::sincos(2.0 * libm::asin(rho_m / (2.0 * self.radius_m)));
        let q = self.pole * (cos * sin_origin + y * sin * cos_origin / rho_m);
        let away = libm::atan2(x * sin, rho_m * cos_origin * cos - y * sin_origin * sin);
        [latitude(q).to_degrees(), self.origin.lon_deg + away.to_degrees()]
    }
}

/// Equations 31-1, 31-2 and 31-4.
fn mollweide(lat_deg: f64, lon_deg: f64) -> [f64; 2] {
    let want = PI * libm::sin(lat_deg.to_radians());
    // The parametric angle lies between the latitude and the pole; halving is slower than Newton's method, and sure
    // at the poles, where the slope is 0.
    let (mut low, mut high) = (-PI / 2.0, PI / 2.0);
    for _ in 0..60 {
        let middle = low.midpoint(high);
        match 2.0 * middle + libm::sin(2.0 * middle) < want {
            true => low = middle,
            false => high = middle,
        }
    }
    let (sin, cos) = libm::sincos(low.midpoint(high));
    [2.0 * SQRT_2 / PI * AXIS_M * lon_deg.to_radians() * cos, SQRT_2 * AXIS_M * sin]
}

/// Equations 31-5 to 31-7; NaN outside the ellipse of the map.
fn mollweide_inverse(easting_m: f64, northing_m: f64) -> [f64; 2] {
    let theta = libm::asin(northing_m / (SQRT_2 * AXIS_M));
    let lat = libm::asin((2.0 * theta + libm::sin(2.0 * theta)) / PI);
    let lon = PI * easting_m / (2.0 * SQRT_2 * AXIS_M * libm::cos(theta));
    if lon.abs() > PI { [f64::NAN; 2] } else { [lat, lon].map(f64::to_degrees) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, position, coordinates; made with PROJ, see `tests/fixtures/terrain/make.py`.
    type Known = (u32, [f64; 2], [f64; 2]);
    const KNOWN: &[Known] = include!("../../../tests/fixtures/terrain/projections.in");

    fn origin(lat_deg: f64, lon_deg: f64, east_m: f64, north_m: f64) -> Origin {
        Origin { lat_deg, lon_deg, false_m: [east_m, north_m] }
    }

    fn of_code(code: u32) -> Projection {
        let albers = |parallels, origin| Albers::new(parallels, origin).map(Projection::Albers);
        let projection = match code {
            5070 => albers([29.5, 45.5], origin(23.0, -96.0, 0.0, 0.0)),
            3338 => albers([55.0, 65.0], origin(50.0, -154.0, 0.0, 0.0)),
            3577 => albers([-18.0, -36.0], origin(0.0, 132.0, 0.0, 0.0)),
            3035 => Azimuthal::new(origin(52.0, 10.0, 4_321_000.0, 3_210_000.0))
                .map(Projection::Azimuthal),
            54_009 => Some(Projection::Mollweide),
            3857 => Some(Projection::WebMercator),
            _ => None,
        };
        projection.unwrap()
    }

    #[test]
    fn positions_agree_with_proj_within_ten_micrometres() {
        assert!(KNOWN.len() > 50);
        for &(code, [lat, lon], [east, north]) in KNOWN {
            let projection = of_code(code);
            let [x, y] = projection.project(lat, lon);
            // The iteration of the auxiliary angle ends a hundred metres beside a pole, in PROJ as here: its
            // derivative is zero there. At a pole every longitude is right.
            if lat.abs() > 89.999 {
                assert!(x.abs() < 200.0, "{code} {lat} {lon}: {x}");
                assert!((y - north).abs() < 1e-3, "{code} {lat} {lon}: {y}");
                continue;
            }
            assert!((x - east).abs() < 1e-5, "{code} {lat} {lon}: {x}, not {east}");
            assert!((y - north).abs() < 1e-5, "{code} {lat} {lon}: {y}, not {north}");
            let back = projection.unproject(east, north);
            let apart = turned(back[1] - lon).abs().max((back[0] - lat).abs());
            assert!(apart < 1e-9, "{code} {lat} {lon}: {back:?}");
        }
    }

    #[test]
    fn points_off_the_map_have_no_position() {
        assert!(Projection::Mollweide.unproject(17.0e6, 5.0e6)[0].is_nan());
        assert!(of_code(3035).unproject(4_321_000.0 + 1.3e7, 3_210_000.0)[0].is_nan());
        assert_eq!(Albers::new([30.0, -30.0], origin(0.0, 0.0, 0.0, 0.0)), None);
        assert_eq!(Azimuthal::new(origin(90.0, 0.0, 0.0, 0.0)), None);
    }
}
