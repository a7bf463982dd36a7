//! Bilinear heights in vectors of four or eight.

use std::arch::x86_64::*;

use super::ring::{COMPUTED, FETCHED, Ring, Slot, fetch};
use super::{LANES, Square, Track, VOID};

/// 1.5 * 2^52: adding it to a small number leaves a whole one in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Bits of 2^52 + 2^15: those of a post, its sign turned round, make them the float that is
/// greater by its height.
const BIASED: i64 = 0x4330_0000_0000_8000;

/// `a * b + c` in two roundings: one gives other bits where a processor lacks it.
macro_rules! multiply_add {
    ($a:expr, $b:expr, $c:expr) => {
        add(mul($a, $b), $c)
    };
}

/// The functions of [`super`], with vectors of the module around them: a `Vector` of `WIDTH` numbers and
/// the `Bits` of one; `all` of one number, `numbers` from 0 on, loads, stores and arithmetic; numbers rounded
/// `down`, also with `ROUNDER` added; tests for positions `within` a limit and for `any_void` among posts;
/// `shifted` bits, and the `float` of the post in the lowest ones; a vector that ends `with_last`.
macro_rules! heights {
    ($features:literal) => {
        /// Vectors of a block.
        const VECTORS: usize = LANES / WIDTH;

        /// Positions of a block, northwards and eastwards.
        type Positions = [[Vector; VECTORS]; 2];

        /// A square of posts, and its quantities in vectors.
        struct Posts {
            /// Posts in a unit of positions.
            scale: Vector,
            /// Southern and western edge. Positions of a tile less its edge are exact.
            corner: [Vector; 2],
            cells: Vector,
            stride: Vector,
            /// Start of the southernmost row.
            southern: *const [i16; 2],
        }

        impl Posts {
            #[target_feature(enable = $features)]
            #[inline]
            fn new(square: Square<'_>) -> Self {
                let Square { side, scale, .. } = square;
                Self {
                    scale: all(scale),
                    corner: [all(square.south), all(square.west)],
                    cells: all((side - 1) as f64),
                    stride: all(side as f64),
                    southern: square.pairs.as_ptr().wrapping_add((side - 2) * side),
                }
            }

            /// Positions in posts from the south-western corner.
            #[target_feature(enable = $features)]
            #[inline]
            fn in_posts(&self, mut positions: Positions) -> Positions {
                for (axis, corner) in positions.iter_mut().zip(self.corner) {
                    for position in axis {
                        *position = mul(sub(*position, corner), self.scale);
                    }
                }
                positions
            }

            /// Places a block of positions in posts; not where any lies outside the square, unless all
            /// are known to lie `INSIDE`.
            ///
            /// # Safety
            /// The address of a slot.
            #[target_feature(enable = $features)]
            #[inline]
            unsafe fn place<const INSIDE: bool>(
                &self,
                [north, east]: Positions,
                slot: *mut Slot,
            ) -> bool {
                for vector in 0..VECTORS {
                    let (y, x) = (north[vector], east[vector]);
                    if !INSIDE && !within(y, x, self.cells) {
                        return false;
                    }
                    let ([row, _], [column, columns]) = (down(y), down(x));
                    // SAFETY: so many vectors are a block.
                    unsafe {
                        let at = |block: *mut [f64; LANES]| block.cast::<f64>().add(vector * WIDTH);
                        // The row is counted from the south.
                        let places = sub(columns, mul(row, self.stride));
                        storeu(at(&raw mut (*slot).places), places);
                        storeu(at(&raw mut (*slot).v), sub(y, row));
                        storeu(at(&raw mut (*slot).u), sub(x, column));
                    }
                }
                true
            }

            /// Fills heights block by block from the first place on, up to the first block that has a
            /// position outside the square or finds a void: of `blocks`, each at the `next` positions
            /// in posts. The last ends with `out`, if it would end after it. How many blocks it filled.
            ///
            /// # Safety
            /// The square this was made of is there: pairs of `side * side` posts, `side` 2 to 4096,
            /// none void unless `VOIDS`; all positions lie in it if `INSIDE`; `out` is a block or more.
            #[target_feature(enable = $features)]
            #[inline]
            unsafe fn fill<const VOIDS: bool, const INSIDE: bool>(
                &self,
                mut blocks: usize,
                mut next: impl FnMut() -> Positions,
                out: &mut [f64],
            ) -> usize {
                let last = out.len() - LANES;
                let mut ring = Ring::new();
                let mut step = 0;
                while step < blocks + COMPUTED {
                    // SAFETY: a slot is placed, then fetched, then computed; places lie in the square: the
                    // row is 0 to `side - 2`, counted from the south, as is the column.
                    unsafe {
                        if step < blocks && !self.place::<INSIDE>(next(), ring.slot(step)) {
                            blocks = step;
                        }
                        if (FETCHED..blocks + FETCHED).contains(&step) {
                            fetch(ring.slot(step - FETCHED), self.southern);
                        }
                        if (COMPUTED..blocks + COMPUTED).contains(&step) {
                            let block = step - COMPUTED;
                            let out = out.as_mut_ptr().add((block * LANES).min(last));
                            if !compute::<VOIDS>(ring.slot(block), out) {
                                return block;
                            }
                        }
                    }
                    step += 1;
                }
                blocks
            }
        }

        /// Computes the heights of a fetched block into `LANES` places; not all of them where a post is a
        /// void.
        ///
        /// # Safety
        /// The addresses of a slot that is fetched and of so many places.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn compute<const VOIDS: bool>(slot: *const Slot, out: *mut f64) -> bool {
            for vector in 0..VECTORS {
                // SAFETY: so many vectors are a block.
                unsafe {
                    let at = |block: *const [f64; LANES]| block.cast::<f64>().add(vector * WIDTH);
                    let four =
                        load_bits((&raw const (*slot).four).cast::<i64>().add(vector * WIDTH));
                    if VOIDS && any_void(four) {
                        return false;
                    }
                    let (v, u) = (loadu(at(&raw const (*slot).v)), loadu(at(&raw const (*slot).u)));
                    storeu(out.add(vector * WIDTH), between(four, v, u));
                }
            }
            true
        }

        /// Heights between four posts.
        #[target_feature(enable = $features)]
        #[inline]
        fn between(four: Bits, v: Vector, u: Vector) -> Vector {
            let bias = all(f64::from_bits(BIASED as u64));
            let top = [float(four), float(shifted::<32>(four))];
            let bottom = [float(shifted::<16>(four)), float(shifted::<48>(four))];
            let along =
                |[west, east]: [Vector; 2]| multiply_add!(sub(east, west), u, sub(west, bias));
            let (top, bottom) = (along(top), along(bottom));
            multiply_add!(sub(top, bottom), v, bottom)
        }

        /// # Safety
        /// The processor has the features; the three slices have one length of at least [`LANES`];
        /// `pairs` holds `side * side` posts, `side` 2 to 4096, none void unless `VOIDS`.
        #[target_feature(enable = $features)]
        pub(in super::super) unsafe fn fill<const VOIDS: bool>(
            square: Square<'_>,
            north: &[f64],
            east: &[f64],
            out: &mut [f64],
        ) -> usize {
            let posts = Posts::new(square);
            let last = out.len() - LANES;
            let mut start = 0;
            let next = || {
                let mut positions = [[all(0.0); VECTORS]; 2];
                for (positions, from) in positions.iter_mut().zip([north, east]) {
                    for (vector, positions) in positions.iter_mut().enumerate() {
                        // SAFETY: a block from the start on lies in both slices.
                        *positions = unsafe { loadu(from.as_ptr().add(start + vector * WIDTH)) };
                    }
                }
                start = (start + LANES).min(last);
                posts.in_posts(positions)
            };
            // SAFETY: the posts are those the caller vouches for.
            let blocks =
                unsafe { posts.fill::<VOIDS, false>(out.len().div_ceil(LANES), next, out) };
            out.len().min(blocks * LANES)
        }

        /// # Safety
        /// As [`fill`], the length of `out` being at least [`LANES`]; all of the track lies in the
        /// square if it is one in posts (`POSTS`).
        #[target_feature(enable = $features)]
        pub(in super::super) unsafe fn follow<
            const VOIDS: bool,
            const DEGREE: u8,
            const POSTS: bool,
        >(
            square: Square<'_>,
            track: &Track,
            first: usize,
            out: &mut [f64],
            count: usize,
        ) -> usize {
            let posts = Posts::new(square);
            // Not by `map`, whose closures might be left out of line.
            let mut powers = [[all(0.0); 6]; 2];
            for axis in 0..2 {
                for power in 0..6 {
                    powers[axis][power] = all(track.powers[axis][power]);
                }
            }
            let pace = all(track.pace);
            let at = |c: &[Vector; 6], t| {
                let high = match DEGREE {
                    3 => c[3],
                    4 => multiply_add!(t, c[4], c[3]),
                    _ => multiply_add!(t, multiply_add!(t, c[5], c[4]), c[3]),
                };
                multiply_add!(t, multiply_add!(t, multiply_add!(t, high, c[2]), c[1]), c[0])
            };
            let from = |start: usize| add(all((first + start) as f64), numbers());
            // Positions from a number on, which is left at the next block's.
            let block = |number: &mut Vector| {
                let mut positions = [[all(0.0); VECTORS]; 2];
                for vector in 0..VECTORS {
                    let t = if POSTS { *number } else { mul(*number, pace) };
                    for axis in 0..2 {
                        positions[axis][vector] = at(&powers[axis], t);
                    }
                    *number = add(*number, all(WIDTH as f64));
                }
                positions
            };
            let in_posts = |positions| {
                if POSTS { positions } else { posts.in_posts(positions) }
            };
            let last = out.len() - LANES;
            let blocks = last.min(count).div_ceil(LANES);
            let mut number = from(0);
            // SAFETY: the posts are those the caller vouches for.
            let complete =
                unsafe { posts.fill::<VOIDS, POSTS>(blocks, || in_posts(block(&mut number)), out) };
            if complete < blocks || count < out.len() {
                return complete * LANES;
            }
            // The last position is given.
            let mut end_block = block(&mut from(last));
            for axis in 0..2 {
                let end = &mut end_block[axis][VECTORS - 1];
                *end = with_last(*end, all(track.end[axis]));
            }
            // SAFETY: likewise.
            match unsafe { posts.fill::<VOIDS, POSTS>(1, || in_posts(end_block), &mut out[last..]) }
            {
                0 => complete * LANES,
                _ => out.len(),
            }
        }
    };
}

