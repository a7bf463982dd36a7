//! Axis ticks and number formatting.

/// Evenly spaced round values within a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// The values, ascending.
    pub values: Vec<f64>,
    /// Difference of neighbours.
    pub step: f64,
    /// Decimals at which neighbours differ.
    pub decimals: usize,
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten within `[low, high]`, at most `count_max + 1`
/// of them. An empty or infinite range has the one value `low`.
#[must_use]
pub fn ticks(low: f64, high: f64, count_max: u32) -> Ticks {
    let step_minimum = (high - low) / f64::from(count_max);
    if !step_minimum.is_finite() || step_minimum <= 0.0 {
        return Ticks { values: vec![low], step: 1.0, decimals: 0 };
    }
    let (step, decimals) = round_up(step_minimum);
    let first = (low / step).ceil();
    let mut values = Vec::new();
    for i in 0..=count_max {
        // A multiple, not a sum: nothing drifts. Adding 0 turns -0 into 0.
        let value = (first + f64::from(i)) * step + 0.0;
        if value > high + step * 1e-9 {
            break;
        }
        values.push(value);
    }
    Ticks { values, step, decimals }
}

/// Smallest such step not below `step_minimum` (above 0), and its decimals. Powers of ten are searched
/// because the last bit of a logarithm depends on the platform.
fn round_up(step_minimum: f64) -> (f64, usize) {
    let mut exponent: i32 = -9;
    while exponent < 12 && 10f64.powi(exponent + 1) < step_minimum {
        exponent += 1;
    }
    let power = 10f64.powi(exponent);
    let steps = [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0), (10.0, -1)];
    let fit = steps.into_iter().find(|(multiple, _)| multiple * power >= step_minimum);
    let (multiple, more_places) = fit.unwrap_or((10.0, -1));
    let places = usize::try_from(more_places - exponent).unwrap_or(0);
    (multiple * power, places)
}

/// From this value on, numbers are written with an exponent.
const EXPONENT_MIN: f64 = 1e9;

/// A number with `decimals` places and a minus sign (U+2212); `–` for NaN and infinity.
#[must_use]
pub fn number(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let text = if value.abs() < EXPONENT_MIN {
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    };
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|b| b == b'0' || b == b'.') => zero.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A number with at most `decimals` places.
#[must_use]
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(low: f64, high: f64, count_max: u32, expect: &[f64], decimals: usize) {
        let ticks = ticks(low, high, count_max);
        assert_eq!(ticks.decimals, decimals, "{low} to {high}: {ticks:?}");
        assert_eq!(ticks.values.len(), expect.len(), "{low} to {high}: {ticks:?}");
        for (value, expect) in ticks.values.iter().zip(expect) {
            assert!((value - expect).abs() < 1e-12 * high.abs().max(1.0), "{ticks:?}");
        }
    }

    #[test]
    fn steps_are_round_and_within_the_range() {
        check(0.0, 10.0, 5, &[0.0, 2.0, 4.0, 6.0, 8.0, 10.0], 0);
        check(0.0, 1.0, 5, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], 1);
        check(0.0, 12.0, 5, &[0.0, 2.5, 5.0, 7.5, 10.0], 1);
        check(-13.0, 18.0, 4, &[-10.0, 0.0, 10.0], 0);
        check(0.3, 0.8, 2, &[0.5, 0.75], 2);
        check(900.0, 1_900.0, 2, &[1_000.0, 1_500.0], 0);
    }

    #[test]
    fn empty_ranges_have_one_value() {
        check(3.0, 3.0, 5, &[3.0], 0);
        check(3.0, 2.0, 5, &[3.0], 0);
        check(0.0, f64::INFINITY, 5, &[0.0], 0);
        check(0.0, f64::NAN, 5, &[0.0], 0);
    }

    #[test]
    fn no_range_has_too_many_ticks() {
        for exponent in -7..=9 {
            for mantissa in [1.0, 1.7, 2.4, 3.3, 4.9, 7.7, 9.99] {
                let high = mantissa * 10f64.powi(exponent);
                let ticks = ticks(-high / 3.0, high, 7);
                assert!((3..=8).contains(&ticks.values.len()), "{high}: {ticks:?}");
                assert!(ticks.values.iter().all(|v| (-high / 3.0..=high * 1.000_001).contains(v)));
            }
        }
    }
}
