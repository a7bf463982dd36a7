//! Multipath fading of terrestrial links (ITU-R P.530-17 §2.3).

use serde::{Deserialize, Serialize};

use super::super::domain::{DomainError, within};

/// Shortest path multipath fading is reckoned for, km; shorter ones have none (§2.3).
const SHORTEST_KM: f64 = 5.0;

/// Geoclimatic factor K for detailed design (eq. 4):
/// `10^(-4.4 - 0.0027 dN1) (10 + s_a)^-0.46`.
///
/// - `dn1`: point refractivity gradient in the lowest 65 m not exceeded for 1 % of an average
///   year, N-units/km, -2000 to 1000 (ITU-R P.453)
/// - `terrain_roughness_m`: standard deviation of terrain heights within 110 km by 110 km, m,
///   0 to 10 000
///
/// # Errors
/// [`DomainError`] outside those ranges.
pub fn geoclimatic_factor(dn1: f64, terrain_roughness_m: f64) -> Result<f64, DomainError> {
    let dn1 = within("dn1", dn1, -2000.0, 1000.0)?;
    let roughness = within("terrain_roughness_m", terrain_roughness_m, 0.0, 1e4)?;
    Ok(libm::pow(10.0, -4.4 - 0.0027 * dn1) * libm::pow(10.0 + roughness, -0.46))
}

/// A path for multipath prediction.
///
/// P.530 stands by the method for paths of 7 to 95 km at 2 to 37 GHz, expects it to hold from
/// `15 / d` GHz to 45 GHz, and takes fading as absent below 5 km.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MultipathPath {
    /// Path length d, km, 0.001 to 1000.
    pub distance_km: f64,
    /// Frequency f, GHz, 0.1 to 100.
    pub frequency_ghz: f64,
    /// Altitude of one antenna, m, -500 to 10 000.
    pub tx_msl_m: f64,
    /// Altitude of the other antenna, m, -500 to 10 000.
    pub rx_msl_m: f64,
    /// K, from [`geoclimatic_factor`] or measured, 0 to 1.
    pub geoclimatic_factor: f64,
}

impl MultipathPath {
    fn checked(&self) -> Result<&Self, DomainError> {
        within("distance_km", self.distance_km, 1e-3, 1e3)?;
        within("frequency_ghz", self.frequency_ghz, 0.1, 100.0)?;
        within("tx_msl_m", self.tx_msl_m, -500.0, 1e4)?;
        within("rx_msl_m", self.rx_msl_m, -500.0, 1e4)?;
        within("geoclimatic_factor", self.geoclimatic_factor, 1e-30, 1.0)?;
        Ok(self)
    }

    /// Magnitude of the path inclination, mrad (eq. 5).
    #[must_use]
    pub fn inclination_mrad(&self) -> f64 {
        (self.rx_msl_m - self.tx_msl_m).abs() / self.distance_km
    }

    /// Multipath occurrence factor p0, % (eqs. 10 and 11): the asymptote of deep fading carried
    /// back to 0 dB. A factor, not a probability: it can exceed 100.
    ///
    /// # Errors
    /// [`DomainError`] for a member outside its range.
    pub fn occurrence_percent(&self) -> Result<f64, DomainError> {
        self.checked()?;
        let lower_m = self.tx_msl_m.min(self.rx_msl_m);
        Ok(self.geoclimatic_factor
            * libm::pow(self.distance_km, 3.4)
            * libm::pow(1.0 + self.inclination_mrad(), -1.03)
            * libm::pow(self.frequency_ghz, 0.8)
            * libm::pow(10.0, -0.000_76 * lower_m))
    }

    /// Percentage of the average worst month for which the fade exceeds `fade_db`, at deep fades
    /// only (§2.3.1, eq. 7): `p0 10^(-A/10)`. Good at small percentages; at shallow fades it can
    /// exceed 100.
    ///
    /// # Errors
    /// [`DomainError`] for a member outside its range, or a fade outside 0 to 1000 dB.
    pub fn deep_fade_percent(&self, fade_db: f64) -> Result<f64, DomainError> {
        let fade = within("fade_db", fade_db, 0.0, 1e3)?;
        Ok(self.occurrence_percent()? * libm::pow(10.0, -fade / 10.0))
    }

