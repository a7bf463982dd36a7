//! Round numbers for axes, and how they are written.

/// The step of the series 1, 2, 5, 10 that divides `span` into at most `parts`.
#[must_use]
pub(super) fn round_step(span: f64, parts: f64) -> f64 {
    let least = (span / parts).max(f64::MIN_POSITIVE);
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|n| n * power);
    step.into_iter()
        .find(|&s| s >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// Multiples of `step` within [`low`, `high`]; at most 1000.
#[must_use]
pub(super) fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let (slack, first) = (1e-9 * (high - low).abs(), (low / step).ceil());
    // One earlier, in case rounding lost the lowest.
    (-1..999)
        .map(|i| (first + f64::from(i)) * step)
        .skip_while(|&v| v < low - slack)
        .take_while(|&v| v <= high + slack)
        .collect()
}

/// A number with the decimals that its step needs and a proper minus.
#[must_use]
pub(super) fn number(value: f64, step: f64) -> String {
    let decimals = (0..9).find(|&d| {
        let scaled = step * 10_f64.powi(d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
    });
    let decimals = usize::try_from(decimals.unwrap_or(9)).unwrap_or(9);
    let text = format!("{:.decimals$}", value.abs());
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if value < 0.0 && !is_zero {
        format!("\u{2212}{text}")
    } else {
        text
    }
}

/// A latitude or longitude with its side.
#[must_use]
pub(super) fn degrees(value: f64, step: f64, sides: [&str; 2]) -> String {
    let side = if value < 0.0 { sides[1] } else { sides[0] };
    format!("{}°{side}", number(value.abs(), step))
}

/// A length as a person writes it.
#[must_use]
pub(super) fn length(metres: f64) -> String {
    if metres >= 1000.0 {
        format!("{} km", number(metres / 1000.0, metres / 1000.0))
    } else {
        format!("{} m", number(metres, metres))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(round_step(80.0, 8.0), 10.0);
        assert_eq!(round_step(81.0, 8.0), 20.0);
        assert!((round_step(0.37, 5.0) - 0.1).abs() < 1e-12);
        assert_eq!(multiples(-0.05, 0.25, 0.1).len(), 3);
        assert_eq!(
            multiples(-120.0, -40.0, 20.0),
            [-120.0, -100.0, -80.0, -60.0, -40.0]
        );
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(-90.0, 10.0), "−90");
        assert_eq!(number(57.649_999_99, 0.05), "57.65");
        assert_eq!(number(-0.000_001, 0.1), "0.0");
        assert_eq!(degrees(-11.5, 0.5, ["E", "W"]), "11.5°W");
        assert_eq!(length(2_500.0), "2.5 km");
        assert_eq!(length(500.0), "500 m");
    }
}
