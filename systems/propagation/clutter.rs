//! Clutter loss (ITU-R P.2108-1).
//!
//! Checked against the Study Group 3 "Clutter and BEL" workbook values that accompany the
//! reference implementation of the Recommendation, and against the NTIA test data for P.2108.
//! The statistical models (§3.2, §3.3) are for built-up surroundings with terminals well below
//! the roofs; §3.1 also covers woods and open land.

use serde::{Deserialize, Serialize};

use super::bullington::knife_edge_loss_db;
use super::domain::{DomainError, positive, within};
use super::quantile::normal_quantile;

/// Width of the street or gap next to a terminal where nothing better is known, m
/// (P.2108-1 §3.1).
pub const DEFAULT_STREET_WIDTH_M: f64 = 27.0;

/// Surroundings of a terminal (P.2108-1 Table 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClutterCategory {
    /// Water or sea.
    WaterSea,
    /// Open or rural land.
    OpenRural,
    /// Suburban.
    Suburban,
    /// Urban.
    Urban,
    /// Trees or forest.
    TreesForest,
    /// Dense urban.
    DenseUrban,
}

impl ClutterCategory {
    /// Representative clutter height R, m, where no local one is known (P.2108-1 Table 3).
    #[must_use]
    pub const fn representative_height_m(self) -> f64 {
        match self {
            Self::WaterSea | Self::OpenRural | Self::Suburban => 10.0,
            Self::Urban | Self::TreesForest => 15.0,
            Self::DenseUrban => 20.0,
        }
    }

    /// True if a terminal below the clutter sees an edge (eq. 2a) rather than a smooth decline
    /// with height (eq. 2b).
    const fn obstructs(self) -> bool {
        !matches!(self, Self::WaterSea | Self::OpenRural)
    }
}

/// A terminal within clutter, for the height-gain correction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClutterSite {
    /// Surroundings.
    pub category: ClutterCategory,
    /// Clutter height R, m, positive.
    pub height_m: f64,
    /// Distance to the obstructing roof line, called street width, m, positive.
    pub street_width_m: f64,
}

impl From<ClutterCategory> for ClutterSite {
    /// The category's representative height and the default street width.
    fn from(category: ClutterCategory) -> Self {
        Self {
            category,
            height_m: category.representative_height_m(),
            street_width_m: DEFAULT_STREET_WIDTH_M,
        }
    }
}

impl ClutterSite {
    /// Terminal correction `A_h`, dB, for an antenna `antenna_agl_m` above ground among the clutter
    /// (P.2108-1 §3.1); 0 dB at or above the clutter height.
    ///
    /// - `frequency_ghz`: 0.03 to 3 GHz
    /// - `antenna_agl_m`: positive, m
    ///
    /// It is added, for either end, to a loss computed to an antenna *at the clutter height*
    /// `height_m`, not at the true height.
    ///
    /// # Errors
    /// [`DomainError`] outside those ranges.
    pub fn height_gain_loss_db(
        &self,
        frequency_ghz: f64,
        antenna_agl_m: f64,
    ) -> Result<f64, DomainError> {
        let frequency = within("frequency_ghz", frequency_ghz, 0.03, 3.0)?;
        let antenna = positive("antenna_agl_m", antenna_agl_m)?;
        let top = positive("height_m", self.height_m)?;
        let width = positive("street_width_m", self.street_width_m)?;
        if antenna >= top {
            return Ok(0.0);
        }
        if self.category.obstructs() {
            let rise = top - antenna;
            let angle_deg = libm::atan(rise / width).to_degrees();
            // Eq. 2a: a knife edge at the roof line.
            let nu = 0.342 * frequency.sqrt() * (rise * angle_deg).sqrt();
            Ok(knife_edge_loss_db(nu) - 6.03)
        } else {
            // Eq. 2b.
            let k_h2 = 21.8 + 6.2 * libm::log10(frequency);
            Ok(-k_h2 * libm::log10(antenna / top))
        }
    }
}

