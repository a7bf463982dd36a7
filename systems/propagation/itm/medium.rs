//! The ground, the air and the wave: what a whole study area has in common.

use serde::{Deserialize, Serialize};

use super::invalid::within;
use super::{Climate, Invalid, Mdvar, Warnings};
use crate::numeric::exp;
use crate::polarization::Polarization;

/// Ground, atmosphere and wave.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Medium {
    /// Minimum monthly mean surface refractivity reduced to sea level, N-units, 250 to 400
    /// (301 is usual in temperate climates).
    pub n_0: f64,
    /// Relative permittivity of the ground, 1 to 1e6 (15 for average ground, 81 for water).
    pub epsilon: f64,
    /// Conductivity of the ground, S/m, above 0 to 1e8 (0.005 for average ground, 5 for sea).
    pub sigma_s_m: f64,
    /// Radio climate.
    pub climate: Climate,
    /// Frequency, MHz, 20 to 20000.
    pub frequency_mhz: f64,
    /// Polarization.
    pub polarization: Polarization,
    /// Mode of variability.
    pub mdvar: Mdvar,
}

/// Earth's actual curvature, about 1 / 6370 km, 1/m.
const GAMMA_A: f64 = 157e-9;

impl Medium {
    /// Checks the medium and the two antenna heights, in NTIA's order.
    pub(super) fn check(&self, antenna_agl_m: [f64; 2]) -> Result<Warnings, Invalid> {
        let [tx, rx] = antenna_agl_m;
        within(tx, 0.5, 3000.0, Invalid::TxHeight)?;
        within(rx, 0.5, 3000.0, Invalid::RxHeight)?;
        within(self.n_0, 250.0, 400.0, Invalid::Refractivity)?;
        within(self.frequency_mhz, 20.0, 20e3, Invalid::Frequency)?;
        within(self.epsilon, 1.0, 1e6, Invalid::Epsilon)?;
        within(self.sigma_s_m, f64::MIN_POSITIVE, 1e8, Invalid::Sigma)?;

        let unusual = |value: f64, low: f64, high: f64| value < low || value > high;
        let mut warnings = Warnings::NONE;
        warnings.note(unusual(tx, 1.0, 1e3), Warnings::TX_TERMINAL_HEIGHT);
        warnings.note(unusual(rx, 1.0, 1e3), Warnings::RX_TERMINAL_HEIGHT);
        warnings.note(unusual(self.frequency_mhz, 40.0, 10e3), Warnings::FREQUENCY);
        Ok(warnings)
    }

    /// Surface transfer impedance of the ground (Algorithm eqs 1.4 and 1.5).
    pub(super) fn ground_impedance(&self) -> Complex {
        let permittivity =
            Complex { re: self.epsilon, im: 18_000.0 * self.sigma_s_m / self.frequency_mhz };
        let impedance = Complex { re: permittivity.re - 1.0, im: permittivity.im }.sqrt();
        match self.polarization {
            Polarization::Horizontal => impedance,
            Polarization::Vertical => impedance / permittivity,
        }
    }
}

/// Surface refractivity, N-units, at `system_msl_m` above mean sea level, being `n_0` at that
/// level (TN101 eq. 4.3).
#[inline(always)]
pub(crate) fn surface_refractivity(n_0: f64, system_msl_m: f64) -> f64 {
    n_0 * exp(-system_msl_m / 9460.0)
}

/// Curvature of the effective earth, 1/m, under surface refractivity `n_s` in N-units (TN101
/// eq. 4.4, rearranged).
#[inline(always)]
pub(crate) fn effective_curvature(n_s: f64) -> f64 {
    GAMMA_A * (1.0 - 0.046_65 * exp(n_s / 179.3))
}

/// As much of complex arithmetic as an impedance needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub fn norm(self) -> f64 {
        libm::hypot(self.re, self.im)
    }

    #[inline(always)]
    pub fn norm_squared(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    #[inline(always)]
    pub fn scaled(self, factor: f64) -> Self {
        Self { re: self.re * factor, im: self.im * factor }
    }

    /// Principal square root, for `re >= 0`.
    fn sqrt(self) -> Self {
        if self.re == 0.0 {
            let part = (0.5 * self.im).sqrt();
            return Self { re: part, im: part };
        }
        let re = (0.5 * (self.norm() + self.re)).sqrt();
        Self { re, im: 0.5 * self.im / re }
    }
}

impl std::ops::Div for Complex {
    type Output = Self;

    #[inline(always)]
    fn div(self, by: Self) -> Self {
        let scale = by.norm_squared().recip();
        Self {
            re: (self.re * by.re + self.im * by.im) * scale,
            im: (self.im * by.re - self.re * by.im) * scale,
        }
    }
}
