//! Bilinear heights, eight positions at a time.
//!
//! The heights of a profile lie scattered over a tile, and fetching them is most of what a
//! profile costs. Processors with AVX2 or AVX-512 fetch eight at once; the arithmetic is the
//! same in the same order as one by one in [`super::hgt`], so the bits are too.

use groundwave_systems::terrain::Curve;

/// Positions handled together.
pub(super) const LANES: usize = 8;

/// The posts of a tile and the position of its south-western corner.
#[derive(Clone, Copy)]
pub(super) struct Square<'a> {
    /// Each post but those of the southernmost row with the one south of it, row by row from the
    /// north: four posts around a position are neighbours.
    pub pairs: &'a [[i16; 2]],
    /// Posts along one side.
    pub side: usize,
    pub south_deg: f64,
    pub west_deg: f64,
    /// Whether any post may be a void.
    pub has_voids: bool,
}

impl Square<'_> {
    /// Whether `len` positions can be handled together, and places can be counted.
    fn suits(&self, len: usize) -> bool {
        let Self { pairs, side, .. } = *self;
        len >= LANES && (2..=4096).contains(&side) && pairs.len() >= side * (side - 1)
    }
}

/// Whether the processor has vectors of eight.
#[cfg(target_arch = "x86_64")]
pub(super) fn is_wide() -> bool {
    use std::arch::is_x86_feature_detected;
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
}

/// Whether the processor has vectors of eight.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn is_wide() -> bool {
    false
}

/// Fills heights from the first position on, up to the first block of [`LANES`] that has a
/// position outside the half-open square or a void at hand, and returns how many are filled.
/// The slices have one length; where it is no multiple of [`LANES`] the last block overlaps the
/// one before it. Returns 0 where the processor has no such vectors.
pub(super) fn fill(square: Square<'_>, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> usize {
    let len = lat_deg.len().min(lon_deg.len()).min(out.len());
    if !square.suits(len) {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "vector loads and gathers by address")]
    {
        use std::arch::is_x86_feature_detected;
        let (lat_deg, lon_deg, out) = (&lat_deg[..len], &lon_deg[..len], &mut out[..len]);
        let has_avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        if is_wide() {
            // SAFETY: the processor has the features, the slices have one length, at least
            // `LANES`, and the posts hold a whole square of two by two to 4096 by 4096.
            return unsafe {
                if square.has_voids {
                    x86::fill_wide::<true>(square, lat_deg, lon_deg, out)
                } else {
                    x86::fill_wide::<false>(square, lat_deg, lon_deg, out)
                }
            };
        }
        if has_avx2 {
            // SAFETY: likewise.
            return unsafe { x86::fill_narrow(square, lat_deg, lon_deg, out) };
        }
    }
    0
}

