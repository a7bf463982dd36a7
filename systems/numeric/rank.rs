//! The numbers of given ranks in an unordered row.

use super::{ROUNDER, greater, lesser};

/// Levels between the least and the greatest number that a key tells apart.
const LEVELS: u8 = 254;

/// The values that `rank - 1` of the first `count` numbers of `room` exceed, and that all but
/// `rank - 1` of them do, for ranks from 1 and up to 250 numbers; `least` and `most` are the
/// extremes. `None` where these are so near that their differences are no numbers.
///
/// Each number gets a key, a whole number that never falls where the numbers rise. Counting how
/// many keys reach a threshold finds the one sought bit by bit, in vectors and without a branch;
/// the few numbers that share it are then put in order.
#[inline(always)]
pub(crate) fn nth_from_both_ends<const N: usize>(
    room: &[f64; N],
    count: usize,
    rank: usize,
    [least, most]: [f64; 2],
) -> Option<[f64; 2]> {
    const { assert!(N <= ROOM && N.is_multiple_of(64)) };
    let scale = f64::from(LEVELS) / (most - least);
    if !scale.is_finite() {
        return None;
    }
    let ranks = [rank, count + 1 - rank];
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return Some(unsafe { x86::nth(room.as_chunks().0, count, ranks, least, scale) });
    }
    Some(nth(&keys(room, count, least, scale), room, ranks))
}

/// Keys from 1 on, so that none of the unused places reaches any threshold.
#[inline(always)]
fn keys<const N: usize>(room: &[f64; N], count: usize, least: f64, scale: f64) -> [u8; N] {
    let mut keys = [0_u8; N];
    for index in 0..N {
        let used = index < count;
        let key = ((room[index] - least) * scale + ROUNDER).to_bits() as u8;
        keys[index] = if used { key.wrapping_add(1) } else { 0 };
    }
    keys
}

/// Most numbers, in whole vectors.
const ROOM: usize = 256;

