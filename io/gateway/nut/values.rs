//! Variables of a power supply as a sample.

use std::collections::BTreeMap;

use groundwave_gateway::power::{STATUSES_MAX, UpsSample, UpsStatus};

/// Variables of a power supply by name, such as `battery.charge`.
pub type Variables = BTreeMap<String, String>;

/// Sample of the variables: those that are missing, malformed or out of range are left out.
#[must_use]
pub fn sample(variables: &Variables, ts_ms: u64) -> UpsSample {
    let within = |name: &str, min: f64, max: f64| {
        let value: f64 = variables.get(name)?.trim().parse().ok()?;
        (min..=max).contains(&value).then_some(value)
    };
    let status = variables.get("ups.status").map_or("", String::as_str);
    let mut status: Vec<_> = status.split_ascii_whitespace().filter_map(UpsStatus::parse).collect();
    status.dedup();
    status.truncate(STATUSES_MAX);
    UpsSample {
        ts_ms,
        status,
        battery_charge_pct: within("battery.charge", 0.0, 100.0),
        battery_voltage_v: within("battery.voltage", 0.0, 10_000.0),
        battery_current_a: within("battery.current", -10_000.0, 10_000.0),
        battery_runtime_s: within("battery.runtime", 0.0, 1e9),
        battery_temperature_c: within("battery.temperature", -100.0, 200.0),
        input_voltage_v: within("input.voltage", 0.0, 10_000.0),
        output_voltage_v: within("output.voltage", 0.0, 10_000.0),
        load_pct: within("ups.load", 0.0, 1_000.0),
        power_w: within("ups.realpower", 0.0, 1e7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_not_measured() {
        let variables = [
            ("ups.status", "FSD OB LB DISCHRG ALARM OVER CAL new"),
            ("battery.charge", "19.5"),
            ("battery.runtime", "soon"),
            ("ups.load", "NaN"),
            ("input.voltage", "-1"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sample = sample(&variables.into(), 7);
        use UpsStatus::{Alarm, Cal, Dischrg, Fsd, Lb, Ob, Over};
        let status = [Fsd, Ob, Lb, Dischrg, Alarm, Over, Cal];
        assert_eq!((sample.ts_ms, sample.status.as_slice()), (7, status.as_slice()));
        assert_eq!(sample.battery_charge_pct, Some(19.5));
        let missing = (sample.battery_runtime_s, sample.load_pct, sample.input_voltage_v);
        assert_eq!(missing, (None, None, None));
    }
}
