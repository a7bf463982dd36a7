//! Free-space basic transmission loss (ITU-R P.525-4).

use std::f64::consts::PI;

/// Speed of light in vacuum, m/s (exact, SI).
pub const SPEED_OF_LIGHT_M_S: f64 = 299_792_458.0;

/// Wavelength, m, at `frequency_mhz` (MHz, positive).
#[must_use]
pub fn wavelength_m(frequency_mhz: f64) -> f64 {
    SPEED_OF_LIGHT_M_S / (frequency_mhz * 1e6)
}

/// Free-space basic transmission loss between isotropic antennas, dB:
/// `20 log10(4 π d / λ)` (ITU-R P.525-4 eq. 3), with the exact speed of light rather than the
/// rounded 32.4 of eq. 4.
///
/// `distance_m` in metres along the ray, `frequency_mhz` in MHz, both positive. The formula
/// belongs to the far field and turns negative below `λ / 4π`; there, and at zero distance, the
/// loss is 0 dB, for no passive path amplifies. Arguments that are not numbers give 0 dB too.
#[must_use]
pub fn free_space_loss_db(distance_m: f64, frequency_mhz: f64) -> f64 {
    let ratio = 4.0 * PI * distance_m / wavelength_m(frequency_mhz);
    (20.0 * libm::log10(ratio)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P.525-4 eq. 4 in its rounded form, 32.4 + 20 log f + 20 log d, is 0.048 dB low.
    #[test]
    fn agrees_with_the_rounded_practical_formula() {
        for (distance_km, frequency_mhz) in [(1.0, 1000.0), (50.0, 162.4), (0.3, 5800.0)] {
            let practical: f64 =
                32.4 + 20.0 * f64::log10(frequency_mhz) + 20.0 * f64::log10(distance_km);
            let exact = free_space_loss_db(distance_km * 1e3, frequency_mhz);
            assert!((exact - practical - 0.047_783).abs() < 1e-5, "{exact}");
        }
    }

    #[test]
    fn grows_by_twenty_decibels_a_decade() {
        let near = free_space_loss_db(100.0, 2400.0);
        assert!((free_space_loss_db(1000.0, 2400.0) - near - 20.0).abs() < 1e-12);
        assert!((free_space_loss_db(100.0, 24_000.0) - near - 20.0).abs() < 1e-12);
    }

    #[test]
    fn never_amplifies() {
        for distance_m in [0.0, 1e-9, -5.0, f64::NAN] {
            assert!(free_space_loss_db(distance_m, 900.0).abs() < 1e-300);
        }
    }
}