/// Statistical clutter loss of a terrestrial path, dB: the loss not exceeded at
/// `location_percent` of locations (P.2108-1 §3.2).
///
/// - `frequency_ghz`: 0.5 to 67 GHz
/// - `distance_km`: path length, at least 0.25 km. From 0.25 to 1 km the correction is for one
///   end only; from 1 km on it may be applied at both, in urban and suburban surroundings
/// - `location_percent`: above 0, below 100 (0.001 to 99.999 accepted)
///
/// The loss is bounded by its value at 2 km. Low percentages at short distances can come out
/// below 0 dB and are returned so: it is a distribution.
///
/// # Errors
/// [`DomainError`] outside those ranges.
pub fn terrestrial_clutter_loss_db(
    frequency_ghz: f64,
    distance_km: f64,
    location_percent: f64,
) -> Result<f64, DomainError> {
    let frequency = within("frequency_ghz", frequency_ghz, 0.5, 67.0)?;
    let distance = within("distance_km", distance_km, 0.25, 1e5)?;
    let deviate = deviate(location_percent)?;
    let at = |distance_km| terrestrial_at(frequency, distance_km, deviate);
    Ok(at(distance).min(at(2.0)))
}

/// P.2108-1 §3.2 before its bound, with the normal deviate of the location percentage.
fn terrestrial_at(frequency_ghz: f64, distance_km: f64, deviate: f64) -> f64 {
    let log_f = libm::log10(frequency_ghz);
    let long_db = -2.0 * libm::log10(libm::pow(10.0, -5.0 * log_f - 12.5) + libm::pow(10.0, -16.5));
    let short_db = 32.98 + 23.9 * libm::log10(distance_km) + 3.0 * log_f;
    let (long, short) = (libm::pow(10.0, -0.2 * long_db), libm::pow(10.0, -0.2 * short_db));
    let sigma_db = ((16.0 * long + 36.0 * short) / (long + short)).sqrt();
    -5.0 * libm::log10(long + short) + sigma_db * deviate
}

/// Statistical clutter loss of a slant path to a satellite or aircraft, dB: the loss not exceeded
/// at `location_percent` of locations (P.2108-1 §3.3).
///
/// - `frequency_ghz`: 10 to 100 GHz
/// - `elevation_deg`: elevation angle from the terminal in clutter, 0 to 90 degrees
/// - `location_percent`: above 0, below 100 (0.001 to 99.999 accepted)
///
/// Clear locations come out slightly below 0 dB.
///
/// # Errors
/// [`DomainError`] outside those ranges.
pub fn slant_clutter_loss_db(
    frequency_ghz: f64,
    elevation_deg: f64,
    location_percent: f64,
) -> Result<f64, DomainError> {
    let frequency = within("frequency_ghz", frequency_ghz, 10.0, 100.0)?;
    let elevation = within("elevation_deg", elevation_deg, 0.0, 90.0)?;
    let deviate = deviate(location_percent)?;
    let k1 = 93.0 * libm::pow(frequency, 0.175);
    let spread = -k1 * libm::log(1.0 - location_percent / 100.0);
    let angle = 0.05 * (1.0 - elevation / 90.0) + elevation.to_radians();
    let exponent = 0.5 * (90.0 - elevation) / 90.0;
    // At the zenith the cotangent rounds to just above or below zero and the exponent is zero.
    let base = (spread / libm::tan(angle)).max(0.0);
    Ok(libm::pow(base, exponent) - 1.0 + 0.6 * deviate)
}

/// -Q⁻¹(p / 100), the deviate of a percentage of locations.
fn deviate(location_percent: f64) -> Result<f64, DomainError> {
    let percent = within("location_percent", location_percent, 1e-3, 99.999)?;
    Ok(normal_quantile(percent / 100.0))
}

#[cfg(test)]
mod tests;
