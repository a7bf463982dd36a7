//! Receiver noise: thermal, and what man adds to it (ITU-R P.372-16).

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, positive, within};

/// Boltzmann constant, J/K (exact, SI).
const BOLTZMANN_J_K: f64 = 1.380_649e-23;

/// Reference temperature of noise figures, K.
pub const REFERENCE_TEMPERATURE_K: f64 = 290.0;

/// Surroundings of an antenna, by how much man-made noise they radiate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoiseEnvironment {
    /// City (curve A).
    City,
    /// Residential (curve B).
    Residential,
    /// Rural (curve C).
    Rural,
    /// Quiet rural (curve D).
    QuietRural,
}

/// Median man-made noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ManMadeNoise {
    /// `F_am`: external noise figure relative to k T0 B, dB. Negative where man-made noise is
    /// weaker than thermal noise at 290 K.
    pub fam_db: f64,
    /// True if the frequency lies outside the range of the curve.
    pub extrapolated: bool,
}

impl NoiseEnvironment {
    /// (c, d) of `F_am = c - d log10 f` (ITU-R P.372-16, table of man-made noise).
    const fn line(self) -> (f64, f64) {
        match self {
            Self::City => (76.8, 27.7),
            Self::Residential => (72.5, 27.7),
            Self::Rural => (67.2, 27.7),
            Self::QuietRural => (53.6, 28.6),
        }
    }

    /// Median man-made noise at `frequency_mhz`, for a short vertical monopole:
    /// `F_am = c - d log10 f` (ITU-R P.372-16, man-made noise).
    ///
    /// The lines hold for 0.3 to 250 MHz (quiet rural: read off the figure, to 30 MHz). Above,
    /// P.372 gives no line; this continues it and sets `extrapolated`. The continuation
    /// falls below thermal noise at some 300 MHz in a rural place and 600 MHz in a city. What
    /// impulsive and switching noise remains there is local: measure it, or add a margin.
    ///
    /// # Errors
    /// [`DomainError`] unless `frequency_mhz` is positive and finite.
    pub fn man_made_noise(self, frequency_mhz: f64) -> Result<ManMadeNoise, DomainError> {
        let frequency = positive("frequency_mhz", frequency_mhz)?;
        let (c, d) = self.line();
        let upper = match self {
            Self::QuietRural => 30.0,
            _ => 250.0,
        };
        Ok(ManMadeNoise {
            fam_db: c - d * libm::log10(frequency),
            extrapolated: !(0.3..=upper).contains(&frequency),
        })
    }
}

/// Thermal noise power k T B, dBm, in `bandwidth_hz` at 290 K: -173.975 dBm in 1 Hz.
///
/// # Errors
/// [`DomainError`] unless the bandwidth is positive and finite.
pub fn thermal_noise_dbm(bandwidth_hz: f64) -> Result<f64, DomainError> {
    let bandwidth = positive("bandwidth_hz", bandwidth_hz)?;
    // 1 W is 30 dBm.
    Ok(10.0 * libm::log10(BOLTZMANN_J_K * REFERENCE_TEMPERATURE_K * bandwidth) + 30.0)
}

