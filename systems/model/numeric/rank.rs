//! The numbers of given ranks in an unordered row.

use super::LANES;
use super::{ROUNDER, greater, lesser};

/// Levels between the least and the greatest number that a key tells apart.
const LEVELS: u8 = 254;

/// Most numbers.
const MOST: usize = 250;

/// Numbers of which two ranks are sought: the first `count`, 250 at most, of a buffer of whole
/// groups of 64.
#[derive(Clone, Copy)]
pub(crate) struct Ranked<'a> {
    pub room: &'a [[f64; LANES]],
    pub count: usize,
    /// Rank sought from both ends, from 1.
    pub rank: usize,
    /// The least and the greatest of the numbers.
    pub extremes: [f64; 2],
}

/// The values that `rank - 1` of the numbers of a row exceed, and that all but `rank - 1` of them
/// do. `None` where the extremes are so near that their differences are no numbers.
///
/// Each number gets a key, a whole number that never falls where the numbers rise. Counting how
/// many keys reach a threshold finds the one sought bit by bit, in vectors and without a branch;
/// the few numbers that share it are then put in order. While one row waits for its count another
/// goes on.
#[inline(always)]
pub(crate) fn nth_from_both_ends<const ROWS: usize>(
    rows: [Ranked<'_>; ROWS],
) -> [Option<[f64; 2]>; ROWS] {
    assert!(
        rows.iter().all(|row| row.count <= MOST),
        "a key counts to 255"
    );
    // Not by `map`, whose closures might be left out of line.
    let mut scales = [0.0; ROWS];
    for (scale, row) in scales.iter_mut().zip(&rows) {
        *scale = f64::from(LEVELS) / (row.extremes[1] - row.extremes[0]);
    }
    let mut found = [[0.0; 2]; ROWS];
    #[cfg(target_arch = "x86_64")]
    let wide = super::dispatch::has_avx512();
    #[cfg(not(target_arch = "x86_64"))]
    let wide = false;
    if wide {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: the processor has the features.
            #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
            unsafe {
                x86::nth(&rows, &scales, &mut found);
            }
        }
    } else {
        for (row, (scale, found)) in rows.iter().zip(scales.iter().zip(&mut found)) {
            let numbers = &row.room.as_flattened()[..row.count];
            *found = nth(
                &keys(numbers, row.extremes[0], *scale),
                numbers,
                row.ranks(),
            );
        }
    }
    let mut checked = [None; ROWS];
    for row in 0..ROWS {
        checked[row] = scales[row].is_finite().then_some(found[row]);
    }
    checked
}

impl Ranked<'_> {
    /// Both ranks counted from the greatest.
    #[inline(always)]
    fn ranks(&self) -> [usize; 2] {
        [self.rank, self.count + 1 - self.rank]
    }
}

/// Keys from 1 on, so that none of the unused places reaches any threshold.
#[inline(always)]
fn keys(numbers: &[f64], least: f64, scale: f64) -> [u8; ROOM] {
    let mut keys = [0_u8; ROOM];
    for index in 0..numbers.len().min(ROOM) {
        let key = (numbers[index] - least) * scale + (ROUNDER + 1.0);
        keys[index] = key.to_bits() as u8;
    }
    keys
}

/// Numbers whose keys fill a vector.
const GROUP: usize = 64;

/// Most numbers, in whole groups.
const ROOM: usize = 256;

/// The numbers that have these ranks, counted from 1 at the greatest.
#[inline(always)]
fn nth(keys: &[u8; ROOM], numbers: &[f64], ranks: [usize; 2]) -> [f64; 2] {
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
        let mut sharing = [0.0; ROOM];
        let mut count = 0;
        for (key, number) in keys.iter().zip(numbers) {
            if *key == found[end] {
                sharing[count] = *number;
                count += 1;
            }
        }
        sought[end] = nth_of_few(&mut sharing[..count], ranks[end] - above);
    }
    sought
}

