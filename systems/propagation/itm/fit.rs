//! A straight line through terrain, by least squares (Algorithm section 6, function `zlsq1`).

/// Elevations of the fitted line at the first and the last of `elevation_m` (at least two
/// points), fitted to the points between `start` and `end`, both counted in steps from the first
/// point. The interval is cut at whole points and widened to hold at least one step.
#[inline(always)]
pub(super) fn line_ends(elevation_m: &[f64], start: f64, end: f64) -> [f64; 2] {
    let last = elevation_m.len() - 1;
    let (from, to) = interval(last, start, end);
    let length = (to - from) as f64;
    let (sum, moment) = moments(&elevation_m[from..=to]);
    let mean = sum / length;
    let slope = moment * 12.0 / ((length * length + 2.0) * length);

    let middle = to as f64 - 0.5 * length;
    [mean - slope * middle, mean + slope * (last as f64 - middle)]
}

/// The whole points between `start` and `end` of points 0 to `last`, widened to at least one step.
#[inline(always)]
pub(crate) fn interval(last: usize, start: f64, end: f64) -> (usize, usize) {
    let mut from = (start.max(0.0) as usize).min(last);
    let mut to = last - ((last as f64 - end).max(0.0) as usize).min(last);
    if to <= from {
        from = from.saturating_sub(1);
        to = last - last.saturating_sub(to + 1);
    }
    (from, to)
}

/// Sum of `values` (two or more) and of their products with their index counted from the middle,
/// the first and last value weighing half.
#[inline(always)]
fn moments(values: &[f64]) -> (f64, f64) {
    const LANES: usize = 8;
    let arm = 0.5 * (values.len() - 1) as f64;
    let (first, last) = (values[0], values[values.len() - 1]);
    let inner = &values[1..values.len() - 1];

    let (blocks, rest) = inner.as_chunks::<LANES>();
    let (mut sums, mut products) = ([0.0; LANES], [0.0; LANES]);
    let mut start = 1.0 - arm;
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
            products[lane] += block[lane] * (start + f64::from(lane as i32));
        }
        start += LANES as f64;
    }

    let mut sum = 0.5 * (first + last);
    let mut moment = 0.5 * (last - first) * arm;
    for lane in 0..LANES {
        sum += sums[lane];
        moment += products[lane];
    }
    for (index, value) in rest.iter().enumerate() {
        sum += value;
        moment += value * (start + index as f64);
    }
    (sum, moment)
}
