//! Bilinear heights in vectors of four, for processors with AVX2.

use std::arch::x86_64::*;

use super::VOID;
use super::{LANES, Square, Track};

/// Positions in a vector.
const HALF: usize = LANES / 2;

/// 1.5 * 2^52: adding it to a small number leaves a whole one in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Bits of 2^52 + 2^15: those of a post, its sign turned round, make them the float that is
/// greater by its height.
const BIASED: i64 = 0x4330_0000_0000_8000;

/// Quantities common to all positions in a square, in vectors.
struct Narrow {
    /// Posts in a unit of positions.
    scale: __m256d,
    /// Less the southern edge, in posts.
    south: __m256d,
    /// Less the western edge, in posts.
    west: __m256d,
    cells: __m256d,
    stride: __m256d,
    /// Start of the southernmost row, less the bits of `ROUNDER`.
    base: *const u8,
}

impl Narrow {
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn new(square: Square<'_>) -> Self {
        let Square {
            pairs, side, scale, ..
        } = square;
        // Places are found with the bits of `ROUNDER` in front.
        let far = (ROUNDER.to_bits() as usize).wrapping_mul(4);
        let southern = pairs.as_ptr().wrapping_add((side - 2) * side);
        Self {
            scale: _mm256_set1_pd(scale),
            south: _mm256_set1_pd(-square.south * scale),
            west: _mm256_set1_pd(-square.west * scale),
            cells: _mm256_set1_pd((side - 1) as f64),
            stride: _mm256_set1_pd(side as f64),
            base: southern.wrapping_byte_sub(far).cast(),
        }
    }

    /// Positions in posts from the south-western corner.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn in_posts(&self, [north, east]: [__m256d; 2]) -> [__m256d; 2] {
        [
            _mm256_fmadd_pd(north, self.scale, self.south),
            _mm256_fmadd_pd(east, self.scale, self.west),
        ]
    }

    /// The posts around positions in posts from the south-western corner; none where any lies
    /// outside the square or finds a void.
    ///
    /// # Safety
    /// The square this was made of is there: pairs of `side * side` posts, `side` 2 to 4096,
    /// none void unless `VOIDS`; all positions lie in it if `INSIDE`.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn posts<const VOIDS: bool, const INSIDE: bool>(
        &self,
        [y, x]: [__m256d; 2],
    ) -> Option<Posts> {
        if !INSIDE {
            let from = _mm256_setzero_pd();
            // What is no number is in no order.
            let within = |at| {
                _mm256_and_pd(
                    _mm256_cmp_pd::<_CMP_GE_OQ>(at, from),
                    _mm256_cmp_pd::<_CMP_LT_OQ>(at, self.cells),
                )
            };
            if _mm256_movemask_pd(_mm256_and_pd(within(y), within(x))) != 0xF {
                return None;
            }
        }
        let (row, column) = (_mm256_floor_pd(y), _mm256_floor_pd(x));
        let (v, u) = (_mm256_sub_pd(y, row), _mm256_sub_pd(x, column));
        // Whole numbers in the low bits.
        let columns = _mm256_add_pd(column, _mm256_set1_pd(ROUNDER));
        let place = _mm256_castpd_si256(_mm256_fnmadd_pd(row, self.stride, columns));
        let (low, high) = (
            _mm256_castsi256_si128(place),
            _mm256_extracti128_si256::<1>(place),
        );
        // One by one: many processors take longer for a gather of four.
        let four = |place: i64| {
            let place = (place as usize).wrapping_mul(4);
            // SAFETY: row and column are 0 to `side - 2`, the row counted from the south: so the
            // pair at the place and the next one lie in the square.
            unsafe { self.base.wrapping_add(place).cast::<i64>().read_unaligned() }
        };
        let four = _mm256_setr_epi64x(
            four(_mm_cvtsi128_si64(low)),
            four(_mm_extract_epi64::<1>(low)),
            four(_mm_cvtsi128_si64(high)),
            four(_mm_extract_epi64::<1>(high)),
        );
        if VOIDS {
            let voids = _mm256_cmpeq_epi16(four, _mm256_set1_epi16(VOID));
            if _mm256_testz_si256(voids, voids) == 0 {
                return None;
            }
        }
        Some(Posts { four, v, u })
    }
}

/// Four posts around each of four positions, and the shares of the way northwards and eastwards
/// between them.
struct Posts {
    four: __m256i,
    v: __m256d,
    u: __m256d,
}

