//! Quantities common to all rays of a site.

use crate::coverage::CoverageSite;
use crate::propagation::itm;
use crate::terrain::{GeoPoint, short};

/// Quantities common to all rays of a site.
#[derive(Debug, Clone)]
pub(super) struct Common {
    pub position: GeoPoint,
    /// Distance from sample to sample, m.
    pub spacing_m: f64,
    /// Samples of a whole ray, the site's among them.
    pub samples: usize,
    pub antenna_agl_m: [f64; 2],
    /// Drop of the Earth's surface within the first sample, m.
    pub bulge_m: f64,
}

impl Common {
    /// For paths from `site`, where the ground is `ground_msl_m` high.
    pub fn new(site: &CoverageSite<'_>, itm: &itm::Prepared, ground_msl_m: f64) -> Self {
        let spacing_m = site.spacing_m();
        let (_, earth_radius_m) = itm.air(ground_msl_m);
        Self {
            position: site.position,
            spacing_m,
            samples: (reach_m(site) / spacing_m).ceil() as usize + 7,
            antenna_agl_m: itm.antenna_agl_m(),
            bulge_m: 0.5 * spacing_m * spacing_m / earth_radius_m,
        }
    }
}

/// Length of the longest path of a sweep, m.
pub(super) fn reach_m(site: &CoverageSite<'_>) -> f64 {
    site.radius_m.min(short::MAX_M)
}
