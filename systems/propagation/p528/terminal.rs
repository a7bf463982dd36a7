//! Geometry of a terminal over the smooth Earth (ITU-R P.528-5 annex 2, §4).

use super::air::{Air, Ray};
use super::{EARTH_RADIUS_KM, EFFECTIVE_RADIUS_KM};

/// A terminal and its horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Terminal {
    /// Height above the smooth Earth, km.
    pub height_km: f64,
    /// Height that has the same horizon over the effective Earth, km.
    pub effective_km: f64,
    /// Distance of the horizon along the ground, km.
    pub horizon_km: f64,
    /// The ray from the horizon.
    pub ray: Ray,
}

impl Terminal {
    pub(super) fn new(air: &Air, height_km: f64) -> Self {
        let ray = air.grazing(height_km);
        let horizon_km = EARTH_RADIUS_KM * ray.central_angle_rad();
        let angle_rad = horizon_km / EFFECTIVE_RADIUS_KM;
        // a (1 / cos φ - 1), without the difference of two great numbers.
        let half_sine = libm::sin(0.5 * angle_rad);
        let effective_km = 2.0 * EFFECTIVE_RADIUS_KM * half_sine * half_sine / libm::cos(angle_rad);
        Self { height_km, effective_km, horizon_km, ray }
    }

    /// Height above that of the effective Earth, km.
    pub(super) fn excess_km(&self) -> f64 {
        self.height_km - self.effective_km
    }
}
