//! Excess loss of a terminal inside woodland (ITU-R P.833-9 §2.1).

use super::domain::{DomainError, within};

/// Mixed coniferous-deciduous forest (ITU-R P.833-9 §2.1, table 1): frequency, MHz, specific attenuation γ, dB/m, and
/// maximum attenuation `A_m`, dB.
const MIXED_FOREST: [(f64, f64, f64); 5] = [
    (105.9, 0.04, 9.4),
    (466.475, 0.12, 18.0),
    (949.0, 0.17, 26.5),
    (1852.2, 0.30, 29.0),
    (2117.5, 0.34, 34.1),
];

/// Frequencies that the mixed forest was measured at, from the lowest to the highest, MHz.
pub const MIXED_FOREST_MHZ: [f64; 2] = [105.9, 2117.5];

/// Loss in excess of free space and diffraction, dB, where a terminal stands in mixed forest and the ray runs `depth_m`
/// through it (0 or more): [`woodland_loss_db`] with γ and `A_m` of table 1, between its frequencies by their
/// logarithms. Beyond [`MIXED_FOREST_MHZ`] those of the nearest frequency.
///
/// # Errors
/// [`DomainError`] for a depth that is negative or not finite, or a frequency outside 30 MHz to 100 GHz.
pub fn mixed_forest_loss_db(depth_m: f64, frequency_mhz: f64) -> Result<f64, DomainError> {
    let frequency = within("frequency_mhz", frequency_mhz, 30.0, 100_000.0)?;
    let [low_mhz, high_mhz] = MIXED_FOREST_MHZ;
    let at_mhz = frequency.clamp(low_mhz, high_mhz);
    let next = MIXED_FOREST.iter().position(|(row_mhz, ..)| at_mhz <= *row_mhz);
    let next = next.unwrap_or(MIXED_FOREST.len() - 1).max(1);
    let (below, above) = (MIXED_FOREST[next - 1], MIXED_FOREST[next]);
    let share = libm::log(at_mhz / below.0) / libm::log(above.0 / below.0);
    let between = |low: f64, high: f64| low * libm::pow(high / low, share);
    woodland_loss_db(depth_m, between(below.1, above.1), between(below.2, above.2))
}

/// Loss in excess of free space and diffraction, dB, when one terminal stands in woodland and
/// the ray runs `depth_m` through it: `A_m (1 - exp(-d γ / A_m))` (ITU-R P.833-9 eq. 1).
///
/// - `depth_m`: path length within the woodland, m, at least 0
/// - `specific_attenuation_db_m`: γ for very short vegetative paths, dB/m, at least 0
///   (P.833-9 Figure 2: about 0.2 dB/m at 1 GHz)
/// - `maximum_attenuation_db`: `A_m`, dB, at least 0; above 0 dB it bounds the result
///
/// γ and `A_m` depend on species, foliage density and frequency and are the caller's to give.
///
/// # Errors
/// [`DomainError`] for a negative, infinite or undefined argument.
pub fn woodland_loss_db(
    depth_m: f64,
    specific_attenuation_db_m: f64,
    maximum_attenuation_db: f64,
) -> Result<f64, DomainError> {
    let depth = within("depth_m", depth_m, 0.0, f64::MAX)?;
    let gamma = within("specific_attenuation_db_m", specific_attenuation_db_m, 0.0, 1e3)?;
    let limit = within("maximum_attenuation_db", maximum_attenuation_db, 0.0, 1e3)?;
    if limit == 0.0 {
        return Ok(0.0);
    }
    // exp_m1 keeps the first metres, where the law is linear, free of cancellation.
    Ok(-limit * libm::expm1(-depth * gamma / limit))
}

