//! Units of quantities in headers and cells of tables, and in options.

use groundwave_propagation::numeric::log10;

use super::values;
use crate::antenna::DIPOLE_DBI;

/// Quantity of a column or an option, by the unit of its plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Metres,
    Megahertz,
    Hertz,
    BitsPerSecond,
    PowerDbm,
    GainDbi,
    LevelDb,
    Degrees,
}

/// Conversion of a value to the unit of its column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// A factor.
    Times(f64),
    /// Decibels to be added.
    Plus(f64),
    /// A power, a factor to watts.
    Watts(f64),
}

impl Scale {
    /// The value in the unit of the column.
    pub(crate) fn apply(self, value: f64) -> f64 {
        match self {
            Self::Times(factor) => value * factor,
            Self::Plus(db) => value + db,
            Self::Watts(factor) => 30.0 + 10.0 * log10(value * factor),
        }
    }

    /// `true` if values stay as they are.
    pub(crate) fn is_identity(self) -> bool {
        self == Self::Times(1.0) || self == Self::Plus(0.0)
    }
}

/// Units in small letters, of each quantity.
const UNITS: [(&str, Quantity, Scale); 52] = [
    ("m", Quantity::Metres, Scale::Times(1.0)),
    ("meter", Quantity::Metres, Scale::Times(1.0)),
    ("meters", Quantity::Metres, Scale::Times(1.0)),
    ("metre", Quantity::Metres, Scale::Times(1.0)),
    ("metres", Quantity::Metres, Scale::Times(1.0)),
    ("foot", Quantity::Metres, Scale::Times(0.3048)),
    ("feet", Quantity::Metres, Scale::Times(0.3048)),
    ("ft", Quantity::Metres, Scale::Times(0.3048)),
    ("ft.", Quantity::Metres, Scale::Times(0.3048)),
    ("'", Quantity::Metres, Scale::Times(0.3048)),
    ("fuss", Quantity::Metres, Scale::Times(0.3048)),
    ("hz", Quantity::Megahertz, Scale::Times(1e-6)),
    ("khz", Quantity::Megahertz, Scale::Times(1e-3)),
    ("mhz", Quantity::Megahertz, Scale::Times(1.0)),
    ("ghz", Quantity::Megahertz, Scale::Times(1e3)),
    ("hz", Quantity::Hertz, Scale::Times(1.0)),
    ("khz", Quantity::Hertz, Scale::Times(1e3)),
    ("mhz", Quantity::Hertz, Scale::Times(1e6)),
    ("ghz", Quantity::Hertz, Scale::Times(1e9)),
    ("bps", Quantity::BitsPerSecond, Scale::Times(1.0)),
    ("bit/s", Quantity::BitsPerSecond, Scale::Times(1.0)),
    ("kbps", Quantity::BitsPerSecond, Scale::Times(1e3)),
    ("kbit/s", Quantity::BitsPerSecond, Scale::Times(1e3)),
    ("mbps", Quantity::BitsPerSecond, Scale::Times(1e6)),
    ("mbit/s", Quantity::BitsPerSecond, Scale::Times(1e6)),
    ("dbm", Quantity::PowerDbm, Scale::Plus(0.0)),
    ("dbw", Quantity::PowerDbm, Scale::Plus(30.0)),
    ("mw", Quantity::PowerDbm, Scale::Watts(1e-3)),
    ("milliwatt", Quantity::PowerDbm, Scale::Watts(1e-3)),
    ("milliwatts", Quantity::PowerDbm, Scale::Watts(1e-3)),
    ("w", Quantity::PowerDbm, Scale::Watts(1.0)),
    ("watt", Quantity::PowerDbm, Scale::Watts(1.0)),
    ("watts", Quantity::PowerDbm, Scale::Watts(1.0)),
    ("kw", Quantity::PowerDbm, Scale::Watts(1e3)),
    ("dbi", Quantity::GainDbi, Scale::Plus(0.0)),
    ("dbd", Quantity::GainDbi, Scale::Plus(DIPOLE_DBI)),
    ("db", Quantity::LevelDb, Scale::Plus(0.0)),
    ("deg", Quantity::Degrees, Scale::Times(1.0)),
    ("degree", Quantity::Degrees, Scale::Times(1.0)),
    ("degrees", Quantity::Degrees, Scale::Times(1.0)),
    ("grad", Quantity::Degrees, Scale::Times(1.0)),
    ("°", Quantity::Degrees, Scale::Times(1.0)),
    ("º", Quantity::Degrees, Scale::Times(1.0)),
    ("deg.", Quantity::Degrees, Scale::Times(1.0)),
    ("degrees north", Quantity::Degrees, Scale::Times(1.0)),
    ("degrees east", Quantity::Degrees, Scale::Times(1.0)),
    ("degrees true", Quantity::Degrees, Scale::Times(1.0)),
    ("deg true", Quantity::Degrees, Scale::Times(1.0)),
    ("wgs84", Quantity::Degrees, Scale::Times(1.0)),
    ("wgs 84", Quantity::Degrees, Scale::Times(1.0)),
    ("dd", Quantity::Degrees, Scale::Times(1.0)),
    ("decimal", Quantity::Degrees, Scale::Times(1.0)),
];

