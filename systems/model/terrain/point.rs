//! A checked position on the WGS84 ellipsoid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A geodetic position (WGS84): latitude in [-90, 90], longitude in [-180, 180], both finite.
///
/// The fields are private so that no other position can exist; reading one from a document
/// goes through the same check and refuses unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Unchecked")]
#[schemars(with = "Unchecked")]
pub struct GeoPoint {
    lat_deg: f64,
    lon_deg: f64,
}

/// Metres of a degree of latitude, less than anywhere on the ellipsoid.
const DEGREE_M: f64 = 110_500.0;

/// Reason for refusing a position.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum BadPoint {
    /// The latitude is not a finite number in [-90, 90].
    #[error("lat_deg is {0}, allowed is -90 to 90")]
    Latitude(f64),
    /// The longitude is not a finite number in [-180, 180].
    #[error("lon_deg is {0}, allowed is -180 to 180")]
    Longitude(f64),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "GeoPoint")]
struct Unchecked {
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    lat_deg: f64,
    /// Degrees east.
    #[schemars(range(min = -180.0, max = 180.0))]
    lon_deg: f64,
}

impl TryFrom<Unchecked> for GeoPoint {
    type Error = BadPoint;

    fn try_from(raw: Unchecked) -> Result<Self, BadPoint> {
        Self::new(raw.lat_deg, raw.lon_deg)
    }
}

impl GeoPoint {
    /// A point from degrees north and degrees east.
    ///
    /// # Errors
    /// When either is not finite or lies outside its range.
    pub fn new(lat_deg: f64, lon_deg: f64) -> Result<Self, BadPoint> {
        // NaN is in no range, so one comparison refuses it as well.
        if !(-90.0..=90.0).contains(&lat_deg) {
            return Err(BadPoint::Latitude(lat_deg));
        }
        if !(-180.0..=180.0).contains(&lon_deg) {
            return Err(BadPoint::Longitude(lon_deg));
        }
        Ok(Self { lat_deg, lon_deg })
    }

    /// A point whose longitude may be unwrapped (any finite number of turns).
    ///
    /// # Errors
    /// When either is not finite or the latitude lies outside [-90, 90].
    pub fn wrapping(lat_deg: f64, lon_deg: f64) -> Result<Self, BadPoint> {
        if !lon_deg.is_finite() {
            return Err(BadPoint::Longitude(lon_deg));
        }
        Self::new(lat_deg, wrap_lon_deg(lon_deg))
    }

    /// Direction from the centre of a sphere: east of the equator's origin, east, north.
    #[must_use]
    pub fn unit_vector(self) -> [f64; 3] {
        let (lat, lon) = (self.lat_deg.to_radians(), self.lon_deg.to_radians());
        [libm::cos(lat) * libm::cos(lon), libm::cos(lat) * libm::sin(lon), libm::sin(lat)]
    }

    /// Differences in latitude and in longitude, deg, that positions within `radius_m` (m) do not exceed;
    /// 180 in longitude where a pole is among them.
    #[must_use]
    pub fn reach_deg(self, radius_m: f64) -> [f64; 2] {
        let up_deg = radius_m / DEGREE_M;
        let steepest_deg = self.lat_deg.abs() + up_deg;
        if steepest_deg >= 90.0 {
            return [up_deg, 180.0];
        }
        let aside_deg = up_deg / libm::cos(steepest_deg.to_radians());
        [up_deg, aside_deg.min(180.0)]
    }

    /// Latitude (degrees north), [-90, 90].
    #[must_use]
    pub const fn lat_deg(self) -> f64 {
        self.lat_deg
    }

    /// Longitude (degrees east), [-180, 180].
    #[must_use]
    pub const fn lon_deg(self) -> f64 {
        self.lon_deg
    }
}

/// `lon_deg` brought into [-180, 180]; what lies there already keeps its bits.
fn wrap_lon_deg(lon_deg: f64) -> f64 {
    if (-180.0..=180.0).contains(&lon_deg) {
        return lon_deg;
    }
    (lon_deg + 180.0).rem_euclid(360.0) - 180.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_points_and_beyond_is_refused() {
        for (lat, lon) in [(90.0, 180.0), (-90.0, -180.0), (0.0, -0.0), (45.5, 7.25)] {
            let point = GeoPoint::new(lat, lon).unwrap();
            assert_eq!((point.lat_deg(), point.lon_deg()), (lat, lon));
        }
        for lat in [f64::NAN, f64::INFINITY, -f64::INFINITY, 90.000_001, -91.0] {
            assert!(matches!(GeoPoint::new(lat, 0.0), Err(BadPoint::Latitude(_))));
        }
        for lon in [f64::NAN, f64::INFINITY, 180.000_001, -181.0, 360.0] {
            assert!(matches!(GeoPoint::new(0.0, lon), Err(BadPoint::Longitude(_))));
        }
        let message = GeoPoint::new(0.0, 361.0).unwrap_err().to_string();
        assert_eq!(message, "lon_deg is 361, allowed is -180 to 180");
    }

    #[test]
    fn no_position_within_a_distance_is_beyond_its_reach() {
        for lat_deg in [0.0, -33.0, 57.7, 89.0] {
            let from = GeoPoint::new(lat_deg, 11.0).unwrap();
            for radius_m in [10.0, 5e3, 100e3] {
                let [up_deg, aside_deg] = from.reach_deg(radius_m);
                assert!(up_deg < 1.02 * radius_m / 110_574.0);
                for azimuth_deg in (0..72).map(|step| 5.0 * f64::from(step)) {
                    let to = crate::terrain::geodesic::direct(from, azimuth_deg, radius_m).unwrap();
                    assert!((to.lat_deg() - lat_deg).abs() <= up_deg);
                    assert!(wrap_lon_deg(to.lon_deg() - 11.0).abs() <= aside_deg);
                }
            }
        }
        let near_pole = GeoPoint::new(-89.95, 0.0).unwrap();
        assert_eq!(near_pole.reach_deg(10e3)[1], 180.0);
    }

    #[test]
    fn documents_are_checked_the_same_way() {
        let point: GeoPoint = serde_json::from_str(r#"{"lat_deg":1.5,"lon_deg":-2}"#).unwrap();
        assert_eq!(point, GeoPoint::new(1.5, -2.0).unwrap());
        let written = serde_json::to_string(&point).unwrap();
        assert_eq!(written, r#"{"lat_deg":1.5,"lon_deg":-2.0}"#);
        for bad in [
            r#"{"lat_deg":91,"lon_deg":0}"#,
            r#"{"lat_deg":0,"lon_deg":200}"#,
            r#"{"lat_deg":0}"#,
            r#"{"lat_deg":0,"lon_deg":0,"alt":1}"#,
            r#"{"lat_deg":null,"lon_deg":0}"#,
        ] {
            assert!(serde_json::from_str::<GeoPoint>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn unwrapped_longitudes_come_home() {
        for (unwrapped, lon) in [(180.5, -179.5), (-181.0, 179.0), (359.0, -1.0), (720.25, 0.25)] {
            assert_eq!(GeoPoint::wrapping(0.0, unwrapped).unwrap().lon_deg(), lon);
        }
        assert_eq!(GeoPoint::wrapping(0.0, 180.0).unwrap().lon_deg(), 180.0);
        assert!(GeoPoint::wrapping(0.0, f64::NAN).is_err());
        assert!(GeoPoint::wrapping(0.0, f64::INFINITY).is_err());
    }
}
