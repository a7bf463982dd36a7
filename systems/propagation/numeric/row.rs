//! Sums and extremes over rows of numbers.
//!
//! Sums are taken in strands, number `i` in strand `i` modulo their count, and the strands added by
//! folding one half onto the other: so vectors of any width give the same bits.

use super::LANES;
use super::{greater, lesser};

/// Strands of a sum.
const SUM: usize = 32;

/// Strands of sums with moments.
const MOMENTS: usize = 16;

/// True if all `values` are between `-limit` and `limit`; `NaN` is not.
#[inline(always)]
pub fn all_within(values: &[f64], limit: f64) -> bool {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::all_within(values, limit) };
    }
    values.iter().all(|value| value.abs() <= limit)
}

/// The sum of `values`.
#[inline(always)]
pub fn sum(values: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::sum(values) };
    }
    plain_sum(values)
}

#[inline(always)]
fn plain_sum(values: &[f64]) -> f64 {
    let (blocks, rest) = values.as_chunks::<SUM>();
    let mut strands = [0.0; SUM];
    for block in blocks {
        for lane in 0..SUM {
            strands[lane] += block[lane];
        }
    }
    for (strand, value) in strands.iter_mut().zip(rest) {
        *strand += value;
    }
    folded(strands)
}

/// The sum of `values` and of their products with their index counted from the middle.
#[inline(always)]
pub fn moments(values: &[f64]) -> (f64, f64) {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::moments(values) };
    }
    plain_moments::<MOMENTS>(values)
}

/// [`moments`] in so many strands.
#[inline(always)]
pub(super) fn plain_moments<const STRANDS: usize>(values: &[f64]) -> (f64, f64) {
    let arm = 0.5 * (values.len() as f64 - 1.0);
    let (blocks, rest) = values.as_chunks::<STRANDS>();
    let (mut sums, mut products) = ([0.0; STRANDS], [0.0; STRANDS]);
    let mut start = 0.0;
    for block in blocks {
        for lane in 0..STRANDS {
            let number = start + f64::from(lane as i32);
            sums[lane] += block[lane];
            products[lane] += block[lane] * (number - arm);
        }
        start += STRANDS as f64;
    }
    for (lane, value) in rest.iter().enumerate() {
        let number = start + lane as f64;
        sums[lane] += value;
        products[lane] += *value * (number - arm);
    }
    (folded(sums), folded(products))
}

/// Subtracts `middle` and `slope` times the index counted from the middle from each of the first
/// `count` numbers; least and greatest of what remains. The others mean nothing afterwards.
#[inline(always)]
pub fn level(room: &mut [[f64; LANES]], count: usize, middle: f64, slope: f64) -> [f64; 2] {
    let room = &mut room[..count.div_ceil(LANES)];
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::level(room, count, middle, slope) };
    }
    plain_level(&mut room.as_flattened_mut()[..count], middle, slope)
}

#[inline(always)]
fn plain_level(room: &mut [f64], middle: f64, slope: f64) -> [f64; 2] {
    let arm = 0.5 * (room.len() as f64 - 1.0);
    for number in 0..room.len() {
        let at = f64::from(number as i32) - arm;
        room[number] -= slope * at + middle;
    }
    let (blocks, rest) = room.as_chunks::<LANES>();
    let (mut least, mut most) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    for values in blocks {
        for lane in 0..LANES {
            least[lane] = lesser(values[lane], least[lane]);
            most[lane] = greater(values[lane], most[lane]);
        }
    }
    let (mut lowest, mut highest) = (least[0], most[0]);
    for (low, high) in least[1..].iter().zip(&most[1..]) {
        (lowest, highest) = (lesser(*low, lowest), greater(*high, highest));
    }
    for value in rest {
        (lowest, highest) = (lesser(*value, lowest), greater(*value, highest));
    }
    [lowest, highest]
}

/// The greatest of some numbers.
#[inline(always)]
pub fn maximum<const N: usize>(values: &[f64; N]) -> f64 {
    const { assert!(N.is_multiple_of(8)) };
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::maximum(values.as_chunks().0) };
    }
    // In strands, lest each number wait for the one before.
    let mut most = [f64::NEG_INFINITY; LANES];
    for values in values.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            most[lane] = greater(values[lane], most[lane]);
        }
    }
    let mut all = most[0];
    for most in &most[1..] {
        all = greater(*most, all);
    }
    all
}

