//! The numbers of given ranks, by vectors of keys.

use std::arch::x86_64::*;

use super::{GROUP, LANES, ROOM, ROUNDER, Ranked, greater, lesser, nth_of_few};

/// Maximum number of groups.
const GROUPS: usize = ROOM / GROUP;

/// Vectors of eight numbers in a group.
const VECTORS: usize = GROUP / LANES;

/// Common maximum of numbers that share a key.
const FEW: usize = 8;

/// The numbers of a group, eight by eight. Their keys, and bits about these, are in another order:
/// those of the numbers in one place of all eights are neighbours, the last eight's first. So they
/// need not be moved between places of vectors.
type Numbers = [[f64; LANES]; VECTORS];

/// As [`super::nth`] by [`super::keys`], for each row, with vectors of the module around it: `Keys`
/// of a group; `none()`, which reach no threshold; `keys` of numbers; the number of them `reaching`
/// a threshold; those `equal` to one.
macro_rules! nth {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        #[inline]
        pub(in super::super) fn nth<const ROWS: usize>(
            rows: &[Ranked<'_>; ROWS],
            scales: &[f64; ROWS],
            sought: &mut [[f64; 2]; ROWS],
        ) {
            let mut keys_of = [[none(); GROUPS]; ROWS];
            let mut groups = [[].as_slice(); ROWS];
            for row in 0..ROWS {
                let Ranked { room, count, .. } = rows[row];
                groups[row] = &room.as_chunks().0[..count.div_ceil(GROUP)];
                for number in 0..GROUPS {
                    keys_of[row][number] = match groups[row].get(number) {
                        Some(group) => {
                            let used = (count - number * GROUP).min(GROUP);
                            keys(group, used, rows[row].extremes[0], scales[row])
                        }
                        None => none(),
                    };
                }
            }
            let mut ranks = [[0; 2]; ROWS];
            for (ranks, row) in ranks.iter_mut().zip(rows) {
                *ranks = row.ranks();
            }
            let mut thresholds = [[0_u8; 2]; ROWS];
            // Number of keys above the threshold.
            let mut above = [[0; 2]; ROWS];
            let mut bit = 128;
            while bit > 0 {
                for row in 0..ROWS {
                    for end in 0..2 {
                        let threshold = thresholds[row][end] | bit;
                        let reaching = reaching(&keys_of[row], threshold);
                        let there = reaching >= ranks[row][end];
                        thresholds[row][end] = if there { threshold } else { thresholds[row][end] };
                        above[row][end] = if there { above[row][end] } else { reaching };
                    }
                }
                bit >>= 1;
            }
            for row in 0..ROWS {
                for end in 0..2 {
                    let equal = equal(&keys_of[row], thresholds[row][end]);
                    let rank = ranks[row][end] - above[row][end];
                    sought[row][end] = nth_equal(groups[row], equal, rank);
                }
            }
        }
    };
}

/// The number of a rank among those that `equal` names.
#[inline(always)]
fn nth_equal(groups: &[Numbers], equal: [u64; GROUPS], rank: usize) -> f64 {
    let all: u32 = equal.iter().map(|mask| mask.count_ones()).sum();
    // Seldom more; and a loop over as many as there are is foreseen by no processor.
    if all <= 4 {
        nth_of_four(groups, equal, rank)
    } else if all <= FEW as u32 {
        nth_sharing::<FEW>(groups, &equal, rank)
    } else {
        nth_sharing::<ROOM>(groups, &equal, rank)
    }
}

