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

    /// The position of a point; `None` beyond the Earth.
    pub(super) fn position(self, x_m: f64, y_m: f64) -> Option<GeoPoint> {
        let azimuth_deg = x_m.atan2(y_m).to_degrees();
        geodesic::direct(self.0?, azimuth_deg, x_m.hypot(y_m)).ok()
    }
}
