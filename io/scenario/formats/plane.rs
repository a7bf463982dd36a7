//! Plane coordinates of a recording: metres east and north of an origin.

use groundwave_model::terrain::{GeoPoint, geodesic};

use super::ReadOptions;
use super::dataset::Dataset;
use super::error::Location;

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

    /// The position of a point; `None` beyond the Earth.
    pub(super) fn position(self, x_m: f64, y_m: f64) -> Option<GeoPoint> {
        let azimuth_deg = x_m.atan2(y_m).to_degrees();
        geodesic::direct(self.0?, azimuth_deg, x_m.hypot(y_m)).ok()
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