/// Conversion of a unit, in small letters, of a quantity; `None` where it has no such unit.
pub(crate) fn scale(quantity: Quantity, unit: &str) -> Option<Scale> {
    let entry = UNITS.iter().find(|(name, own, _)| *name == unit && *own == quantity);
    entry.map(|(_, _, scale)| *scale)
}

/// `true` for the name of a unit, in small letters.
pub(crate) fn is_unit(text: &str) -> bool {
    UNITS.iter().any(|(name, ..)| *name == text)
}

/// A number with a unit of its quantity after it, in the unit of the column: `100ft`, `5.8 GHz`, `1e3 mW`.
#[must_use]
pub fn with_unit(quantity: Quantity, text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, unit) = text.split_at(unit_begin(text)?);
    let scale = scale(quantity, &unit.trim().to_lowercase())?;
    let value = scale.apply(values::parse(number).ok()?);
    value.is_finite().then_some(value)
}

/// Where the unit of a number begins: at its first letter outside an exponent.
fn unit_begin(text: &str) -> Option<usize> {
    let is_exponent = |rest: &str| {
        rest.strip_prefix(['e', 'E']).is_some_and(|power| {
            let digits = power.strip_prefix(['+', '-']).unwrap_or(power);
            digits.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    let mut places = text.char_indices();
    let letter = places.find(|&(at, c)| {
        (c.is_alphabetic() || ['\'', '°', 'º'].contains(&c)) && !is_exponent(&text[at..])
    });
    letter.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_give_values_in_those_of_the_column() {
        for (quantity, text, expected) in [
            (Quantity::Metres, "100ft", 30.48),
            (Quantity::Metres, "30 m", 30.0),
            (Quantity::Metres, "100'", 30.48),
            (Quantity::Megahertz, "5.8 GHz", 5_800.0),
            (Quantity::Megahertz, "868,1 MHz", 868.1),
            (Quantity::Hertz, "20 MHz", 20e6),
            (Quantity::PowerDbm, "0.5 W", 26.989_700_043_360_19),
            (Quantity::PowerDbm, "5e2 mW", 26.989_700_043_360_19),
            (Quantity::PowerDbm, "500mW", 26.989_700_043_360_19),
            (Quantity::PowerDbm, "-3 dBW", 27.0),
            (Quantity::GainDbi, "6 dBd", 8.15),
            (Quantity::Degrees, "120°", 120.0),
            (Quantity::LevelDb, "1.5 dB", 1.5),
        ] {
            let value = with_unit(quantity, text).unwrap();
            assert!((value - expected).abs() < 1e-9, "{text}: {value}");
        }
        for (quantity, text) in [
            (Quantity::Metres, "100"),
            (Quantity::Metres, "5 GHz"),
            (Quantity::Megahertz, "5 furlongs"),
            (Quantity::GainDbi, "6 dBm"),
            (Quantity::PowerDbm, "high W"),
            (Quantity::PowerDbm, "0 W"),
            (Quantity::Metres, "100e"),
        ] {
            assert_eq!(with_unit(quantity, text), None, "{text}");
        }
        assert!(!Scale::Watts(1.0).apply(0.0).is_finite());
    }
}