impl Posts {
    /// The heights there.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn between(self) -> __m256d {
        let Self { four, v, u } = self;
        let (low, biased) = (_mm256_set1_epi64x(0xFFFF), _mm256_set1_epi64x(BIASED));
        let bias = _mm256_set1_pd(f64::from_bits(BIASED as u64));
        let float = |post| {
            let bits = _mm256_xor_si256(_mm256_and_si256(post, low), biased);
            _mm256_castsi256_pd(bits)
        };
        let top = [float(four), float(_mm256_srli_epi64::<32>(four))];
        let bottom = [
            float(_mm256_srli_epi64::<16>(four)),
            float(_mm256_srli_epi64::<48>(four)),
        ];
        let along = |[west, east]: [__m256d; 2]| {
            let rise = _mm256_sub_pd(east, west);
            _mm256_fmadd_pd(rise, u, _mm256_sub_pd(west, bias))
        };
        let (top, bottom) = (along(top), along(bottom));
        _mm256_fmadd_pd(_mm256_sub_pd(top, bottom), v, bottom)
    }
}

/// # Safety
/// The processor has AVX2 and FMA; the three slices have one length of at least [`LANES`]; `pairs`
/// holds `side * side` posts, `side` 2 to 4096, none void unless `VOIDS`.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn fill<const VOIDS: bool>(
    square: Square<'_>,
    north: &[f64],
    east: &[f64],
    out: &mut [f64],
) -> usize {
    let narrow = Narrow::new(square);
    let mut at = 0;
    while at < north.len() {
        let start = at.min(north.len() - HALF);
        // SAFETY: `start + HALF` is at most the length of both slices.
        let positions = unsafe {
            [
                _mm256_loadu_pd(north.as_ptr().add(start)),
                _mm256_loadu_pd(east.as_ptr().add(start)),
            ]
        };
        // SAFETY: the posts are those the caller vouches for.
        let posts = unsafe { narrow.posts::<VOIDS, false>(narrow.in_posts(positions)) };
        let Some(posts) = posts else {
            return at;
        };
        // SAFETY: `start + HALF` is at most the length of the slice.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(start), posts.between()) };
        at = start + HALF;
    }
    at
}

/// # Safety
/// As [`fill`], the length of `out` being at least [`LANES`]; all of the track lies in the square
/// if it is one in posts, as `POSTS` says.
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn follow<const VOIDS: bool, const DEGREE: u8, const POSTS: bool>(
    square: Square<'_>,
    track: &Track,
    first: usize,
    out: &mut [f64],
    wanted: usize,
) -> usize {
    let narrow = Narrow::new(square);
    // Not by `map`, whose closures might be left out of line.
    let mut powers = [[_mm256_setzero_pd(); 6]; 2];
    for axis in 0..2 {
        for power in 0..6 {
            powers[axis][power] = _mm256_set1_pd(track.powers[axis][power]);
        }
    }
    let pace = _mm256_set1_pd(track.pace);
    let numbers = _mm256_setr_pd(0.0, 1.0, 2.0, 3.0);
    let from = |start: usize| _mm256_add_pd(_mm256_set1_pd((first + start) as f64), numbers);
    let at = |c: &[__m256d; 6], t| {
        let high = match DEGREE {
            3 => c[3],
            4 => _mm256_fmadd_pd(t, c[4], c[3]),
            _ => _mm256_fmadd_pd(t, _mm256_fmadd_pd(t, c[5], c[4]), c[3]),
        };
        let high = _mm256_fmadd_pd(t, high, c[2]);
        _mm256_fmadd_pd(t, _mm256_fmadd_pd(t, high, c[1]), c[0])
    };
    let positions = |number| {
        let t = if POSTS {
            number
        } else {
            _mm256_mul_pd(number, pace)
        };
        [at(&powers[0], t), at(&powers[1], t)]
    };
    let heights = |positions| {
        let positions = if POSTS {
            positions
        } else {
            narrow.in_posts(positions)
        };
        // SAFETY: the posts are those the caller vouches for.
        unsafe { narrow.posts::<VOIDS, POSTS>(positions) }.map(|posts| posts.between())
    };
    let last = out.len() - HALF;
    let until = last.min(wanted);
    let mut start = 0;
    let mut number = from(0);
    while start < until {
        let Some(found) = heights(positions(number)) else {
            return start;
        };
        // SAFETY: `start + HALF` is less than the length of the slice.
        unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(start), found) };
        start += HALF;
        number = _mm256_add_pd(number, _mm256_set1_pd(HALF as f64));
    }
    if wanted < out.len() {
        return start;
    }
    // The last position is given.
    let mut given = positions(from(last));
    for (axis, given) in given.iter_mut().enumerate() {
        *given = _mm256_blend_pd::<0b1000>(*given, _mm256_set1_pd(track.end[axis]));
    }
    let Some(found) = heights(given) else {
        return start;
    };
    // SAFETY: `last + HALF` is the length of the slice.
    unsafe { _mm256_storeu_pd(out.as_mut_ptr().add(last), found) };
    out.len()
}
