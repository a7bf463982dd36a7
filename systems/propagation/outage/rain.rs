//! Long-term statistics of rain attenuation (ITU-R P.530-17 §2.4.1).

use serde::{Deserialize, Serialize};

use super::super::domain::{DomainError, positive, within};
use super::super::rain::RainCoefficients;

/// Minimum percentage of time that the power law was fitted for.
pub const RAIN_PERCENT_MIN: f64 = 0.001;

/// Greatest percentage of time the power law was fitted for.
pub const RAIN_PERCENT_MAX: f64 = 1.0;

/// Greatest distance factor r; it also stands in where the denominator of eq. 32 falls below
/// 0.4, or below zero.
const DISTANCE_FACTOR_MAX: f64 = 2.5;

/// Rain attenuation of one path as a function of the percentage of an average year.
///
/// P.530 stands by it to 100 GHz and 60 km, in all parts of the world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RainFading {
    /// Effective path length `d_eff`, km.
    pub effective_length_km: f64,
    /// Attenuation exceeded for 0.01 % of the year, dB.
    pub a001_db: f64,
    /// C1 to C3 of eq. 34.
    c: [f64; 3],
}

/// The answer to "how often does rain take this margin".
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RainOutage {
    /// Percentage of an average year, 0 to 100.
    pub percent: f64,
    /// True if it lies outside the 0.001 to 1 % the law was fitted for.
    pub extrapolated: bool,
}

impl RainFading {
    /// Statistics of a path (eqs. 32, 33 and 35).
    ///
    /// - `distance_km`: positive, to 1000 km
    /// - `frequency_ghz`: 1 to 1000 GHz
    /// - `r001_mm_h`: rain rate exceeded for 0.01 % of an average year at one minute's
    ///   integration (ITU-R P.837), 0 to 1000 mm/h
    /// - `rain`: k and α for the same frequency
    ///
    /// # Errors
    /// [`DomainError`] outside those ranges.
    pub fn new(
        distance_km: f64,
        frequency_ghz: f64,
        r001_mm_h: f64,
        rain: &RainCoefficients,
    ) -> Result<Self, DomainError> {
        let d = within("distance_km", positive("distance_km", distance_km)?, 0.0, 1e3)?;
        let f = within("frequency_ghz", frequency_ghz, 1.0, 1000.0)?;
        let rate = within("r001_mm_h", r001_mm_h, 0.0, 1000.0)?;

        let spread =
            0.477 * libm::pow(d, 0.633) * libm::pow(rate, 0.073 * rain.alpha) * libm::pow(f, 0.123);
        let denominator = spread - 10.579 * -libm::expm1(-0.024 * d);
        let factor = if denominator < 1.0 / DISTANCE_FACTOR_MAX {
            DISTANCE_FACTOR_MAX
        } else {
            1.0 / denominator
        };
        let effective_length_km = d * factor;
        let c0 = if f >= 10.0 { 0.12 + 0.4 * libm::pow(libm::log10(f / 10.0), 0.8) } else { 0.12 };
        Ok(Self {
            effective_length_km,
            a001_db: rain.specific_attenuation_db_km(rate)? * effective_length_km,
            c: [
                libm::pow(0.07, c0) * libm::pow(0.12, 1.0 - c0),
                0.855 * c0 + 0.546 * (1.0 - c0),
                0.139 * c0 + 0.043 * (1.0 - c0),
            ],
        })
    }

    /// Attenuation exceeded for `percent` of an average year, dB (eq. 34).
    ///
    /// # Errors
    /// [`DomainError`] for a percentage outside 0.001 to 1.
    pub fn attenuation_db(&self, percent: f64) -> Result<f64, DomainError> {
        let p = within("percent", percent, RAIN_PERCENT_MIN, RAIN_PERCENT_MAX)?;
        let [c1, c2, c3] = self.c;
        Ok(self.a001_db * c1 * libm::pow(p, -(c2 + c3 * libm::log10(p))))
    }

    /// Percentage of an average year for which rain attenuates by more than `margin_db`:
    /// eq. 34 solved for p, a quadratic in log p.
    ///
    /// Outside 0.001 to 1 % the same law is continued and the result marked `extrapolated`; past
    /// the largest attenuation the law can express the percentage is 0, and for no margin, or
    /// `NaN`, it is 100.
    #[must_use]
    pub fn outage(&self, margin_db: f64) -> RainOutage {
        let percent = self.outage_percent(margin_db);
        RainOutage {
            percent,
            extrapolated: !(RAIN_PERCENT_MIN..=RAIN_PERCENT_MAX).contains(&percent),
        }
    }

    fn outage_percent(&self, margin_db: f64) -> f64 {
        if margin_db.is_nan() || margin_db <= 0.0 {
            return 100.0;
        }
        let [c1, c2, c3] = self.c;
        let scale_db = self.a001_db * c1;
        if scale_db <= 0.0 {
            return 0.0;
        }
        // c3 x² + c2 x + log(margin / scale) = 0 with x = log p; of the two roots, the one on
        // the branch where attenuation falls with p.
        let discriminant = c2 * c2 - 4.0 * c3 * libm::log10(margin_db / scale_db);
        if discriminant < 0.0 {
            return 0.0;
        }
        libm::pow(10.0, (discriminant.sqrt() - c2) / (2.0 * c3)).min(100.0)
    }
}
