//! Specific attenuation by atmospheric gases, line by line (ITU-R P.676-13 Annex 1), and the
//! mean annual global reference atmosphere (ITU-R P.835-6).

mod oxygen;
pub(crate) mod reference;
mod water_vapour;

use serde::{Deserialize, Serialize};

use super::domain::{DomainError, within};
use oxygen::OXYGEN_LINES;
use water_vapour::WATER_VAPOUR_LINES;

/// The state of the air along a path.
///
/// P.676 counts in *dry* pressure: barometric (total) pressure is dry pressure plus the partial
/// pressure of the vapour. [`Atmosphere::from_total_pressure`] converts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Atmosphere {
    /// Dry air pressure p, hPa.
    pub dry_pressure_hpa: f64,
    /// Temperature T, K.
    pub temperature_k: f64,
    /// Water-vapour density ρ, g/m³.
    pub water_vapour_density_g_m3: f64,
}

/// Specific attenuation, dB/km.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gamma {
    /// `γ_o`: oxygen lines and the dry continuum, dB/km.
    pub oxygen_db_km: f64,
    /// `γ_w`: water vapour, dB/km.
    pub water_vapour_db_km: f64,
}

impl Gamma {
    /// `γ = γ_o + γ_w`, dB/km (P.676-13 eq. 1).
    #[must_use]
    pub fn total_db_km(&self) -> f64 {
        self.oxygen_db_km + self.water_vapour_db_km
    }

    /// Attenuation, dB, of a terrestrial path of `distance_m` through uniform air:
    /// `γ d` (P.676-13 Annex 1 §2.1).
    #[must_use]
    pub fn loss_db(&self, distance_m: f64) -> f64 {
        self.total_db_km() * distance_m * 1e-3
    }
}

/// Partial pressure of water vapour, hPa: `e = ρ T / 216.7` (P.676-13 eq. 4).
pub(crate) fn vapour_pressure_hpa(temperature_k: f64, density_g_m3: f64) -> f64 {
    density_g_m3 * temperature_k / 216.7
}

impl Atmosphere {
    /// From barometric pressure, hPa; the two others as in the fields.
    #[must_use]
    pub fn from_total_pressure(
        total_pressure_hpa: f64,
        temperature_k: f64,
        water_vapour_density_g_m3: f64,
    ) -> Self {
        let vapour_hpa = vapour_pressure_hpa(temperature_k, water_vapour_density_g_m3);
        Self {
            dry_pressure_hpa: total_pressure_hpa - vapour_hpa,
            temperature_k,
            water_vapour_density_g_m3,
        }
    }

    /// The mean annual global reference atmosphere at `height_msl_m`, -500 to 11 000 m
    /// (ITU-R P.835-6 §1.1 in its lowest layer, and §1.2 for vapour with h0 = 2 km and
    /// ρ0 = 7.5 g/m³): 1013.25 hPa in total, 288.15 K and 7.5 g/m³ at sea level.
    ///
    /// # Errors
    /// [`DomainError`] outside that range.
    pub fn mean_annual_global(height_msl_m: f64) -> Result<Self, DomainError> {
        let height_km = within("height_msl_m", height_msl_m, -500.0, 11_000.0)? * 1e-3;
        let [temperature_k, total_hpa] = reference::temperature_and_pressure(height_km);
        let density_g_m3 = reference::vapour_density_g_m3(height_km, temperature_k, total_hpa);
        Ok(Self::from_total_pressure(total_hpa, temperature_k, density_g_m3))
    }

