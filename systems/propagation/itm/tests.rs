//! The model against published and computed results, and its general behaviour.

mod batch;
mod properties;
mod vectors;

use std::f64::consts::TAU;

use super::*;
use crate::polarization::Polarization;

/// Average ground in a temperate climate at `frequency_mhz`, mobile mode without location
/// variability.
fn medium(frequency_mhz: f64) -> Medium {
    Medium {
        n_0: 301.0,
        epsilon: 15.0,
        sigma_s_m: 0.005,
        climate: Climate::ContinentalTemperate,
        frequency_mhz,
        polarization: Polarization::Vertical,
        mdvar: Mdvar::from_code(12).unwrap(),
    }
}

fn quantile(time: f64, location: f64, situation: f64) -> Quantile {
    Quantile::new(time, location, situation).unwrap()
}

/// A small generator of numbers that look random (SplitMix64, Steele et al. 2014).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Between `low` and `high`, evenly.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between `low` and `high`, evenly by order of magnitude, the ends themselves now and then.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        match self.next() % 20 {
            0 => low,
            1 => high,
            _ => self.within(low.ln(), high.ln()).exp().clamp(low, high),
        }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[(self.next() % from.len() as u64) as usize]
    }

    /// Any ground, air and wave that the model admits.
    fn medium(&mut self) -> Medium {
        let tens = self.pick(&[0, 10, 20, 30]);
        Medium {
            n_0: self.within(250.0, 400.0),
            epsilon: self.scaled(1.0, 1e6),
            sigma_s_m: self.scaled(1e-12, 1e8),
            climate: self.pick(&Climate::ALL),
            frequency_mhz: self.scaled(20.0, 20e3),
            polarization: self.pick(&[Polarization::Horizontal, Polarization::Vertical]),
            mdvar: Mdvar::from_code(tens + self.pick(&[0, 1, 2, 3])).unwrap(),
        }
    }

    /// `points` elevations about `base_m`, some hills with smaller ones upon them.
    fn terrain(&mut self, points: usize, base_m: f64, relief_m: f64) -> Vec<f64> {
        let mut elevation = vec![base_m; points];
        let (mut height_m, mut period) = (relief_m, points as f64);
        while period > 2.0 {
            let phase = self.within(0.0, TAU);
            for (index, value) in elevation.iter_mut().enumerate() {
                *value += height_m * (index as f64 / period * TAU + phase).sin();
            }
            height_m *= 0.55;
            period *= 0.5;
        }
        elevation
    }

    fn quantile(&mut self) -> Quantile {
        let [time, location, situation] = [0; 3].map(|_| self.within(0.001, 99.999));
        quantile(time, location, situation)
    }
}
