//! Reading between the numbers of a row.

use super::{LANES, ROUNDER, lesser};

/// Fills `out` with `count` values of the row `from` at `start`, `start + spacing`, ..., linear
/// between its numbers, which are counted from 0, and gives their sum and that of their products
/// with their index counted from the middle. Positions are 0 or more; beyond the last number there
/// is only that. What `out` holds from the place `count` on means nothing. `from` holds two numbers
/// or more.
#[inline(always)]
pub(crate) fn sample_evenly(
    from: &[f64],
    start: f64,
    spacing: f64,
    count: usize,
    out: &mut [[f64; LANES]],
) -> (f64, f64) {
    assert!(
        from.len() >= 2 && from.len() < i32::MAX as usize,
        "a row has two ends"
    );
    let out = &mut out[..count.div_ceil(LANES)];
    #[cfg(target_arch = "x86_64")]
    if spacing <= x86::spacing_max(3)
        && from.len() >= 3 * LANES
        && !count.is_multiple_of(LANES)
        && super::dispatch::has_avx512()
    {
        // SAFETY: the processor has the features, the row holds enough numbers.
        #[expect(unsafe_code, reason = "permutations of vectors")]
        return unsafe {
            if spacing <= x86::spacing_max(2) {
                x86::sample::<2>(from, start, spacing, count, out)
            } else {
                x86::sample::<3>(from, start, spacing, count, out)
            }
        };
    }
    plain_sample(from, start, spacing, count, out)
}

#[inline(always)]
fn plain_sample(
    from: &[f64],
    start: f64,
    spacing: f64,
    count: usize,
    out: &mut [[f64; LANES]],
) -> (f64, f64) {
    let last = from.len() as u32 - 1;
    let out = &mut out.as_flattened_mut()[..count];
    for place in 0..count {
        let position = f64::mul_add(f64::from(place as i32), spacing, start);
        let position = lesser(position, f64::from(last as i32));
        let floor = position.floor();
        // A conversion that saturates would be no vector code; the limit holds whatever comes.
        let left = ((floor + ROUNDER).to_bits() as u32).min(last);
        let right = (left + 1).min(last);
        // SAFETY: both are less than the length.
        #[expect(
            unsafe_code,
            reason = "a check at every number keeps this from being vector code"
        )]
        let (near, far) = unsafe {
            (
                *from.get_unchecked(left as usize),
                *from.get_unchecked(right as usize),
            )
        };
        out[place] = f64::mul_add(far - near, position - floor, near);
    }
    let arm = 0.5 * (count as f64 - 1.0);
    let (mut sums, mut products) = ([0.0; LANES], [0.0; LANES]);
    for (index, value) in out.iter().enumerate() {
        let lane = index % LANES;
        sums[lane] += value;
        products[lane] = f64::mul_add(*value, index as f64 - arm, products[lane]);
    }
    (super::row::folded(sums), super::row::folded(products))
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::row::x86::folded;
    use super::{LANES, ROUNDER};

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
    #[target_feature(enable = "avx512f,fma")]
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
            let position = _mm512_fmadd_pd(number, spacings, starts);
            let position = if last {
                _mm512_min_pd(position, end)
            } else {
                position
            };
            // Adding it leaves the whole numbers from `place` in the low bits.
            let base = _mm512_set1_pd(f64::from_bits(ROUNDER.to_bits() - place as u64));
            const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
            let whole = _mm512_add_round_pd::<DOWN>(position, base);
            let share = _mm512_sub_pd(position, _mm512_sub_pd(whole, base));
            let left = _mm512_castpd_si512(whole);
            let right = _mm512_add_epi64(left, _mm512_set1_epi64(1));
            // SAFETY: `place` and `VECTORS` times eight is at most the length of the row.
            let vector =
                |number| unsafe { _mm512_loadu_pd(from.as_ptr().add(place + LANES * number)) };
            let (near, middle) = (vector(0), vector(1));
            // Permutations mind the lowest three or four bits only. To the right of the last
            // number this finds some other, of which no share is taken.
            let (mut low, mut high) = (
                _mm512_permutex2var_pd(near, left, middle),
                _mm512_permutex2var_pd(near, right, middle),
            );
            if VECTORS == 3 {
                let (far, beyond) = (vector(2), _mm512_set1_epi64(2 * LANES as i64));
                let bit = |at| _mm512_test_epi64_mask(at, beyond);
                low = _mm512_mask_permutexvar_pd(low, bit(left), left, far);
                high = _mm512_mask_permutexvar_pd(high, bit(right), right, far);
            }
            _mm512_fmadd_pd(_mm512_sub_pd(high, low), share, low)
        };
        let (whole, rest) = (count / LANES, count % LANES);
        for out in &mut out[..whole] {
            let value = value(number, false);
            sums = _mm512_add_pd(sums, value);
            products = _mm512_fmadd_pd(value, at, products);
            (number, at) = (_mm512_add_pd(number, eight), _mm512_add_pd(at, eight));
            // SAFETY: an array of eight.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), value) };
        }
        if let Some(out) = out.get_mut(whole) {
            let used = ((1_u32 << rest) - 1) as __mmask8;
            let value = value(number, true);
            sums = _mm512_mask_add_pd(sums, used, sums, value);
            products = _mm512_mask3_fmadd_pd(value, at, products, used);
            // SAFETY: an array of eight.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), value) };
        }
        (folded(sums), folded(products))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_on_the_lines_between_neighbours() {
        for len in [2_usize, 5, 16, 24, 25, 100, 461, 1024] {
            let row: Vec<f64> = (0..len).map(|i| (i * 7919 % 997) as f64).collect();
            for count in [35, 64, 129, 245] {
                let far = len as f64 - 1.0;
                for (start, span) in [(0.0, far), (0.3 * far, 0.61 * far), (0.999_9, far - 1.0)] {
                    let spacing = span / (count - 1) as f64;
                    let mut out = [[f64::NAN; LANES]; 32];
                    let found = sample_evenly(&row, start, spacing, count, &mut out);
                    let mut plain = [[f64::NAN; LANES]; 32];
                    let same = plain_sample(&row, start, spacing, count, &mut plain);
                    assert_eq!(found, same);
                    let (out, plain) = (out.as_flattened(), plain.as_flattened());
                    let (mut sum, mut moment) = (0.0, 0.0);
                    for place in 0..count {
                        let position = f64::mul_add(place as f64, spacing, start).min(far);
                        let left = (position as usize).min(len - 2);
                        let share = position - left as f64;
                        let want = row[left] + (row[left + 1] - row[left]) * share;
                        assert!((out[place] - want).abs() < 1e-9, "{place} of {count}");
                        assert_eq!(out[place].to_bits(), plain[place].to_bits());
                        sum += out[place];
                        moment += out[place] * (place as f64 - 0.5 * (count as f64 - 1.0));
                    }
                    assert!((found.0 - sum).abs() < 1e-7 && (found.1 - moment).abs() < 1e-5);
                }
            }
        }
    }
}
