//! Excess loss of a terminal inside woodland (ITU-R P.833-9 §2.1).

use super::domain::{DomainError, within};

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

    /// Site table of P.833-9 §2.1 (mixed coniferous-deciduous): frequency MHz, γ dB/m, A_m dB.
    const SITES: [(f64, f64, f64); 5] = [
        (105.9, 0.04, 9.4),
        (466.475, 0.12, 18.0),
        (949.0, 0.17, 26.5),
        (1852.2, 0.30, 29.0),
        (2117.5, 0.34, 34.1),
    ];

    #[test]
    fn starts_with_slope_gamma_and_saturates_at_the_maximum() {
        for (_, gamma, limit) in SITES {
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
        for (frequency_mhz, _, limit) in SITES {
            let fitted = maximum_woodland_loss_db(frequency_mhz, 1.37, 0.42).unwrap();
            assert!((fitted - limit).abs() < 3.5, "{frequency_mhz}: {fitted}");
        }
    }

    #[test]
    fn refuses_what_is_not_a_depth() {
        assert!(woodland_loss_db(-1.0, 0.1, 20.0).is_err());
        assert!(woodland_loss_db(f64::NAN, 0.1, 20.0).is_err());
        assert!(woodland_loss_db(1.0, 0.1, 0.0).unwrap().abs() < 1e-300);
    }
}
