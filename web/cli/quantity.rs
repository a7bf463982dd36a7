//! Values of options with a unit of their own: `30ft`, `100mW`, `6.85dBd`, `5.8GHz`.

use groundwave_http::Failure;
use groundwave_model::link::ProbeRate;
use groundwave_scenario::formats::{Quantity, with_unit};
use groundwave_scenario::limits::STEP_S_MIN;

/// Reads a number in the first unit, which may be left out, or in any unit of the quantity; errors name those.
fn read(quantity: Quantity, text: &str, units: [&str; 2]) -> Result<f64, String> {
    let plain = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    plain.or_else(|| with_unit(quantity, text)).ok_or_else(|| {
        let [first, others] = units;
        format!("found {text:?}, allowed a number in {first}, or with {others}")
    })
}

/// Number without a unit.
pub fn number(text: &str) -> Result<f64, String> {
    let finite = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    finite.ok_or_else(|| format!("found {text:?}, allowed a number"))
}

/// Height, m.
pub fn height_m(text: &str) -> Result<f64, String> {
    read(Quantity::Metres, text, ["m", "ft"])
}

/// Power, dBm.
pub fn power_dbm(text: &str) -> Result<f64, String> {
    read(Quantity::PowerDbm, text, ["dBm", "mW, W, kW, dBW"])
}

/// Gain of an antenna, dBi.
pub fn gain_dbi(text: &str) -> Result<f64, String> {
    read(Quantity::GainDbi, text, ["dBi", "dBd"])
}

/// Checks the seconds between two steps of an option.
pub fn step_s(option: &str, step_s: f64, [minimum_s, maximum_s]: [f64; 2]) -> Result<f64, Failure> {
    match (minimum_s..=maximum_s).contains(&step_s) {
        true => Ok(step_s),
        false => Err(Failure::Input(format!(
            "invalid {option}: found {step_s} s, allowed {minimum_s} to {maximum_s} s"
        ))),
    }
}

/// Range of the seconds between lines about a replay: from the shortest tick of a scenario to 30 years.
pub const LINE_STEP_S: [f64; 2] = [STEP_S_MIN, 1e9];

/// Range of the seconds between two snapshots: from the shortest tick of a scenario to a leap year.
pub const SNAPSHOT_STEP_S: [f64; 2] = [STEP_S_MIN, 366.0 * 86_400.0];

/// Rate of probes of routing protocols.
pub fn probe_rate(text: &str) -> Result<ProbeRate, String> {
    serde_json::from_value(text.into())
        .map_err(|_| format!("found {text:?}, allowed dsss_1, ofdm_6, ofdm_12, ofdm_24"))
}

/// Frequency, MHz.
pub fn frequency_mhz(text: &str) -> Result<f64, String> {
    read(Quantity::Megahertz, text, ["MHz", "GHz, kHz"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_of_the_option_or_another() {
        assert_eq!(height_m("30"), Ok(30.0));
        assert_eq!(height_m("30 m"), Ok(30.0));
        assert_eq!(height_m("100ft"), Ok(30.48));
        assert_eq!(height_m("-2"), Ok(-2.0));
        assert_eq!(number("-1e3"), Ok(-1000.0));
        assert_eq!(power_dbm("14"), Ok(14.0));
        assert!((power_dbm("1W").unwrap() - 30.0).abs() < 1e-12);
        assert!((power_dbm("100 mw").unwrap() - 20.0).abs() < 1e-12);
        assert_eq!(power_dbm("0 dBW"), Ok(30.0));
        assert_eq!(gain_dbi("6dBd"), Ok(8.15));
        assert_eq!(gain_dbi("9e0dBi"), Ok(9.0));
        assert_eq!(frequency_mhz("5.8GHz"), Ok(5800.0));
        assert_eq!(frequency_mhz("868.1"), Ok(868.1));
    }

    #[test]
    fn tiny_and_huge_steps_give_the_allowed_ones() {
        assert_eq!(step_s("--step", 60.0, SNAPSHOT_STEP_S).unwrap(), 60.0);
        for found_s in [0.0, 1e-9, -1.0, 1e12, f64::NAN, f64::INFINITY] {
            let error = step_s("--step", found_s, LINE_STEP_S).unwrap_err();
            let text = format!("invalid --step: found {found_s} s, allowed 0.001 to 1000000000 s");
            assert_eq!(error.message(), text);
        }
    }

    #[test]
    fn rates_of_probes_have_the_names_of_scenarios() {
        assert_eq!(probe_rate("dsss_1"), Ok(ProbeRate::Dsss1));
        assert!(probe_rate("1Mbps").unwrap_err().contains("allowed dsss_1, ofdm_6"));
    }

    #[test]
    fn other_units_and_numbers_give_the_allowed_ones() {
        for (value, units) in [
            (height_m("30 yd"), "in m, or with ft"),
            (height_m("tall"), "in m, or with ft"),
            (height_m("inf"), "in m"),
            (number("inf"), "\"inf\", allowed a number"),
            (number("nan"), "\"nan\", allowed a number"),
            (number("1e400"), "\"1e400\", allowed a number"),
            (power_dbm("-1W"), "in dBm, or with mW, W, kW, dBW"),
            (power_dbm("0mW"), "in dBm"),
            (gain_dbi("9dB"), "in dBi, or with dBd"),
            (frequency_mhz(""), "in MHz, or with GHz, kHz"),
        ] {
            let error = value.unwrap_err();
            assert!(error.contains("found") && error.contains(units), "{error}");
        }
    }
}
