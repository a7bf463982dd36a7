//! Quantities as text.

pub(super) use groundwave_raster::scene::scale::{number, trimmed};

/// As [`number`], with a plus before positive values.
pub(super) fn signed(value: f64, decimals: usize) -> String {
    let text = number(value, decimals);
    if value > 0.0 && value.is_finite() { format!("+{text}") } else { text }
}

/// A height at 0.1 m.
pub(super) fn metres(value_m: f64) -> String {
    format!("{} m", number(value_m, 1))
}

/// A distance, m below 1 km.
pub(super) fn distance(value_m: f64) -> String {
    match value_m {
        m if m < 9.995 => format!("{} m", number(m, 2)),
        m if m < 999.95 => metres(m),
        m if m < 99_995.0 => format!("{} km", number(m / 1e3, 2)),
        m => format!("{} km", number(m / 1e3, 1)),
    }
}

/// A frequency, MHz below 1 GHz.
pub(super) fn frequency(value_mhz: f64) -> String {
    if value_mhz < 1_000.0 {
        format!("{} MHz", trimmed(value_mhz, 3))
    } else {
        format!("{} GHz", trimmed(value_mhz / 1e3, 3))
    }
}

/// A value with an SI prefix (none, k, M or G) and at least three significant digits.
pub(super) fn prefixed(value: f64, unit: &str) -> String {
    let (scaled, prefix) = match value {
        v if v >= 999.5e6 => (v / 1e9, "G"),
        v if v >= 999.5e3 => (v / 1e6, "M"),
        v if v >= 999.5 => (v / 1e3, "k"),
        v => (v, ""),
    };
    let decimals = match scaled {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{} {prefix}{unit}", trimmed(scaled, decimals))
}
