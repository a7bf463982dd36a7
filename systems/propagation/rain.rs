//! Specific attenuation by rain (ITU-R P.838-3).

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, within};
use super::polarization::Polarization;

/// Minimum frequency that P.838-3 has coefficients for, GHz. Below it callers take the loss of rain
/// as zero.
pub const RAIN_FREQUENCY_MIN_GHZ: f64 = 1.0;

/// Greatest frequency P.838-3 gives coefficients for, GHz.
pub const RAIN_FREQUENCY_MAX_GHZ: f64 = 1000.0;

/// The power law `γ_R = k R^α` at one frequency and polarization.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RainCoefficients {
    /// k: `γ_R`, dB/km, at a rain rate of 1 mm/h.
    pub k: f64,
    /// Exponent α.
    pub alpha: f64,
}

/// One curve of P.838-3: a sum of Gaussians in `log10 f` on a straight line.
struct Curve<const N: usize> {
    /// (a, b, c) of each.
    gaussians: [(f64, f64, f64); N],
    slope: f64,
    intercept: f64,
}

impl<const N: usize> Curve<N> {
    /// Right-hand side of P.838-3 eqs. 2 and 3.
    fn at(&self, log10_frequency: f64) -> f64 {
        let bumps: f64 = self
            .gaussians
            .iter()
            .map(|&(a, b, c)| a * libm::exp(-((log10_frequency - b) / c).powi(2)))
            .sum();
        bumps + self.slope * log10_frequency + self.intercept
    }
}

/// P.838-3 Table 1: `log10 k_H`.
const LOG_K_H: Curve<4> = Curve {
    gaussians: [
        (-5.339_80, -0.100_08, 1.130_98),
        (-0.353_51, 1.269_70, 0.454_00),
        (-0.237_89, 0.860_36, 0.153_54),
        (-0.941_58, 0.645_52, 0.168_17),
    ],
    slope: -0.189_61,
    intercept: 0.711_47,
};

/// P.838-3 Table 2: `log10 k_V`.
const LOG_K_V: Curve<4> = Curve {
    gaussians: [
        (-3.805_95, 0.569_34, 0.810_61),
        (-3.449_65, -0.229_11, 0.510_59),
        (-0.399_02, 0.730_42, 0.118_99),
        (0.501_67, 1.073_19, 0.271_95),
    ],
    slope: -0.163_98,
    intercept: 0.632_97,
};

/// P.838-3 Table 3: `α_H`.
const ALPHA_H: Curve<5> = Curve {
    gaussians: [
        (-0.143_18, 1.824_42, -0.551_87),
        (0.295_91, 0.775_64, 0.198_22),
        (0.321_77, 0.637_73, 0.131_64),
        (-5.376_10, -0.962_30, 1.478_28),
        (16.1721, -3.299_80, 3.439_90),
    ],
    slope: 0.678_49,
    intercept: -1.955_37,
};

/// P.838-3 Table 4: `α_V`.
const ALPHA_V: Curve<5> = Curve {
    gaussians: [
        (-0.077_71, 2.338_40, -0.762_84),
        (0.567_27, 0.955_45, 0.540_39),
        (-0.202_38, 1.145_20, 0.268_09),
        (-48.2991, 0.791_669, 0.116_226),
        (48.5833, 0.791_459, 0.116_479),
    ],
    slope: -0.053_739,
    intercept: 0.834_33,
};

impl RainCoefficients {
    /// Coefficients for a path elevation angle and a polarization tilt (P.838-3 eqs. 2 to 5).
    ///
    /// - `frequency_ghz`: 1 to 1000 GHz
    /// - `elevation_deg`: path elevation, -90 to 90 degrees
    /// - `tilt_deg`: polarization tilt from the horizontal, -90 to 90 degrees; 45 for circular
    ///
    /// # Errors
    /// [`DomainError`] outside those ranges.
    pub fn new(frequency_ghz: f64, elevation_deg: f64, tilt_deg: f64) -> Result<Self, DomainError> {
        let frequency =
            within("frequency_ghz", frequency_ghz, RAIN_FREQUENCY_MIN_GHZ, RAIN_FREQUENCY_MAX_GHZ)?;
        let elevation = within("elevation_deg", elevation_deg, -90.0, 90.0)?.to_radians();
        let tilt = within("tilt_deg", tilt_deg, -90.0, 90.0)?.to_radians();

        let x = libm::log10(frequency);
        let (k_h, k_v) = (libm::pow(10.0, LOG_K_H.at(x)), libm::pow(10.0, LOG_K_V.at(x)));
        let (product_h, product_v) = (k_h * ALPHA_H.at(x), k_v * ALPHA_V.at(x));
        let mix = libm::cos(elevation).powi(2) * libm::cos(2.0 * tilt);
        let k = 0.5 * (k_h + k_v + (k_h - k_v) * mix);
        let alpha = 0.5 * (product_h + product_v + (product_h - product_v) * mix) / k;
        Ok(Self { k, alpha })
    }

