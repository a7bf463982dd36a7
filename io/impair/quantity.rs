//! Quantities with units: `50ms`, `10mbit`, `1%`, `32kb`, `100packets`.
//!
//! The spellings of `tc` mean what they mean there: `mbit` are 10^6 bit/s, `kb` are 1024 bytes. Rates in `bps` are
//! refused: `tc` counts bytes by them, most people bits. What is printed can be typed back in and gives the same value.

/// Reason for an invalid quantity: `found X, allowed Y`.
pub type InvalidQuantity = String;

/// Units of time, with their length in nanoseconds.
const TIMES: &[(&str, u64)] = &[
    ("s", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("secs", 1_000_000_000),
    ("ms", 1_000_000),
    ("msec", 1_000_000),
    ("msecs", 1_000_000),
    ("us", 1_000),
    // Micro sign, and the Greek letter that keyboards have.
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("usec", 1_000),
    ("usecs", 1_000),
    ("ns", 1),
    ("nsec", 1),
    ("nsecs", 1),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Units of rate, in bit/s.
const RATES: &[(&str, u64)] = &[
    ("", 1),
    ("bit", 1),
    ("kbit", 1_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("tbit", 1_000_000_000_000),
    ("kibit", 1 << 10),
    ("mibit", 1 << 20),
    ("gibit", 1 << 30),
    ("tibit", 1 << 40),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("mbit/s", 1_000_000),
    ("gbit/s", 1_000_000_000),
];

/// Units of rate that `tc` reads as bytes a second and most people as bits, with the bits of `tc`.
const AMBIGUOUS_RATES: &[(&str, u64)] = &[
    ("bps", 8),
    ("kbps", 8_000),
    ("mbps", 8_000_000),
    ("gbps", 8_000_000_000),
    ("tbps", 8_000_000_000_000),
];

/// Units of size, in bytes; as in `tc`, `kb` are 1024 bytes.
const SIZES: &[(&str, u64)] = &[
    ("b", 1),
    ("byte", 1),
    ("bytes", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("gib", 1 << 30),
];

const PACKETS: &[(&str, u64)] = &[("p", 1), ("pkt", 1), ("pkts", 1), ("packet", 1), ("packets", 1)];

/// A duration in nanoseconds. A unit is needed: without one, `tc` means microseconds and most
/// people milliseconds.
///
/// # Errors
/// The text found and the forms allowed.
pub fn duration_ns(text: &str) -> Result<u64, InvalidQuantity> {
    let allowed = "a number with a unit: 250us, 50ms, 1.5s";
    if text.trim() == "0" {
        return Ok(0);
    }
    scaled(text, TIMES, allowed)
}

/// Minimum rate without a unit, bit/s: smaller numbers are those of larger units.
const PLAIN_RATE_MIN_BPS: u64 = 1_000;

/// A rate in bit/s; without a unit, bit/s, from 1000 on.
///
/// # Errors
/// The text found and the forms allowed.
pub fn rate_bps(text: &str) -> Result<u64, InvalidQuantity> {
    if let Ok(bits) = scaled(text, AMBIGUOUS_RATES, "") {
        let [as_bits, as_bytes] = [bits / 8, bits].map(print_rate);
        let allowed = format!("{as_bits}, or {as_bytes} where bytes a second are meant, as in tc");
        return Err(invalid(text, &allowed));
    }
    let bps = scaled(text, RATES, "a rate: 64kbit, 10mbit, 2.5gbit, or bit/s as a plain number")?;
    let plain = text.trim();
    if bps < PLAIN_RATE_MIN_BPS && bps > 0 && number(plain).is_some() {
        let allowed = format!("a rate with its unit: {plain}bit, {plain}kbit, {plain}mbit");
        return Err(invalid(text, &allowed));
    }
    Ok(bps)
}

/// A size in bytes; without a unit, bytes.
///
/// # Errors
/// The text found and the forms allowed.
pub fn size_bytes(text: &str) -> Result<u64, InvalidQuantity> {
    let allowed = "a size: 1600b, 32kb, 1mb, or bytes as a plain number";
    let plain = text.trim().parse::<u64>();
    plain.or_else(|_| scaled(text, SIZES, allowed))
}

/// The limit of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// In packets.
    Packets(u64),
    /// In bytes.
    Bytes(u64),
}

/// The limit of a queue in packets or bytes, by its unit.
///
/// # Errors
/// The text found and the forms allowed.
pub fn queue_limit(text: &str) -> Result<Limit, InvalidQuantity> {
    let allowed = "packets or bytes, with the unit: 100packets, 64kb, 15000b";
    let packets = scaled(text, PACKETS, allowed).map(Limit::Packets);
    packets.or_else(|_| scaled(text, SIZES, allowed).map(Limit::Bytes))
}

/// A percentage in [0, 100]; the sign may be left out, as in `tc`.
///
/// # Errors
/// The text found and the forms allowed.
pub fn percent(text: &str) -> Result<f64, InvalidQuantity> {
    let digits = text.trim().trim_end_matches('%').trim_end();
    let found = number(digits).filter(|value| (0.0..=100.0).contains(value));
    found.ok_or_else(|| invalid(text, "a percentage from 0% to 100%"))
}

/// A share in [0.0, 1.0], plain or as a percentage.
///
/// # Errors
/// The text found and the forms allowed.
pub fn share(text: &str) -> Result<f64, InvalidQuantity> {
    let allowed = "a share from 0 to 1, or a percentage from 0% to 100%";
    let found = if text.contains('%') {
        percent(text).ok().map(|percent| percent / 100.0)
    } else {
        number(text.trim()).filter(|value| (0.0..=1.0).contains(value))
    };
    found.ok_or_else(|| invalid(text, allowed))
}

/// A factor above 0, `2` or `2x`.
///
/// # Errors
/// The text found and the forms allowed.
pub fn factor(text: &str) -> Result<f64, InvalidQuantity> {
    let digits = text.trim().trim_end_matches(['x', 'X', '×']);
    let found = number(digits).filter(|value| (0.001..=1000.0).contains(value));
    found.ok_or_else(|| invalid(text, "a factor from 0.001x to 1000x, such as 2x or 0.5x"))
}

/// A duration in the form [`duration_ns`] reads.
#[must_use]
pub fn print_duration(ns: u64) -> String {
    print(ns, &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)], "ns")
}

/// A rate in the form [`rate_bps`] reads.
#[must_use]
pub fn print_rate(bps: u64) -> String {
    let units = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000)];
    print(bps, &units, "bit")
}

