//! Readings: metric names, units, latest values.

use std::collections::BTreeMap;

use groundwave_values::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Readings of a heartbeat at most.
pub const METRICS_MAX: usize = 64;

/// Metrics of a node at most besides the core ones: bounds the memory of the gateway.
pub const NAMES_MAX: usize = 256;

/// Core metrics, which every node may report whatever others it has.
pub const CORE_METRICS: [&str; 24] = [
    "mesh.tx_mbps",
    "mesh.rx_mbps",
    "mesh.signal_dbm",
    "mesh.plink_estab",
    "mesh.neighbor_count",
    "mesh.tx_retries",
    "mesh.tx_failed",
    "mesh.tx_bitrate_mbps",
    "mesh.best_tq",
    "mesh.best_throughput_kbps",
    "gps.fix_mode",
    "gps.sats_used",
    "gps.lat_deg",
    "gps.lon_deg",
    "gps.alt_m",
    "gps.hdop",
    "sys.load1",
    "sys.mem_available_bytes",
    "sys.temp_c",
    "sys.uptime_s",
    "ups.battery_charge_pct",
    "ups.battery_voltage_v",
    "ups.on_battery",
    "ups.low_battery",
];

/// A reading with its time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Time, ms since the Unix epoch.
    pub ts_ms: u64,
    /// Metric, `mesh.tx_mbps`.
    pub metric: String,
    /// Value.
    pub value: f64,
}

/// Latest reading of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reading {
    /// Value.
    pub value: f64,
    /// Time, ms since the Unix epoch.
    pub ts_ms: u64,
}

/// Latest readings of a node by metric.
pub type Readings = BTreeMap<String, Reading>;

fn word(text: &str, most: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=most).contains(&text.len()) && text.bytes().all(fits)
}

/// Checks that a name is of the form `(mesh|gps|sys|ups|i2c.TEMPLATE).NAME` and a value finite.
///
/// # Errors
/// [`Refusal::Invalid`] with the name.
pub fn check_metric(name: &str, value: f64) -> Result<(), Refusal> {
    let parts: Vec<&str> = name.split('.').collect();
    let named = match *parts.as_slice() {
        ["mesh" | "gps" | "sys" | "ups", metric] => word(metric, 48),
        ["i2c", template, metric] => word(template, 32) && word(metric, 48),
        _ => false,
    };
    if !named {
        let shown: String = name.chars().take(100).collect();
        return Err(Refusal::invalid(
            "metrics",
            format!("{shown:?}"),
            "mesh.*, gps.*, sys.*, ups.* or i2c.TEMPLATE.*, of a-z 0-9 _",
        ));
    }
    let (least, greatest) = range_of(name);
    if !(least..=greatest).contains(&value) {
        let allowed = format!("{least:e} to {greatest:e}");
        return Err(Refusal::invalid(format!("metrics.{name}"), value, allowed));
    }
    Ok(())
}

/// Checks a reading of a node: as [`check_metric`], and that a count is whole and an enumerated value exists.
/// Commands recorded before have other readings as well.
///
/// # Errors
/// [`Refusal::Invalid`] with the name.
pub fn check_reading(name: &str, value: f64) -> Result<(), Refusal> {
    check_metric(name, value)?;
    let allowed = match name {
        "gps.fix_mode" if ![0.0, 2.0, 3.0].contains(&value) => "0, 2 or 3",
        "ups.on_battery" | "ups.low_battery" if value.fract() != 0.0 => "0 or 1",
        _ if unit_of(name) == Some("count") && value.fract() != 0.0 => "a whole number from 0",
        _ => return Ok(()),
    };
    Err(Refusal::invalid(format!("metrics.{name}"), value, allowed))
}

/// Maximum of a reading: sums of all readings of a series stay finite.
const VALUE_MAX: f64 = 1e290;

