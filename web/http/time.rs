//! Timestamps as clients see them.

use super::Problem;
use crate::problem::FieldCode;

/// RFC 3339 in UTC of nanoseconds since the Unix epoch, to the millisecond.
#[must_use]
pub fn rfc3339(ns: u64) -> String {
    let millisecond = i64::try_from(ns / 1_000_000).unwrap_or(i64::MAX);
    // Beyond the year 9999 there is no RFC 3339; the largest time there is stands for it.
    let at = jiff::Timestamp::from_millisecond(millisecond).unwrap_or(jiff::Timestamp::MAX);
    format!("{at:.3}")
}

/// Time in `text`, at `pointer` of a request.
///
/// # Errors
/// 422 for other formats than RFC 3339.
pub fn read(pointer: &str, text: &str) -> Result<jiff::Timestamp, Problem> {
    timestamp(text).ok_or_else(|| {
        let message = format!("invalid time: found {text:?}, allowed RFC 3339");
        Problem::field(pointer, FieldCode::Format, message)
    })
}

/// Time in a text; `None` for other formats than RFC 3339.
#[must_use]
pub fn timestamp(text: &str) -> Option<jiff::Timestamp> {
    // The parser takes other forms as well.
    text.parse::<jiff::Timestamp>().ok().filter(|_| has_form(text))
}

/// Checks that a range does not end before it begins.
///
/// # Errors
/// 422 otherwise.
pub fn check_range(from: u64, to: u64) -> Result<(), Problem> {
    match from > to {
        true => {
            let message = "invalid range: `from` is later than `to`";
            Err(Problem::field("/from", FieldCode::NotAllowed, message))
        }
        false => Ok(()),
    }
}

/// `true` for the form of RFC 3339.
fn has_form(text: &str) -> bool {
    const DATE: &str = "0000-00-00T00:00:00";
    let Some((date, rest)) = text.split_at_checked(DATE.len()) else { return false };
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let has_fraction_digits = !rest.starts_with('.') || zone.len() + 1 < rest.len();
    let is_zone = zone.eq_ignore_ascii_case("z")
        || zone.strip_prefix(['+', '-']).is_some_and(|offset| {
            is_like("00:00", offset) && offset < "24:00" && !matches!(offset.as_bytes()[3], b'6'..)
        });
    // A space in place of the T is allowed (5.6).
    (is_like(DATE, &date.to_ascii_uppercase()) || is_like("0000-00-00 00:00:00", date))
        && has_fraction_digits
        && is_zone
}

/// `true` for a text with digits where the pattern has zeros, and the same characters elsewhere.
fn is_like(pattern: &str, text: &str) -> bool {
    let is_one = |(wanted, found): (u8, u8)| match wanted {
        b'0' => found.is_ascii_digit(),
        other => other == found,
    };
    pattern.len() == text.len() && pattern.bytes().zip(text.bytes()).all(is_one)
}

#[cfg(test)]
mod tests {
    use super::{read, rfc3339};

    #[test]
    fn times_are_rfc_3339_to_the_millisecond() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_793_000_000_123_456_789), "2026-10-26T07:33:20.123Z");
        assert!(rfc3339(u64::MAX).starts_with("2554-"));
    }

    #[test]
    fn only_rfc_3339_is_read() {
        for text in [
            "2026-11-30T18:59:50Z",
            "2026-11-30t18:59:50.123456789z",
            "2026-11-30 18:59:50Z",
            "2026-11-30T18:59:50+02:00",
            "2026-11-30T18:59:50.5-23:59",
            "2026-11-30T18:59:50-00:00",
        ] {
            assert!(read("/ts", text).is_ok(), "{text}");
        }
        for text in [
            "2026-11-30T18:59:50+25:00",
            "2026-11-30T18:59:50+02:60",
            "2026-11-30T18:59:50-0000",
            "2026-11-30T18:59:50+02",
            "20261130T185950Z",
            "2026-11-30T18:59Z",
            "2026-11-30T18:59:50.Z",
            "2026-11-30T18:59:50,5Z",
            "2026-11-30T18:59:50+00:00[Europe/Berlin]",
            "2026-11-30T18:59:50Z[UTC]",
            "2026-02-30T18:59:50Z",
            "2026-11-30T18:59:5\u{e9}Z",
            "",
        ] {
            assert_eq!(read("/ts", text).unwrap_err().status, 422, "{text}");
        }
    }
}
