//! The terrain irregularity parameter Δh (Algorithm function `dlthx`; TR 82-100 section 3.1).

use super::PathProfile;
use super::fit::line_ends;
use crate::numeric::{ROUNDER, exp, greater, interpolate_evenly, lesser};

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
        let mut room = [0.0; N];
        let samples = &mut room[..self.count];
        interpolate_evenly(self.elevation_msl_m, self.start, self.spacing, samples);
        detrend(samples);
        range_of_deciles(&room, self.count, self.decile)
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

/// Subtracts the straight line that fits best.
#[inline(always)]
fn detrend(samples: &mut [f64]) {
    let last = (samples.len() - 1) as f64;
    let [first_m, last_m] = line_ends(samples, 0.0, last);
    let slope = (last_m - first_m) / last;
    for index in 0..samples.len() {
        samples[index] -= first_m + f64::from(index as i32) * slope;
    }
}

/// Levels between the least and the greatest sample that a key tells apart.
const LEVELS: u8 = 254;

/// Difference between the value that `decile - 1` samples exceed and the one that all but
/// `decile - 1` do, of the first `count` samples in `room`.
///
/// Each sample gets a whole number that never falls where the samples rise. Counting how many
/// numbers reach a threshold finds the one of the sample sought bit by bit, in vectors and
/// without a branch; the few samples that share it are then put in order.
#[inline(always)]
fn range_of_deciles<const N: usize>(room: &[f64; N], count: usize, decile: usize) -> f64 {
    // Halves are folded onto each other: unlike a running minimum, that is vector code.
    let (mut least, mut most) = (*room, *room);
    for index in count..N {
        least[index] = room[0];
        most[index] = room[0];
    }
    let mut half = N / 2;
    while half > 0 {
        for index in 0..half {
            least[index] = lesser(least[index], least[index + half]);
            most[index] = greater(most[index], most[index + half]);
        }
        half /= 2;
    }
    let (least, most) = (least[0], most[0]);
    let scale = f64::from(LEVELS) / (most - least);
    if !scale.is_finite() {
        // All alike, or so nearly that their differences are no numbers.
        return most - least;
    }
    // Keys from 1 on, so that none of the unused places reaches any threshold.
    let mut keys = [0_u8; N];
    for index in 0..N {
        let used = index < count;
        let key = ((room[index] - least) * scale + ROUNDER).to_bits() as u8;
        keys[index] = if used { key.wrapping_add(1) } else { 0 };
    }
    let ranks = [decile, count + 1 - decile];
    let mut found = [0_u8; 2];
    let mut bit = 128;
    while bit > 0 {
        for end in 0..2 {
            let threshold = found[end] | bit;
            if usize::from(reaching(&keys, threshold)) >= ranks[end] {
                found[end] = threshold;
            }
        }
        bit >>= 1;
    }
    // A closure would not be compiled for the processor's vectors.
    let mut sought = [0.0; 2];
    for end in 0..2 {
        let above = if found[end] == u8::MAX {
            0
        } else {
            usize::from(reaching(&keys, found[end] + 1))
        };
        sought[end] = nth_greatest_with(&keys, room, found[end], ranks[end] - above);
    }
    sought[0] - sought[1]
}

/// How many of `keys` are `threshold` or more.
#[inline(always)]
fn reaching<const N: usize>(keys: &[u8; N], threshold: u8) -> u8 {
    // At most 245 do.
    let mut count = 0_u8;
    for index in 0..N {
        count += u8::from(keys[index] >= threshold);
    }
    count
}

/// The `rank`-th greatest, counted from 1, of the samples that have `key`.
#[inline(always)]
fn nth_greatest_with<const N: usize>(keys: &[u8; N], room: &[f64; N], key: u8, rank: usize) -> f64 {
    let mut sharing = [0.0; N];
    let mut count = 0;
    for (block, samples) in keys
        .as_chunks::<32>()
        .0
        .iter()
        .zip(room.as_chunks::<32>().0)
    {
        let mut any = 0_u8;
        for lane in 0..32 {
            any |= u8::from(block[lane] == key);
        }
        if any == 0 {
            continue;
        }
        for lane in 0..32 {
            if block[lane] == key {
                sharing[count] = samples[lane];
                count += 1;
            }
        }
    }
    let sharing = &mut sharing[..count];
    if let [only] = sharing {
        return *only;
    }
    *sharing
        .select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a))
        .1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deciles_are_those_of_sorted_samples() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for round in 0..4_000 {
            let decile = 4 + round % 22;
            let count = 10 * decile - 5;
            let mut room = [0.0; ROOM];
            for sample in &mut room[..count] {
                *sample = match round % 5 {
                    0 => draw(),
                    1 => (draw() * 7.0).floor() - 3.0,
                    2 => (draw() * 40.0 - 20.0).exp(),
                    3 => 1.0 + f64::EPSILON * (draw() * 9.0).floor(),
                    _ => -0.0,
                };
            }
            // A far outlier squeezes all others into one key.
            if round % 7 == 0 {
                room[count / 2] = 1e9;
            }
            let mut sorted = room[..count].to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let want = sorted[decile - 1] - sorted[count - decile];
            assert_eq!(
                range_of_deciles(&room, count, decile),
                want,
                "round {round}"
            );
        }
    }
}
