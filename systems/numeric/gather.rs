//! Reading between the numbers of a row.

use super::ROUNDER;

/// Fills `out` with values of the row `from` at `start`, `start + spacing`, ..., linear between
/// its numbers, which are counted from 0. Positions are 0 or more; beyond the last two numbers
/// the line through these goes on. `from` holds two numbers or more.
#[inline(always)]
pub(crate) fn interpolate_evenly(from: &[f64], start: f64, spacing: f64, out: &mut [f64]) {
    assert!(
        from.len() >= 2 && from.len() < i32::MAX as usize,
        "a row has two ends"
    );
    let last = from.len() as u32 - 2;
    for number in 0..out.len() {
        let position = start + f64::from(number as i32) * spacing;
        // A conversion that saturates would be no vector code; the limit holds whatever comes.
        let left = ((position.floor() + ROUNDER).to_bits() as u32).min(last);
        // SAFETY: `left` is at most the length less two.
        #[expect(
            unsafe_code,
            reason = "a check at every number keeps this from being vector code"
        )]
        let (near, far) = unsafe {
            (
                *from.get_unchecked(left as usize),
                *from.get_unchecked(left as usize + 1),
            )
        };
        out[number] = near + (far - near) * (position - f64::from(left as i32));
    }
}
