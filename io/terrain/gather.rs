//! Bilinear heights, eight positions at a time.
//!
//! The heights of a profile lie scattered over a tile, and fetching them is most of what a
//! profile costs. Processors with AVX2 or AVX-512 fetch eight at once; the arithmetic is the
//! same in the same order as one by one in [`super::hgt`], so the bits are too.

/// Positions handled together.
pub(super) const LANES: usize = 8;

/// The posts of a tile and the position of its south-western corner.
#[derive(Clone, Copy)]
pub(super) struct Square<'a> {
    /// `side * side` posts, northernmost row first.
    pub posts: &'a [i16],
    pub side: usize,
    pub south_deg: f64,
    pub west_deg: f64,
}

/// Fills heights from the first position on, up to the first block of [`LANES`] that has a
/// position outside the half-open square or a void at hand, and returns how many are filled.
/// The slices have one length; where it is no multiple of [`LANES`] the last block overlaps the
/// one before it. Returns 0 where the processor has no such vectors.
pub(super) fn fill(square: Square<'_>, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> usize {
    let len = lat_deg.len().min(lon_deg.len()).min(out.len());
    let Square { posts, side, .. } = square;
    if len < LANES || !(2..=4096).contains(&side) || posts.len() < side * side {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "vector loads and gathers by address")]
    {
        use std::arch::is_x86_feature_detected;
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features, the slices hold `len` elements, at least
            // `LANES`, and the posts a whole square of at least two by two.
            return unsafe {
                x86::fill_wide(square, &lat_deg[..len], &lon_deg[..len], &mut out[..len])
            };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: likewise.
            return unsafe {
                x86::fill_narrow(square, &lat_deg[..len], &lon_deg[..len], &mut out[..len])
            };
        }
    }
    0
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and gathers by address")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::hgt::VOID;
    use super::{LANES, Square};

    /// # Safety
    /// The processor has AVX-512F and AVX2; the three slices have one length of at least
    /// [`LANES`]; `posts` holds `side * side` posts, `side` 2 to 4096.
    #[target_feature(enable = "avx512f,avx2")]
    pub(super) unsafe fn fill_wide(
        square: Square<'_>,
        lat: &[f64],
        lon: &[f64],
        out: &mut [f64],
    ) -> usize {
        let Square {
            posts,
            side,
            south_deg,
            west_deg,
        } = square;
        let (south, west) = (_mm512_set1_pd(south_deg), _mm512_set1_pd(west_deg));
        let (zero, one) = (_mm512_setzero_pd(), _mm512_set1_pd(1.0));
        let cells = _mm512_set1_pd((side - 1) as f64);
        let (last, stride) = (
            _mm256_set1_epi32(side as i32 - 2),
            _mm256_set1_epi32(side as i32),
        );
        let void = _mm256_set1_epi16(VOID);
        let mut at = 0;
        while at < lat.len() {
            let start = at.min(lat.len() - LANES);
            // SAFETY: `start + LANES` is at most the length of both slices.
            let (y, x) = unsafe {
                (
                    _mm512_loadu_pd(lat.as_ptr().add(start)),
                    _mm512_loadu_pd(lon.as_ptr().add(start)),
                )
            };
            let (north, east) = (_mm512_sub_pd(y, south), _mm512_sub_pd(x, west));
            let inside = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(north, zero)
                & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(north, one)
                & _mm512_cmp_pd_mask::<_CMP_GE_OQ>(east, zero)
                & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(east, one);
            if inside != 0xFF {
                return at;
            }
            let y = _mm512_sub_pd(cells, _mm512_mul_pd(north, cells));
            let x = _mm512_mul_pd(east, cells);
            let row = _mm256_min_epi32(_mm512_cvttpd_epi32(y), last);
            let column = _mm256_min_epi32(_mm512_cvttpd_epi32(x), last);
            let v = _mm512_sub_pd(y, _mm512_cvtepi32_pd(row));
            let u = _mm512_sub_pd(x, _mm512_cvtepi32_pd(column));
            let index = _mm256_add_epi32(_mm256_mullo_epi32(row, stride), column);
            let below = _mm256_add_epi32(index, stride);
            // SAFETY: inside the square `y` and `x` are 0 to `side - 1`, so row and column are 0
            // to `side - 2`: the two posts at `index` and the two a row below lie in `posts`.
            let (top, bottom) = unsafe {
                let base = posts.as_ptr().cast::<i32>();
                (
                    _mm256_i32gather_epi32::<2>(base, index),
                    _mm256_i32gather_epi32::<2>(base, below),
                )
            };
            let voids = _mm256_or_si256(
                _mm256_cmpeq_epi16(top, void),
                _mm256_cmpeq_epi16(bottom, void),
            );
            if _mm256_testz_si256(voids, voids) == 0 {
                return at;
            }
            // Each pair of posts is one little-endian number, the western in its lower half.
            let western =
                |pair| _mm512_cvtepi32_pd(_mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(pair)));
            let eastern = |pair| _mm512_cvtepi32_pd(_mm256_srai_epi32::<16>(pair));
            let (nw, ne, sw, se) = (western(top), eastern(top), western(bottom), eastern(bottom));
            let top = _mm512_add_pd(nw, _mm512_mul_pd(_mm512_sub_pd(ne, nw), u));
            let bottom = _mm512_add_pd(sw, _mm512_mul_pd(_mm512_sub_pd(se, sw), u));
            let height = _mm512_add_pd(top, _mm512_mul_pd(_mm512_sub_pd(bottom, top), v));
            // SAFETY: `start + LANES` is at most the length of the slice.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(start), height) };
            at = start + LANES;
        }
        at
    }

    /// # Safety
    /// As [`fill_wide`], with AVX2 alone.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn fill_narrow(
        square: Square<'_>,
        lat: &[f64],
        lon: &[f64],
        out: &mut [f64],
    ) -> usize {
        const HALF: usize = LANES / 2;
        let Square {
            posts,
            side,
            south_deg,
            west_deg,
        } = square;
        let (south, west) = (_mm256_set1_pd(south_deg), _mm256_set1_pd(west_deg));
        let (zero, one) = (_mm256_setzero_pd(), _mm256_set1_pd(1.0));
        let cells = _mm256_set1_pd((side - 1) as f64);
        let (last, stride) = (_mm_set1_epi32(side as i32 - 2), _mm_set1_epi32(side as i32));
        let void = _mm_set1_epi16(VOID);
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
            let (north, east) = (_mm256_sub_pd(y, south), _mm256_sub_pd(x, west));
            let along = _mm256_and_pd(
                _mm256_cmp_pd::<_CMP_GE_OQ>(north, zero),
                _mm256_cmp_pd::<_CMP_LT_OQ>(north, one),
            );
            let across = _mm256_and_pd(
                _mm256_cmp_pd::<_CMP_GE_OQ>(east, zero),
                _mm256_cmp_pd::<_CMP_LT_OQ>(east, one),
            );
            if _mm256_movemask_pd(_mm256_and_pd(along, across)) != 0xF {
                return at;
            }
            let y = _mm256_sub_pd(cells, _mm256_mul_pd(north, cells));
            let x = _mm256_mul_pd(east, cells);
            let row = _mm_min_epi32(_mm256_cvttpd_epi32(y), last);
            let column = _mm_min_epi32(_mm256_cvttpd_epi32(x), last);
            let v = _mm256_sub_pd(y, _mm256_cvtepi32_pd(row));
            let u = _mm256_sub_pd(x, _mm256_cvtepi32_pd(column));
            let index = _mm_add_epi32(_mm_mullo_epi32(row, stride), column);
            let below = _mm_add_epi32(index, stride);
            // SAFETY: as in `fill_wide`.
            let (top, bottom) = unsafe {
                let base = posts.as_ptr().cast::<i32>();
                (
                    _mm_i32gather_epi32::<2>(base, index),
                    _mm_i32gather_epi32::<2>(base, below),
                )
            };
            let voids = _mm_or_si128(_mm_cmpeq_epi16(top, void), _mm_cmpeq_epi16(bottom, void));
            if _mm_testz_si128(voids, voids) == 0 {
                return at;
            }
            let western =
                |pair| _mm256_cvtepi32_pd(_mm_srai_epi32::<16>(_mm_slli_epi32::<16>(pair)));
            let eastern = |pair| _mm256_cvtepi32_pd(_mm_srai_epi32::<16>(pair));
            let (nw, ne, sw, se) = (western(top), eastern(top), western(bottom), eastern(bottom));
            let top = _mm256_add_pd(nw, _mm256_mul_pd(_mm256_sub_pd(ne, nw), u));
            let bottom = _mm256_add_pd(sw, _mm256_mul_pd(_mm256_sub_pd(se, sw), u));
            let height = _mm256_add_pd(top, _mm256_mul_pd(_mm256_sub_pd(bottom, top), v));
            // SAFETY: `start + HALF` is at most the length of the slice.
            unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(start), height) };
            at = start + HALF;
        }
        at
    }
}
