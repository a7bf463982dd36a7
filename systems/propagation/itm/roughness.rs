//! The terrain irregularity parameter Δh (Algorithm function `dlthx`; TR 82-100 section 3.1).

use super::PathProfile;
use super::fit::fit;
use crate::numeric::{exp, interpolate_evenly, level, nth_from_both_ends};

/// Most samples taken of a path, 245, in whole vectors.
const ROOM: usize = 256;

/// Interdecile range, m, of the terrain about a fitted line between `start_m` and `end_m` from the
/// transmitter. Zero where fewer than two steps lie between.
#[inline(always)]
pub(super) fn interdecile_range_m(profile: &PathProfile, start_m: f64, end_m: f64) -> f64 {
    let start = start_m / profile.step_m;
    let span = end_m / profile.step_m - start;
    if span < 2.0 {
        return 0.0;
    }
    let decile = ((0.1 * (span + 8.0)) as usize).clamp(4, 25);
    let count = 10 * decile - 5;
    let spacing = span / (count - 1) as f64;
    let sampled = Sampled {
        elevation_msl_m: profile.elevation_msl_m,
        start,
        spacing,
        count,
        decile,
    };
    // Short paths have few samples: the work on them is cut to size.
    match count {
        0..=64 => sampled.range_m::<64>(),
        65..=128 => sampled.range_m::<128>(),
        _ => sampled.range_m::<ROOM>(),
    }
}

/// Samples to be taken of a path, evenly from `start` on.
struct Sampled<'a> {
    elevation_msl_m: &'a [f64],
    start: f64,
    spacing: f64,
    count: usize,
    decile: usize,
}

impl Sampled<'_> {
    /// The range of the samples' deciles about the line that fits them, m.
    #[inline(always)]
    fn range_m<const N: usize>(&self) -> f64 {
        let (mut room, count) = ([0.0; N], self.count);
        let elevation = self.elevation_msl_m;
        interpolate_evenly(elevation, self.start, self.spacing, count, &mut room);
        let [least, most] = detrend(&mut room, count);
        // Where all are alike, or nearly, there is nothing between.
        nth_from_both_ends(&room, count, self.decile, [least, most])
            .map_or(most - least, |[high, low]| high - low)
    }
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

/// Subtracts from the first `count` samples the straight line that fits them best, the ends weighing
/// half, and from the others, which repeat the last, the same as from that. Least and greatest of
/// what remains.
#[inline(always)]
fn detrend<const N: usize>(room: &mut [f64; N], count: usize) -> [f64; 2] {
    let (middle_m, slope) = fit(&room[..count]);
    level(room, count, middle_m, slope)
}
