//! Reading between the numbers of a row.

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
mod narrow;
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector loads by address")]
mod wide;

use super::{LANES, lesser};

/// Fills `out` with `count` values of the row `from` at `start`, `start + spacing`, ..., linear
/// between its numbers, which are counted from 0, and gives their sum and that of their products
/// with their index counted from the middle. Positions are 0 or more; beyond the last number there
/// is only that. What `out` holds from the place `count` on means nothing. `from` holds two numbers
/// or more.
#[inline(always)]
pub(crate) fn sample_evenly(
    from: &[f64],
    start: f64,
    spacing: f64,
    count: usize,
    out: &mut [[f64; LANES]],
) -> (f64, f64) {
    assert!(from.len() >= 2 && from.len() < i32::MAX as usize, "a row has two ends");
    let out = &mut out[..count.div_ceil(LANES)];
    #[cfg(target_arch = "x86_64")]
    if spacing <= wide::spacing_max(3)
        && from.len() >= 3 * LANES
        && !count.is_multiple_of(LANES)
        && super::dispatch::has_avx512()
    {
        // SAFETY: the processor has the features, the row holds enough numbers.
        #[expect(unsafe_code, reason = "permutations of vectors")]
        return unsafe {
            if spacing <= wide::spacing_max(2) {
                wide::sample::<2>(from, start, spacing, count, out)
            } else {
                wide::sample::<3>(from, start, spacing, count, out)
            }
        };
    }
    let out = &mut out.as_flattened_mut()[..count];
    #[cfg(target_arch = "x86_64")]
    let filled = if super::dispatch::has_avx2() {
        // SAFETY: the processor has the features.
        #[expect(unsafe_code, reason = "loads by address")]
        unsafe {
            narrow::sample(from, start, spacing, out)
        }
    } else {
        0
    };
    #[cfg(not(target_arch = "x86_64"))]
    let filled = 0;
    fill(from, start, spacing, out, filled);
    super::row::plain_moments::<LANES>(out)
}

/// Fills the places from number `from_place` on, one by one.
#[inline(always)]
fn fill(from: &[f64], start: f64, spacing: f64, out: &mut [f64], from_place: usize) {
    let last = from.len() - 1;
    for place in from_place..out.len() {
        let position = f64::from(place as i32) * spacing + start;
        let position = lesser(position, last as f64);
        let floor = position.floor();
        let index = floor as usize;
        let (near, far) = (from[index], from[(index + 1).min(last)]);
        out[place] = (far - near) * (position - floor) + near;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_on_the_lines_between_neighbours() {
        for len in [2_usize, 5, 16, 24, 25, 100, 461, 1024] {
            let row: Vec<f64> = (0..len).map(|i| (i * 7919 % 997) as f64).collect();
            for count in [35, 64, 129, 245] {
                let far = len as f64 - 1.0;
                for (start, span) in [(0.0, far), (0.3 * far, 0.61 * far), (0.999_9, far - 1.0)] {
                    let spacing = span / (count - 1) as f64;
                    let mut out = [[f64::NAN; LANES]; 32];
                    let moments = sample_evenly(&row, start, spacing, count, &mut out);
                    let mut plain = vec![f64::NAN; count];
                    fill(&row, start, spacing, &mut plain, 0);
                    assert_eq!(moments, crate::numeric::row::plain_moments::<LANES>(&plain));
                    let out = out.as_flattened();
                    #[cfg(target_arch = "x86_64")]
                    if crate::numeric::dispatch::has_avx2() {
                        let mut four = vec![f64::NAN; count];
                        // SAFETY: the processor has the features.
                        #[expect(unsafe_code, reason = "calls what is compiled for AVX2")]
                        let filled = unsafe { narrow::sample(&row, start, spacing, &mut four) };
                        let within =
                            (0..count).filter(|place| *place as f64 * spacing + start < far);
                        assert_eq!(filled, within.count() / 4 * 4);
                        assert_eq!(four[..filled], plain[..filled]);
                    }
                    let (mut sum, mut moment) = (0.0, 0.0);
                    for place in 0..count {
                        let position = (place as f64 * spacing + start).min(far);
                        let index = (position as usize).min(len - 2);
                        let share = position - index as f64;
                        let want = row[index] + (row[index + 1] - row[index]) * share;
                        assert!((out[place] - want).abs() < 1e-9, "{place} of {count}");
                        assert_eq!(out[place].to_bits(), plain[place].to_bits());
                        sum += out[place];
                        moment += out[place] * (place as f64 - 0.5 * (count as f64 - 1.0));
                    }
                    assert!((moments.0 - sum).abs() < 1e-7 && (moments.1 - moment).abs() < 1e-5);
                }
            }
        }
    }
}
