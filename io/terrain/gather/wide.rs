//! Bilinear heights in vectors of eight, for processors with AVX-512.

use std::arch::x86_64::*;

use super::VOID;
use super::{LANES, Square, Track};

/// 1.5 * 2^52: adding it to a small number leaves a whole one in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// Bits of 2^52 + 2^15: those of a post, its sign turned round, make them the float that is
/// greater by its height.
const BIASED: i64 = 0x4330_0000_0000_8000;

/// Quantities common to all positions in a square, in vectors.
struct Wide {
    /// Posts in a unit of positions.
    scale: __m512d,
    /// Less the southern edge, in posts.
    south: __m512d,
    /// Less the western edge, in posts.
    west: __m512d,
    cells: __m512d,
    stride: __m512d,
    /// Start of the southernmost row, less the bits of `ROUNDER`.
    base: *const i64,
}

impl Wide {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    #[inline]
    fn new(square: Square<'_>) -> Self {
        let Square {
            pairs, side, scale, ..
        } = square;
        // Places are found with the bits of `ROUNDER` in front.
        let far = (ROUNDER.to_bits() as usize).wrapping_mul(4);
        let southern = pairs.as_ptr().wrapping_add((side - 2) * side);
        Self {
            scale: _mm512_set1_pd(scale),
            south: _mm512_set1_pd(-square.south * scale),
            west: _mm512_set1_pd(-square.west * scale),
            cells: _mm512_set1_pd((side - 1) as f64),
            stride: _mm512_set1_pd(side as f64),
            base: southern.wrapping_byte_sub(far).cast(),
        }
    }

    /// Heights at positions northwards and eastwards, in units of the square; none where any lies
    /// outside it or finds a void.
    ///
    /// # Safety
    /// As [`Wide::posts`].
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    #[inline]
    unsafe fn heights<const VOIDS: bool>(&self, north: __m512d, east: __m512d) -> Option<__m512d> {
        let y = _mm512_fmadd_pd(north, self.scale, self.south);
        let x = _mm512_fmadd_pd(east, self.scale, self.west);
        // SAFETY: as the caller says.
        unsafe { self.posts::<VOIDS, false>(y, x) }.map(|posts| posts.between())
    }

    /// The posts around positions in posts from the south-western corner; none where any lies
    /// outside the square or finds a void.
    ///
    /// # Safety
    /// The square this was made of is there: pairs of `side * side` posts, `side` 2 to 4096,
    /// none void unless `VOIDS`; all positions lie in it if `INSIDE`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    #[inline]
    unsafe fn posts<const VOIDS: bool, const INSIDE: bool>(
        &self,
        y: __m512d,
        x: __m512d,
    ) -> Option<Posts> {
        let rounder = _mm512_set1_pd(ROUNDER);
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
        Some(Posts { four, v, u })
    }
}

/// Four posts around each of eight positions, and the shares of the way northwards and
/// eastwards between them.
struct Posts {
    four: __m512i,
    v: __m512d,
    u: __m512d,
}

impl Posts {
    /// The heights there.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
    #[inline]
    fn between(self) -> __m512d {
        let Self { four, v, u } = self;
        let (low, biased) = (_mm512_set1_epi64(0xFFFF), _mm512_set1_epi64(BIASED));
        let bias = _mm512_set1_pd(f64::from_bits(BIASED as u64));
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
        _mm512_fmadd_pd(_mm512_sub_pd(top, bottom), v, bottom)
    }
}

/// # Safety
/// The processor has AVX-512F, BW and VL and AVX2; the three slices have one length of at
/// least [`LANES`]; `pairs` holds `side * side` posts, `side` 2 to 4096, none void unless
/// `VOIDS`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
pub(super) unsafe fn fill<const VOIDS: bool>(
    square: Square<'_>,
    north: &[f64],
    east: &[f64],
    out: &mut [f64],
) -> usize {
    let wide = Wide::new(square);
    let mut at = 0;
    while at < north.len() {
        let start = at.min(north.len() - LANES);
        // SAFETY: `start + LANES` is at most the length of both slices.
        let (y, x) = unsafe {
            (
                _mm512_loadu_pd(north.as_ptr().add(start)),
                _mm512_loadu_pd(east.as_ptr().add(start)),
            )
        };
        // SAFETY: the posts are those the caller vouches for.
        let Some(height) = (unsafe { wide.heights::<VOIDS>(y, x) }) else {
            return at;
        };
        // SAFETY: `start + LANES` is at most the length of the slice.
        unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(start), height) };
        at = start + LANES;
    }
    at
}

/// # Safety
/// As [`fill`], the length of `out` being at least [`LANES`]; all of the track lies in the square
/// if it is one in posts, as `POSTS` says.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx2,fma")]
pub(super) unsafe fn follow<const VOIDS: bool, const DEGREE: u8, const POSTS: bool>(
    square: Square<'_>,
    track: &Track,
    first: usize,
    out: &mut [f64],
    wanted: usize,
) -> usize {
    let wide = Wide::new(square);
    // Not by `map`, whose closures might be left out of line.
    let mut powers = [[_mm512_setzero_pd(); 6]; 2];
    for axis in 0..2 {
        for power in 0..6 {
            powers[axis][power] = _mm512_set1_pd(track.powers[axis][power]);
        }
    }
    let pace = _mm512_set1_pd(track.pace);
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
        let t = if POSTS {
            number
        } else {
            _mm512_mul_pd(number, pace)
        };
        (at(&powers[0], t), at(&powers[1], t))
    };
    let posts = |(north, east)| {
        let (y, x) = if POSTS {
            (north, east)
        } else {
            let y = _mm512_fmadd_pd(north, wide.scale, wide.south);
            (y, _mm512_fmadd_pd(east, wide.scale, wide.west))
        };
        // SAFETY: the posts are those the caller vouches for.
        unsafe { wide.posts::<VOIDS, POSTS>(y, x) }
    };
    let last = out.len() - LANES;
    let until = last.min(wanted);
    let mut start = 0;
    let mut number = from(0);
    let mut next = if start < until {
        posts(positions(number))
    } else {
        None
    };
    // The next posts are fetched before these are worked on: one does not wait for the other.
    while start < until {
        let Some(these) = next else {
            return start;
        };
        number = _mm512_add_pd(number, _mm512_set1_pd(LANES as f64));
        next = if start + LANES < until {
            posts(positions(number))
        } else {
            None
        };
        let height = these.between();
        // SAFETY: `start + LANES` is less than the length of the slice.
        unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(start), height) };
        start += LANES;
    }
    if wanted < out.len() {
        return start;
    }
    // The last position is given.
    let (north, east) = positions(from(last));
    let end = |axis: usize| _mm512_set1_pd(track.end[axis]);
    let given = (
        _mm512_mask_mov_pd(north, 0x80, end(0)),
        _mm512_mask_mov_pd(east, 0x80, end(1)),
    );
    let Some(these) = posts(given) else {
        return start;
    };
    let height = these.between();
    // SAFETY: `last + LANES` is the length of the slice.
    unsafe { _mm512_storeu_pd(out.as_mut_ptr().add(last), height) };
    out.len()
}
