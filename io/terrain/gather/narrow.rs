//! Bilinear heights in vectors of four, for processors with AVX2.

use std::arch::x86_64::*;

use super::VOID;
use super::{LANES, Square};

/// As a multiplier of a pair of posts: the northern alone.
const NORTHERN: i32 = 0x0000_0001;

/// # Safety
/// As [`super::wide::fill`], with AVX2 alone.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill(square: Square<'_>, lat: &[f64], lon: &[f64], out: &mut [f64]) -> usize {
    const HALF: usize = LANES / 2;
    let Square {
        pairs,
        side,
        scale,
        south,
        west,
        ..
    } = square;
    let (south, west) = (
        _mm256_set1_pd(-south * scale),
        _mm256_set1_pd(-west * scale),
    );
    let scale = _mm256_set1_pd(scale);
    let (none, last) = (_mm_set1_epi32(-1), _mm_set1_epi32(side as i32 - 1));
    let stride = _mm_set1_epi32(side as i32);
    let southern = _mm_set1_epi32((side as i32 - 2) * side as i32);
    let northern = _mm_set1_epi32(NORTHERN);
    let void = _mm_set1_epi16(VOID);
    let base = pairs.as_ptr().cast::<i32>();
    let mut at = 0;
    while at < lat.len() {
        let start = at.min(lat.len() - HALF);
        // SAFETY: `start + HALF` is at most the length of both slices.
        let (y, x) = unsafe {
            (
                _mm256_loadu_pd(lat.as_ptr().add(start)),
                _mm256_loadu_pd(lon.as_ptr().add(start)),
            )
        };
        let y = _mm256_fmadd_pd(y, scale, south);
        let x = _mm256_fmadd_pd(x, scale, west);
        let row = _mm256_cvttpd_epi32(_mm256_floor_pd(y));
        let column = _mm256_cvttpd_epi32(_mm256_floor_pd(x));
        // NaN becomes the least integer.
        let inside = _mm_and_si128(
            _mm_and_si128(_mm_cmpgt_epi32(row, none), _mm_cmpgt_epi32(last, row)),
            _mm_and_si128(_mm_cmpgt_epi32(column, none), _mm_cmpgt_epi32(last, column)),
        );
        if _mm_movemask_epi8(inside) != 0xFFFF {
            return at;
        }
        let v = _mm256_sub_pd(y, _mm256_cvtepi32_pd(row));
        let u = _mm256_sub_pd(x, _mm256_cvtepi32_pd(column));
        let place = _mm_add_epi32(
            _mm_sub_epi32(southern, _mm_mullo_epi32(row, stride)),
            column,
        );
        // SAFETY: as in vectors of eight.
        let (west_pair, east_pair) = unsafe {
            (
                _mm_i32gather_epi32::<4>(base, place),
                _mm_i32gather_epi32::<4>(base.add(1), place),
            )
        };
        let voids = _mm_or_si128(
            _mm_cmpeq_epi16(west_pair, void),
            _mm_cmpeq_epi16(east_pair, void),
        );
        if _mm_testz_si128(voids, voids) == 0 {
            return at;
        }
        let along = |west, east| {
            let rise = _mm256_cvtepi32_pd(_mm_sub_epi32(east, west));
            _mm256_fmadd_pd(rise, u, _mm256_cvtepi32_pd(west))
        };
        let upper = |pair| _mm_madd_epi16(pair, northern);
        let lower = |pair| _mm_srai_epi32::<16>(pair);
        let top = along(upper(west_pair), upper(east_pair));
        let bottom = along(lower(west_pair), lower(east_pair));
        let height = _mm256_fmadd_pd(_mm256_sub_pd(top, bottom), v, bottom);
        // SAFETY: `start + HALF` is at most the length of the slice.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(start), height) };
        at = start + HALF;
    }
    at
}