/// The numbers that have these ranks, counted from 1 at the greatest.
#[inline(always)]
fn nth<const N: usize>(keys: &[u8; N], room: &[f64; N], ranks: [usize; 2]) -> [f64; 2] {
    let mut found = [0_u8; 2];
    let mut bit = 128;
    while bit > 0 {
        for end in 0..2 {
            let threshold = found[end] | bit;
            if usize::from(reaching(keys, threshold)) >= ranks[end] {
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
            usize::from(reaching(keys, found[end] + 1))
        };
        let mut sharing = [0.0; N];
        let mut count = 0;
        for index in 0..N {
            if keys[index] == found[end] {
                sharing[count] = room[index];
                count += 1;
            }
        }
        sought[end] = nth_of_few(&mut sharing[..count], ranks[end] - above);
    }
    sought
}

/// How many of `keys` are `threshold` or more.
#[inline(always)]
fn reaching<const N: usize>(keys: &[u8; N], threshold: u8) -> u8 {
    // At most 250 do.
    let mut count = 0_u8;
    for index in 0..N {
        count += u8::from(keys[index] >= threshold);
    }
    count
}

/// The `rank`-th greatest, counted from 1.
#[inline(always)]
fn nth_of_few(numbers: &mut [f64], rank: usize) -> f64 {
    match *numbers {
        [only] => only,
        [a, b] if rank == 1 => greater(a, b),
        [a, b] => lesser(a, b),
        _ => nth_of_many(numbers, rank),
    }
}

fn nth_of_many(numbers: &mut [f64], rank: usize) -> f64 {
    *numbers
        .select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a))
        .1
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{ROOM, ROUNDER, nth_of_few};

    /// Keys in a vector.
    const LANES: usize = 64;

    /// Most numbers that commonly share a key.
    const FEW: usize = 8;

    /// As [`super::nth`] by [`super::keys`].
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn nth(
        room: &[[f64; LANES]],
        count: usize,
        ranks: [usize; 2],
        least: f64,
        scale: f64,
    ) -> [f64; 2] {
        let mut vectors = [_mm512_setzero_si512(); ROOM / LANES];
        for (block, (vector, room)) in vectors.iter_mut().zip(room).enumerate() {
            let used = count.saturating_sub(block * LANES).min(LANES) as u32;
            let used = u64::MAX.checked_shr(64 - used).unwrap_or(0);
            *vector = keys(room, used, least, scale);
        }
        let vectors = &vectors[..room.len().min(ROOM / LANES)];
        let mut found = [0_u8; 2];
        // How many reach beyond what was found.
        let mut above = [0; 2];
        let mut bit = 128;
        while bit > 0 {
            for end in 0..2 {
                let threshold = found[end] | bit;
                let least = _mm512_set1_epi8(threshold as i8);
                let mut reaching = 0;
                for vector in vectors {
                    reaching += _mm512_cmpge_epu8_mask(*vector, least).count_ones() as usize;
                }
                let there = reaching >= ranks[end];
                found[end] = if there { threshold } else { found[end] };
                above[end] = if there { above[end] } else { reaching };
            }
            bit >>= 1;
        }
        let mut sought = [0.0; 2];
        for end in 0..2 {
            let key = _mm512_set1_epi8(found[end] as i8);
            let mut equal = [0; ROOM / LANES];
            for (equal, vector) in equal.iter_mut().zip(vectors) {
                *equal = _mm512_cmpeq_epu8_mask(*vector, key);
            }
            let rank = ranks[end] - above[end];
            let all: u32 = equal.iter().map(|mask| mask.count_ones()).sum();
            sought[end] = if all <= FEW as u32 {
                nth_sharing::<FEW>(room, &equal, rank)
            } else {
                nth_sharing::<ROOM>(room, &equal, rank)
            };
        }
        sought
    }

    /// The number of a rank among those that `equal` names, `N` at most.
    #[inline]
    fn nth_sharing<const N: usize>(room: &[[f64; LANES]], equal: &[u64], rank: usize) -> f64 {
        let mut sharing = [0.0; N];
        let mut count = 0;
        for (mut equal, room) in equal.iter().copied().zip(room) {
            while equal != 0 {
                sharing[count] = room[equal.trailing_zeros() as usize];
                count += 1;
                equal &= equal - 1;
            }
        }
        nth_of_few(&mut sharing[..count], rank)
    }

    /// Keys of 64 numbers, of which those that `used` names are used.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn keys(room: &[f64; LANES], used: u64, least: f64, scale: f64) -> __m512i {
        let (least, scale) = (_mm512_set1_pd(least), _mm512_set1_pd(scale));
        let rounder = _mm512_set1_pd(ROUNDER);
        let mut keys = [0_u8; LANES];
        for (keys, numbers) in keys
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .zip(room.as_chunks::<8>().0)
        {
            // SAFETY: arrays of eight numbers and of eight bytes.
            #[expect(unsafe_code, reason = "vector loads and stores by address")]
            unsafe {
                let above = _mm512_sub_pd(_mm512_loadu_pd(numbers.as_ptr()), least);
                let key = _mm512_add_pd(_mm512_mul_pd(above, scale), rounder);
                let key = _mm512_cvtepi64_epi8(_mm512_castpd_si512(key));
                _mm_storel_epi64(keys.as_mut_ptr().cast(), key);
            }
        }
        // SAFETY: an array of 64 bytes.
        #[expect(unsafe_code, reason = "a vector load by address")]
        let keys = unsafe { _mm512_loadu_si512(keys.as_ptr().cast()) };
        _mm512_maskz_add_epi8(used, keys, _mm512_set1_epi8(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_from_both_ends_are_those_of_a_sorted_row() {
        let mut state = 1_u64;
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        for round in 0..4_000 {
            let rank = 4 + round % 22;
            let count = 10 * rank - 5;
            let mut room = [0.0; ROOM];
            for number in &mut room[..count] {
                *number = match round % 5 {
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
            let extremes = [sorted[count - 1], sorted[0]];
            let want = [sorted[rank - 1], sorted[count - rank]];
            let found = nth_from_both_ends(&room, count, rank, extremes);
            let alike = extremes[0] == extremes[1];
            assert_eq!(found, (!alike).then_some(want), "round {round}");
            // The way without wide vectors.
            if !alike {
                let scale = f64::from(LEVELS) / (extremes[1] - extremes[0]);
                let keys = keys(&room, count, extremes[0], scale);
                assert_eq!(nth(&keys, &room, [rank, count + 1 - rank]), want);
            }
        }
    }
}
