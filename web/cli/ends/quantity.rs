//! Values of options with a unit of their own: `30ft`, `100mW`, `6.85dBd`, `5.8GHz`.

use groundwave_propagation::numeric::log10;

/// Gain of a half-wave dipole, dBi (ITU-R BS.561).
const DIPOLE_DBI: f64 = 2.15;

/// Metres of a foot.
const FOOT_M: f64 = 0.3048;

/// A unit and its value in that of the option.
type Unit = (&'static str, fn(f64) -> f64);

/// Reads a number in the first unit, which may be left out, or in another.
fn read(text: &str, units: &[Unit]) -> Result<f64, String> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_alphabetic() && !"eE".contains(c)).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit {
        "" => units.first(),
        unit => units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)),
    };
    let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let value = unit.zip(number).map(|((_, convert), number)| convert(number));
    value.filter(|value| value.is_finite()).ok_or_else(|| {
        let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        let (first, others) = names.split_first().expect("units are constant");
        format!("found {text:?}, allowed a number in {first}, or with {}", others.join(", "))
    })
}

/// Height, m.
pub fn height_m(text: &str) -> Result<f64, String> {
    read(text, &[("m", |m| m), ("ft", |ft| ft * FOOT_M)])
}

/// Power, dBm.
pub fn power_dbm(text: &str) -> Result<f64, String> {
    read(
        text,
        &[("dBm", |dbm| dbm), ("mW", |mw| 10.0 * log10(mw)), ("W", |w| 10.0 * log10(w * 1e3))],
    )
}

/// Gain of an antenna, dBi.
pub fn gain_dbi(text: &str) -> Result<f64, String> {
    read(text, &[("dBi", |dbi| dbi), ("dBd", |dbd| dbd + DIPOLE_DBI)])
}

/// Frequency, MHz.
pub fn frequency_mhz(text: &str) -> Result<f64, String> {
    read(text, &[("MHz", |mhz| mhz), ("GHz", |ghz| ghz * 1e3), ("kHz", |khz| khz / 1e3)])
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
        assert_eq!(power_dbm("14"), Ok(14.0));
        assert!((power_dbm("1W").unwrap() - 30.0).abs() < 1e-12);
        assert!((power_dbm("100 mw").unwrap() - 20.0).abs() < 1e-12);
        assert_eq!(gain_dbi("6dBd"), Ok(8.15));
        assert_eq!(gain_dbi("9e0dBi"), Ok(9.0));
        assert_eq!(frequency_mhz("5.8GHz"), Ok(5800.0));
        assert_eq!(frequency_mhz("868.1"), Ok(868.1));
    }

    #[test]
    fn other_units_and_numbers_give_the_allowed_ones() {
        for (value, units) in [
            (height_m("30 yd"), "in m, or with ft"),
            (height_m("tall"), "in m, or with ft"),
            (height_m("inf"), "in m"),
            (power_dbm("-1W"), "in dBm, or with mW, W"),
            (power_dbm("0mW"), "in dBm"),
            (gain_dbi("9dB"), "in dBi, or with dBd"),
            (frequency_mhz(""), "in MHz, or with GHz, kHz"),
        ] {
            let error = value.unwrap_err();
            assert!(error.contains("found") && error.contains(units), "{error}");
        }
    }
}
