//! Reading between the numbers of a row, with AVX2.

use std::arch::x86_64::*;

/// Numbers in a vector.
const FOUR: usize = 4;

/// Fills `out` from its start on, up to the first four values of which one lies beyond the last
/// number of the row, and returns how many are filled. A number and its neighbour are loaded
/// together: two gathers of four take longer on many processors.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
#[inline]
pub(super) unsafe fn sample(from: &[f64], start: f64, spacing: f64, out: &mut [f64]) -> usize {
    let (starts, spacings) = (_mm256_set1_pd(start), _mm256_set1_pd(spacing));
    let (begin, end) = (_mm256_setzero_pd(), _mm256_set1_pd((from.len() - 1) as f64));
    let mut number = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    let mut filled = 0;
    for out in out.as_chunks_mut::<FOUR>().0 {
        let position = _mm256_add_pd(_mm256_mul_pd(number, spacings), starts);
        let is_inside = _mm256_and_pd(
            _mm256_cmp_pd::<_CMP_GE_OQ>(position, begin),
            _mm256_cmp_pd::<_CMP_LT_OQ>(position, end),
        );
        if _mm256_movemask_pd(is_inside) != 0xF {
            break;
        }
        let share = _mm256_sub_pd(position, _mm256_floor_pd(position));
        let indices = _mm256_cvttpd_epi32(position);
        let (low, high) =
            (_mm_cvtsi128_si64(indices) as u64, _mm_extract_epi64::<1>(indices) as u64);
        // SAFETY: all places are 0 or more and less than that of the last number.
        let pair = |place: u64| unsafe { _mm_loadu_pd(from.as_ptr().add(place as usize)) };
        let even = _mm256_set_m128d(pair(high & 0xFFFF_FFFF), pair(low & 0xFFFF_FFFF));
        let odd = _mm256_set_m128d(pair(high >> 32), pair(low >> 32));
        let (near, far) = (_mm256_unpacklo_pd(even, odd), _mm256_unpackhi_pd(even, odd));
        let value = _mm256_add_pd(_mm256_mul_pd(_mm256_sub_pd(far, near), share), near);
        // SAFETY: an array of four.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr(), value) };
        number = _mm256_add_pd(number, _mm256_set1_pd(FOUR as f64));
        filled += FOUR;
    }
    filled
}
