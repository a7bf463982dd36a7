//! Antennas that look at another node: azimuth of the geodesic, and elevation over the ground.

use groundwave_model::radio::station::Pointing;
use groundwave_model::terrain::{GeoPoint, geodesic};

use super::file::NodeFile;

/// Mean Earth radius, m (IUGG).
const EARTH_RADIUS_M: f64 = 6_371_008.8;

/// An antenna, and the one that it looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Aim {
    from: End,
    to: End,
    /// Factor of the Earth's radius.
    k_factor: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct End {
    position: GeoPoint,
    /// Height above ground, m, or above mean sea level.
    height_m: f64,
    is_above_sea: bool,
    /// Ground above mean sea level that the file states, m.
    ground_msl_m: Option<f64>,
}

impl End {
    fn of(node: &NodeFile) -> Option<Self> {
        let position = GeoPoint::new(node.lat_deg, node.lon_deg).ok()?;
        let NodeFile { height_agl_m, height_msl_m, ground_msl_m, .. } = *node;
        let height_m = height_msl_m.or(height_agl_m)?;
        Some(Self { position, height_m, is_above_sea: height_msl_m.is_some(), ground_msl_m })
    }

    /// Height above mean sea level over ground of a height, m.
    fn height_msl_m(&self, ground_m: f64) -> f64 {
        if self.is_above_sea { self.height_m.max(ground_m) } else { ground_m + self.height_m }
    }
}

impl Aim {
    /// The aim of a node at another one; `None` where a position is invalid.
    pub(super) fn new(from: &NodeFile, to: &NodeFile, k_factor: f64) -> Option<Self> {
        Some(Self { from: End::of(from)?, to: End::of(to)?, k_factor })
    }

    /// The direction, with the ground of `elevation_msl_m` where the file does not state that of both nodes;
    /// level ground where neither does. `None` for two nodes at one place.
    ///
    /// The elevation is that over the parabola that stands for an Earth enlarged by the factor k:
    /// `tan(e) = (h2 - h1) / d - d / (2 k a)`.
    pub(super) fn pointing(
        &self,
        elevation_msl_m: impl Fn(GeoPoint) -> Option<f64>,
    ) -> Option<Pointing> {
        let Self { from, to, k_factor, .. } = self;
        let way = geodesic::inverse(from.position, to.position);
        if way.distance_m < 0.5 {
            return None;
        }
        let stated = from.ground_msl_m.zip(to.ground_msl_m);
        let of_terrain = || elevation_msl_m(from.position).zip(elevation_msl_m(to.position));
        let (ground_from_m, ground_to_m) = stated.or_else(of_terrain).unwrap_or_default();
        let rise_m = to.height_msl_m(ground_to_m) - from.height_msl_m(ground_from_m);
        let slope = rise_m / way.distance_m - way.distance_m / (2.0 * k_factor * EARTH_RADIUS_M);
        // A thousandth of a degree: finer than any mount, coarser than the last bits of libm.
        let round = |deg: f64| (deg * 1e3).round() / 1e3;
        let azimuth_deg = round(way.azimuth_deg) % 360.0;
        Some(Pointing { azimuth_deg, elevation_deg: round(slope.atan().to_degrees()) })
    }
}
