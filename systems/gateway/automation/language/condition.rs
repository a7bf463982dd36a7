//! Conditions that follow from the context and the time alone.

use serde_json::Value;

use super::conditions::{ResponseOperator, TimeWindow, Weekday};
use super::cron::{timestamp, zone};

/// Minute of the day of a text `HH:MM`.
pub(super) fn minute_of_day(text: &str) -> Option<u32> {
    let (hour, minute) = text.split_once(':')?;
    let two = |part: &str| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u32>().ok().filter(|_| digits)
    };
    let (hour, minute) = (two(hour)?, two(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

const DAYS: [Weekday; 7] = [
    Weekday::Mon,
    Weekday::Tue,
    Weekday::Wed,
    Weekday::Thu,
    Weekday::Fri,
    Weekday::Sat,
    Weekday::Sun,
];

/// Checks the times and the time zone of a window.
///
/// # Errors
/// The field, the value found and the values allowed.
pub fn check_window(window: &TimeWindow) -> Result<(), (&'static str, String, &'static str)> {
    for (field, text) in [("from", &window.from), ("to", &window.to)] {
        if minute_of_day(text).is_none() {
            return Err((field, format!("{text:?}"), "HH:MM"));
        }
    }
    match zone(&window.tz) {
        Ok(_) => Ok(()),
        Err(_) => Err(("tz", format!("{:?}", window.tz), "an IANA time zone")),
    }
}

/// `true` if `now_ms`, ms since the Unix epoch, is in the window.
///
/// # Errors
/// A time or time zone that validation would have refused.
pub fn in_window(window: &TimeWindow, now_ms: u64) -> Result<bool, String> {
    let time = |text: &str| minute_of_day(text).ok_or(format!("found {text:?}, allowed HH:MM"));
    let (from, to) = (time(&window.from)?, time(&window.to)?);
    let tz = zone(&window.tz)?;
    let now = timestamp(now_ms).ok_or("a time out of the calendar")?.to_zoned(tz);
    let minute = u32::from(now.hour().unsigned_abs()) * 60 + u32::from(now.minute().unsigned_abs());
    let today = usize::from(now.weekday().to_monday_zero_offset().unsigned_abs());
    let starts_on = |day: usize| window.days.is_empty() || window.days.contains(&DAYS[day % 7]);
    Ok(match from < to {
        true => (from..to).contains(&minute) && starts_on(today),
        // Over midnight, or all day where both are the same.
        false => (minute >= from && starts_on(today)) || (minute < to && starts_on(today + 6)),
    })
}

/// Compares the value found with the one wanted; `false` where they cannot be compared.
#[must_use]
pub fn compare(found: Option<&Value>, op: ResponseOperator, wanted: &Value) -> bool {
    let numbers = || Some((found?.as_f64()?, wanted.as_f64()?));
    let by = |test: fn(&f64, &f64) -> bool| numbers().is_some_and(|(a, b)| test(&a, &b));
    match op {
        ResponseOperator::Exists => found.is_some_and(|value| !value.is_null()),
        // 1 and 1.0 are the same number.
        ResponseOperator::Eq => found == Some(wanted) || by(f64::eq),
        ResponseOperator::Ne => !compare(found, ResponseOperator::Eq, wanted),
        ResponseOperator::Gt => by(f64::gt),
        ResponseOperator::Ge => by(f64::ge),
        ResponseOperator::Lt => by(f64::lt),
        ResponseOperator::Le => by(f64::le),
        ResponseOperator::Contains => match (found, wanted) {
            (Some(Value::String(text)), Value::String(part)) => text.contains(part.as_str()),
            (Some(Value::Array(items)), item) => items.contains(item),
            _ => false,
        },
    }
}