/// The sum of the strands, halves folded onto each other.
#[inline(always)]
pub(super) fn folded<const N: usize>(mut strands: [f64; N]) -> f64 {
    let mut half = N / 2;
    while half > 0 {
        for lane in 0..half {
            strands[lane] += strands[lane + half];
        }
        half /= 2;
    }
    strands[0]
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::LANES;

    /// The places of a vector that `rest` fills.
    #[inline]
    fn some(rest: &[f64]) -> __mmask8 {
        ((1_u32 << rest.len().min(LANES)) - 1) as __mmask8
    }

    /// The next eight of `rest`, zeros behind its end.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn next(rest: &[f64]) -> __m512d {
        // SAFETY: only places that lie in the slice are read.
        unsafe { _mm512_maskz_loadu_pd(some(rest), rest.as_ptr()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(values: &[f64; LANES]) -> __m512d {
        // SAFETY: an array of eight.
        unsafe { _mm512_loadu_pd(values.as_ptr()) }
    }

    /// Eight strands folded.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(in super::super) fn folded(strands: __m512d) -> f64 {
        let four =
            _mm256_add_pd(_mm512_castpd512_pd256(strands), _mm512_extractf64x4_pd::<1>(strands));
        let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub fn all_within(values: &[f64], limit: f64) -> bool {
        let limit = _mm512_set1_pd(limit);
        let (blocks, rest) = values.as_chunks::<LANES>();
        let beyond = |values| _mm512_cmp_pd_mask::<_CMP_NLE_UQ>(_mm512_abs_pd(values), limit);
        let mut mask = beyond(next(rest));
        for block in blocks {
            mask |= beyond(load(block));
        }
        mask == 0
    }

    #[target_feature(enable = "avx512f")]
    pub fn sum(values: &[f64]) -> f64 {
        let mut strands = [_mm512_setzero_pd(); super::SUM / LANES];
        let (blocks, rest) = values.as_chunks::<{ super::SUM }>();
        for block in blocks {
            for (strand, values) in strands.iter_mut().zip(block.as_chunks().0) {
                *strand = _mm512_add_pd(*strand, load(values));
            }
        }
        for (strand, values) in strands.iter_mut().zip(rest.chunks(LANES)) {
            *strand = _mm512_add_pd(*strand, next(values));
        }
        let [a, b, c, d] = strands;
        folded(_mm512_add_pd(_mm512_add_pd(a, c), _mm512_add_pd(b, d)))
    }

    #[target_feature(enable = "avx512f")]
    pub fn moments(values: &[f64]) -> (f64, f64) {
        let arm = _mm512_set1_pd(0.5 * (values.len() as f64 - 1.0));
        let step = _mm512_set1_pd(LANES as f64);
        let mut number = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
        let mut sums = [_mm512_setzero_pd(); super::MOMENTS / LANES];
        let mut products = sums;
        let (blocks, rest) = values.as_chunks::<{ super::MOMENTS }>();
        for block in blocks {
            for (strand, values) in block.as_chunks().0.iter().enumerate() {
                let values = load(values);
                let at = _mm512_sub_pd(number, arm);
                sums[strand] = _mm512_add_pd(sums[strand], values);
                products[strand] = _mm512_add_pd(_mm512_mul_pd(values, at), products[strand]);
                number = _mm512_add_pd(number, step);
            }
        }
        for (strand, values) in rest.chunks(LANES).enumerate() {
            let values = next(values);
            let at = _mm512_sub_pd(number, arm);
            sums[strand] = _mm512_add_pd(sums[strand], values);
            products[strand] = _mm512_add_pd(_mm512_mul_pd(values, at), products[strand]);
            number = _mm512_add_pd(number, step);
        }
        (folded(_mm512_add_pd(sums[0], sums[1])), folded(_mm512_add_pd(products[0], products[1])))
    }

    #[target_feature(enable = "avx512f")]
    pub fn level(room: &mut [[f64; LANES]], count: usize, middle: f64, slope: f64) -> [f64; 2] {
        let arm = _mm512_set1_pd(0.5 * (count as f64 - 1.0));
        let (middle, slope) = (_mm512_set1_pd(middle), _mm512_set1_pd(slope));
        let number = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
        let mut at = _mm512_sub_pd(number, arm);
        let mut least = _mm512_set1_pd(f64::INFINITY);
        let mut most = _mm512_set1_pd(f64::NEG_INFINITY);
        let mut next = |values: &mut [f64; LANES]| {
            let residual =
                _mm512_sub_pd(load(values), _mm512_add_pd(_mm512_mul_pd(slope, at), middle));
            at = _mm512_add_pd(at, _mm512_set1_pd(LANES as f64));
            // SAFETY: an array of eight.
            unsafe { _mm512_storeu_pd(values.as_mut_ptr(), residual) };
            residual
        };
        let (whole, rest) = room.split_at_mut(count / LANES);
        for values in whole {
            let residual = next(values);
            least = _mm512_min_pd(residual, least);
            most = _mm512_max_pd(residual, most);
        }
        if let [values] = rest {
            let used = ((1_u32 << (count % LANES)) - 1) as __mmask8;
            let residual = next(values);
            least = _mm512_mask_min_pd(least, used, residual, least);
            most = _mm512_mask_max_pd(most, used, residual, most);
        }
        [_mm512_reduce_min_pd(least), _mm512_reduce_max_pd(most)]
    }

    #[target_feature(enable = "avx512f")]
    pub fn maximum(values: &[[f64; LANES]]) -> f64 {
        let mut most = _mm512_set1_pd(f64::NEG_INFINITY);
        for values in values {
            most = _mm512_max_pd(load(values), most);
        }
        _mm512_reduce_max_pd(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(len: usize) -> Vec<f64> {
        (0..len).map(|i| ((i * 7919 % 3001) as f64 - 1500.0) * 0.37).collect()
    }

    #[test]
    fn every_width_gives_the_same_bits() {
        for len in (0..70).chain([255, 256, 541, 1024]) {
            let row = row(len);
            assert_eq!(sum(&row).to_bits(), plain_sum(&row).to_bits());
            assert_eq!(moments(&row), plain_moments::<MOMENTS>(&row));
            assert_eq!(all_within(&row, 300.0), row.iter().all(|x| x.abs() <= 300.0));
        }
        for count in [35, 100, 129, 245, 256] {
            let mut room = [[f64::NAN; LANES]; 32];
            room.as_flattened_mut()[..count].copy_from_slice(&row(count));
            let mut plain = row(count);
            let extremes = level(&mut room, count, 3.1, -0.7);
            assert_eq!(extremes, plain_level(&mut plain, 3.1, -0.7));
            assert_eq!(room.as_flattened()[..count], plain);
            let mut most = [f64::NEG_INFINITY; 256];
            most[..count].copy_from_slice(&plain);
            assert_eq!(maximum(&most), extremes[1]);
        }
    }

    #[test]
    fn sums_and_moments_are_those_of_the_numbers() {
        for len in [2, 3, 40, 333] {
            let row = row(len);
            let (total, moment) = moments(&row);
            let about = 0.5 * (len as f64 - 1.0);
            let at = |(i, x): (usize, &f64)| x * (i as f64 - about);
            let want: f64 = row.iter().enumerate().map(at).sum();
            assert!((moment - want).abs() < 1e-6, "{moment} {want}");
            assert!((total - row.iter().sum::<f64>()).abs() < 1e-9);
            assert!((total - sum(&row)).abs() < 1e-9);
        }
    }

    #[test]
    fn nothing_beyond_the_limit_and_no_gap_is_passed_over() {
        for len in 1..50 {
            for at in 0..len {
                for wrong in [f64::NAN, 2.1, -2.1, f64::NEG_INFINITY] {
                    let mut row = vec![2.0; len];
                    assert!(all_within(&row, 2.0));
                    row[at] = wrong;
                    assert!(!all_within(&row, 2.0), "{at} of {len}");
                }
            }
        }
    }
}