    /// Coefficients for a level path in linear polarization; `frequency_ghz` 1 to 1000 GHz.
    ///
    /// # Errors
    /// [`DomainError`] outside that range.
    pub fn level(frequency_ghz: f64, polarization: Polarization) -> Result<Self, DomainError> {
        let tilt_deg = match polarization {
            Polarization::Horizontal => 0.0,
            Polarization::Vertical => 90.0,
        };
        Self::new(frequency_ghz, 0.0, tilt_deg)
    }

    /// Specific attenuation `γ_R`, dB/km, in rain of `rate_mm_h` (P.838-3 eq. 1).
    ///
    /// # Errors
    /// [`DomainError`] for a rate outside 0 to 1000 mm/h.
    pub fn specific_attenuation_db_km(&self, rate_mm_h: f64) -> Result<f64, DomainError> {
        Ok(self.k * libm::pow(within("rate_mm_h", rate_mm_h, 0.0, 1000.0)?, self.alpha))
    }
}

#[cfg(test)]
mod tests {
    use groundwave_needs::needs;

    use super::super::vectors::{fixture, relative_error, rows, shared_rows};
    use super::*;

    /// Columns frequency, elevation, tilt, rate, k, alpha, gamma; the worst relative error.
    fn worst(table: &[Vec<f64>]) -> f64 {
        let mut worst = 0f64;
        for row in table {
            let c = RainCoefficients::new(row[0], row[1], row[2]).unwrap();
            let gamma = c.specific_attenuation_db_km(row[3]).unwrap();
            for (got, want) in [(c.k, row[4]), (c.alpha, row[5]), (gamma, row[6])] {
                worst = worst.max(relative_error(got, want));
            }
        }
        worst
    }

    #[test]
    fn coefficients_match_the_shipped_vectors() {
        let table = rows(fixture!("p838.csv"));
        assert_eq!(table.len(), 63);
        assert!(worst(&table) < 1e-9, "{:e}", worst(&table));
    }

    #[needs(shared("vectors/generated_from_ITU-Rpy/p838_k_alpha_gamma.csv"))]
    #[test]
    fn coefficients_match_every_generated_vector() {
        let table = shared_rows("vectors/generated_from_ITU-Rpy/p838_k_alpha_gamma.csv");
        assert_eq!(table.len(), 378);
        assert!(worst(&table) < 1e-9, "{:e}", worst(&table));
    }

    /// The Study Group 3 examples carry eight decimals, so 5e-9 is all they can tell.
    #[needs(shared("vectors/ITU-Rpy/ITURP838-3_rain_specific_attenuation.csv"))]
    #[test]
    fn coefficients_match_the_study_group_examples() {
        let table = shared_rows("vectors/ITU-Rpy/ITURP838-3_rain_specific_attenuation.csv");
        assert_eq!(table.len(), 64);
        for row in table {
            let c = RainCoefficients::new(row[1], row[0], row[3]).unwrap();
            let gamma = c.specific_attenuation_db_km(row[2]).unwrap();
            assert!((c.k - row[4]).abs() <= 5.1e-9, "{} {}", c.k, row[4]);
            assert!((c.alpha - row[5]).abs() <= 5.1e-9);
            assert!((gamma - row[6]).abs() <= 5.1e-9, "{gamma} {}", row[6]);
        }
    }

    #[test]
    fn more_rain_attenuates_more() {
        for frequency_ghz in [1.0, 2.4, 5.8, 11.0, 24.0, 60.0, 80.0, 300.0, 1000.0] {
            for polarization in [Polarization::Horizontal, Polarization::Vertical] {
                let c = RainCoefficients::level(frequency_ghz, polarization).unwrap();
                let mut last = 0.0;
                for rate in [0.25, 1.0, 5.0, 20.0, 42.0, 100.0, 200.0] {
                    let gamma = c.specific_attenuation_db_km(rate).unwrap();
                    assert!(gamma > last && gamma.is_finite());
                    last = gamma;
                }
                assert!(c.specific_attenuation_db_km(0.0).unwrap().abs() < 1e-300);
            }
        }
    }

    /// Large drops are flat: from a few GHz on they take more from a horizontal field. A tilt
    /// of 45 degrees lies between.
    #[test]
    fn horizontal_polarization_suffers_most() {
        for frequency_ghz in [5.8, 11.0, 24.0, 38.0, 80.0] {
            let at_tilt = |tilt_deg| {
                let c = RainCoefficients::new(frequency_ghz, 0.0, tilt_deg).unwrap();
                c.specific_attenuation_db_km(42.0).unwrap()
            };
            assert!(at_tilt(0.0) > at_tilt(45.0) && at_tilt(45.0) > at_tilt(90.0));
        }
    }

    #[test]
    fn refuses_frequencies_without_coefficients() {
        for frequency_ghz in [0.868, 1000.1, f64::NAN] {
            assert!(RainCoefficients::level(frequency_ghz, Polarization::Vertical).is_err());
        }
    }
}
