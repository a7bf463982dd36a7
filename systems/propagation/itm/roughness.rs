//! The terrain irregularity parameter Δh (Algorithm function `dlthx`; TR 82-100 section 3.1).

use super::fit::middle_and_slope;
use crate::numeric::{Ranked, exp, level, nth_from_both_ends, sample_evenly};
use crate::profile::PathProfile;

/// Buffer for the samples taken of a path, 245 at most, in whole vectors.
pub(super) type SampleBuffer = [[f64; 8]; 32];

/// Empty buffer.
pub(super) const NO_SAMPLES: SampleBuffer = [[0.0; 8]; 32];

/// Samples taken of a path.
#[derive(Clone, Copy)]
pub(super) struct Sampled {
    count: usize,
    decile: usize,
    /// Of the line that fits them best.
    middle_m: f64,
    slope: f64,
}

impl Sampled {
    /// Fills the buffer with samples, evenly between `start_m` and `end_m` from the transmitter.
    /// `None` where fewer than two steps lie between.
    #[inline(always)]
    pub fn take(
        profile: &PathProfile,
        start_m: f64,
        end_m: f64,
        buffer: &mut SampleBuffer,
    ) -> Option<Self> {
        let start = start_m / profile.step_m;
        let span = end_m / profile.step_m - start;
        if span < 2.0 {
            return None;
        }
        let decile = ((0.1 * (span + 8.0)) as usize).clamp(4, 25);
        let count = 10 * decile - 5;
        let spacing = span / (count - 1) as f64;
        let elevation = profile.elevation_msl_m;
        let sums = sample_evenly(elevation, start, spacing, count, buffer);
        let samples = buffer.as_flattened();
        let (middle_m, slope) = middle_and_slope(sums, [samples[0], samples[count - 1]], count);
        Some(Self { count, decile, middle_m, slope })
    }

    /// Subtracts the line from them; returns the least and the greatest of what is left.
    #[inline(always)]
    fn level(&self, buffer: &mut SampleBuffer) -> [f64; 2] {
        level(buffer, self.count, self.middle_m, self.slope)
    }

    /// Residuals of the samples, to be ranked.
    #[inline(always)]
    fn ranked<'a>(&self, buffer: &'a SampleBuffer, extremes: [f64; 2]) -> Ranked<'a> {
        Ranked { extremes, room: buffer, count: self.count, rank: self.decile }
    }
}

/// The ranges of the deciles of samples about their lines, m, 0 where there are none; afterwards
/// they mean nothing.
#[inline(always)]
pub(super) fn ranges_m<const N: usize>(
    sampled: [Option<Sampled>; N],
    buffers: &mut [SampleBuffer; N],
) -> [f64; N] {
    let mut extremes = [[0.0; 2]; N];
    for path in 0..N {
        if let Some(sampled) = &sampled[path] {
            extremes[path] = sampled.level(&mut buffers[path]);
        }
    }
    let mut ranges_m = [0.0; N];
    if sampled.iter().any(Option::is_none) {
        for path in 0..N {
            if let Some(sampled) = &sampled[path] {
                let row = sampled.ranked(&buffers[path], extremes[path]);
                ranges_m[path] = range_m(&row, nth_from_both_ends([row])[0]);
            }
        }
        return ranges_m;
    }
    // Not by `map`, whose closures might be left out of line.
    let mut rows = [Ranked { extremes: [0.0; 2], room: &buffers[0], count: 0, rank: 0 }; N];
    for path in 0..N {
        if let Some(sampled) = &sampled[path] {
            rows[path] = sampled.ranked(&buffers[path], extremes[path]);
        }
    }
    let deciles_m = nth_from_both_ends(rows);
    for path in 0..N {
        ranges_m[path] = range_m(&rows[path], deciles_m[path]);
    }
    ranges_m
}

/// The range between two deciles, m. Where all are alike, or nearly, there is nothing between.
#[inline(always)]
fn range_m(row: &Ranked<'_>, deciles_m: Option<[f64; 2]>) -> f64 {
    let [least, most] = row.extremes;
    deciles_m.map_or(most - least, |[high, low]| high - low)
}

/// Δh, m: that range, `extent_m` being the length it was found over, scaled to what it would be on
/// a very long path (ERL 79-ITS 67 eq. 3, inverted).
#[inline(always)]
pub(super) fn delta_h_m(range_m: f64, extent_m: f64) -> f64 {
    range_m / (1.0 - 0.8 * exp(-extent_m / 50e3))
}

/// Δh(d), m: what remains of `delta_h_m` over `distance_m` (ERL 79-ITS 67 eq. 3).
#[inline(always)]
pub(super) fn at_distance_m(delta_h_m: f64, distance_m: f64) -> f64 {
    delta_h_m * (1.0 - 0.8 * exp(-distance_m / 50e3))
}

/// σ_h, m: deviation of terrain and clutter within the first Fresnel zone of the reflecting
/// plane, from Δh(d) (ERL 79-ITS 67 eq. 3.6a).
#[inline(always)]
pub(super) fn sigma_h_m(delta_h_m: f64) -> f64 {
    0.78 * delta_h_m * exp(-0.5 * delta_h_m.sqrt().sqrt())
}
