//! Air and zones along a path: refractivity, and the share of the time with ducts (ITU-R P.1812-8 §3.5, §3.6).

use super::super::domain::{DomainError, within};
use super::EARTH_RADIUS_M;

/// Refractivity of the air around a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Atmosphere {
    /// Mean lapse of the refractivity through the lowest kilometre ΔN, N-units/km, 0 to 150; 45 gives the
    /// effective Earth radius of 8 931 km.
    pub lapse_n_per_km: f64,
    /// Refractivity at sea level N0, N-units, 200 to 500.
    pub sea_level_n: f64,
}

impl Atmosphere {
    /// Mid-latitudes: ΔN = 45, N0 = 325.
    pub const MID_LATITUDES: Self = Self { lapse_n_per_km: 45.0, sea_level_n: 325.0 };

    pub(super) fn check(&self) -> Result<(), DomainError> {
        within("lapse_n_per_km", self.lapse_n_per_km, 0.0, 150.0)?;
        within("sea_level_n", self.sea_level_n, 200.0, 500.0)?;
        Ok(())
    }

    /// Median effective Earth radius, m (eq. 6 and 7a).
    #[must_use]
    pub const fn effective_earth_radius_m(&self) -> f64 {
        EARTH_RADIUS_M * 157.0 / (157.0 - self.lapse_n_per_km)
    }
}

impl Default for Atmosphere {
    fn default() -> Self {
        Self::MID_LATITUDES
    }
}

/// Radio-climatic zone of a point (§3.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Seas, oceans and waters of 100 km and more.
    Sea,
    /// Land within 50 km of the sea and below 100 m.
    CoastalLand,
    /// Other land.
    Inland,
}

/// Land and sea along a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zones {
    /// Share of the path over sea ω, 0 to 1.
    pub sea_share: f64,
    /// Maximum length of a continuous part over land, coastal or inland, dtm, m.
    pub longest_land_m: f64,
    /// Maximum length of a continuous part inland, dlm, m.
    pub longest_inland_m: f64,
    /// Distances over land from the ends to the coast along the path, m, used where three quarters of the
    /// path are over sea; infinite without a coast.
    pub coast_m: [f64; 2],
}

/// Refusal of zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid zones of a profile: found {zones}, allowed {points}, one for each of two or more points"
)]
pub struct ZoneError {
    /// Zones given.
    pub zones: usize,
    /// Points of the profile.
    pub points: usize,
}

impl Zones {
    /// A path of `length_m` without sea or coast.
    #[must_use]
    pub const fn inland(length_m: f64) -> Self {
        Self {
            sea_share: 0.0,
            longest_land_m: length_m,
            longest_inland_m: length_m,
            coast_m: [f64::INFINITY; 2],
        }
    }

    /// Zones of points at ascending distances, m: each point stands for the ground to the middle of both
    /// intervals beside it.
    ///
    /// # Errors
    /// [`ZoneError`] for another number of zones than of points, or fewer than two points.
    pub fn of(distance_m: &[f64], zones: &[Zone]) -> Result<Self, ZoneError> {
        let points = distance_m.len();
        if points != zones.len() || points < 2 {
            return Err(ZoneError { zones: zones.len(), points });
        }
        let last = points - 1;
        let middle = |left: usize| 0.5 * (distance_m[left] + distance_m[left + 1]);
        let start_m = |index: usize| if index == 0 { distance_m[0] } else { middle(index - 1) };
        let end_m = |index: usize| if index == last { distance_m[last] } else { middle(index) };
        let longest = |is_part: &dyn Fn(Zone) -> bool| {
            let (mut longest_m, mut begin) = (0.0_f64, None);
            for (index, &zone) in zones.iter().enumerate() {
                if !is_part(zone) {
                    begin = None;
                    continue;
                }
                let from = *begin.get_or_insert(index);
                longest_m = longest_m.max(end_m(index) - start_m(from));
            }
            longest_m
        };
        let is_sea = |index: &usize| zones[*index] == Zone::Sea;
        let sea_m: f64 =
            (0..points).filter(is_sea).map(|index| end_m(index) - start_m(index)).sum();
        let coasts = [(0..points).find(is_sea), (0..points).rfind(is_sea)];
        let [tx_m, rx_m] = [coasts[0].map(start_m), coasts[1].map(end_m)];
        Ok(Self {
            sea_share: sea_m / (distance_m[last] - distance_m[0]),
            longest_land_m: longest(&|zone| zone != Zone::Sea),
            longest_inland_m: longest(&|zone| zone == Zone::Inland),
            coast_m: [
                tx_m.map_or(f64::INFINITY, |coast_m| coast_m - distance_m[0]),
                rx_m.map_or(f64::INFINITY, |coast_m| distance_m[last] - coast_m),
            ],
        })
    }

    pub(super) fn check(&self) -> Result<(), DomainError> {
        within("sea_share", self.sea_share, 0.0, 1.0)?;
        within("longest_land_m", self.longest_land_m, 0.0, 1e8)?;
        within("longest_inland_m", self.longest_inland_m, 0.0, 1e8)?;
        within("coast_m", self.coast_m[0], 0.0, f64::INFINITY)?;
        within("coast_m", self.coast_m[1], 0.0, f64::INFINITY)?;
        Ok(())
    }

    /// β0, per cent of the time, and τ (eq. 2 to 5).
    pub(super) fn ducts(&self, latitude_deg: f64) -> (f64, f64) {
        let [land_km, inland_km] = [self.longest_land_m, self.longest_inland_m].map(|m| m * 1e-3);
        let tau = 1.0 - libm::exp(-4.12e-4 * libm::pow(inland_km, 2.41));
        let power_of_ten = |exponent: f64| libm::pow(10.0, exponent);
        let sum = power_of_ten(-land_km / (16.0 - 6.6 * tau))
            + power_of_ten(-5.0 * (0.496 + 0.354 * tau));
        let mu_1 = libm::pow(sum, 0.2).min(1.0);
        let latitude_deg = latitude_deg.abs();
        let beta_0 = if latitude_deg <= 70.0 {
            let mu_4 = libm::pow(mu_1, -0.935 + 0.0176 * latitude_deg);
            power_of_ten(-0.015 * latitude_deg + 1.67) * mu_1 * mu_4
        } else {
            4.17 * mu_1 * libm::pow(mu_1, 0.3)
        };
        (beta_0, tau)
    }
}