/// Range of a metric with both ends: the values that are possible for core metrics.
fn range_of(name: &str) -> (f64, f64) {
    let count = (0.0, 1e18);
    match name {
        "mesh.signal_dbm" => (-200.0, 100.0),
        "mesh.best_tq" => (0.0, 255.0),
        "gps.fix_mode" => (0.0, 3.0),
        "gps.lat_deg" => (-90.0, 90.0),
        "gps.lon_deg" => (-180.0, 180.0),
        "gps.alt_m" => (-100_000.0, 100_000.0),
        "sys.temp_c" => (-273.15, 10_000.0),
        "ups.battery_charge_pct" => (0.0, 100.0),
        "ups.on_battery" | "ups.low_battery" => (0.0, 1.0),
        _ if CORE_METRICS.contains(&name) => count,
        _ => (-VALUE_MAX, VALUE_MAX),
    }
}

/// Unit of a metric, by its suffix.
///
/// ```
/// use groundwave_protocol::unit_of;
/// assert_eq!(unit_of("mesh.signal_dbm"), Some("dBm"));
/// assert_eq!(unit_of("i2c.bme280.humidity"), None);
/// ```
#[must_use]
pub fn unit_of(name: &str) -> Option<&'static str> {
    match name {
        "mesh.plink_estab"
        | "mesh.neighbor_count"
        | "mesh.tx_retries"
        | "mesh.tx_failed"
        | "gps.sats_used" => return Some("count"),
        "gps.fix_mode" => return Some("enum"),
        _ => {}
    }
    let units = [
        ("_mbps", "Mbps"),
        ("_kbps", "kbit/s"),
        ("_dbm", "dBm"),
        ("_db", "dB"),
        ("_bytes", "B"),
        ("_pct", "%"),
        ("_ms", "ms"),
        ("_hpa", "hPa"),
        ("_deg", "deg"),
        ("_c", "°C"),
        ("_v", "V"),
        ("_a", "A"),
        ("_w", "W"),
        ("_s", "s"),
        ("_m", "m"),
    ];
    let found = units.iter().find(|(tail, _)| name.ends_with(tail));
    found.map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_namespace() {
        for good in ["mesh.tx_mbps", "gps.fix_mode", "i2c.bme280.humidity_pct", "sys.load1"] {
            assert_eq!(check_metric(good, 1.0), Ok(()), "{good}");
        }
        for bad in
            ["", "mesh", "mesh.", "mesh.a.b", "foo.a", "i2c.a", "mesh.A", "i2c..a", "mesh.a b"]
        {
            assert!(check_metric(bad, 1.0).is_err(), "{bad}");
        }
        for value in [f64::NAN, f64::INFINITY] {
            assert!(check_metric("mesh.tx_mbps", value).is_err());
        }
        for (name, value) in [
            ("mesh.signal_dbm", -1e308),
            ("mesh.plink_estab", -3.0),
            ("gps.lat_deg", 91.0),
            ("ups.battery_charge_pct", 101.0),
            ("i2c.a.b", 1e308),
        ] {
            assert!(check_metric(name, value).is_err(), "{name}");
        }
        for name in CORE_METRICS {
            assert_eq!(check_metric(name, 0.0), Ok(()), "{name}");
        }
        assert_eq!(check_metric("gps.lon_deg", -180.0), Ok(()));
        assert_eq!(check_metric("i2c.a.b", -1e200), Ok(()));
    }

    #[test]
    fn counts_are_whole_and_enumerated_values_exist() {
        for (name, value) in [
            ("gps.fix_mode", 1.0),
            ("gps.fix_mode", 2.5),
            ("mesh.plink_estab", 0.5),
            ("gps.sats_used", 7.25),
            ("ups.on_battery", 0.5),
            ("mesh.signal_dbm", -1e308),
        ] {
            assert!(check_reading(name, value).is_err(), "{name} {value}");
        }
        for (name, value) in [
            ("gps.fix_mode", 0.0),
            ("gps.fix_mode", 2.0),
            ("gps.fix_mode", 3.0),
            ("gps.sats_used", 7.0),
            ("ups.low_battery", 1.0),
            ("mesh.tx_mbps", 1.5),
        ] {
            assert_eq!(check_reading(name, value), Ok(()), "{name} {value}");
        }
    }
}
