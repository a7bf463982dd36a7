//! Distance and bearing on the WGS84 ellipsoid: a thin face on `geographiclib-rs`
//! (C. F. F. Karney, "Algorithms for geodesics", J. Geodesy 87, 2013).

use std::sync::LazyLock;

use geographiclib_rs::geodesic_capability as caps;
use geographiclib_rs::{DirectGeodesic, Geodesic, GeodesicLine, InverseGeodesic};

use super::{BadPoint, GeoPoint};

/// Equatorial radius of the WGS84 ellipsoid (m).
pub const WGS84_A_M: f64 = 6_378_137.0;
/// Flattening of the WGS84 ellipsoid.
pub const WGS84_F: f64 = 1.0 / 298.257_223_563;

/// Building the series coefficients costs more than one query.
static WGS84: LazyLock<Geodesic> = LazyLock::new(Geodesic::wgs84);

/// Quantities that a [`GeodesicLine`] can compute.
const LINE_CAPS: u64 =
    caps::LATITUDE | caps::LONGITUDE | caps::AZIMUTH | caps::DISTANCE_IN | caps::LONG_UNROLL;

/// The shortest way from one point to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inverse {
    /// Length of the geodesic (m).
    pub distance_m: f64,
    /// Bearing of the second point as seen from the first, clockwise from true north, [0, 360).
    pub azimuth_deg: f64,
    /// Bearing of the first point as seen from the second, [0, 360). Not exactly
    /// `azimuth_deg + 180`, because meridians converge.
    pub back_azimuth_deg: f64,
}

/// Distance and both bearings between two points. For equal points the distance is 0 and the
/// bearings, which mean nothing there, are finite.
#[must_use]
pub fn inverse(from: GeoPoint, to: GeoPoint) -> Inverse {
    let (distance_m, azimuth, onward, _arc): (f64, f64, f64, f64) =
        WGS84.inverse(from.lat_deg(), from.lon_deg(), to.lat_deg(), to.lon_deg());
    Inverse {
        distance_m,
        azimuth_deg: compass_deg(azimuth),
        back_azimuth_deg: compass_deg(onward + 180.0),
    }
}

/// The point `distance_m` (m) from `from` along the bearing `azimuth_deg` (clockwise from true
/// north).
///
/// # Errors
/// When azimuth or distance is not finite, so that no point exists.
pub fn direct(from: GeoPoint, azimuth_deg: f64, distance_m: f64) -> Result<GeoPoint, BadPoint> {
    let (lat_deg, lon_deg): (f64, f64) =
        WGS84.direct(from.lat_deg(), from.lon_deg(), azimuth_deg, distance_m);
    GeoPoint::wrapping(lat_deg, lon_deg)
}

/// Curvature radii of the ellipsoid at a latitude: along the meridian (M) and across it (N), m.
/// Source: J. P. Snyder, "Map Projections: A Working Manual" (USGS Professional Paper 1395),
/// eqs. 4-18 (M) and 4-20 (N).
#[must_use]
pub fn curvature_radii_m(lat_deg: f64) -> (f64, f64) {
    const E2: f64 = WGS84_F * (2.0 - WGS84_F);
    let sin_lat = libm::sin(lat_deg.to_radians());
    let w2 = 1.0 - E2 * sin_lat * sin_lat;
    let across = WGS84_A_M / w2.sqrt();
    (across * (1.0 - E2) / w2, across)
}

/// A bearing in [0, 360).
pub(super) fn compass_deg(azimuth_deg: f64) -> f64 {
    let turned = azimuth_deg.rem_euclid(360.0);
    // A tiny negative bearing rounds up to 360.
    if turned < 360.0 { turned } else { 0.0 }
}

/// A geodesic prepared for many positions.
#[derive(Debug, Clone)]
pub(super) struct Line(GeodesicLine);

/// A position on a [`Line`]; the longitude is continuous along the line.
pub(super) struct Station {
    pub lat_deg: f64,
    pub lon_deg: f64,
    /// Bearing of the line's onward direction here.
    pub azimuth_deg: f64,
}

