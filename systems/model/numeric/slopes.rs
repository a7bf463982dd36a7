//! Slopes towards the points of a row, fast and nearly right.

/// Points of a block.
pub(crate) const BLOCK: usize = 64;

/// Most blocks.
pub(crate) const BLOCKS: usize = 16;

/// The slope towards point `i` is `(height - base) * inverse - fall - i * fall_step`, `inverse`
/// being the reciprocal of its distance. In which order that is rounded depends on the processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slopes<'a> {
    /// Height of the eye.
    pub base: f64,
    /// Offset subtracted at the first point.
    pub fall: f64,
    /// Increment of the offset at each next point.
    pub fall_step: f64,
    /// Reciprocals of the distances, for every point.
    pub inverse: &'a [f64],
}

/// The first point of a block of a row of `count` points; the last block overlaps the one before.
#[inline(always)]
pub(crate) fn start(block: usize, count: usize) -> usize {
    (block * BLOCK).min(count - BLOCK)
}

impl Slopes<'_> {
    /// Slopes towards the points of the block from `at` on.
    #[inline(always)]
    fn of_block(&self, heights: &[f64], at: usize) -> [f64; BLOCK] {
        let heights = heights[at..].first_chunk::<BLOCK>().expect("a block");
        let inverse = self.inverse[at..].first_chunk::<BLOCK>().expect("a block");
        let first = f64::from(at as i32);
        let mut slopes = [0.0; BLOCK];
        for index in 0..BLOCK {
            let fall = self.fall + self.fall_step * (first + f64::from(index as i32));
            slopes[index] = (heights[index] - self.base) * inverse[index] - fall;
        }
        slopes
    }
}

/// The greatest slope in each block, for two eyes that look at each other: what is taken off for
/// one grows by as much as it shrinks for the other. A row has a block or more, and [`BLOCKS`] at
/// most. What there is no block for is minus infinity.
#[inline(always)]
pub(crate) fn greatest(of: &[Slopes<'_>; 2], heights: &[f64]) -> [[f64; BLOCKS]; 2] {
    let count = heights.len();
    assert!((BLOCK..=BLOCK * BLOCKS).contains(&count), "whole blocks");
    assert!(of.iter().all(|of| of.inverse.len() >= count));
    debug_assert_eq!(of[0].fall_step, -of[1].fall_step);
    let mut highest = [[f64::NEG_INFINITY; BLOCKS]; 2];
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        unsafe {
            x86::greatest(of, heights, &mut highest);
        }
        return highest;
    }
    for (of, highest) in of.iter().zip(&mut highest) {
        for block in 0..count.div_ceil(BLOCK) {
            let at = start(block, count);
            let slopes = of.of_block(heights, at);
            highest[block] = super::maximum(&slopes);
        }
    }
    highest
}

/// Bit mask of the blocks whose slope in `highest` reaches `least`.
#[inline(always)]
pub(crate) fn blocks_reaching(highest: &[f64; BLOCKS], least: f64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::blocks_reaching(highest, least) };
    }
    let mut found = 0;
    for (block, highest) in highest.iter().enumerate() {
        found |= u32::from(*highest >= least) << block;
    }
    found
}

