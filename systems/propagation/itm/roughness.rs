//! The terrain irregularity parameter Δh (Algorithm function `dlthx`; TR 82-100 section 3.1).

use super::PathProfile;
use super::fit::middle_and_slope;
use crate::numeric::{exp, level, nth_from_both_ends, sample_evenly};

/// Room for the samples taken of a path, 245 at most, in whole vectors.
pub(super) type Room = [[f64; 8]; 32];

/// Interdecile range, m, of the terrain about a fitted line between `start_m` and `end_m` from the
/// transmitter. Zero where fewer than two steps lie between.
#[inline(always)]
pub(super) fn interdecile_range_m(profile: &PathProfile, start_m: f64, end_m: f64) -> f64 {
    let mut room = [[0.0; 8]; 32];
    let sampled = Sampled::take(profile, start_m, end_m, &mut room);
    sampled.map_or(0.0, |sampled| sampled.range_m(&mut room))
}

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
    /// Takes them into `room`, evenly between `start_m` and `end_m` from the transmitter. `None`
    /// where fewer than two steps lie between.
    #[inline(always)]
    pub fn take(profile: &PathProfile, start_m: f64, end_m: f64, room: &mut Room) -> Option<Self> {
        let start = start_m / profile.step_m;
        let span = end_m / profile.step_m - start;
        if span < 2.0 {
            return None;
        }
        let decile = ((0.1 * (span + 8.0)) as usize).clamp(4, 25);
        let count = 10 * decile - 5;
        let spacing = span / (count - 1) as f64;
        let elevation = profile.elevation_msl_m;
        let sums = sample_evenly(elevation, start, spacing, count, room);
        let samples = room.as_flattened();
        let (middle_m, slope) = middle_and_slope(sums, [samples[0], samples[count - 1]], count);
        Some(Self {
            count,
            decile,
            middle_m,
            slope,
        })
    }

    /// The range of their deciles about the line, m; afterwards they mean nothing.
    #[inline(always)]
    pub fn range_m(&self, room: &mut Room) -> f64 {
        let [least, most] = level(room, self.count, self.middle_m, self.slope);
        // Where all are alike, or nearly, there is nothing between.
        nth_from_both_ends(room, self.count, self.decile, [least, most])
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