/// With AVX-512 F, BW and VL.
pub(super) mod wide {
    use std::arch::x86_64::{
        _mm512_add_pd as add, _mm512_loadu_pd as loadu, _mm512_mul_pd as mul,
        _mm512_set1_pd as all, _mm512_srli_epi64 as shifted, _mm512_storeu_pd as storeu,
        _mm512_sub_pd as sub,
    };

    use super::*;

    const WIDTH: usize = 8;

    type Vector = __m512d;

    type Bits = __m512i;

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn numbers() -> Vector {
        _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load_bits(from: *const i64) -> Bits {
        // SAFETY: as the caller guarantees.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn down(at: Vector) -> [Vector; 2] {
        const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
        let rounded = _mm512_add_round_pd::<DOWN>(at, all(ROUNDER));
        [sub(rounded, all(ROUNDER)), rounded]
    }

    /// True if all are 0 or more and less than the limit: as whole numbers the bits of floats keep their
    /// order; those of what is negative or no number are larger than all others.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn within(y: Vector, x: Vector, limit: Vector) -> bool {
        let bits = |of| _mm512_castpd_si512(of);
        let inside = _mm512_cmplt_epu64_mask(bits(y), bits(limit));
        _mm512_mask_cmplt_epu64_mask(inside, bits(x), bits(limit)) == 0xFF
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn any_void(posts: Bits) -> bool {
        _mm512_cmpeq_epi16_mask(posts, _mm512_set1_epi16(VOID)) != 0
    }

    /// (post & 0xFFFF) ^ BIASED
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn float(post: Bits) -> Vector {
        let (low, biased) = (_mm512_set1_epi64(0xFFFF), _mm512_set1_epi64(BIASED));
        _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0x78>(biased, post, low))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn with_last(vector: Vector, last: Vector) -> Vector {
        _mm512_mask_mov_pd(vector, 0x80, last)
    }

    heights!("avx512f,avx512bw,avx512vl,avx2");
}

/// With AVX2.
pub(super) mod narrow {
    use std::arch::x86_64::{
        _mm256_add_pd as add, _mm256_loadu_pd as loadu, _mm256_mul_pd as mul,
        _mm256_set1_pd as all, _mm256_srli_epi64 as shifted, _mm256_storeu_pd as storeu,
        _mm256_sub_pd as sub,
    };

