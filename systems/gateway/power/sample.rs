//! Samples of a power supply.

use garde::Validate;
use groundwave_protocol::Sample;
use groundwave_values::bounds::finite_if_some;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Latest time of a sample, ms since the Unix epoch: the end of the year 9999.
const TS_MS_MAX: u64 = 253_402_300_799_999;

/// Status of a power supply, by the words of NUT.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum UpsStatus {
    /// On line power.
    Ol,
    /// On battery.
    Ob,
    /// Low battery.
    Lb,
    /// Charging.
    Chrg,
    /// Discharging.
    Dischrg,
    /// The battery is to be replaced.
    Rb,
    /// Bypass: no protection.
    Bypass,
    /// Off.
    Off,
    /// Shutdown is forced: loads lose power soon.
    Fsd,
    /// Alarm of the power supply.
    Alarm,
    /// Overload.
    Over,
    /// Calibration of the battery.
    Cal,
    /// Trims a high input voltage.
    Trim,
    /// Boosts a low input voltage.
    Boost,
    /// High battery.
    Hb,
    /// Test of the battery.
    Test,
    /// Economy mode: loads are on line power.
    Eco,
}

/// Maximum number of statuses of a sample.
pub const STATUSES_MAX: usize = 16;

impl UpsStatus {
    /// Status by its word; `None` for others.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "OL" => Self::Ol,
            "OB" => Self::Ob,
            "LB" => Self::Lb,
            "CHRG" => Self::Chrg,
            "DISCHRG" => Self::Dischrg,
            "RB" => Self::Rb,
            "BYPASS" => Self::Bypass,
            "OFF" => Self::Off,
            "FSD" => Self::Fsd,
            "ALARM" => Self::Alarm,
            "OVER" => Self::Over,
            "CAL" => Self::Cal,
            "TRIM" => Self::Trim,
            "BOOST" => Self::Boost,
            "HB" => Self::Hb,
            "TEST" => Self::Test,
            "ECO" => Self::Eco,
            _ => return None,
        })
    }
}

/// Sample of a power supply; absent fields were not measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct UpsSample {
    /// Time, ms since the Unix epoch.
    #[garde(range(max = TS_MS_MAX))]
    pub ts_ms: u64,
    /// Status; empty where it was not read.
    #[serde(default)]
    #[garde(length(max = 16))]
    pub status: Vec<UpsStatus>,
    /// Charge of the battery, %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 100.0), custom(finite_if_some))]
    pub battery_charge_pct: Option<f64>,
    /// Voltage of the battery, V.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 10_000.0), custom(finite_if_some))]
    pub battery_voltage_v: Option<f64>,
    /// Current of the battery, A; negative while it discharges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = -10_000.0, max = 10_000.0), custom(finite_if_some))]
    pub battery_current_a: Option<f64>,
    /// Time until the battery is empty, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1e9), custom(finite_if_some))]
    pub battery_runtime_s: Option<f64>,
    /// Temperature of the battery, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = -100.0, max = 200.0), custom(finite_if_some))]
    pub battery_temperature_c: Option<f64>,
    /// Input voltage, V.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 10_000.0), custom(finite_if_some))]
    pub input_voltage_v: Option<f64>,
    /// Output voltage, V.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 10_000.0), custom(finite_if_some))]
    pub output_voltage_v: Option<f64>,
    /// Load, % of the rated power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1_000.0), custom(finite_if_some))]
    pub load_pct: Option<f64>,
    /// Power, W.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1e7), custom(finite_if_some))]
    pub power_w: Option<f64>,
}

impl UpsSample {
    /// `true` with a status.
    #[must_use]
    pub fn is(&self, status: UpsStatus) -> bool {
        self.status.contains(&status)
    }

    /// Metrics of the sample for the history; status as 0 or 1, and none where it was not read.
    #[must_use]
    pub fn metrics(&self) -> Vec<Sample> {
        let is_known = !self.status.is_empty();
        let flag = |status| is_known.then(|| f64::from(u8::from(self.is(status))));
        let values = [
            ("ups.battery_charge_pct", self.battery_charge_pct),
            ("ups.battery_voltage_v", self.battery_voltage_v),
            ("ups.battery_current_a", self.battery_current_a),
            ("ups.battery_runtime_s", self.battery_runtime_s),
            ("ups.battery_temperature_c", self.battery_temperature_c),
            ("ups.input_voltage_v", self.input_voltage_v),
            ("ups.output_voltage_v", self.output_voltage_v),
            ("ups.load_pct", self.load_pct),
            ("ups.power_w", self.power_w),
            ("ups.on_battery", flag(UpsStatus::Ob)),
            ("ups.low_battery", flag(UpsStatus::Lb)),
            ("ups.forced_shutdown", flag(UpsStatus::Fsd)),
            ("ups.alarm", flag(UpsStatus::Alarm)),
            ("ups.overload", flag(UpsStatus::Over)),
        ];
        values
            .into_iter()
            .filter_map(|(metric, value)| {
                Some(Sample { ts_ms: self.ts_ms, metric: metric.to_owned(), value: value? })
            })
            .collect()
    }

    /// Names of all metrics of a sample.
    #[must_use]
    pub fn metric_names() -> Vec<String> {
        let full = Self {
            status: vec![UpsStatus::Ol],
            battery_charge_pct: Some(0.0),
            battery_voltage_v: Some(0.0),
            battery_current_a: Some(0.0),
            battery_runtime_s: Some(0.0),
            battery_temperature_c: Some(0.0),
            input_voltage_v: Some(0.0),
            output_voltage_v: Some(0.0),
            load_pct: Some(0.0),
            power_w: Some(0.0),
            ..Self::default()
        };
        full.metrics().into_iter().map(|sample| sample.metric).collect()
    }
}