    /// Percentage of the average worst month for which the fade exceeds `margin_db`, at all
    /// depths (§2.3.2, eqs. 10 to 18): the deep-fade law above the transition depth `A_t`, an
    /// interpolation below.
    ///
    /// 0 for paths under 5 km; 63.2 at a margin of 0 dB, where the interpolation ends, and 100
    /// for a negative one.
    ///
    /// # Errors
    /// [`DomainError`] for a member outside its range, or a margin outside -1000 to 1000 dB.
    pub fn outage_percent(&self, margin_db: f64) -> Result<f64, DomainError> {
        let occurrence = self.occurrence_percent()?;
        let margin = within("margin_db", margin_db, -1e3, 1e3)?;
        if margin < 0.0 {
            return Ok(100.0);
        }
        if self.distance_km < SHORTEST_KM {
            return Ok(0.0);
        }
        Ok(fade_percent(occurrence, margin))
    }
}

/// P.530-17 §2.3.2 from the occurrence factor `p0`, %, and a fade of `a` dB, at least 0.
pub(super) fn fade_percent(p0: f64, a: f64) -> f64 {
    // Eq. 12. No transition lies below 1 dB; only occurrence factors under 1e-20 % ask for one.
    let transition = (25.0 + 1.2 * libm::log10(p0)).max(1.0);
    if a >= transition {
        return (p0 * libm::pow(10.0, -a / 10.0)).min(100.0);
    }
    // Eqs. 14 to 16. The cap only matters beyond p0 = 2e5 %, where nothing gets through anyway.
    let p_t = (p0 * libm::pow(10.0, -transition / 10.0)).min(99.9);
    let q_t_prime = -20.0 * libm::log10(-libm::log1p(-p_t / 100.0)) / transition;
    let q_t = (q_t_prime - 2.0) / shape(transition) - bend(transition);
    // Eqs. 17 and 18.
    let q_a = 2.0 + shape(a) * (q_t + bend(a));
    -100.0 * libm::expm1(-libm::pow(10.0, -q_a * a / 20.0))
}

/// `(1 + 0.3 10^(-A/20)) 10^(-0.016 A)` of eqs. 16 and 17.
fn shape(a: f64) -> f64 {
    (1.0 + 0.3 * libm::pow(10.0, -a / 20.0)) * libm::pow(10.0, -0.016 * a)
}

/// `4.3 (10^(-A/20) + A/800)` of eqs. 16 and 17.
fn bend(a: f64) -> f64 {
    4.3 * (libm::pow(10.0, -a / 20.0) + a / 800.0)
}

/// Logarithmic geoclimatic conversion factor ΔG, dB, at most 10.8 (§2.3.4): how much rarer a deep
/// fade is in the average year than in the average worst month.
///
/// - `distance_km`: 0.001 to 1000 km
/// - `inclination_mrad`: path inclination, 0 or more, mrad
/// - `latitude_deg`: -90 to 90 degrees
///
/// # Errors
/// [`DomainError`] outside those ranges.
pub fn geoclimatic_conversion_db(
    distance_km: f64,
    inclination_mrad: f64,
    latitude_deg: f64,
) -> Result<f64, DomainError> {
    let d = within("distance_km", distance_km, 1e-3, 1e3)?;
    let inclination = within("inclination_mrad", inclination_mrad, 0.0, 1e7)?;
    let latitude = within("latitude_deg", latitude_deg, -90.0, 90.0)?.abs();
    let sign = if latitude <= 45.0 { 1.0 } else { -1.0 };
    let season = sign * libm::pow(libm::cos(2.0 * latitude.to_radians()).abs(), 0.7);
    let conversion = 10.5 - 5.6 * libm::log10(1.1 + season) - 2.7 * libm::log10(d)
        + 1.7 * libm::log10(1.0 + inclination);
    Ok(conversion.min(10.8))
}

/// Percentage of the average year from one of the average worst month, for deep fades
/// (§2.3.4): `10^(-ΔG/10) p_w`.
#[must_use]
pub fn average_year_percent(worst_month_percent: f64, conversion_db: f64) -> f64 {
    worst_month_percent * libm::pow(10.0, -conversion_db / 10.0)
}
