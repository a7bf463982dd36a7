//! Slopes towards the points of a block, fast and nearly right.

/// Points of a block.
pub(crate) const BLOCK: usize = 64;

/// The slope towards point `i` of a block is `(height - base) * scale * inverse - fall -
/// i * fall_step`, `inverse` being the reciprocal of its distance. In which order that is rounded
/// depends on the processor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slopes {
    /// Height of the eye.
    pub base: f64,
    /// What differences of height are multiplied by.
    pub scale: f64,
    /// What is taken off at the first point.
    pub fall: f64,
    /// What more is taken off at each next point.
    pub fall_step: f64,
}

impl Slopes {
    #[inline(always)]
    fn at(&self, index: usize, height: f64, inverse: f64) -> f64 {
        let fall = self.fall + self.fall_step * f64::from(index as i32);
        (height - self.base) * self.scale * inverse - fall
    }
}

/// The greatest slope.
#[inline(always)]
pub(crate) fn greatest(of: &Slopes, height: &[f64; BLOCK], inverse: &[f64; BLOCK]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::greatest(of, height, inverse) };
    }
    let mut slopes = [0.0; BLOCK];
    for index in 0..BLOCK {
        slopes[index] = of.at(index, height[index], inverse[index]);
    }
    super::maximum(&slopes)
}

/// Which slopes reach `least`: the bit of each point.
#[inline(always)]
pub(crate) fn reaching(
    of: &Slopes,
    height: &[f64; BLOCK],
    inverse: &[f64; BLOCK],
    least: f64,
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if super::dispatch::has_avx512() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "calls what is compiled for AVX-512")]
        return unsafe { x86::reaching(of, height, inverse, least) };
    }
    let mut found = 0;
    for index in 0..BLOCK {
        let slope = of.at(index, height[index], inverse[index]);
        found |= u64::from(slope >= least) << index;
    }
    found
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BLOCK, Slopes};

    const LANES: usize = 8;

    /// Eight slopes at a time, from the first on.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn each(
        of: &Slopes,
        height: &[f64; BLOCK],
        inverse: &[f64; BLOCK],
        mut see: impl FnMut(usize, __m512d),
    ) {
        let (base, scale) = (_mm512_set1_pd(of.base), _mm512_set1_pd(of.scale));
        let numbers = _mm512_setr_pd(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0);
        let (fall, step) = (_mm512_set1_pd(of.fall), _mm512_set1_pd(of.fall_step));
        let mut fall = _mm512_fmadd_pd(numbers, step, fall);
        let step = _mm512_mul_pd(step, _mm512_set1_pd(LANES as f64));
        let blocks = height.as_chunks().0.iter().zip(inverse.as_chunks().0);
        for (number, (height, inverse)) in blocks.enumerate() {
            let height: &[f64; LANES] = height;
            let inverse: &[f64; LANES] = inverse;
            // SAFETY: arrays of eight.
            #[expect(unsafe_code, reason = "vector loads by address")]
            let (height, inverse) = unsafe {
                (
                    _mm512_loadu_pd(height.as_ptr()),
                    _mm512_loadu_pd(inverse.as_ptr()),
                )
            };
            let rise = _mm512_mul_pd(_mm512_sub_pd(height, base), scale);
            see(number, _mm512_fmsub_pd(rise, inverse, fall));
            fall = _mm512_add_pd(fall, step);
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn greatest(of: &Slopes, height: &[f64; BLOCK], inverse: &[f64; BLOCK]) -> f64 {
        let mut most = _mm512_set1_pd(f64::NEG_INFINITY);
        each(of, height, inverse, |_, slopes| {
            most = _mm512_max_pd(slopes, most);
        });
        _mm512_reduce_max_pd(most)
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn reaching(
        of: &Slopes,
        height: &[f64; BLOCK],
        inverse: &[f64; BLOCK],
        least: f64,
    ) -> u64 {
        let least = _mm512_set1_pd(least);
        let mut found = 0;
        each(of, height, inverse, |number, slopes| {
            let reach = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(slopes, least);
            found |= u64::from(reach) << (LANES * number);
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_every_width_are_those_of_the_formula() {
        let height: [f64; BLOCK] = std::array::from_fn(|i| (i * 37 % 64) as f64 * 11.0);
        for (first, outwards) in [(1.0, 1.0), (300.0, 1.0), (64.0, -1.0), (700.0, -1.0)] {
            let inverse: [f64; BLOCK] =
                std::array::from_fn(|i| 1.0 / (first + outwards * i as f64));
            let of = Slopes {
                base: 250.0,
                scale: 1.0 / 92.6,
                fall: 5.4e-6 * first,
                fall_step: 5.4e-6 * outwards,
            };
            let slope = |i: usize| of.at(i, height[i], inverse[i]);
            let want = (0..BLOCK).map(slope).fold(f64::NEG_INFINITY, f64::max);
            let most = greatest(&of, &height, &inverse);
            assert!((most - want).abs() < 1e-14, "{most} {want}");
            for least in [want - 1e-12, want + 1e-12, 0.5 * want, -1.0, 9.0] {
                let bits = (0..BLOCK).fold(0, |bits, i| bits | u64::from(slope(i) >= least) << i);
                assert_eq!(reaching(&of, &height, &inverse, least), bits);
            }
        }
    }
}