/// The number of a rank among those that `equal` names, one to four, without a branch.
#[inline(always)]
fn nth_of_four(groups: &[Numbers], equal: [u64; GROUPS], rank: usize) -> f64 {
    let [mut a, mut b, mut c, mut d] = equal;
    let mut sharing = [f64::NEG_INFINITY; 4];
    for number in &mut sharing {
        let (ab, abc) = (a | b, a | b | c);
        let mut at = 3 * GROUP + d.trailing_zeros() as usize;
        at = if c != 0 { 2 * GROUP + c.trailing_zeros() as usize } else { at };
        at = if b != 0 { GROUP + b.trailing_zeros() as usize } else { at };
        at = if a != 0 { a.trailing_zeros() as usize } else { at };
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
#[inline(always)]
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

/// Bits of the keys in one place of the first so many eights.
#[inline]
fn first_keys(eights: usize) -> i64 {
    match eights {
        0 => 0,
        _ => -1_i64 << (8 * (VECTORS - eights)),
    }
}

/// With AVX-512 F and BW.
pub(super) mod wide {
    use super::*;

    type Keys = __m512i;

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn none() -> Keys {
        _mm512_setzero_si512()
    }

    /// Number of keys that are `threshold` or more.
    #[target_feature(enable = "avx512f,avx512bw,popcnt")]
    #[inline]
    fn reaching(keys: &[Keys; GROUPS], threshold: u8) -> usize {
        let least = _mm512_set1_epi8(threshold as i8);
        let count = |keys| _mm512_cmpge_epu8_mask(keys, least).count_ones();
        let [a, b, c, d] = *keys;
        ((count(a) + count(b)) + (count(c) + count(d))) as usize
    }

    /// Bits of the keys that are `key`.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn equal(keys: &[Keys; GROUPS], key: u8) -> [u64; GROUPS] {
        let key = _mm512_set1_epi8(key as i8);
        let mut equal = [0; GROUPS];
        for (equal, keys) in equal.iter_mut().zip(keys) {
            *equal = _mm512_cmpeq_epu8_mask(*keys, key);
        }
        equal
    }

    /// Keys of the first `used` numbers of a group.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn keys(group: &Numbers, used: usize, least: f64, scale: f64) -> Keys {
        let (least, scale) = (_mm512_set1_pd(least), _mm512_set1_pd(scale));
        let rounder = _mm512_set1_pd(ROUNDER + 1.0);
        let low = _mm512_set1_epi64(0xFF);
        let mut keys = none();
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
        let (whole, rest) = (used / LANES, used % LANES);
        let used_keys = _mm512_mask_blend_epi64(
            ((1_u32 << rest) - 1) as __mmask8,
            _mm512_set1_epi64(first_keys(whole)),
            _mm512_set1_epi64(first_keys(whole + 1)),
        );
        _mm512_and_si512(keys, used_keys)
    }

    nth!("avx512f,avx512bw,bmi1,bmi2,popcnt");
}

/// With AVX2.
pub(super) mod narrow {
    use super::*;

    /// Of the first and the last four places of each eight.
    type Keys = [__m256i; 2];

    #[target_feature(enable = "avx2")]
    #[inline]
    fn none() -> Keys {
        [_mm256_setzero_si256(); 2]
    }

    /// Number of keys that are `threshold` or more.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn reaching(keys: &[Keys; GROUPS], threshold: u8) -> usize {
        let least = _mm256_set1_epi8(threshold as i8);
        let mut counts = _mm256_setzero_si256();
        for keys in keys.as_flattened() {
            let reach = _mm256_cmpeq_epi8(_mm256_max_epu8(*keys, least), *keys);
            // True is -1.
            counts = _mm256_sub_epi8(counts, reach);
        }
        let sums = _mm256_sad_epu8(counts, _mm256_setzero_si256());
        let two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let one = _mm_add_epi64(two, _mm_unpackhi_epi64(two, two));
        _mm_cvtsi128_si64(one) as usize
    }

    /// Bits of the keys that are `key`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn equal(keys: &[Keys; GROUPS], key: u8) -> [u64; GROUPS] {
        let key = _mm256_set1_epi8(key as i8);
        let mut equal = [0; GROUPS];
        for (equal, [first, last]) in equal.iter_mut().zip(keys) {
            let bits = |keys| _mm256_movemask_epi8(_mm256_cmpeq_epi8(keys, key)) as u32;
            *equal = u64::from(bits(*first)) | u64::from(bits(*last)) << 32;
        }
        equal
    }

    /// Keys of the first `used` numbers of a group.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn keys(group: &Numbers, used: usize, least: f64, scale: f64) -> Keys {
        let (least, scale) = (_mm256_set1_pd(least), _mm256_set1_pd(scale));
        let rounder = _mm256_set1_pd(ROUNDER + 1.0);
        let low = _mm256_set1_epi64x(0xFF);
        let mut keys = none();
        for numbers in group {
            for (half, numbers) in numbers.as_chunks::<4>().0.iter().enumerate() {
                // SAFETY: an array of four numbers.
                #[expect(unsafe_code, reason = "a vector load by address")]
                let numbers = unsafe { _mm256_loadu_pd(numbers.as_ptr()) };
                let above = _mm256_sub_pd(numbers, least);
                let key = _mm256_add_pd(_mm256_mul_pd(above, scale), rounder);
                let key = _mm256_and_si256(_mm256_castpd_si256(key), low);
                keys[half] = _mm256_or_si256(_mm256_slli_epi64::<8>(keys[half]), key);
            }
        }
        if used == GROUP {
            return keys;
        }
        let (whole, rest) = (used / LANES, used % LANES);
        let (fewer, more) =
            (_mm256_set1_epi64x(first_keys(whole)), _mm256_set1_epi64x(first_keys(whole + 1)));
        let rest = _mm256_set1_epi64x(rest as i64);
        let places = [_mm256_setr_epi64x(0, 1, 2, 3), _mm256_setr_epi64x(4, 5, 6, 7)];
        for (keys, places) in keys.iter_mut().zip(places) {
            let used_keys = _mm256_blendv_epi8(fewer, more, _mm256_cmpgt_epi64(rest, places));
            *keys = _mm256_and_si256(*keys, used_keys);
        }
        keys
    }

    nth!("avx2,bmi1,bmi2,popcnt");
}