    use super::*;

    const WIDTH: usize = 4;

    type Vector = __m256d;

    type Bits = __m256i;

    #[target_feature(enable = "avx2")]
    #[inline]
    fn numbers() -> Vector {
        _mm256_setr_pd(0.0, 1.0, 2.0, 3.0)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn load_bits(from: *const i64) -> Bits {
        // SAFETY: as the caller guarantees.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn down(at: Vector) -> [Vector; 2] {
        let down = _mm256_floor_pd(at);
        [down, add(down, all(ROUNDER))]
    }

    /// True if all are 0 or more and less than the limit. What is no number is in no order.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn within(y: Vector, x: Vector, limit: Vector) -> bool {
        let from = _mm256_setzero_pd();
        let within = |at| {
            _mm256_and_pd(
                _mm256_cmp_pd::<_CMP_GE_OQ>(at, from),
                _mm256_cmp_pd::<_CMP_LT_OQ>(at, limit),
            )
        };
        _mm256_movemask_pd(_mm256_and_pd(within(y), within(x))) == 0xF
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn any_void(posts: Bits) -> bool {
        let voids = _mm256_cmpeq_epi16(posts, _mm256_set1_epi16(VOID));
        _mm256_testz_si256(voids, voids) == 0
    }

    /// (post & 0xFFFF) ^ BIASED
    #[target_feature(enable = "avx2")]
    #[inline]
    fn float(post: Bits) -> Vector {
        let (low, biased) = (_mm256_set1_epi64x(0xFFFF), _mm256_set1_epi64x(BIASED));
        _mm256_castsi256_pd(_mm256_xor_si256(_mm256_and_si256(post, low), biased))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn with_last(vector: Vector, last: Vector) -> Vector {
        _mm256_blend_pd::<0b1000>(vector, last)
    }

    heights!("avx2");
}