/// A size in the form [`size_bytes`] reads.
#[must_use]
pub fn print_size(bytes: u64) -> String {
    let units = [("mb", 1 << 20), ("kb", 1 << 10)];
    let whole = units.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or(format!("{bytes}b"), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// A percentage in the form [`percent`] reads, with six significant digits: more would show the
/// kernel's rounding.
#[must_use]
pub fn print_percent(percent: f64) -> String {
    format!("{}%", significant(percent))
}

/// A number with at most six significant digits.
#[must_use]
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(5 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

fn print(value: u64, units: &[(&str, u64)], smallest: &str) -> String {
    let Some((name, unit)) = units.iter().find(|(_, unit)| value >= *unit) else {
        return format!("{value}{smallest}");
    };
    let (whole, rest) = (value / unit, value % unit);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let digits = unit.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}{name}", fraction.trim_end_matches('0'))
}

fn invalid(text: &str, allowed: &str) -> InvalidQuantity {
    format!("found {:?}, allowed {allowed}", text.trim())
}

/// A plain decimal number: no sign, no exponent, no infinity.
fn number(digits: &str) -> Option<f64> {
    let plain = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit() || c == b'.');
    plain.then(|| digits.parse().ok()).flatten()
}

/// A number with one of `units`, to the nearest whole one, computed in whole numbers.
fn scaled(text: &str, units: &[(&str, u64)], allowed: &str) -> Result<u64, InvalidQuantity> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(end);
    let unit = unit.trim().to_lowercase();
    let scale = units.iter().find(|(name, _)| *name == unit);
    let found = scale.and_then(|(_, scale)| times(digits, *scale));
    found.ok_or_else(|| invalid(text, allowed))
}

