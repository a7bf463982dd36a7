//! Quantities with units.

/// A rate with three significant digits and its unit: `54.2 Mbit/s`.
///
/// ```
/// assert_eq!(groundwave_text::bits_per_second(54_170_000.0), "54.2 Mbit/s");
/// assert_eq!(groundwave_text::bits_per_second(292.97), "293 bit/s");
/// assert_eq!(groundwave_text::bits_per_second(0.0), "0 bit/s");
/// ```
#[must_use]
pub fn bits_per_second(rate_bps: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")];
    let scale_and_unit = units.iter().find(|(scale, _)| rate_bps >= *scale);
    let (scale, unit) = scale_and_unit.copied().unwrap_or((1.0, "bit/s"));
    format!("{} {unit}", three_digits(rate_bps / scale))
}

/// A distance with its unit: `840 m`, `12.53 km`.
///
/// ```
/// assert_eq!(groundwave_text::distance(840.4), "840 m");
/// assert_eq!(groundwave_text::distance(12_534.0), "12.53 km");
/// ```
#[must_use]
pub fn distance(metres: f64) -> String {
    if metres < 1000.0 { format!("{metres:.0} m") } else { format!("{:.2} km", metres / 1000.0) }
}

/// A probability as percent: `99.2 %`.
///
/// ```
/// assert_eq!(groundwave_text::percent(0.9917), "99.2 %");
/// ```
#[must_use]
pub fn percent(prob: f64) -> String {
    format!("{:.1} %", prob * 100.0)
}

/// A level with its sign and one decimal: `+1.5`, `-0.3`; zero, also what rounds to it, has none.
///
/// ```
/// assert_eq!(groundwave_text::signed(1.46), "+1.5");
/// assert_eq!(groundwave_text::signed(-0.3), "-0.3");
/// assert_eq!(groundwave_text::signed(-0.04), "0.0");
/// assert_eq!(groundwave_text::signed(0.0), "0.0");
/// ```
#[must_use]
pub fn signed(level: f64) -> String {
    let text = format!("{level:+.1}");
    match text.as_str() {
        "-0.0" | "+0.0" => "0.0".to_owned(),
        _ => text,
    }
}

fn three_digits(value: f64) -> String {
    match value {
        v if v >= 100.0 || v == 0.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}
