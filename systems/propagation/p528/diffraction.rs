//! Loss by diffraction over the smooth Earth (ITU-R P.528-5 annex 2, §10).

use super::{CONDUCTIVITY_S_M, EFFECTIVE_RADIUS_KM, PERMITTIVITY};
use crate::polarization::Polarization;

/// Straight line of loss over distance beyond the horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// Slope, dB/km.
    pub slope_db_km: f64,
    /// Loss at distance 0, dB.
    pub origin_db: f64,
}

impl Line {
    /// The line through two points beyond the horizons of the terminals (§3, step 3).
    pub(super) fn new(
        frequency_mhz: f64,
        polarization: Polarization,
        horizon_km: [f64; 2],
    ) -> Self {
        let ground = SmoothEarth::new(frequency_mhz, polarization);
        let unit_km = libm::cbrt(EFFECTIVE_RADIUS_KM * EFFECTIVE_RADIUS_KM / frequency_mhz);
        let sight_km = horizon_km[0] + horizon_km[1];
        let [near_km, far_km] = [sight_km + 0.5 * unit_km, sight_km + 1.5 * unit_km];
        let [near_db, far_db] = [near_km, far_km].map(|km| ground.loss_db(horizon_km, km));
        let slope_db_km = (far_db - near_db) / (far_km - near_km);
        Self { slope_db_km, origin_db: far_db - slope_db_km * far_km }
    }

    /// Loss at a distance, km, dB.
    pub(super) fn at_db(&self, distance_km: f64) -> f64 {
        self.slope_db_km * distance_km + self.origin_db
    }

    /// Distance without loss, km.
    pub(super) fn zero_km(&self) -> f64 {
        -(self.origin_db / self.slope_db_km)
    }
}

/// Ground as waves of one frequency meet it.
struct SmoothEarth {
    /// Surface impedance K.
    k: f64,
    /// Normalised distance of one kilometre.
    per_km: f64,
}

impl SmoothEarth {
    fn new(frequency_mhz: f64, polarization: Polarization) -> Self {
        let loss = 18_000.0 * CONDUCTIVITY_S_M / frequency_mhz;
        let cube_root = libm::cbrt(frequency_mhz);
        let less_one = PERMITTIVITY - 1.0;
        let horizontal = 0.01778 / cube_root / (less_one * less_one + loss * loss).sqrt().sqrt();
        let k = match polarization {
            Polarization::Horizontal => horizontal,
            Polarization::Vertical => {
                horizontal * (PERMITTIVITY * PERMITTIVITY + loss * loss).sqrt()
            }
        };
        Self { k, per_km: (1.607 - k) * cube_root }
    }

    fn loss_db(&self, horizon_km: [f64; 2], distance_km: f64) -> f64 {
        let [near_db, far_db] = horizon_km.map(|km| self.height_db(self.per_km * km));
        distance_db(self.per_km * distance_km) - near_db - far_db - 20.0
    }

    /// Gain of the height of a terminal whose horizon is at a normalised distance, dB.
    fn height_db(&self, x: f64) -> f64 {
        let y_db = 40.0 * libm::log10(x) - 117.0;
        let log_k = libm::log10(self.k);
        if x <= 200.0 {
            let limit = -450.0 / (log_k * log_k * log_k);
            if x < limit {
                20.0 * log_k - 15.0 + 0.000_025 * x * x / self.k
            } else {
                y_db.max(-117.0)
            }
        } else if x > 2_000.0 {
            distance_db(x)
        } else {
            let weight = 0.0134 * x * libm::exp(-0.005 * x);
            weight * y_db + (1.0 - weight) * distance_db(x)
        }
    }
}

/// Loss over a normalised distance, dB.
fn distance_db(x: f64) -> f64 {
    0.057_51 * x - 10.0 * libm::log10(x)
}