/// As [`fill`] at the positions of `curve` from number `first` on, `wanted` of them or a few more;
/// `out` ends with the last. `inside` says that the whole curve lies within the square, not on its
/// edges. Fills nothing where the processor has no such vectors or fewer than [`LANES`] positions
/// remain.
pub(super) fn follow(
    square: Square<'_>,
    curve: &Curve,
    first: usize,
    out: &mut [f64],
    wanted: usize,
    inside: bool,
) -> usize {
    if !square.suits(out.len()) || first + out.len() != curve.last + 1 || !is_wide() {
        return 0;
    }
    #[cfg(target_arch = "x86_64")]
    #[expect(
        unsafe_code,
        clippy::needless_return,
        reason = "vector loads and gathers by address; elsewhere more follows"
    )]
    {
        let follow = match (square.has_voids, curve.degree, inside) {
            (true, ..) => x86::follow::<true, 5, false>,
            (false, 3, false) => x86::follow::<false, 3, false>,
            (false, 4, false) => x86::follow::<false, 4, false>,
            (false, _, false) => x86::follow::<false, 5, false>,
            (false, 3, true) => x86::follow::<false, 3, true>,
            (false, 4, true) => x86::follow::<false, 4, true>,
            (false, _, true) => x86::follow::<false, 5, true>,
        };
        // SAFETY: the processor has the features, there are at least `LANES` places, the posts are
        // a whole square of two by two to 4096 by 4096, and the caller says what is inside.
        return unsafe { follow(square, curve, first, out, wanted) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = (wanted, inside);
        0
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads and gathers by address")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::hgt::VOID;
    use super::{Curve, LANES, Square};

    /// As a multiplier of a pair of posts: the northern alone.
    const NORTHERN: i32 = 0x0000_0001;

    /// 1.5 * 2^52: adding it to a small number leaves a whole one in the low bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;

    const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

    /// Bits of 2^52 + 2^15: those of a post, its sign turned round, make them the float that is
    /// greater by its height.
    const BIASED: i64 = 0x4330_0000_0000_8000;

    /// What all positions in a square have in common, in vectors.
    struct Wide {
        /// Less the southern edge, in posts.
        south: __m512d,
        /// Less the western edge, in posts.
        west: __m512d,
        cells: __m512d,
        stride: __m512d,
        /// Where the southernmost row begins, less the bits of `ROUNDER`.
        base: *const i64,
    }

    impl Wide {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
        #[inline]
        fn new(square: Square<'_>) -> Self {
            let Square { pairs, side, .. } = square;
            // Places are found with the bits of `ROUNDER` in front.
            let far = (ROUNDER.to_bits() as usize).wrapping_mul(4);
            let southern = pairs.as_ptr().wrapping_add((side - 2) * side);
            Self {
                south: _mm512_set1_pd(-square.south_deg * (side - 1) as f64),
                west: _mm512_set1_pd(-square.west_deg * (side - 1) as f64),
                cells: _mm512_set1_pd((side - 1) as f64),
                stride: _mm512_set1_pd(side as f64),
                base: southern.wrapping_byte_sub(far).cast(),
            }
        }

        /// Heights at latitudes `y` and longitudes `x`; none where any lies outside the square or
        /// finds a void.
        ///
        /// # Safety
        /// The square this was made of is there: pairs of `side * side` posts, `side` 2 to 4096,
        /// none void unless `VOIDS`; all positions lie in it if `INSIDE`.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
        #[inline]
        unsafe fn heights<const VOIDS: bool, const INSIDE: bool>(
            &self,
            y: __m512d,
            x: __m512d,
        ) -> Option<__m512d> {
            let rounder = _mm512_set1_pd(ROUNDER);
            let (low, biased) = (_mm512_set1_epi64(0xFFFF), _mm512_set1_epi64(BIASED));
            let bias = _mm512_set1_pd(f64::from_bits(BIASED as u64));
            let y = _mm512_fmadd_pd(y, self.cells, self.south);
            let x = _mm512_fmadd_pd(x, self.cells, self.west);
            // As whole numbers the bits of floats keep their order; those of what is negative or
            // no number are larger than all others.
            if !INSIDE {
                let end = _mm512_castpd_si512(self.cells);
                let (y_bits, x_bits) = (_mm512_castpd_si512(y), _mm512_castpd_si512(x));
                let inside = _mm512_cmplt_epu64_mask(y_bits, end);
                if _mm512_mask_cmplt_epu64_mask(inside, x_bits, end) != 0xFF {
                    return None;
                }
            }
            // Whole numbers in the low bits.
            let (rows, columns) = (
                _mm512_add_round_pd::<DOWN>(y, rounder),
                _mm512_add_round_pd::<DOWN>(x, rounder),
            );
            let (row, column) = (
                _mm512_sub_pd(rows, rounder),
                _mm512_sub_pd(columns, rounder),
            );
            let (v, u) = (_mm512_sub_pd(y, row), _mm512_sub_pd(x, column));
            let place = _mm512_castpd_si512(_mm512_fnmadd_pd(row, self.stride, columns));
            // SAFETY: row and column are 0 to `side - 2`, the row counted from the south: so the
            // pair at `place` and the next one lie in the square.
            let four = unsafe { _mm512_i64gather_epi64::<4>(place, self.base) };
            if VOIDS && _mm512_cmpeq_epi16_mask(four, _mm512_set1_epi16(VOID)) != 0 {
                return None;
            }
            // (post & low) ^ biased
            let float =
                |post| _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0x78>(biased, post, low));
            let top = [float(four), float(_mm512_srli_epi64::<32>(four))];
            let bottom = [
                float(_mm512_srli_epi64::<16>(four)),
                float(_mm512_srli_epi64::<48>(four)),
            ];
            let along = |[west, east]: [__m512d; 2]| {
                let rise = _mm512_sub_pd(east, west);
                _mm512_fmadd_pd(rise, u, _mm512_sub_pd(west, bias))
            };
            let (top, bottom) = (along(top), along(bottom));
            Some(_mm512_fmadd_pd(_mm512_sub_pd(top, bottom), v, bottom))
        }
    }

    /// # Safety
    /// The processor has AVX-512F, BW and VL and AVX2; the three slices have one length of at
    /// least [`LANES`]; `pairs` holds `side * side` posts, `side` 2 to 4096, none void unless
    /// `VOIDS`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    pub(super) unsafe fn fill_wide<const VOIDS: bool>(
        square: Square<'_>,
        lat: &[f64],
        lon: &[f64],
        out: &mut [f64],
    ) -> usize {
        let wide = Wide::new(square);
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
            // SAFETY: the posts are those the caller vouches for.
            let Some(height) = (unsafe { wide.heights::<VOIDS, false>(y, x) }) else {
                return at;
            };
            // SAFETY: `start + LANES` is at most the length of the slice.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(start), height) };
            at = start + LANES;
        }
        at
    }

    /// # Safety
    /// As [`fill_wide`], the length of `out` being at least [`LANES`]; all of the curve lies in the
    /// square if `INSIDE`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    pub(super) unsafe fn follow<const VOIDS: bool, const DEGREE: u8, const INSIDE: bool>(
        square: Square<'_>,
        curve: &Curve,
        first: usize,
        out: &mut [f64],
        wanted: usize,
    ) -> usize {
        let wide = Wide::new(square);
        // Not by `map`, whose closures might be left out of line.
        let (mut lat, mut lon) = ([_mm512_setzero_pd(); 6], [_mm512_setzero_pd(); 6]);
        for power in 0..6 {
            lat[power] = _mm512_set1_pd(curve.lat_deg[power]);
            lon[power] = _mm512_set1_pd(curve.lon_deg[power]);
        }
        let pace = _mm512_set1_pd(curve.pace);
        let numbers = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
        let from = |start: usize| _mm512_add_pd(_mm512_set1_pd((first + start) as f64), numbers);
        let at = |c: &[__m512d; 6], t| {
            let high = match DEGREE {
                3 => c[3],
                4 => _mm512_fmadd_pd(t, c[4], c[3]),
                _ => _mm512_fmadd_pd(t, _mm512_fmadd_pd(t, c[5], c[4]), c[3]),
            };
            let high = _mm512_fmadd_pd(t, high, c[2]);
            _mm512_fmadd_pd(t, _mm512_fmadd_pd(t, high, c[1]), c[0])
        };
        let positions = |number| {
            let t = _mm512_mul_pd(number, pace);
            (at(&lat, t), at(&lon, t))
        };
        let last = out.len() - LANES;
        let mut start = 0;
        let mut number = from(0);
        while start < last.min(wanted) {
            let (y, x) = positions(number);
            number = _mm512_add_pd(number, _mm512_set1_pd(LANES as f64));
            // SAFETY: the posts are those the caller vouches for.
            let Some(height) = (unsafe { wide.heights::<VOIDS, INSIDE>(y, x) }) else {
                return start;
            };
            // SAFETY: `start + LANES` is less than the length of the slice.
            unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(start), height) };
            start += LANES;
        }
        if wanted < out.len() {
            return start;
        }
        // The last position is given.
        let (y, x) = positions(from(last));
        let (end_lat, end_lon) = (
            _mm512_set1_pd(curve.end_deg[0]),
            _mm512_set1_pd(curve.end_deg[1]),
        );
        let (y, x) = (
            _mm512_mask_mov_pd(y, 0x80, end_lat),
            _mm512_mask_mov_pd(x, 0x80, end_lon),
        );
        // SAFETY: likewise.
        let Some(height) = (unsafe { wide.heights::<VOIDS, INSIDE>(y, x) }) else {
            return start;
        };
        // SAFETY: `last + LANES` is the length of the slice.
        unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(last), height) };
        out.len()
    }

    /// # Safety
    /// As [`fill_wide`], with AVX2 alone.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn fill_narrow(
        square: Square<'_>,
        lat: &[f64],
        lon: &[f64],
        out: &mut [f64],
    ) -> usize {
        const HALF: usize = LANES / 2;
        let Square {
            pairs,
            side,
            south_deg,
            west_deg,
            ..
        } = square;
        let edge = |deg: f64| _mm256_set1_pd(-deg * (side - 1) as f64);
        let (south, west) = (edge(south_deg), edge(west_deg));
        let cells = _mm256_set1_pd((side - 1) as f64);
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
            let y = _mm256_fmadd_pd(y, cells, south);
            let x = _mm256_fmadd_pd(x, cells, west);
            let row = _mm256_cvttpd_epi32(_mm256_floor_pd(y));
            let column = _mm256_cvttpd_epi32(_mm256_floor_pd(x));
            // What is no number becomes the least of all.
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
            // SAFETY: as in `fill_wide`.
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
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Both widths against the arithmetic they stand for.
    #[test]
    #[expect(unsafe_code, reason = "calls both widths where the processor has them")]
    fn every_width_gives_the_same_bits() {
        let side = 61_usize;
        let posts: Vec<i16> = (0..side * side)
            .map(|i| (i * 7919 % 30_011) as i16 - 9_000)
            .collect();
        let pairs: Vec<[i16; 2]> = (0..side * (side - 1))
            .map(|i| [posts[i], posts[i + side]])
            .collect();
        let square = Square {
            pairs: &pairs,
            side,
            south_deg: -3.0,
            west_deg: 7.0,
            has_voids: false,
        };
        let lat: Vec<f64> = (0..77)
            .map(|k| -3.0 + f64::from(k * 37 % 77) / 77.0)
            .collect();
        let lon: Vec<f64> = (0..77)
            .map(|k| 7.0 + f64::from(k * 53 % 77) / 77.0)
            .collect();
        let want: Vec<f64> = lat
            .iter()
            .zip(&lon)
            .map(|(lat, lon)| {
                let (y, x) = ((lat + 3.0) * 60.0, (lon - 7.0) * 60.0);
                let (row, column) = (y.floor(), x.floor());
                let post = |up: usize, right: usize| {
                    f64::from(posts[(60 - row as usize - up) * side + column as usize + right])
                };
                let along = |up| f64::mul_add(post(up, 1) - post(up, 0), x - column, post(up, 0));
                f64::mul_add(along(1) - along(0), y - row, along(0))
            })
            .collect();
        let mut out = vec![0.0; 77];
        let has_fma = std::arch::is_x86_feature_detected!("fma");
        if has_fma && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: AVX2 and FMA were found; the slices have one length, the posts are a square.
            assert_eq!(
                unsafe { x86::fill_narrow(square, &lat, &lon, &mut out) },
                77
            );
            assert_eq!(out, want);
        }
        if is_wide() {
            for voids in [false, true] {
                out.fill(0.0);
                // SAFETY: likewise with AVX-512.
                let filled = unsafe {
                    if voids {
                        x86::fill_wide::<true>(square, &lat, &lon, &mut out)
                    } else {
                        x86::fill_wide::<false>(square, &lat, &lon, &mut out)
                    }
                };
                assert_eq!(filled, 77);
                assert_eq!(out, want);
            }
        }
    }
}
