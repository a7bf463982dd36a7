//! Slopes towards the points of a row, with AVX2.

use std::arch::x86_64::*;

use super::{BLOCK, BLOCKS, Slopes, start};

const LANES: usize = 4;

/// The numbers of four places.
#[target_feature(enable = "avx2")]
#[inline]
fn numbers() -> __m256d {
    _mm256_setr_pd(0.0, 1.0, 2.0, 3.0)
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(values: &[f64; LANES]) -> __m256d {
    // SAFETY: an array of four.
    #[expect(unsafe_code, reason = "a vector load by address")]
    unsafe {
        _mm256_loadu_pd(values.as_ptr())
    }
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn greatest(of: &[Slopes<'_>; 2], heights: &[f64], highest: &mut [[f64; BLOCKS]; 2]) {
    let count = heights.len();
    let blocks = count.div_ceil(BLOCK);
    let base = [_mm256_set1_pd(of[0].base), _mm256_set1_pd(of[1].base)];
    let step = _mm256_set1_pd(of[0].fall_step * LANES as f64);
    let each = _mm256_set1_pd(of[0].fall_step);
    let both = _mm256_set1_pd(of[0].fall + of[1].fall);
    for four in 0..blocks.div_ceil(LANES) {
        let mut most = [[_mm256_set1_pd(f64::NEG_INFINITY); LANES]; 2];
        for place in 0..(blocks - four * LANES).min(LANES) {
            let at = start(four * LANES + place, count);
            let first = _mm256_set1_pd(of[0].fall + of[0].fall_step * at as f64);
            let mut fall = _mm256_fmadd_pd(numbers(), each, first);
            let whole = |row: &[f64]| row[at..at + BLOCK].as_chunks::<LANES>().0.as_ptr();
            let (row, near, far) = (whole(heights), whole(of[0].inverse), whole(of[1].inverse));
            let (mut one, mut two) = (most[0][place], most[1][place]);
            for vector in 0..BLOCK / LANES {
                // SAFETY: a block has so many fours.
                #[expect(unsafe_code, reason = "vectors by their number")]
                let (height, near, far) = unsafe {
                    (
                        load(&*row.add(vector)),
                        load(&*near.add(vector)),
                        load(&*far.add(vector)),
                    )
                };
                let out = _mm256_sub_pd(height, base[0]);
                let back = _mm256_sub_pd(height, base[1]);
                one = _mm256_max_pd(_mm256_fmsub_pd(out, near, fall), one);
                // The fall of the other is `both` less this one; the constant is subtracted below.
                two = _mm256_max_pd(_mm256_fmadd_pd(back, far, fall), two);
                fall = _mm256_add_pd(fall, step);
            }
            (most[0][place], most[1][place]) = (one, two);
        }
        let taken = [_mm256_setzero_pd(), both];
        for eye in 0..2 {
            let found = _mm256_sub_pd(maxima(&most[eye]), taken[eye]);
            let highest = &mut highest[eye].as_chunks_mut::<LANES>().0[four];
            // SAFETY: an array of four.
            #[expect(unsafe_code, reason = "a vector store by address")]
            unsafe {
                _mm256_storeu_pd(highest.as_mut_ptr(), found);
            }
        }
    }
}

/// The greatest number of each of four vectors.
#[target_feature(enable = "avx2")]
#[inline]
fn maxima(of: &[__m256d; LANES]) -> __m256d {
    let pair = |one, two| _mm256_max_pd(_mm256_unpacklo_pd(one, two), _mm256_unpackhi_pd(one, two));
    let [a, b, c, d] = *of;
    let (low, high) = (pair(a, b), pair(c, d));
    _mm256_max_pd(
        _mm256_permute2f128_pd::<0x20>(low, high),
        _mm256_permute2f128_pd::<0x31>(low, high),
    )
}

#[target_feature(enable = "avx2")]
#[inline]
pub(super) fn blocks_reaching(highest: &[f64; BLOCKS], least: f64) -> u32 {
    let least = _mm256_set1_pd(least);
    let mut found = 0;
    for (number, highest) in highest.as_chunks().0.iter().enumerate() {
        let reach = _mm256_cmp_pd::<_CMP_GE_OQ>(load(highest), least);
        found |= (_mm256_movemask_pd(reach) as u32) << (LANES * number);
    }
    found
}

#[target_feature(enable = "avx2,fma")]
#[inline]
pub(super) fn reaching(
    of: &Slopes<'_>,
    heights: &[f64; BLOCK],
    inverse: &[f64; BLOCK],
    fall: f64,
    least: f64,
) -> u64 {
    let (base, least) = (_mm256_set1_pd(of.base), _mm256_set1_pd(least));
    let step = _mm256_set1_pd(of.fall_step * LANES as f64);
    let first = _mm256_set1_pd(fall);
    let mut fall = _mm256_fmadd_pd(numbers(), _mm256_set1_pd(of.fall_step), first);
    let mut found = 0;
    let vectors = heights.as_chunks().0.iter().zip(inverse.as_chunks().0);
    for (number, (height, inverse)) in vectors.enumerate() {
        let rise = _mm256_sub_pd(load(height), base);
        let slopes = _mm256_fmsub_pd(rise, load(inverse), fall);
        fall = _mm256_add_pd(fall, step);
        let reach = _mm256_cmp_pd::<_CMP_GE_OQ>(slopes, least);
        found |= (_mm256_movemask_pd(reach) as u64) << (LANES * number);
    }
    found
}