/// Number of `keys` that are `threshold` or more.
#[inline(always)]
fn reaching(keys: &[u8; ROOM], threshold: u8) -> u8 {
    let mut count = 0_u8;
    for index in 0..ROOM {
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
        [a, b, c] if rank == 1 => greater(greater(a, b), c),
        [a, b, c] if rank == 3 => lesser(lesser(a, b), c),
        [a, b, c] => greater(lesser(a, b), lesser(greater(a, b), c)),
        _ if numbers.len() <= 8 => {
            // Insertion, the greatest first.
            for end in 1..numbers.len() {
                let mut at = end;
                while at > 0 && numbers[at - 1] < numbers[at] {
                    numbers.swap(at - 1, at);
                    at -= 1;
                }
            }
            numbers[rank - 1]
        }
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

    use super::{GROUP, LANES, ROOM, ROUNDER, Ranked, greater, lesser, nth_of_few};

    /// Most groups.
    const GROUPS: usize = ROOM / GROUP;

    /// Vectors of numbers in a group.
    const VECTORS: usize = GROUP / LANES;

    /// Most numbers that commonly share a key.
    const FEW: usize = 8;

    /// Numbers in vectors, as many as have their keys in one.
    type Numbers = [[f64; LANES]; VECTORS];

    /// As [`super::nth`] by [`super::keys`], for each row.
    #[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,popcnt")]
    pub(super) fn nth<const ROWS: usize>(
        rows: &[Ranked<'_>; ROWS],
        scales: &[f64; ROWS],
        sought: &mut [[f64; 2]; ROWS],
    ) {
        let mut keys_of = [[_mm512_setzero_si512(); GROUPS]; ROWS];
        let mut groups = [[].as_slice(); ROWS];
        for row in 0..ROWS {
            let Ranked { room, count, .. } = rows[row];
            groups[row] = &room.as_chunks().0[..count.div_ceil(GROUP)];
            for (number, group) in groups[row].iter().enumerate().take(GROUPS) {
                let used = (count - number * GROUP).min(GROUP);
                keys_of[row][number] = keys(group, used, rows[row].extremes[0], scales[row]);
            }
        }
        let mut ranks = [[0; 2]; ROWS];
        for (ranks, row) in ranks.iter_mut().zip(rows) {
            *ranks = row.ranks();
        }
        let mut found = [[0_u8; 2]; ROWS];
        // Number of keys above the one found.
        let mut above = [[0; 2]; ROWS];
        let mut bit = 128;
        while bit > 0 {
            for row in 0..ROWS {
                for end in 0..2 {
                    let threshold = found[row][end] | bit;
                    let reaching = reaching(&keys_of[row], threshold);
                    let there = reaching >= ranks[row][end];
                    found[row][end] = if there { threshold } else { found[row][end] };
                    above[row][end] = if there { above[row][end] } else { reaching };
                }
            }
            bit >>= 1;
        }
        for row in 0..ROWS {
            for end in 0..2 {
                let key = _mm512_set1_epi8(found[row][end] as i8);
                let mut equal = [0; GROUPS];
                for (equal, keys) in equal.iter_mut().zip(&keys_of[row]) {
                    *equal = _mm512_cmpeq_epu8_mask(*keys, key);
                }
                let rank = ranks[row][end] - above[row][end];
                let all: u32 = equal.iter().map(|mask| mask.count_ones()).sum();
                // Seldom more; and a loop over as many as there are is foreseen by no processor.
                sought[row][end] = if all <= 4 {
                    nth_of_four(groups[row], equal, rank)
                } else if all <= FEW as u32 {
                    nth_sharing::<FEW>(groups[row], &equal, rank)
                } else {
                    nth_sharing::<ROOM>(groups[row], &equal, rank)
                };
            }
        }
    }

    /// Number of keys that are `threshold` or more.
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    #[inline]
    fn reaching(keys: &[__m512i; GROUPS], threshold: u8) -> usize {
        let least = _mm512_set1_epi8(threshold as i8);
        let count = |keys| _mm512_cmpge_epu8_mask(keys, least).count_ones();
        let [a, b, c, d] = *keys;
        ((count(a) + count(b)) + (count(c) + count(d))) as usize
    }

    /// The number of a rank among those that `equal` names, one to four, without a branch.
    #[inline]
    fn nth_of_four(groups: &[Numbers], equal: [u64; GROUPS], rank: usize) -> f64 {
        let [mut a, mut b, mut c, mut d] = equal;
        let mut sharing = [f64::NEG_INFINITY; 4];
        for number in &mut sharing {
            let (ab, abc) = (a | b, a | b | c);
            let mut at = 3 * GROUP + d.trailing_zeros() as usize;
            at = if c != 0 {
                2 * GROUP + c.trailing_zeros() as usize
            } else {
                at
            };
            at = if b != 0 {
                GROUP + b.trailing_zeros() as usize
            } else {
                at
            };
            at = if a != 0 {
                a.trailing_zeros() as usize
            } else {
                at
            };
            at = if abc | d != 0 { at } else { 0 };
            let place = at % GROUP;
            let here = groups[at / GROUP][VECTORS - 1 - place % VECTORS][place / VECTORS];
            *number = if abc | d != 0 { here } else { *number };
            // Less its lowest bit, where there is none before it.
            d = if abc == 0 { d & d.wrapping_sub(1) } else { d };
            c = if ab == 0 { c & c.wrapping_sub(1) } else { c };
            b = if a == 0 { b & b.wrapping_sub(1) } else { b };
            a &= a.wrapping_sub(1);
        }
        let [a, b, c, d] = sharing;
        let (a, b) = (greater(a, b), lesser(a, b));
        let (c, d) = (greater(c, d), lesser(c, d));
        let (a, c) = (greater(a, c), lesser(a, c));
        let (b, d) = (greater(b, d), lesser(b, d));
        let (b, c) = (greater(b, c), lesser(b, c));
        [a, b, c, d][(rank - 1) % 4]
    }

    /// The number of a rank among those that `equal` names, `N` at most.
    #[inline]
    fn nth_sharing<const N: usize>(groups: &[Numbers], equal: &[u64], rank: usize) -> f64 {
        let mut sharing = [0.0; N];
        let mut count = 0;
        for (mut equal, group) in equal.iter().copied().zip(groups) {
            while equal != 0 {
                let at = equal.trailing_zeros() as usize;
                sharing[count] = group[VECTORS - 1 - at % VECTORS][at / VECTORS];
                count += 1;
                equal &= equal - 1;
            }
        }
        nth_of_few(&mut sharing[..count], rank)
    }

    /// Keys of the first `used` of 64 numbers. Those of the numbers in one place of all vectors
    /// are neighbours, the last vector's first: so they need not be moved between places.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn keys(group: &Numbers, used: usize, least: f64, scale: f64) -> __m512i {
        let (least, scale) = (_mm512_set1_pd(least), _mm512_set1_pd(scale));
        let rounder = _mm512_set1_pd(ROUNDER + 1.0);
        let low = _mm512_set1_epi64(0xFF);
        let mut keys = _mm512_setzero_si512();
        for numbers in group {
            // SAFETY: an array of eight numbers.
            #[expect(unsafe_code, reason = "a vector load by address")]
            let numbers = unsafe { _mm512_loadu_pd(numbers.as_ptr()) };
            let above = _mm512_sub_pd(numbers, least);
            let key = _mm512_add_pd(_mm512_mul_pd(above, scale), rounder);
            let key = _mm512_castpd_si512(key);
            // (keys << 8) | (key & low)
            keys = _mm512_ternarylogic_epi64::<0xF8>(_mm512_slli_epi64::<8>(keys), key, low);
        }
        if used == GROUP {
            return keys;
        }
        let upper = |vectors: usize| match vectors {
            0 => 0,
            _ => -1_i64 << (8 * (VECTORS - vectors)),
        };
        let (whole, rest) = (used / LANES, used % LANES);
        let known = _mm512_mask_blend_epi64(
            ((1_u32 << rest) - 1) as __mmask8,
            _mm512_set1_epi64(upper(whole)),
            _mm512_set1_epi64(upper(whole + 1)),
        );
        _mm512_and_si512(keys, known)
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
            let mut room = [[f64::NAN; LANES]; ROOM / LANES];
            for number in &mut room.as_flattened_mut()[..count] {
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
                room.as_flattened_mut()[count / 2] = 1e9;
            }
            let numbers = &room.as_flattened()[..count];
            let mut sorted = numbers.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let extremes = [sorted[count - 1], sorted[0]];
            let want = [sorted[rank - 1], sorted[count - rank]];
            let row = Ranked {
                room: &room,
                count,
                rank,
                extremes,
            };
            let alike = extremes[0] == extremes[1];
            let want_some = (!alike).then_some(want);
            assert_eq!(nth_from_both_ends([row]), [want_some], "round {round}");
            // Beside a shorter row.
            let short = Ranked {
                count: 35,
                rank: 4,
                extremes: [0.0, 34.0],
                room: &std::array::from_fn::<_, 8, _>(|i| {
                    std::array::from_fn(|k| (8 * i + k) as f64)
                }),
            };
            let both = nth_from_both_ends([row, short]);
            assert_eq!(both, [want_some, Some([31.0, 3.0])]);
            // The way without wide vectors.
            if !alike {
                let scale = f64::from(LEVELS) / (extremes[1] - extremes[0]);
                let keys = keys(numbers, extremes[0], scale);
                assert_eq!(nth(&keys, numbers, [rank, count + 1 - rank]), want);
            }
        }
    }
}
