//! Positions.

use groundwave_http::Problem;
use groundwave_model::terrain::{BadPoint, GeoPoint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Position, WGS 84.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub lat: f64,
    /// Degrees east.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub lon: f64,
}

/// Position of two numbers; errors name the fields of the interface.
///
/// # Errors
/// 400 for a value out of range.
pub fn point(lat: f64, lon: f64) -> Result<GeoPoint, Problem> {
    GeoPoint::new(lat, lon).map_err(|bad| {
        Problem::bad_request(match bad {
            BadPoint::Latitude(found) => format!("`lat` is {found}, allowed is [-90, 90]"),
            BadPoint::Longitude(found) => format!("`lon` is {found}, allowed is [-180, 180]"),
        })
    })
}

impl TryFrom<Place> for GeoPoint {
    type Error = Problem;

    fn try_from(place: Place) -> Result<Self, Problem> {
        point(place.lat, place.lon)
    }
}

impl From<GeoPoint> for Place {
    fn from(point: GeoPoint) -> Self {
        Self { lat: point.lat_deg(), lon: point.lon_deg() }
    }
}