/// Maximum woodland loss, dB, at `frequency_mhz`: `A_m = A_1 f^α` (ITU-R P.833-9 eq. 2).
///
/// Fits given there: `A_1 = 0.18 dB`, `α = 0.752` (park with tropical trees, 900 to 1800 MHz),
/// `A_1 = 1.15 dB`, `α = 0.43` (forest, 900 to 2200 MHz) and `A_1 = 1.37 dB`, `α = 0.42`
/// (mixed coniferous-deciduous forest, 105.9 to 2117.5 MHz).
///
/// # Errors
/// [`DomainError`] for arguments outside 30 MHz to 100 GHz, 0 to 100 dB, 0 to 2.
pub fn maximum_woodland_loss_db(
    frequency_mhz: f64,
    a1_db: f64,
    alpha: f64,
) -> Result<f64, DomainError> {
    let frequency = within("frequency_mhz", frequency_mhz, 30.0, 100_000.0)?;
    let a1 = within("a1_db", a1_db, 0.0, 100.0)?;
    Ok(a1 * libm::pow(frequency, within("alpha", alpha, 0.0, 2.0)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_with_slope_gamma_and_saturates_at_the_maximum() {
        for (_, gamma, limit) in MIXED_FOREST {
            let first = woodland_loss_db(1e-6, gamma, limit).unwrap();
            assert!((first / (1e-6 * gamma) - 1.0).abs() < 1e-6);
            let deep = woodland_loss_db(1e6, gamma, limit).unwrap();
            assert!((deep - limit).abs() < 1e-12);
            // At d = A_m / γ the law stands at 1 - 1/e.
            let knee = woodland_loss_db(limit / gamma, gamma, limit).unwrap();
            assert!((knee / limit - 0.632_120_558_828_557_7).abs() < 1e-12);
        }
    }

    #[test]
    fn grows_with_depth() {
        let mut last = 0.0;
        for depth in 1..200 {
            let loss = woodland_loss_db(f64::from(depth), 0.17, 26.5).unwrap();
            assert!(loss > last);
            last = loss;
        }
    }

    /// The published fit (1.37 dB, 0.42) against the very measurements it was made from.
    #[test]
    fn power_law_follows_the_site_table() {
        for (frequency_mhz, _, limit) in MIXED_FOREST {
            let fitted = maximum_woodland_loss_db(frequency_mhz, 1.37, 0.42).unwrap();
            assert!((fitted - limit).abs() < 3.5, "{frequency_mhz}: {fitted}");
        }
    }

    /// Equation 1 with the rows of table 1, by hand; depth 0 and depths beyond all trees.
    #[test]
    fn mixed_forest_has_the_values_of_its_table() {
        for (frequency_mhz, depth_m, expected_db) in [
            (105.9, 100.0, 3.257_832),
            (466.475, 100.0, 8.758_492),
            (949.0, 100.0, 12.547_827),
            (949.0, 10.0, 1.646_619),
            (2117.5, 50.0, 13.386_956),
            (949.0, 0.0, 0.0),
            (1852.2, 1e5, 29.0),
        ] {
            let loss_db = mixed_forest_loss_db(depth_m, frequency_mhz).unwrap();
            assert!((loss_db - expected_db).abs() < 1e-5, "{frequency_mhz} {depth_m}: {loss_db}");
        }
        let mut last_db = 0.0;
        for frequency_mhz in (106..2_117).map(f64::from) {
            let loss_db = mixed_forest_loss_db(60.0, frequency_mhz).unwrap();
            assert!(loss_db > last_db, "{frequency_mhz}");
            last_db = loss_db;
        }
        for (beyond_mhz, nearest_mhz) in [(40.0, 105.9), (5_800.0, 2117.5)] {
            let [beyond, nearest] =
                [beyond_mhz, nearest_mhz].map(|mhz| mixed_forest_loss_db(60.0, mhz).unwrap());
            assert_eq!(beyond, nearest);
        }
        assert!(mixed_forest_loss_db(-1.0, 868.0).is_err());
        assert!(mixed_forest_loss_db(10.0, 29.0).is_err());
    }

    #[test]
    fn refuses_what_is_not_a_depth() {
        assert!(woodland_loss_db(-1.0, 0.1, 20.0).is_err());
        assert!(woodland_loss_db(f64::NAN, 0.1, 20.0).is_err());
        assert!(woodland_loss_db(1.0, 0.1, 0.0).unwrap().abs() < 1e-300);
    }
}