    /// Specific attenuation at `frequency_ghz`, above 0 to 1000 GHz (P.676-13 eqs. 1 to 9).
    ///
    /// The Recommendation speaks for 1 to 1000 GHz. Below 1 GHz the same sums are continuous and
    /// small (oxygen 0.0005 to 0.006 dB/km, vapour below 1e-4 dB/km) and are given as they are.
    ///
    /// # Errors
    /// [`DomainError`] for a frequency out of range, dry pressure outside 0 to 1100 hPa,
    /// temperature outside 150 to 350 K, vapour density outside 0 to 100 g/m³.
    pub fn specific_attenuation(&self, frequency_ghz: f64) -> Result<Gamma, DomainError> {
        let f = within("frequency_ghz", frequency_ghz, 1e-3, 1000.0)?;
        let p = within("dry_pressure_hpa", self.dry_pressure_hpa, 0.0, 1100.0)?;
        let t = within("temperature_k", self.temperature_k, 150.0, 350.0)?;
        let rho = within("water_vapour_density_g_m3", self.water_vapour_density_g_m3, 0.0, 100.0)?;
        let air = Air { p, e: vapour_pressure_hpa(t, rho), theta: 300.0 / t };
        Ok(Gamma {
            oxygen_db_km: 0.1820 * f * (air.oxygen(f) + air.dry_continuum(f)),
            water_vapour_db_km: 0.1820 * f * air.water_vapour(f),
        })
    }
}

/// Pressures p and e, hPa, and θ = 300 / T, as P.676 writes them.
struct Air {
    p: f64,
    e: f64,
    theta: f64,
}

impl Air {
    /// Imaginary refractivity of the oxygen lines (P.676-13 eqs. 2a, 3, 5, 6, 7).
    fn oxygen(&self, f: f64) -> f64 {
        let Self { p, e, theta } = *self;
        let theta_08 = libm::pow(theta, 0.8);
        let theta_3 = theta.powi(3);
        OXYGEN_LINES
            .iter()
            .map(|&[f0, a1, a2, a3, a4, a5, a6]| {
                let strength = a1 * 1e-7 * p * theta_3 * libm::exp(a2 * (1.0 - theta));
                let pressure_width = a3 * 1e-4 * (p * libm::pow(theta, 0.8 - a4) + 1.1 * e * theta);
                // Zeeman splitting, eq. 6b.
                let width = (pressure_width * pressure_width + 2.25e-6).sqrt();
                // Interference between the lines, eq. 7.
                let delta = (a5 + a6 * theta) * 1e-4 * (p + e) * theta_08;
                strength * line_shape(f, f0, width, delta)
            })
            .sum()
    }

    /// Imaginary refractivity of dry air between the lines (P.676-13 eqs. 8 and 9).
    fn dry_continuum(&self, f: f64) -> f64 {
        let Self { p, e, theta } = *self;
        let d = 5.6e-4 * (p + e) * libm::pow(theta, 0.8);
        // f p θ² [A / (d (1 + (f/d)²)) + ..] with both sides of the first term multiplied by d,
        // which is zero in a vacuum.
        let debye = 6.14e-5 * d / (d * d + f * f);
        let nitrogen = 1.4e-12 * p * libm::pow(theta, 1.5) / (1.0 + 1.9e-5 * libm::pow(f, 1.5));
        f * p * theta * theta * (debye + nitrogen)
    }

    /// Imaginary refractivity of the water-vapour lines (P.676-13 eqs. 2b, 3, 5, 6).
    fn water_vapour(&self, f: f64) -> f64 {
        let Self { p, e, theta } = *self;
        let theta_35 = libm::pow(theta, 3.5);
        WATER_VAPOUR_LINES
            .iter()
            .map(|&[f0, b1, b2, b3, b4, b5, b6]| {
                let strength = b1 * 1e-1 * e * theta_35 * libm::exp(b2 * (1.0 - theta));
                let pressure_width =
                    b3 * 1e-4 * (p * libm::pow(theta, b4) + b5 * e * libm::pow(theta, b6));
                // Doppler broadening, eq. 6b.
                let doppler = 2.1316e-12 * f0 * f0 / theta;
                let width = 0.535 * pressure_width
                    + (0.217 * pressure_width * pressure_width + doppler).sqrt();
                strength * line_shape(f, f0, width, 0.0)
            })
            .sum()
    }
}

/// Line shape factor `F_i`, 1/GHz (P.676-13 eq. 5); all arguments in GHz but `delta`, a ratio.
fn line_shape(f: f64, f0: f64, width: f64, delta: f64) -> f64 {
    let (below, above) = (f0 - f, f0 + f);
    let width_2 = width * width;
    f / f0
        * ((width - delta * below) / (below * below + width_2)
            + (width - delta * above) / (above * above + width_2))
}

#[cfg(test)]
mod tests;
