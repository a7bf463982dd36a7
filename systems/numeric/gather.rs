//! Reading between the numbers of a row.

use super::ROUNDER;

/// Numbers worked out together.
const LANES: usize = 8;

/// Fills `out` with values of the row `from` at `start`, `start + spacing`, ..., linear between
/// its numbers, which are counted from 0. Positions are 0 or more; beyond the last two numbers
/// the line through these goes on. From the place `count` on the last value is repeated. `from`
/// holds two numbers or more, `out` whole eights.
#[inline(always)]
pub(crate) fn interpolate_evenly<const N: usize>(
    from: &[f64],
    start: f64,
    spacing: f64,
    count: usize,
    out: &mut [f64; N],
) {
    const { assert!(N.is_multiple_of(LANES)) };
    assert!(
        from.len() >= 2 && from.len() < i32::MAX as usize,
        "a row has two ends"
    );
    let last_number = (count - 1) as f64;
    #[cfg(target_arch = "x86_64")]
    if spacing <= x86::spacing_max(3) && from.len() >= 3 * LANES && super::dispatch::has_avx512() {
        let out = out.as_chunks_mut().0;
        // SAFETY: the processor has AVX-512, the row holds enough numbers.
        #[expect(unsafe_code, reason = "permutations of vectors")]
        unsafe {
            if spacing <= x86::spacing_max(2) {
                x86::interpolate::<2>(from, start, spacing, last_number, out);
            } else {
                x86::interpolate::<3>(from, start, spacing, last_number, out);
            }
        }
        return;
    }
    let last = from.len() as u32 - 2;
    for place in 0..N {
        let number = super::lesser(f64::from(place as i32), last_number);
        let position = start + number * spacing;
        // A conversion that saturates would be no vector code; the limit holds whatever comes.
        let left = ((position.floor() + ROUNDER).to_bits() as u32).min(last);
        // SAFETY: `left` is at most the length less two.
        #[expect(
            unsafe_code,
            reason = "a check at every number keeps this from being vector code"
        )]
        let (near, far) = unsafe {
            (
                *from.get_unchecked(left as usize),
                *from.get_unchecked(left as usize + 1),
            )
        };
        out[place] = near + (far - near) * (position - f64::from(left as i32));
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{LANES, ROUNDER};

    /// Eight values this far apart, and their neighbours, lie within so many vectors.
    pub(super) const fn spacing_max(vectors: usize) -> f64 {
        // The first may lie just short of the next number.
        (vectors * LANES - 3) as f64 / (LANES - 1) as f64 - 1e-3
    }

    /// The same by permutations of two or three vectors of neighbouring numbers, which take half
    /// the time of fetching each by its address.
    ///
    /// # Safety
    /// The processor has AVX-512F, `from` holds `VECTORS` times eight numbers or more.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn interpolate<const VECTORS: usize>(
        from: &[f64],
        start: f64,
        spacing: f64,
        last_number: f64,
        out: &mut [[f64; LANES]],
    ) {
        let furthest = from.len() - VECTORS * LANES;
        let (starts, spacings) = (_mm512_set1_pd(start), _mm512_set1_pd(spacing));
        let last_left = _mm512_set1_pd((from.len() - 2) as f64);
        let (last_numbers, rounder) = (_mm512_set1_pd(last_number), _mm512_set1_pd(ROUNDER));
        let mut numbers = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
        for (block, out) in out.iter_mut().enumerate() {
            let number = _mm512_min_pd(numbers, last_numbers);
            numbers = _mm512_add_pd(numbers, _mm512_set1_pd(LANES as f64));
            let position = _mm512_add_pd(starts, _mm512_mul_pd(number, spacings));
            let left = _mm512_roundscale_pd::<_MM_FROUND_TO_NEG_INF>(position);
            let left = _mm512_min_pd(left, last_left);
            // The place of the first of the eight, as they find it.
            let number = crate::numeric::lesser((block * LANES) as f64, last_number);
            let first = ((start + number * spacing) as usize).min(furthest);
            let away = _mm512_sub_pd(left, _mm512_set1_pd(first as f64));
            let place = _mm512_castpd_si512(_mm512_add_pd(away, rounder));
            let next = _mm512_add_epi64(place, _mm512_set1_epi64(1));
            // SAFETY: `first` and `VECTORS` times eight is at most the length of the row.
            let vector =
                |number| unsafe { _mm512_loadu_pd(from.as_ptr().add(first + LANES * number)) };
            let (near, middle) = (vector(0), vector(1));
            // Permutations mind the lowest three or four bits only.
            let (mut low, mut high) = (
                _mm512_permutex2var_pd(near, place, middle),
                _mm512_permutex2var_pd(near, next, middle),
            );
            if VECTORS == 3 {
                let (far, beyond) = (vector(2), _mm512_set1_epi64(2 * LANES as i64));
                let bit = |at| _mm512_test_epi64_mask(at, beyond);
                low = _mm512_mask_permutexvar_pd(low, bit(place), place, far);
                high = _mm512_mask_permutexvar_pd(high, bit(next), next, far);
            }
            let share = _mm512_sub_pd(position, left);
            let value = _mm512_add_pd(low, _mm512_mul_pd(_mm512_sub_pd(high, low), share));
            // SAFETY: an array of eight.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr(), value) };
        }
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
                    let mut out = [f64::NAN; 256];
                    interpolate_evenly(&row, start, spacing, count, &mut out);
                    for place in 0..256 {
                        let position = start + place.min(count - 1) as f64 * spacing;
                        let left = (position as usize).min(len - 2);
                        let share = position - left as f64;
                        let want = row[left] + (row[left + 1] - row[left]) * share;
                        assert_eq!(out[place].to_bits(), want.to_bits(), "{place} of {count}");
                    }
                }
            }
        }
    }
}
