//! Slopes towards the points of a row, fast and nearly right.

#[cfg(target_arch = "x86_64")]
mod x86;

use super::dispatch::widest;

/// Points of a block.
pub(crate) const BLOCK: usize = 64;

/// Maximum number of blocks.
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
    widest!(x86::greatest(of, heights));
    plain_greatest(of, heights)
}

#[inline(always)]
fn plain_greatest(of: &[Slopes<'_>; 2], heights: &[f64]) -> [[f64; BLOCKS]; 2] {
    let count = heights.len();
    let mut highest = [[f64::NEG_INFINITY; BLOCKS]; 2];
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
    widest!(x86::blocks_reaching(highest, least));
    plain_blocks_reaching(highest, least)
}

#[inline(always)]
fn plain_blocks_reaching(highest: &[f64; BLOCKS], least: f64) -> u32 {
    let mut mask = 0;
    for (block, highest) in highest.iter().enumerate() {
        mask |= u32::from(*highest >= least) << block;
    }
    mask
}

/// Bit mask of the points of the block from `at` on whose slope reaches `least`.
#[inline(always)]
pub(crate) fn reaching(of: &Slopes<'_>, heights: &[f64], at: usize, least: f64) -> u64 {
    widest!(x86::reaching(of, heights, at, least));
    plain_reaching(of, heights, at, least)
}

#[inline(always)]
fn plain_reaching(of: &Slopes<'_>, heights: &[f64], at: usize, least: f64) -> u64 {
    let slopes = of.of_block(heights, at);
    let mut mask = 0;
    for index in 0..BLOCK {
        mask |= u64::from(slopes[index] >= least) << index;
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions for one kind of processor.
    struct Way {
        greatest: unsafe fn(&[Slopes<'_>; 2], &[f64]) -> [[f64; BLOCKS]; 2],
        blocks_reaching: unsafe fn(&[f64; BLOCKS], f64) -> u32,
        reaching: unsafe fn(&Slopes<'_>, &[f64], usize, f64) -> u64,
    }

    /// All that this processor has.
    fn ways() -> Vec<Way> {
        let mut ways = vec![Way {
            greatest: plain_greatest,
            blocks_reaching: plain_blocks_reaching,
            reaching: plain_reaching,
        }];
        #[cfg(target_arch = "x86_64")]
        {
            use crate::numeric::dispatch::{has_avx2, has_avx512};
            ways.extend(has_avx2().then_some(Way {
                greatest: x86::narrow::greatest,
                blocks_reaching: x86::narrow::blocks_reaching,
                reaching: x86::narrow::reaching,
            }));
            ways.extend(has_avx512().then_some(Way {
                greatest: x86::wide::greatest,
                blocks_reaching: x86::wide::blocks_reaching,
                reaching: x86::wide::reaching,
            }));
        }
        ways
    }

    #[test]
    #[expect(unsafe_code, reason = "calls what the processor has the features for")]
    fn slopes_of_every_width_are_those_of_the_formula() {
        for count in [64_usize, 65, 200, 1024] {
            let heights: Vec<f64> = (0..count).map(|i| (i * 37 % 641) as f64 * 1.1).collect();
            let outwards: Vec<f64> = (0..count).map(|i| 1.0 / (i + 1) as f64).collect();
            let inwards: Vec<f64> = outwards.iter().rev().copied().collect();
            let of = [(1.0, 1.0, &outwards), (count as f64, -1.0, &inwards)].map(
                |(first, step, inverse)| Slopes {
                    base: 250.0,
                    fall: 5.4e-4 * first,
                    fall_step: 5.4e-4 * step,
                    inverse,
                },
            );
            for way in ways() {
                // SAFETY: the processor has the features.
                let both = unsafe { (way.greatest)(&of, &heights) };
                for (of, highest) in of.iter().zip(&both) {
                    let least = highest[0].min(highest[count.div_ceil(BLOCK) - 1]);
                    let bit =
                        |bits, block: usize| bits | u32::from(highest[block] >= least) << block;
                    // SAFETY: likewise.
                    let mask = unsafe { (way.blocks_reaching)(highest, least) };
                    assert_eq!(mask, (0..BLOCKS).fold(0, bit));
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
                            // SAFETY: likewise.
                            let mask = unsafe { (way.reaching)(of, &heights, at, least) };
                            assert_eq!(mask, bits);
                        }
                    }
                }
            }
        }
    }
}
