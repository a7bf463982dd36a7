//! Loss on the way into a building (ITU-R P.2109-2).
//!
//! A distribution over buildings and places inside them, from 80 MHz to 100 GHz: a prediction to a place
//! indoors is as uncertain as the building is unknown.

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, within};
use super::quantile::normal_quantile;

/// Kind of building (§3.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Building {
    /// Ordinary windows and walls.
    #[default]
    Traditional,
    /// Metallised glass or foil-backed panels.
    ThermallyEfficient,
}

/// Coefficients of table 1: of the median horizontal loss, then of the mean and deviation of the two
/// lognormal parts, each for 1 and for log10 of the frequency in GHz.
struct Coefficients {
    horizontal: [f64; 3],
    first_deviation: [f64; 2],
    second_mean: [f64; 2],
    second_deviation: [f64; 2],
}

impl Building {
    const fn coefficients(self) -> Coefficients {
        match self {
            Self::Traditional => Coefficients {
                horizontal: [12.64, 3.72, 0.96],
                first_deviation: [9.6, 2.0],
                second_mean: [9.1, -3.0],
                second_deviation: [4.5, -2.0],
            },
            Self::ThermallyEfficient => Coefficients {
                horizontal: [28.19, -3.00, 8.48],
                first_deviation: [13.5, 3.8],
                second_mean: [27.8, -2.9],
                second_deviation: [9.4, -2.1],
            },
        }
    }

    /// Loss that is not exceeded at `probability` of the places inside buildings of this kind, dB (eq. 1),
    /// where the path arrives at `elevation_deg` above the horizontal, -90 to 90 degrees.
    ///
    /// `frequency_mhz` in 80 to 100,000 MHz; `probability` above 0 and below 1, within [1e-9, 1 - 1e-9].
    /// Small probabilities give a negative loss: places with a reflection.
    ///
    /// # Errors
    /// [`DomainError`] for a number outside its range.
    pub fn entry_loss_db(
        self,
        frequency_mhz: f64,
        probability: f64,
        elevation_deg: f64,
    ) -> Result<f64, DomainError> {
        let elevation_deg = within("elevation_deg", elevation_deg, -90.0, 90.0)?;
        Ok(self.entry_loss(frequency_mhz, probability)?.at_db(elevation_deg))
    }

    /// [`Self::entry_loss_db`] as a function of the elevation.
    ///
    /// # Errors
    /// [`DomainError`] for a number outside its range.
    pub fn entry_loss(
        self,
        frequency_mhz: f64,
        probability: f64,
    ) -> Result<EntryLoss, DomainError> {
        let frequency_mhz = within("frequency_mhz", frequency_mhz, 80.0, 1e5)?;
        let probability = within("probability", probability, 1e-9, 1.0 - 1e-9)?;
        let log_f = libm::log10(frequency_mhz * 1e-3);
        let table = self.coefficients();
        let line = |[constant, slope]: [f64; 2]| constant + slope * log_f;
        let [r, s, t] = table.horizontal;
        let quantile = normal_quantile(probability);
        Ok(EntryLoss {
            horizontal_db: r + s * log_f + t * log_f * log_f,
            first_db: quantile * line(table.first_deviation),
            second_power: power(quantile * line(table.second_deviation) + line(table.second_mean)),
        })
    }
}

/// Loss on the way into buildings of one kind at one frequency that is not exceeded at a share of the places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryLoss {
    /// Median horizontal loss, dB (eq. 9).
    horizontal_db: f64,
    /// Deviation of the first lognormal part, dB.
    first_db: f64,
    /// Second lognormal part, as a ratio.
    second_power: f64,
}

impl EntryLoss {
    /// Loss where the path arrives at `elevation_deg` above or below the horizontal, -90 to 90 degrees, dB (eq. 1).
    #[must_use]
    pub fn at_db(&self, elevation_deg: f64) -> f64 {
        let first_mean_db = self.horizontal_db + 0.212 * elevation_deg.abs();
        let first_db = self.first_db + first_mean_db;
        10.0 * libm::log10(power(first_db) + self.second_power + power(-3.0))
    }
}

/// Ratio of powers.
fn power(loss_db: f64) -> f64 {
    libm::pow(10.0, 0.1 * loss_db)
}

#[cfg(test)]
mod tests {
    use groundwave_needs::needs;

    use super::super::vectors::shared_rows;
    use super::*;

    #[needs(shared("vectors/crc-covlib/p2109-validation.csv"))]
    #[test]
    fn validation_table_gives_its_losses() {
        let table = shared_rows("vectors/crc-covlib/p2109-validation.csv");
        assert_eq!(table.len(), 31_250);
        for row in table {
            let building =
                if row[2] == 1.0 { Building::Traditional } else { Building::ThermallyEfficient };
            let loss_db = building.entry_loss_db(row[0] * 1e3, row[1] * 1e-2, row[3]).unwrap();
            assert!((loss_db - row[4]).abs() < 1e-5, "{row:?}: {loss_db}");
        }
    }

    /// Medians at 868 MHz: power sums of the horizontal part, the second part and -3 dB.
    #[test]
    fn medians_at_868_mhz_exceed_those_of_the_horizontal_part() {
        let median_db = |building: Building| building.entry_loss_db(868.0, 0.5, 0.0).unwrap();
        let traditional_db = median_db(Building::Traditional);
        let efficient_db = median_db(Building::ThermallyEfficient);
        let sum = |parts: [f64; 3]| {
            10.0 * parts.map(|part: f64| 10f64.powf(0.1 * part)).iter().sum::<f64>().log10()
        };
        assert!((traditional_db - sum([12.4149, 9.2844, -3.0])).abs() < 1e-4, "{traditional_db}");
        assert!((efficient_db - sum([28.4065, 27.9783, -3.0])).abs() < 1e-4, "{efficient_db}");
    }

    #[test]
    fn loss_rises_with_probability_and_angle() {
        for building in [Building::Traditional, Building::ThermallyEfficient] {
            let at = |percent: f64, angle_deg: f64| {
                building.entry_loss_db(868.0, percent * 1e-2, angle_deg).unwrap()
            };
            for percent in 1..99 {
                let percent = f64::from(percent);
                assert!(at(percent, 0.0) < at(percent + 1.0, 0.0));
                assert!(at(percent, 10.0) < at(percent, 40.0));
                assert_eq!(at(percent, -20.0), at(percent, 20.0));
            }
        }
        let traditional = Building::Traditional;
        for (frequency_mhz, probability, angle_deg) in
            [(79.0, 0.5, 0.0), (868.0, 0.0, 0.0), (868.0, 1.0, 0.0), (868.0, 0.5, 91.0)]
        {
            assert!(traditional.entry_loss_db(frequency_mhz, probability, angle_deg).is_err());
        }
    }
}
