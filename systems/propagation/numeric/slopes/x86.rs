//! Slopes towards the points of a row, in vectors.

use std::arch::x86_64::*;

use super::{BLOCK, BLOCKS, Slopes, start};

/// `a * b + c` in two roundings: one gives other bits where a processor lacks it.
macro_rules! multiply_add {
    ($a:expr, $b:expr, $c:expr) => {
        add(mul($a, $b), $c)
    };
}

/// `a * b - c` in two roundings.
macro_rules! multiply_sub {
    ($a:expr, $b:expr, $c:expr) => {
        sub(mul($a, $b), $c)
    };
}

/// The functions of [`super`], with vectors of the module around them: a `Vector` of `LANES` numbers,
/// `all` of one, `numbers` from 0 on, loads, stores and arithmetic, bits of the places that `reach` a
/// limit, and the `maxima` of `LANES` vectors.
macro_rules! slopes {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        #[inline]
        fn load(values: &[f64; LANES]) -> Vector {
            // SAFETY: an array of as many.
            #[expect(unsafe_code, reason = "a vector load by address")]
            unsafe {
                loadu(values.as_ptr())
            }
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn store(values: &mut [f64; LANES], vector: Vector) {
            // SAFETY: an array of as many.
            #[expect(unsafe_code, reason = "a vector store by address")]
            unsafe {
                storeu(values.as_mut_ptr(), vector);
            }
        }

        #[target_feature(enable = $features)]
        pub(in super::super) fn greatest(
            of: &[Slopes<'_>; 2],
            heights: &[f64],
        ) -> [[f64; BLOCKS]; 2] {
            let mut highest = [[f64::NEG_INFINITY; BLOCKS]; 2];
            let count = heights.len();
            let blocks = count.div_ceil(BLOCK);
            let base = [all(of[0].base), all(of[1].base)];
            let step = all(of[0].fall_step * LANES as f64);
            let each = all(of[0].fall_step);
            let both = all(of[0].fall + of[1].fall);
            for part in 0..blocks.div_ceil(LANES) {
                let mut most = [[all(f64::NEG_INFINITY); LANES]; 2];
                for place in 0..(blocks - part * LANES).min(LANES) {
                    let at = start(part * LANES + place, count);
                    let first = all(of[0].fall + of[0].fall_step * at as f64);
                    let mut fall = multiply_add!(numbers(), each, first);
                    let whole = |row: &[f64]| row[at..at + BLOCK].as_chunks::<LANES>().0.as_ptr();
                    let (row, near, far) =
                        (whole(heights), whole(of[0].inverse), whole(of[1].inverse));
                    let (mut one, mut two) = (most[0][place], most[1][place]);
                    for vector in 0..BLOCK / LANES {
                        // SAFETY: a block has so many vectors.
                        #[expect(unsafe_code, reason = "vectors by their number")]
                        let (height, near, far) = unsafe {
                            (
                                load(&*row.add(vector)),
                                load(&*near.add(vector)),
                                load(&*far.add(vector)),
                            )
                        };
                        let (out, back) = (sub(height, base[0]), sub(height, base[1]));
                        one = max(multiply_sub!(out, near, fall), one);
                        // The fall of the other is `both` less this one; the constant is subtracted
                        // below.
                        two = max(multiply_add!(back, far, fall), two);
                        fall = add(fall, step);
                    }
                    (most[0][place], most[1][place]) = (one, two);
                }
                let offsets = [all(0.0), both];
                for eye in 0..2 {
                    let highest = &mut highest[eye].as_chunks_mut::<LANES>().0[part];
                    store(highest, sub(maxima(&most[eye]), offsets[eye]));
                }
            }
            highest
        }

        #[target_feature(enable = $features)]
        #[inline]
        pub(in super::super) fn blocks_reaching(highest: &[f64; BLOCKS], least: f64) -> u32 {
            let least = all(least);
            let mut mask = 0;
            for (number, highest) in highest.as_chunks().0.iter().enumerate() {
                mask |= u32::from(reach(load(highest), least)) << (LANES * number);
            }
            mask
        }

        #[target_feature(enable = $features)]
        #[inline]
        pub(in super::super) fn reaching(
            of: &Slopes<'_>,
            heights: &[f64],
            at: usize,
            least: f64,
        ) -> u64 {
            let heights = heights[at..].first_chunk::<BLOCK>().expect("a block");
            let inverse = of.inverse[at..].first_chunk::<BLOCK>().expect("a block");
            let fall = of.fall + of.fall_step * at as f64;
            let (base, least) = (all(of.base), all(least));
            let step = all(of.fall_step * LANES as f64);
            let mut fall = multiply_add!(numbers(), all(of.fall_step), all(fall));
            let mut mask = 0;
            let vectors = heights.as_chunks().0.iter().zip(inverse.as_chunks().0);
            for (number, (height, inverse)) in vectors.enumerate() {
                let slopes = multiply_sub!(sub(load(height), base), load(inverse), fall);
                fall = add(fall, step);
                mask |= u64::from(reach(slopes, least)) << (LANES * number);
            }
            mask
        }
    };
}

/// With AVX-512 F.
pub(super) mod wide {
    use std::arch::x86_64::{
        _mm512_add_pd as add, _mm512_loadu_pd as loadu, _mm512_max_pd as max, _mm512_mul_pd as mul,
        _mm512_set1_pd as all, _mm512_storeu_pd as storeu, _mm512_sub_pd as sub,
    };

    use super::*;

    const LANES: usize = 8;

    type Vector = __m512d;

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn numbers() -> Vector {
        _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn reach(values: Vector, least: Vector) -> u8 {
        _mm512_cmp_pd_mask::<_CMP_GE_OQ>(values, least)
    }

    /// The greatest number of each of eight vectors.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn maxima(of: &[Vector; LANES]) -> Vector {
        let pair = |one, two| {
            let (even, odd) = (_mm512_unpacklo_pd(one, two), _mm512_unpackhi_pd(one, two));
            _mm512_max_pd(even, odd)
        };
        let join = |one, two| {
            _mm512_max_pd(
                _mm512_shuffle_f64x2::<0x88>(one, two),
                _mm512_shuffle_f64x2::<0xDD>(one, two),
            )
        };
        let [a, b, c, d, e, f, g, h] = *of;
        let (low, high) = (join(pair(a, b), pair(c, d)), join(pair(e, f), pair(g, h)));
        join(low, high)
    }

    slopes!("avx512f");
}

/// With AVX2.
pub(super) mod narrow {
    use std::arch::x86_64::{
        _mm256_add_pd as add, _mm256_loadu_pd as loadu, _mm256_max_pd as max, _mm256_mul_pd as mul,
        _mm256_set1_pd as all, _mm256_storeu_pd as storeu, _mm256_sub_pd as sub,
    };

    use super::*;

    const LANES: usize = 4;

    type Vector = __m256d;

    #[target_feature(enable = "avx2")]
    #[inline]
    fn numbers() -> Vector {
        _mm256_setr_pd(0.0, 1.0, 2.0, 3.0)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn reach(values: Vector, least: Vector) -> u8 {
        _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(values, least)) as u8
    }

    /// The greatest number of each of four vectors.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn maxima(of: &[Vector; LANES]) -> Vector {
        let pair =
            |one, two| _mm256_max_pd(_mm256_unpacklo_pd(one, two), _mm256_unpackhi_pd(one, two));
        let [a, b, c, d] = *of;
        let (low, high) = (pair(a, b), pair(c, d));
        _mm256_max_pd(
            _mm256_permute2f128_pd::<0x20>(low, high),
            _mm256_permute2f128_pd::<0x31>(low, high),
        )
    }

    slopes!("avx2");
}
