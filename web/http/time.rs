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
    let wrong = |_| {
        let message = format!("invalid time: found {text:?}, allowed RFC 3339");
        Problem::field(pointer, FieldCode::Format, message)
    };
    text.parse().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_rfc_3339_to_the_millisecond() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(rfc3339(1_793_000_000_123_456_789), "2026-10-26T07:33:20.123Z");
        assert!(rfc3339(u64::MAX).starts_with("2554-"));
    }
}
