//! Plane coordinates of a recording: metres east and north of an origin.

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::ReadOptions;
use super::dataset::Dataset;
use super::error::Location;

/// Maximum distance of a point from the origin, m: half a meridian.
const DISTANCE_M_MAX: f64 = 2e7;

/// A plane around an origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plane(Option<GeoPoint>);

impl Plane {
    /// The plane around the origin of `options`; 0 N 0 E, with a note, where they have none.
    pub(super) fn of(options: &ReadOptions, dataset: &mut Dataset) -> Self {
        Self(options.origin.or_else(|| {
            let what = "no origin given: 0 N 0 E is taken";
            dataset.report.add(what, Location::default);
            GeoPoint::new(0.0, 0.0).ok()
        }))
    }

    /// The plane around a point.
    pub(super) const fn around(origin: GeoPoint) -> Self {
        Self(Some(origin))
    }

    /// The position of a point; `None` beyond the Earth, and for what is not a number.
    pub(super) fn position(self, x_m: f64, y_m: f64) -> Option<GeoPoint> {
        let distance_m = x_m.hypot(y_m);
        // Farther points would come round to others.
        if !(0.0..=DISTANCE_M_MAX).contains(&distance_m) {
            return None;
        }
        let azimuth_deg = x_m.atan2(y_m).to_degrees();
        geodesic::direct(self.0?, azimuth_deg, distance_m).ok()
    }
}

impl Dataset {
    /// Adds heights above the plane: time, s, node, z, m, and line. Documents of motion in a plane have a z of 0
    /// throughout, which is not a height.
    pub(super) fn heights_above_plane(&mut self, heights: Vec<(f64, u32, f64, usize)>) {
        if heights.iter().all(|(.., z_m, _)| *z_m == 0.0) {
            return;
        }
        for (at_s, node, z_m, line) in heights {
            self.height(at_s, node, z_m, line);
        }
    }
}

/// A canvas of CORE: pixels to the right and down from a point of a known position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Canvas {
    pub(super) plane: Plane,
    /// Pixels of the point of the known position.
    pub(super) origin_px: (f64, f64),
    /// Length of 100 pixels, m.
    pub(super) scale_m: f64,
}

impl Canvas {
    pub(super) fn position(self, (x_px, y_px): (f64, f64)) -> Option<GeoPoint> {
        let metres = |pixels: f64| pixels * self.scale_m / 100.0;
        let (origin_x, origin_y) = self.origin_px;
        self.plane.position(metres(x_px - origin_x), metres(origin_y - y_px))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_beyond_the_earth_have_no_position() {
        let plane = Plane::around(GeoPoint::new(57.7, 11.9).unwrap());
        let east = plane.position(1_000.0, 0.0).unwrap();
        assert!(east.lon_deg() > 11.9 && (east.lat_deg() - 57.7).abs() < 1e-4);
        for (x_m, y_m) in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (1e300, 0.0), (0.0, -3e7)] {
            assert_eq!(plane.position(x_m, y_m), None, "{x_m} {y_m}");
        }
    }
}