/// System noise floor referred to the terminals of a lossless antenna, dBm:
/// `k T0 B (f_a + f_r - 1)` (ITU-R P.372-16, the operating noise factor with a lossless antenna
/// and line).
///
/// - `bandwidth_hz`: noise bandwidth, Hz, positive
/// - `noise_figure_db`: receiver noise figure at 290 K, dB, 0 to 100
/// - `external`: man-made noise, or `None` for thermal surroundings
///
/// External noise counts only where it exceeds the 290 K (0 dB) that a noise figure assumes, so the
/// result is never below `k T0 B + noise_figure_db` and equals it where man-made noise is weak or
/// unknown.
///
/// # Errors
/// [`DomainError`] outside those ranges.
pub fn noise_floor_dbm(
    bandwidth_hz: f64,
    noise_figure_db: f64,
    external: Option<ManMadeNoise>,
) -> Result<f64, DomainError> {
    let thermal_dbm = thermal_noise_dbm(bandwidth_hz)?;
    let figure = within("noise_figure_db", noise_figure_db, 0.0, 100.0)?;
    let fam_db = external.map_or(0.0, |noise| noise.fam_db);
    let external_factor = libm::pow(10.0, within("fam_db", fam_db, -1e3, 1e3)?.max(0.0) / 10.0);
    let receiver_factor = libm::pow(10.0, figure / 10.0);
    Ok(thermal_dbm + 10.0 * libm::log10(external_factor + receiver_factor - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use NoiseEnvironment::{City, QuietRural, Residential, Rural};

    #[test]
    fn thermal_noise_is_ktb() {
        // 1.380649e-23 * 290 = 4.0038821e-21 W/Hz.
        assert!((thermal_noise_dbm(1.0).unwrap() + 173.975_187).abs() < 1e-6);
        assert!((thermal_noise_dbm(20e6).unwrap() + 100.964_887).abs() < 1e-6);
    }

    /// Ends of the lines as read off the P.372 table: at 1 MHz F_am is c, at 10 MHz c - d.
    #[test]
    fn man_made_lines_pass_through_the_table() {
        for (environment, at_1_mhz, at_10_mhz) in [
            (City, 76.8, 49.1),
            (Residential, 72.5, 44.8),
            (Rural, 67.2, 39.5),
            (QuietRural, 53.6, 25.0),
        ] {
            for (frequency_mhz, want) in [(1.0, at_1_mhz), (10.0, at_10_mhz)] {
                let noise = environment.man_made_noise(frequency_mhz).unwrap();
                assert!((noise.fam_db - want).abs() < 1e-9);
                assert!(!noise.extrapolated);
            }
        }
    }

    #[test]
    fn frequency_above_the_lines_gives_extrapolated() {
        assert!(!City.man_made_noise(250.0).unwrap().extrapolated);
        assert!(City.man_made_noise(433.0).unwrap().extrapolated);
        assert!(City.man_made_noise(0.2).unwrap().extrapolated);
        assert!(QuietRural.man_made_noise(155.0).unwrap().extrapolated);
        assert!(City.man_made_noise(0.0).is_err());
    }

    #[test]
    fn floor_is_ktb_plus_figure_without_external_noise() {
        let floor = noise_floor_dbm(125e3, 6.0, None).unwrap();
        let thermal = thermal_noise_dbm(125e3).unwrap();
        assert!((floor - thermal - 6.0).abs() < 1e-12);
        // 2.4 GHz: extrapolated city noise lies below thermal noise and changes nothing.
        let weak = City.man_made_noise(2400.0).unwrap();
        let with_weak = noise_floor_dbm(125e3, 6.0, Some(weak)).unwrap();
        assert!((with_weak - floor).abs() < 1e-12);
    }

    /// Equal factors: f_a = f_r = 2 gives f = 3, not 4.
    #[test]
    fn factors_add_as_powers() {
        let three_db = 10.0 * 2f64.log10();
        let external = ManMadeNoise { fam_db: three_db, extrapolated: false };
        let floor = noise_floor_dbm(1.0, three_db, Some(external)).unwrap();
        let want = thermal_noise_dbm(1.0).unwrap() + 10.0 * 3f64.log10();
        assert!((floor - want).abs() < 1e-12);
    }

    #[test]
    fn busier_places_are_noisier() {
        for frequency_mhz in [0.3, 30.0, 155.0, 250.0] {
            let fam = |place: NoiseEnvironment| place.man_made_noise(frequency_mhz).unwrap().fam_db;
            assert!(fam(City) > fam(Residential));
            assert!(fam(Residential) > fam(Rural));
            assert!(fam(Rural) > fam(QuietRural));
        }
    }
}
