//! Inputs of the formulas as plain numbers, for evaluation on other processors.

use super::variability::deviates;
use super::{Prepared, QUANTILES, Quantile, VariabilityMode};

/// Quantities of [`Prepared`] that all paths share, in broadcast mode ([`VariabilityMode::Broadcast`]) with
/// variability of locations and situations. Pairs are transmitter, receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainConstants {
    /// Antenna heights above ground, m.
    pub antenna_agl_m: [f64; 2],
    /// Surface refractivity reduced to sea level, N-units.
    pub n_0: f64,
    /// Frequency, MHz.
    pub frequency_mhz: f64,
    /// Natural logarithm of the frequency in MHz.
    pub frequency_ln: f64,
    /// Cube root of the frequency, MHz^(1/3).
    pub frequency_root: f64,
    /// Wavenumber, 1/m.
    pub wavenumber: f64,
    /// Surface transfer impedance of the ground: real and imaginary part.
    pub impedance: [f64; 2],
    /// K / C_0 of every radius (Vogler 1964 eqs 6a and 7a).
    pub k_per_c: f64,
    /// (575.7e12 / k)^(1/3), m (Algorithm eq. 5.3).
    pub variability_m: f64,
    /// Curves of the climate against effective distance: median, deviation minus and plus. Each has the level
    /// far away and that of the hump, dB, distances of rise, hump and width of the hump, m (Algorithm eqs 5.5
    /// to 5.7); both levels of a deviation contain its factor of frequency.
    pub curves: [[f64; 5]; 3],
    /// Share of the deviation plus beyond `duct_deviate`.
    pub duct_share: f64,
    /// Deviate from which ducting begins.
    pub duct_deviate: f64,
    /// Deviates of time, location and situation at each quantile.
    pub deviates: [[f64; 3]; QUANTILES],
}

impl Prepared {
    /// The constants at two quantiles; `None` in another mode than the broadcast mode with all kinds of
    /// variability, and for ground outside the range of the model.
    #[must_use]
    pub fn plain(&self, quantiles: [Quantile; QUANTILES]) -> Option<PlainConstants> {
        let of = self.constants();
        let mdvar = of.mdvar;
        let is_plain = mdvar.mode == VariabilityMode::Broadcast
            && !mdvar.without_location
            && !mdvar.without_situation;
        if !is_plain || of.check().is_err() {
            return None;
        }
        let [minus, plus] = of.time_gain;
        let climate = of.climate;
        Some(PlainConstants {
            antenna_agl_m: self.antenna_agl_m,
            n_0: self.n_0(),
            frequency_mhz: of.frequency_mhz,
            frequency_ln: of.frequency_ln,
            frequency_root: of.frequency_root,
            wavenumber: of.wavenumber,
            impedance: [of.impedance.re, of.impedance.im],
            k_per_c: of.k_per_c,
            variability_m: of.variability_m,
            curves: [
                climate.median.scaled(1.0),
                climate.minus.scaled(minus),
                climate.plus.scaled(plus),
            ],
            duct_share: climate.duct_share,
            duct_deviate: climate.duct_deviate,
            deviates: quantiles.map(|quantile| deviates(quantile, mdvar.mode)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itm::{Climate, Mdvar, Medium};
    use crate::polarization::Polarization;

    fn medium(code: u8) -> Medium {
        Medium {
            n_0: 301.0,
            epsilon: 15.0,
            sigma_s_m: 0.005,
            climate: Climate::ContinentalTemperate,
            frequency_mhz: 868.0,
            polarization: Polarization::Vertical,
            mdvar: Mdvar::from_code(code).unwrap(),
        }
    }

    #[test]
    fn broadcast_mode_alone_has_plain_constants() {
        let quantiles = [Quantile::MEDIAN; 2];
        for (code, expected) in [(3, true), (0, false), (2, false), (13, false), (23, false)] {
            let prepared = Prepared::new(&medium(code), [15.0, 3.0]).unwrap();
            assert_eq!(prepared.plain(quantiles).is_some(), expected, "{code}");
        }
    }

    #[test]
    fn curves_contain_the_factor_of_frequency() {
        let quantiles = [Quantile::new(90.0, 50.0, 50.0).unwrap(), Quantile::MEDIAN];
        let prepared = Prepared::new(&medium(3), [15.0, 3.0]).unwrap();
        let plain = prepared.plain(quantiles).unwrap();
        let of = prepared.constants();
        for (curve, gain, plain) in [
            (&of.climate.median, 1.0, plain.curves[0]),
            (&of.climate.minus, of.time_gain[0], plain.curves[1]),
            (&of.climate.plus, of.time_gain[1], plain.curves[2]),
        ] {
            let [far_db, hump_db, rise_m, hump_m, width_m] = plain;
            let (rise, offset) = ((60e3 / rise_m) * (60e3 / rise_m), (60e3 - hump_m) / width_m);
            let db = (far_db + hump_db / (1.0 + offset * offset)) * rise / (1.0 + rise);
            assert!((db - curve.at_db(60e3) * gain).abs() < 1e-12);
        }
        assert!(plain.deviates[0][0] < -1.28 && plain.deviates[1] == [plain.deviates[1][0]; 3]);
    }
}