/// `digits` times `scale`, rounded half up; `None` when it is not a number or beyond [`i64::MAX`].
fn times(digits: &str, scale: u64) -> Option<u64> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // Digits beyond the 15th of a fraction are below a nanosecond of an hour.
    let fraction = fraction.get(..15).unwrap_or(fraction);
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let value = |text: &str| {
        if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() }
    };
    let tens = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let whole = u128::from(value(whole)?) * u128::from(scale);
    let part = (u128::from(value(fraction)?) * u128::from(scale) + tens / 2) / tens;
    let total = u64::try_from(whole + part).ok()?;
    i64::try_from(total).is_ok().then_some(total)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_read_as_tc_reads_them() {
        let times = [
            ("50ms", 50_000_000),
            ("1.5s", 1_500_000_000),
            ("250us", 250_000),
            ("250 µs", 250_000),
            ("250\u{3bc}s", 250_000),
            ("100msecs", 100_000_000),
            ("0", 0),
            ("7ns", 7),
            ("0.1ms", 100_000),
        ];
        for (text, want) in times {
            assert_eq!(duration_ns(text), Ok(want), "{text}");
        }
        let rates = [
            ("10mbit", 10_000_000),
            ("10Mbit", 10_000_000),
            ("10 Mbit/s", 10_000_000),
            ("64kbit", 64_000),
            ("1kibit", 1024),
            ("9600", 9_600),
            ("10bit", 10),
            ("2.5gbit", 2_500_000_000),
        ];
        for (text, want) in rates {
            assert_eq!(rate_bps(text), Ok(want), "{text}");
        }
        let sizes = [("1600", 1600), ("1600b", 1600), ("32kb", 32_768), ("1m", 1 << 20)];
        for (text, want) in sizes {
            assert_eq!(size_bytes(text), Ok(want), "{text}");
        }
        assert_eq!(queue_limit("100packets"), Ok(Limit::Packets(100)));
        assert_eq!(queue_limit("100p"), Ok(Limit::Packets(100)));
        assert_eq!(queue_limit("64kb"), Ok(Limit::Bytes(65_536)));
        assert_eq!((percent("1%"), percent("0.5")), (Ok(1.0), Ok(0.5)));
        assert_eq!((share("25%"), share("0.25")), (Ok(0.25), Ok(0.25)));
        assert_eq!((factor("2x"), factor("0.5")), (Ok(2.0), Ok(0.5)));
    }

    #[test]
    fn rates_of_two_meanings_are_refused_with_both() {
        for text in ["10Mbps", "10 mbps", "10000kbps"] {
            let error = rate_bps(text).unwrap_err();
            let allowed = "allowed 10mbit, or 80mbit where bytes a second are meant, as in tc";
            assert_eq!(error, format!("found {text:?}, {allowed}"));
        }
    }

    #[test]
    fn a_small_rate_without_a_unit_is_asked_back() {
        let allowed = "allowed a rate with its unit: 10bit, 10kbit, 10mbit";
        assert_eq!(rate_bps(" 10").unwrap_err(), format!("found \"10\", {allowed}"));
        assert_eq!(rate_bps("1000"), Ok(1_000));
    }

    #[test]
    fn invalid_quantities_tell_what_is_allowed() {
        let told = [
            duration_ns("50").unwrap_err(),
            duration_ns("fast").unwrap_err(),
            duration_ns("-5ms").unwrap_err(),
            duration_ns("99999999999h").unwrap_err(),
            rate_bps("10mbits").unwrap_err(),
            rate_bps("10Mbps").unwrap_err(),
            rate_bps("").unwrap_err(),
            size_bytes("12q").unwrap_err(),
            queue_limit("100").unwrap_err(),
            percent("101%").unwrap_err(),
            percent("-1%").unwrap_err(),
            percent("NaN").unwrap_err(),
            share("25").unwrap_err(),
            factor("0").unwrap_err(),
        ];
        for told in told {
            assert!(told.starts_with("found ") && told.contains(", allowed "), "{told}");
        }
    }

    proptest! {
        #[test]
        fn printed_quantities_read_back(value in 0_u64..1 << 62) {
            prop_assert_eq!(duration_ns(&print_duration(value)), Ok(value));
            prop_assert_eq!(size_bytes(&print_size(value)), Ok(value));
            prop_assert_eq!(rate_bps(&print_rate(value)), Ok(value));
        }

        #[test]
        fn percentages_keep_six_digits(value in 1_u32..1_000_000) {
            let value = f64::from(value) / 10_000.0;
            prop_assert_eq!(percent(&print_percent(value)), Ok(value));
        }
    }
}
