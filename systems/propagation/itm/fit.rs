//! A straight line through terrain, by least squares (Algorithm section 6, function `zlsq1`).

use crate::numeric::moments;

/// Elevations of the fitted line at the first and the last of `elevation_m` (at least two
/// points), fitted to the points between `start` and `end`, both counted in steps from the first
/// point. The interval is cut at whole points and widened to hold at least one step.
#[inline(always)]
pub(crate) fn line_ends(elevation_m: &[f64], start: f64, end: f64) -> [f64; 2] {
    let last = elevation_m.len() - 1;
    let (from, to) = interval(last, start, end);
    let (mean, slope) = fit(&elevation_m[from..=to]);
    let middle = to as f64 - 0.5 * (to - from) as f64;
    [mean - slope * middle, mean + slope * (last as f64 - middle)]
}

/// The whole points between `start` and `end` of points 0 to `last`, widened to at least one step.
#[inline(always)]
fn interval(last: usize, start: f64, end: f64) -> (usize, usize) {
    let mut from = (start.max(0.0) as usize).min(last);
    let mut to = last - ((last as f64 - end).max(0.0) as usize).min(last);
    if to <= from {
        from = from.saturating_sub(1);
        to = last - last.saturating_sub(to + 1);
    }
    (from, to)
}

/// Height in the middle and rise from point to point of the line that fits `values`, two or more,
/// best, the first and the last weighing half.
#[inline(always)]
fn fit(values: &[f64]) -> (f64, f64) {
    let ends = [values[0], values[values.len() - 1]];
    middle_and_slope(moments(values), ends, values.len())
}

/// The same of `count` values between `first` and `last`, their sum and moment about the middle.
#[inline(always)]
pub(super) fn middle_and_slope(
    (sum, moment): (f64, f64),
    [first, last]: [f64; 2],
    count: usize,
) -> (f64, f64) {
    let length = (count - 1) as f64;
    let sum = sum - 0.5 * (first + last);
    let moment = moment - 0.25 * (last - first) * length;
    (sum / length, moment * 12.0 / ((length * length + 2.0) * length))
}
