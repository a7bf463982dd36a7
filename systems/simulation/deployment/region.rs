//! The area a deployment serves.

use groundwave_model::terrain::GeoPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Maximum number of positions in all rings of a region. A coast line drawn by hand has hundreds; more
/// belong into a map layer.
pub const VERTICES_MAX: usize = 10_000;

/// A polygon as GeoJSON has it (RFC 7946 section 3.1.6): closed rings of `[longitude, latitude]`
/// in degrees, WGS84, the first the outline, all others holes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Geometry", into = "Geometry")]
#[schemars(with = "Geometry")]
pub struct Region {
    rings: Vec<Vec<GeoPoint>>,
}

/// A GeoJSON polygon geometry.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Region")]
struct Geometry {
    /// Always `Polygon`.
    #[serde(rename = "type")]
    kind: Polygon,
    /// Rings of `[longitude, latitude]`, degrees; each has 4 positions or more, the last the same
    /// as the first (a ring that is open is closed).
    #[schemars(length(min = 1), inner(length(min = 4)))]
    coordinates: Vec<Vec<Position>>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
enum Polygon {
    Polygon,
}

/// Longitude and latitude, degrees.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
struct Position(
    #[schemars(range(min = -180.0, max = 180.0))] f64,
    #[schemars(range(min = -90.0, max = 90.0))] f64,
);

/// Errors of rings that form no valid [`Region`].
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BadRegion {
    /// No ring.
    #[error("invalid region: found 0 rings, allowed 1 or more")]
    Empty,
    /// A ring is too short to enclose anything.
    #[error(
        "ring {ring} of region has {positions} positions, allowed are 4 or more, the last the \
         same as the first"
    )]
    Ring {
        /// Index of the ring, from 0.
        ring: usize,
        /// Positions in it.
        positions: usize,
    },
    /// There are too many positions.
    #[error("region has {0} positions, allowed are up to {VERTICES_MAX}")]
    Size(usize),
    /// A position does not lie on the Earth.
    #[error("position {position} in ring {ring} of region: {cause}")]
    Position {
        /// Index of the ring, from 0.
        ring: usize,
        /// Index of the position in the ring, from 0.
        position: usize,
        /// Cause.
        cause: groundwave_model::terrain::BadPoint,
    },
}

impl Region {
    /// A region from its rings. A ring that is open is closed.
    ///
    /// # Errors
    /// See [`BadRegion`].
    pub fn new(mut rings: Vec<Vec<GeoPoint>>) -> Result<Self, BadRegion> {
        if rings.is_empty() {
            return Err(BadRegion::Empty);
        }
        let all = rings.iter().map(Vec::len).sum();
        if all > VERTICES_MAX {
            return Err(BadRegion::Size(all));
        }
        for (ring, positions) in rings.iter_mut().enumerate() {
            // Drawing programs often leave rings open; what is meant is plain.
            if positions.first() != positions.last() {
                positions.extend(positions.first().copied());
            }
            if positions.len() < 4 {
                let positions = positions.len();
                return Err(BadRegion::Ring { ring, positions });
            }
        }
        Ok(Self { rings })
    }

    /// The rings: the outline, then holes.
    #[must_use]
    pub fn rings(&self) -> &[Vec<GeoPoint>] {
        &self.rings
    }

    /// `true` if a point lies in the outline and in no hole, by the even-odd rule in the plane of
    /// longitude and latitude, as in GeoJSON.
    #[must_use]
    pub fn contains(&self, point: GeoPoint) -> bool {
        let (x, y) = (point.lon_deg(), point.lat_deg());
        let crossed = |ring: &Vec<GeoPoint>| {
            let crosses = |edge: &&[GeoPoint]| {
                let [(ax, ay), (bx, by)] =
                    [edge[0], edge[1]].map(|end| (end.lon_deg(), end.lat_deg()));
                (ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax
            };
            ring.windows(2).filter(crosses).count()
        };
        self.rings.iter().map(crossed).sum::<usize>() % 2 == 1
    }
}

impl TryFrom<Geometry> for Region {
    type Error = BadRegion;

    fn try_from(geometry: Geometry) -> Result<Self, BadRegion> {
        let mut rings = Vec::with_capacity(geometry.coordinates.len());
        for (ring, positions) in geometry.coordinates.iter().enumerate() {
            let point = |(position, at): (usize, &Position)| {
                GeoPoint::new(at.1, at.0).map_err(|cause| BadRegion::Position {
                    ring,
                    position,
                    cause,
                })
            };
            rings.push(positions.iter().enumerate().map(point).collect::<Result<_, _>>()?);
        }
        Self::new(rings)
    }
}

impl From<Region> for Geometry {
    fn from(region: Region) -> Self {
        let position = |point: GeoPoint| Position(point.lon_deg(), point.lat_deg());
        let ring = |ring: Vec<GeoPoint>| ring.into_iter().map(position).collect();
        Self { kind: Polygon::Polygon, coordinates: region.rings.into_iter().map(ring).collect() }
    }
}
