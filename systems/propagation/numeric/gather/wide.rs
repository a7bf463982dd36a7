//! Reading between the numbers of a row, with AVX-512.

use std::arch::x86_64::*;

use crate::numeric::row::x86::folded;
use crate::numeric::{LANES, ROUNDER};

/// Eight values this far apart, and their neighbours, lie within so many vectors.
pub(super) const fn spacing_max(vectors: usize) -> f64 {
    // The first may lie just short of the next number.
    (vectors * LANES - 3) as f64 / (LANES - 1) as f64 - 1e-3
}

/// Binary digits of a fraction.
const DIGITS: u32 = 32;

/// A number from 0 to 2^31 with a fraction, in whole numbers.
fn fixed(number: f64) -> u64 {
    (number * (1_u64 << DIGITS) as f64) as u64
}

/// The same by permutations of two or three vectors of neighbouring numbers, which take half
/// the time of fetching each by its address.
///
/// # Safety
/// The processor has AVX-512F, `from` holds `VECTORS` times eight numbers or more, and `count` is
/// no multiple of eight.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn sample<const VECTORS: usize>(
    from: &[f64],
    start: f64,
    spacing: f64,
    count: usize,
    out: &mut [[f64; LANES]],
) -> (f64, f64) {
    let furthest = from.len() - VECTORS * LANES;
    let (starts, spacings) = (_mm512_set1_pd(start), _mm512_set1_pd(spacing));
    let end = _mm512_set1_pd((from.len() - 1) as f64);
    let eight = _mm512_set1_pd(LANES as f64);
    let arm = 0.5 * (count as f64 - 1.0);
    let mut number = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
    let mut at = _mm512_sub_pd(number, _mm512_set1_pd(arm));
    let (mut sums, mut products) = (_mm512_setzero_pd(), _mm512_setzero_pd());
    // Where eight begin, a little low lest rounding make it too high.
    let mut first = fixed(start).saturating_sub(1 << (DIGITS / 2));
    let step = fixed(LANES as f64 * spacing);
    // None but the last of all can come to lie beyond the row.
    let mut value = |number, last: bool| {
        let place = ((first >> DIGITS) as usize).min(furthest);
        first += step;
        let position = _mm512_add_pd(_mm512_mul_pd(number, spacings), starts);
        let position = if last { _mm512_min_pd(position, end) } else { position };
        // Adding it leaves the whole numbers from `place` in the low bits.
        let base = _mm512_set1_pd(f64::from_bits(ROUNDER.to_bits() - place as u64));
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        let whole = _mm512_add_round_pd::<DOWN>(position, base);
        let share = _mm512_sub_pd(position, _mm512_sub_pd(whole, base));
        let lower = _mm512_castpd_si512(whole);
        let upper = _mm512_add_epi64(lower, _mm512_set1_epi64(1));
        // SAFETY: `place` and `VECTORS` times eight is at most the length of the row.
        let vector = |number| unsafe { _mm512_loadu_pd(from.as_ptr().add(place + LANES * number)) };
        let (near, middle) = (vector(0), vector(1));
        // Permutations mind the lowest three or four bits only. To the right of the last
        // number this finds some other, of which no share is taken.
        let (mut low, mut high) = (
            _mm512_permutex2var_pd(near, lower, middle),
            _mm512_permutex2var_pd(near, upper, middle),
        );
        if VECTORS == 3 {
            let (far, beyond) = (vector(2), _mm512_set1_epi64(2 * LANES as i64));
            let bit = |at| _mm512_test_epi64_mask(at, beyond);
            low = _mm512_mask_permutexvar_pd(low, bit(lower), lower, far);
            high = _mm512_mask_permutexvar_pd(high, bit(upper), upper, far);
        }
        _mm512_add_pd(_mm512_mul_pd(_mm512_sub_pd(high, low), share), low)
    };
    let (whole, rest) = (count / LANES, count % LANES);
    for out in &mut out[..whole] {
        let value = value(number, false);
        sums = _mm512_add_pd(sums, value);
        products = _mm512_add_pd(_mm512_mul_pd(value, at), products);
        (number, at) = (_mm512_add_pd(number, eight), _mm512_add_pd(at, eight));
        // SAFETY: an array of eight.
        unsafe { _mm512_storeu_pd(out.as_mut_ptr(), value) };
    }
    if let Some(out) = out.get_mut(whole) {
        let used = ((1_u32 << rest) - 1) as __mmask8;
        let value = value(number, true);
        sums = _mm512_mask_add_pd(sums, used, sums, value);
        products = _mm512_mask_add_pd(products, used, _mm512_mul_pd(value, at), products);
        // SAFETY: an array of eight.
        unsafe { _mm512_storeu_pd(out.as_mut_ptr(), value) };
    }
    (folded(sums), folded(products))
}
