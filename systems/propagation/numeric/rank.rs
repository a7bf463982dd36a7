//! The numbers of given ranks in an unordered row.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::LANES;
use super::{ROUNDER, greater, lesser};

/// Levels between the least and the greatest number that a key tells apart.
const LEVELS: u8 = 254;

/// Maximum count of numbers.
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
/// do. `None` where the extremes are so near that their differences are not numbers.
///
/// Each number gets a key, a whole number that never falls where the numbers rise. Counting how
/// many keys reach a threshold finds the one sought bit by bit, in vectors and without a branch;
/// the few numbers that share it are then put in order. While one row waits for its count another
/// goes on.
#[inline(always)]
pub(crate) fn nth_from_both_ends<const ROWS: usize>(
    rows: [Ranked<'_>; ROWS],
) -> [Option<[f64; 2]>; ROWS] {
    assert!(rows.iter().all(|row| row.count <= MOST), "a key counts to 255");
    // Not by `map`, whose closures might be left out of line.
    let mut scales = [0.0; ROWS];
    for (scale, row) in scales.iter_mut().zip(&rows) {
        *scale = f64::from(LEVELS) / (row.extremes[1] - row.extremes[0]);
    }
    let mut values = [[0.0; 2]; ROWS];
    find(&rows, &scales, &mut values);
    let mut checked = [None; ROWS];
    for row in 0..ROWS {
        checked[row] = scales[row].is_finite().then_some(values[row]);
    }
    checked
}

/// The numbers of both ranks of each row.
#[inline(always)]
fn find<const ROWS: usize>(
    rows: &[Ranked<'_>; ROWS],
    scales: &[f64; ROWS],
    values: &mut [[f64; 2]; ROWS],
) {
    super::dispatch::widest!(x86::nth(rows, scales, values));
    for (row, (scale, value)) in rows.iter().zip(scales.iter().zip(values)) {
        let numbers = &row.room.as_flattened()[..row.count];
        *value = nth(&keys(numbers, row.extremes[0], *scale), numbers, row.ranks());
    }
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
#[cfg(target_arch = "x86_64")]
const GROUP: usize = 64;

/// Maximum count of numbers, in whole groups.
const ROOM: usize = 256;

/// The numbers that have these ranks, counted from 1 at the greatest.
#[inline(always)]
fn nth(keys: &[u8; ROOM], numbers: &[f64], ranks: [usize; 2]) -> [f64; 2] {
    let mut thresholds = [0_u8; 2];
    let mut bit = 128;
    while bit > 0 {
        for end in 0..2 {
            let threshold = thresholds[end] | bit;
            if usize::from(reaching(keys, threshold)) >= ranks[end] {
                thresholds[end] = threshold;
            }
        }
        bit >>= 1;
    }
    // A closure would not be compiled for the processor's vectors.
    let mut sought = [0.0; 2];
    for end in 0..2 {
        let above = if thresholds[end] == u8::MAX {
            0
        } else {
            usize::from(reaching(keys, thresholds[end] + 1))
        };
        let mut sharing = [0.0; ROOM];
        let mut count = 0;
        for (key, number) in keys.iter().zip(numbers) {
            if *key == thresholds[end] {
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
    *numbers.select_nth_unstable_by(rank - 1, |a, b| b.total_cmp(a)).1
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
            let row = Ranked { room: &room, count, rank, extremes };
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
                #[cfg(target_arch = "x86_64")]
                if crate::numeric::dispatch::has_avx2() {
                    let mut values = [[0.0; 2]; 1];
                    // SAFETY: the processor has the features.
                    #[expect(unsafe_code, reason = "calls what is compiled for AVX2")]
                    unsafe {
                        x86::narrow::nth(&[row], &[scale], &mut values);
                    }
                    assert_eq!(values, [want]);
                }
            }
        }
    }
}