/// Bit mask of the points of the block from `at` on whose slope reaches `least`.
#[inline(always)]
pub(crate) fn reaching(of: &Slopes<'_>, heights: &[f64], at: usize, least: f64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        let heights = heights[at..].first_chunk::<BLOCK>().expect("a block");
        let inverse = of.inverse[at..].first_chunk::<BLOCK>().expect("a block");
        let fall = of.fall + of.fall_step * at as f64;
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::reaching(of, heights, inverse, fall, least) };
    }
    let slopes = of.of_block(heights, at);
    let mut found = 0;
    for index in 0..BLOCK {
        found |= u64::from(slopes[index] >= least) << index;
    }
    found
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, BLOCKS, Slopes, start};

    const LANES: usize = 8;

    /// The numbers of eight places.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn numbers() -> __m512d {
        _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(values: &[f64; LANES]) -> __m512d {
        // SAFETY: an array of eight.
        #[expect(unsafe_code, reason = "a vector load by address")]
        unsafe {
            _mm512_loadu_pd(values.as_ptr())
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn greatest(
        of: &[Slopes<'_>; 2],
        heights: &[f64],
        highest: &mut [[f64; BLOCKS]; 2],
    ) {
        let count = heights.len();
        let blocks = count.div_ceil(BLOCK);
        let base = [_mm512_set1_pd(of[0].base), _mm512_set1_pd(of[1].base)];
        let step = _mm512_set1_pd(of[0].fall_step * LANES as f64);
        let each = _mm512_set1_pd(of[0].fall_step);
        let both = _mm512_set1_pd(of[0].fall + of[1].fall);
        for eight in 0..blocks.div_ceil(LANES) {
            let mut most = [[_mm512_set1_pd(f64::NEG_INFINITY); LANES]; 2];
            for place in 0..(blocks - eight * LANES).min(LANES) {
                let at = start(eight * LANES + place, count);
                let first = _mm512_set1_pd(of[0].fall + of[0].fall_step * at as f64);
                let mut fall = _mm512_fmadd_pd(numbers(), each, first);
                let whole = |row: &[f64]| row[at..at + BLOCK].as_chunks::<LANES>().0.as_ptr();
                let (row, near, far) = (whole(heights), whole(of[0].inverse), whole(of[1].inverse));
                let (mut one, mut two) = (most[0][place], most[1][place]);
                for vector in 0..BLOCK / LANES {
                    // SAFETY: a block has so many eights.
                    #[expect(unsafe_code, reason = "vectors by their number")]
                    let (height, near, far) = unsafe {
                        (
                            load(&*row.add(vector)),
                            load(&*near.add(vector)),
                            load(&*far.add(vector)),
                        )
                    };
                    let out = _mm512_sub_pd(height, base[0]);
                    let back = _mm512_sub_pd(height, base[1]);
                    one = _mm512_max_pd(_mm512_fmsub_pd(out, near, fall), one);
                    // The fall of the other is `both` less this one; the constant is subtracted
                    // below.
                    two = _mm512_max_pd(_mm512_fmadd_pd(back, far, fall), two);
                    fall = _mm512_add_pd(fall, step);
                }
                (most[0][place], most[1][place]) = (one, two);
            }
            let taken = [_mm512_setzero_pd(), both];
            for eye in 0..2 {
                let found = _mm512_sub_pd(maxima(&most[eye]), taken[eye]);
                let highest = &mut highest[eye].as_chunks_mut::<LANES>().0[eight];
                // SAFETY: an array of eight.
                #[expect(unsafe_code, reason = "a vector store by address")]
                unsafe {
                    _mm512_storeu_pd(highest.as_mut_ptr(), found);
                }
            }
        }
    }

    /// The greatest number of each of eight vectors.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn maxima(of: &[__m512d; LANES]) -> __m512d {
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

    #[target_feature(enable = "avx512f")]
    pub(super) fn blocks_reaching(highest: &[f64; BLOCKS], least: f64) -> u32 {
        let least = _mm512_set1_pd(least);
        let mut found = 0;
        for (number, highest) in highest.as_chunks().0.iter().enumerate() {
            let reach = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(load(highest), least);
            found |= u32::from(reach) << (LANES * number);
        }
        found
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn reaching(
        of: &Slopes<'_>,
        heights: &[f64; BLOCK],
        inverse: &[f64; BLOCK],
        fall: f64,
        least: f64,
    ) -> u64 {
        let (base, least) = (_mm512_set1_pd(of.base), _mm512_set1_pd(least));
        let step = _mm512_set1_pd(of.fall_step * LANES as f64);
        let first = _mm512_set1_pd(fall);
        let mut fall = _mm512_fmadd_pd(numbers(), _mm512_set1_pd(of.fall_step), first);
        let mut found = 0;
        let vectors = heights.as_chunks().0.iter().zip(inverse.as_chunks().0);
        for (number, (height, inverse)) in vectors.enumerate() {
            let rise = _mm512_sub_pd(load(height), base);
            let slopes = _mm512_fmsub_pd(rise, load(inverse), fall);
            fall = _mm512_add_pd(fall, step);
            let reach = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(slopes, least);
            found |= u64::from(reach) << (LANES * number);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_every_width_are_those_of_the_formula() {
        for count in [64_usize, 65, 200, 1024] {
            let heights: Vec<f64> = (0..count).map(|i| (i * 37 % 641) as f64 * 1.1).collect();
            let outwards: Vec<f64> = (0..count).map(|i| 1.0 / (i + 1) as f64).collect();
            let inwards: Vec<f64> = outwards.iter().rev().copied().collect();
            let of = [(1.0, 1.0, &outwards), (count as f64, -1.0, &inwards)];
            let of = of.map(|(first, step, inverse)| Slopes {
                base: 250.0,
                fall: 5.4e-4 * first,
                fall_step: 5.4e-4 * step,
                inverse,
            });
            let both = greatest(&of, &heights);
            for (of, highest) in of.iter().zip(&both) {
                let least = highest[0].min(highest[count.div_ceil(BLOCK) - 1]);
                let bit = |bits, block: usize| bits | u32::from(highest[block] >= least) << block;
                assert_eq!(blocks_reaching(highest, least), (0..BLOCKS).fold(0, bit));
                for block in 0..BLOCKS {
                    if block >= count.div_ceil(BLOCK) {
                        assert_eq!(highest[block], f64::NEG_INFINITY);
                        continue;
                    }
                    let at = start(block, count);
                    let slopes = of.of_block(&heights, at);
                    let slope = |i: usize| slopes[i];
                    let want = (0..BLOCK).map(slope).fold(f64::NEG_INFINITY, f64::max);
                    assert!((highest[block] - want).abs() < 1e-12, "{block} of {count}");
                    for least in [want - 1e-9, want + 1e-9, 0.5 * want, -1.0, 900.0] {
                        let bit = |bits, i| bits | u64::from(slope(i) >= least) << i;
                        let bits = (0..BLOCK).fold(0, bit);
                        assert_eq!(reaching(of, &heights, at, least), bits);
                    }
                }
            }
        }
    }
}
