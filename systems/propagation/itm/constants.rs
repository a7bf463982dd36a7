//! Quantities fixed by medium and antennas, independent of the path: computed once for a coverage.

use super::climate::Constants as ClimateConstants;
use super::invalid::within;
use super::medium::Complex;
use super::{Invalid, Mdvar, Medium};
use crate::numeric::{cbrt, ln, log10};

/// Constants of the formulas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Constants {
    pub frequency_mhz: f64,
    /// f^(1/3), MHz^(1/3).
    pub frequency_root: f64,
    /// ln f, f in MHz.
    pub frequency_ln: f64,
    /// 20 log f, f in MHz, and the constant of free-space loss, dB.
    pub free_space_db: f64,
    /// 1/m.
    pub wavenumber: f64,
    /// Surface transfer impedance of the ground.
    pub impedance: Complex,
    /// K / C_0 of every radius (Vogler 1964 eqs 6a and 7a).
    pub k_per_c: f64,
    /// (575.7e12 / k)^(1/3), m (Algorithm eq. 5.3).
    pub variability_m: f64,
    /// Factors of the deviations in time, minus and plus (Algorithm eq. 5.8).
    pub time_gain: [f64; 2],
    pub climate: &'static ClimateConstants,
    pub mdvar: Mdvar,
}

impl Constants {
    pub fn new(medium: &Medium) -> Self {
        let frequency_mhz = medium.frequency_mhz;
        let frequency_root = cbrt(frequency_mhz);
        let wavenumber = wavenumber(frequency_mhz);
        let impedance = medium.ground_impedance();
        let climate = medium.climate.constants();
        let q = ln(0.133 * wavenumber);
        Self {
            frequency_mhz,
            frequency_root,
            frequency_ln: ln(frequency_mhz),
            // The rounded constant the model was fitted with.
            free_space_db: 32.45 + 20.0 * log10(frequency_mhz),
            wavenumber,
            impedance,
            k_per_c: 0.017_778 / (frequency_root * impedance.norm()),
            variability_m: cbrt(575.7e12 / wavenumber),
            time_gain: [climate.gain_minus.at(q), climate.gain_plus.at(q)],
            climate,
            mdvar: medium.mdvar,
        }
    }

    /// True if the ground constants are within the model's range.
    pub fn check(&self) -> Result<(), Invalid> {
        let Complex { re, im } = self.impedance;
        if re <= im.abs() {
            return Err(Invalid::GroundImpedance { re, im });
        }
        Ok(())
    }
}

/// True if the refractivity over a path is within the model's range.
pub(super) fn check_air(n_s: f64, earth_radius_m: f64) -> Result<(), Invalid> {
    within(n_s, 150.0, f64::INFINITY, Invalid::SurfaceRefractivitySmall)?;
    within(n_s, 150.0, 400.0, Invalid::SurfaceRefractivityLarge)?;
    within(earth_radius_m, 4e6, 13_333_333.0, Invalid::EffectiveEarth)
}

/// Wavenumber, 1/m, as the model reckons it.
fn wavenumber(frequency_mhz: f64) -> f64 {
    frequency_mhz / 47.7
}
