//! Loss for a share of the time, from its mechanisms (ITU-R P.1812-8 §4.2 to §4.6).

use super::super::domain::{DomainError, within};
use super::Prepared;
use super::location::exceeded_quantile;

/// Loss of a path that is not exceeded for a share of the time at half of the places, and its parts, dB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeLoss {
    /// Basic transmission loss Lb (eq. 69).
    pub loss_db: f64,
    /// Loss in free space Lbfs (eq. 8).
    pub free_space_db: f64,
    /// The same with multipath and focusing Lb0p (eq. 10): no loss is less.
    pub line_of_sight_db: f64,
    /// Diffraction in excess of free space Ldp (eq. 41).
    pub diffraction_db: f64,
    /// Basic transmission loss by troposcatter Lbs (eq. 44).
    pub troposcatter_db: f64,
    /// Basic transmission loss through ducts Lba (eq. 46).
    pub ducting_db: f64,
}

impl Prepared<'_> {
    /// Loss that is not exceeded for `time_percent` of a mean year, 1 to 50 %.
    ///
    /// # Errors
    /// [`DomainError`] for a percentage outside its range.
    pub fn loss(&self, time_percent: f64) -> Result<TimeLoss, DomainError> {
        let p = within("time_percent", time_percent, 1.0, 50.0)?;
        let geometry = &self.geometry;
        let (f, d) = (self.frequency_ghz, geometry.length_km);
        let beta_0 = self.beta_0_percent;

        let free_space_db = 92.4 + 20.0 * libm::log10(f) + 20.0 * libm::log10(geometry.slant_km);
        let horizons_km = geometry.horizon_km[0] + geometry.horizon_km[1];
        let focusing_db = 2.6 * (1.0 - libm::exp(-0.1 * horizons_km));
        let line_of_sight =
            |percent: f64| free_space_db + focusing_db * libm::log10(percent / 50.0);
        let line_of_sight_db = line_of_sight(p);

        let time_share = if p >= 50.0 {
            0.0
        } else if p > beta_0 {
            exceeded_quantile(p * 1e-2) / exceeded_quantile(beta_0 * 1e-2)
        } else {
            1.0
        };
        let median_db = self.median_diffraction_db;
        // Half of the time needs no second diffraction.
        let diffraction_db = if time_share == 0.0 {
            median_db
        } else {
            median_db + (self.beta_diffraction_db()? - median_db) * time_share
        };
        let median_path_db = free_space_db + median_db;
        let diffracted_db = line_of_sight_db + diffraction_db;

        let troposcatter_db = self.troposcatter_db(p);
        let ducting_db = self.ducting_db(p);

        // Over sea a diffracted path has part of its loss only (eq. 59).
        let over_land_db = (1.0 - self.zones.sea_share) * diffraction_db;
        let least_db = if p < beta_0 {
            line_of_sight_db + over_land_db
        } else {
            median_path_db + (line_of_sight(beta_0) + over_land_db - median_path_db) * time_share
        };
        // Diffraction and ducts (eq. 60 and 61), blended by the length of the path (eq. 58).
        let joined_db = soft_maximum(ducting_db, line_of_sight_db);
        let by_length = 1.0 - 0.5 * (1.0 + libm::tanh(1.5 * (d - 20.0) / 20.0));
        let bent_db = if joined_db > diffracted_db {
            diffracted_db
        } else {
            joined_db + (diffracted_db - joined_db) * by_length
        };
        // The line of sight, by the angle of the path (eq. 57 and 62), then troposcatter (eq. 63).
        let by_angle = 1.0 - 0.5 * (1.0 + libm::tanh(2.4 * (geometry.angular_mrad - 0.3) / 0.3));
        let near_db = bent_db + (least_db - bent_db) * by_angle;
        let power = |loss_db: f64| libm::pow(10.0, -0.2 * loss_db);
        let all_db = -5.0 * libm::log10(power(troposcatter_db) + power(near_db));
        Ok(TimeLoss {
            loss_db: all_db.max(line_of_sight_db),
            free_space_db,
            line_of_sight_db,
            diffraction_db,
            troposcatter_db,
            ducting_db,
        })
    }

    /// Basic transmission loss by troposcatter Lbs, dB (eq. 44).
    fn troposcatter_db(&self, time_percent: f64) -> f64 {
        let f = self.frequency_ghz;
        let log_half_f = libm::log10(0.5 * f);
        190.1 + 25.0 * libm::log10(f) - 2.5 * log_half_f * log_half_f
            + 20.0 * libm::log10(self.geometry.length_km)
            + 0.573 * self.geometry.angular_mrad
            - 0.15 * self.atmosphere.sea_level_n
            - 10.125 * libm::pow(libm::log10(50.0 / time_percent), 0.7)
    }
}

/// `2.5 ln(exp(a / 2.5) + exp(b / 2.5))`, dB (eq. 60), which no loss overflows.
fn soft_maximum(a_db: f64, b_db: f64) -> f64 {
    let (low_db, high_db) = (a_db.min(b_db), a_db.max(b_db));
    high_db + 2.5 * libm::log(1.0 + libm::exp((low_db - high_db) / 2.5))
}