impl Line {
    pub fn new(from: GeoPoint, azimuth_deg: f64) -> Self {
        let (lat, lon) = (from.lat_deg(), from.lon_deg());
        Self(GeodesicLine::new(&WGS84, lat, lon, azimuth_deg, Some(LINE_CAPS), None, None))
    }

    pub fn at(&self, distance_m: f64) -> Station {
        let (_, lat_deg, lon_deg, azimuth_deg, ..) =
            self.0._gen_position(false, distance_m, LINE_CAPS);
        Station { lat_deg, lon_deg, azimuth_deg }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lat: f64, lon: f64) -> GeoPoint {
        GeoPoint::new(lat, lon).unwrap()
    }

    #[test]
    fn the_published_jfk_to_lhr_example() {
        // GeographicLib's GeodSolve manual: 40.6 -73.8 to 51.6 -0.5.
        let geodesic = inverse(point(40.6, -73.8), point(51.6, -0.5));
        assert!((geodesic.distance_m - 5_551_759.400).abs() < 0.001, "{geodesic:?}");
        assert!((geodesic.azimuth_deg - 51.198_882_845_579).abs() < 1e-9);
        assert!((geodesic.back_azimuth_deg - (107.821_776_735_514 + 180.0)).abs() < 1e-9);
    }

    #[test]
    fn equal_points_have_no_distance_and_finite_bearings() {
        for at in [point(0.0, 0.0), point(57.7, 11.9), point(90.0, 0.0), point(-90.0, 180.0)] {
            let geodesic = inverse(at, at);
            assert_eq!(geodesic.distance_m, 0.0);
            assert!((0.0..360.0).contains(&geodesic.azimuth_deg));
            assert!((0.0..360.0).contains(&geodesic.back_azimuth_deg));
        }
        assert_eq!(inverse(point(10.0, 180.0), point(10.0, -180.0)).distance_m, 0.0);
    }

    #[test]
    fn bearings_point_the_way_they_say() {
        let geodesic = inverse(point(0.0, 179.5), point(0.0, -179.5));
        assert!((geodesic.azimuth_deg - 90.0).abs() < 1e-9);
        assert!((geodesic.back_azimuth_deg - 270.0).abs() < 1e-9);
        let west = inverse(point(0.0, 1.0), point(0.0, 0.0));
        assert!((west.azimuth_deg - 270.0).abs() < 1e-9);
        let south = inverse(point(1.0, 0.0), point(0.0, 0.0));
        assert_eq!((south.azimuth_deg, south.back_azimuth_deg), (180.0, 0.0));
    }

    #[test]
    fn direct_undoes_inverse() {
        for (a, b) in [
            (point(57.7, 11.9), point(58.1, 12.9)),
            (point(-45.0, 179.9), point(-46.0, -179.2)),
            (point(89.0, 0.0), point(88.0, 170.0)),
        ] {
            let geodesic = inverse(a, b);
            let there = direct(a, geodesic.azimuth_deg, geodesic.distance_m).unwrap();
            assert!(inverse(there, b).distance_m < 1e-6);
            let back = direct(b, geodesic.back_azimuth_deg, geodesic.distance_m).unwrap();
            assert!(inverse(back, a).distance_m < 1e-6);
        }
        assert!(direct(point(0.0, 0.0), f64::NAN, 1.0).is_err());
        assert!(direct(point(0.0, 0.0), 0.0, f64::INFINITY).is_err());
    }

    #[test]
    fn curvature_radii_at_equator_and_pole() {
        let (m, n) = curvature_radii_m(0.0);
        assert!((m - 6_335_439.327).abs() < 0.001 && n == WGS84_A_M);
        let (m, n) = curvature_radii_m(90.0);
        assert!((m - 6_399_593.626).abs() < 0.001 && (n - m).abs() < 1e-6);
    }
}
