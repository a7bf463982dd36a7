//! Times of tables: numbers with a unit, dates in the forms of programs and countries, times of the day.

use jiff::civil::{Date, DateTime, Time as TimeOfDay};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::clock::{date_units_per_s, iso8601};
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::extremes::CENTURY_END_UNIX_S;
use super::super::plan::values::parse;
use super::super::sumo;
use super::FORMAT;
use super::named_dates::in_numbers;

/// A time of a cell, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Time {
    /// A number, in the unit of its column.
    Number(f64),
    /// A date with a time, since the Unix epoch.
    Date(f64),
    /// A time of the day, or since a beginning.
    OfDay(f64),
}

/// Order of day and month in dates whose year comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum DateOrder {
    /// Day, month and year.
    #[serde(rename = "dmy")]
    DayFirst,
    /// Month, day and year.
    #[serde(rename = "mdy")]
    MonthFirst,
}

impl DateOrder {
    /// The order of a name: `dmy` or `mdy`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "dmy" => Some(Self::DayFirst),
            "mdy" => Some(Self::MonthFirst),
            _ => None,
        }
    }

    /// The order in a column: that which one of its dates shows, or that of the countries that write AM and PM.
    /// `None` where no cell does.
    pub(super) fn of<'c>(cells: impl Iterator<Item = &'c str>) -> Option<Self> {
        let mut evidence = Evidence::default();
        for cell in cells {
            evidence.note(cell);
            if evidence.is_certain {
                break;
            }
        }
        evidence.order
    }
}

/// Order of the dates of a column, as far as its cells decide it.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Order, where a cell shows one.
    pub(super) order: Option<DateOrder>,
    /// A number above 12 shows it.
    is_certain: bool,
}

impl Evidence {
    /// Takes a cell into account.
    pub(super) fn note(&mut self, cell: &str) {
        if self.is_certain {
            return;
        }
        let Some((mark, first, second)) = day_and_month(cell) else { return };
        match (first, second) {
            (13..=31, 1..=12) => (self.order, self.is_certain) = (Some(DateOrder::DayFirst), true),
            (1..=12, 13..=31) => {
                (self.order, self.is_certain) = (Some(DateOrder::MonthFirst), true);
            }
            _ if mark != '.' && half_of_day(halves(cell).1).1.is_some() => {
                self.order = Some(DateOrder::MonthFirst);
            }
            _ => {}
        }
    }
}

/// Mark and first two numbers of a date whose year comes last.
fn day_and_month(cell: &str) -> Option<(char, u32, u32)> {
    let (date, _) = halves(cell);
    let mark =
        date.chars().find(|c| !c.is_ascii_digit()).filter(|mark| DATE_MARKS.contains(mark))?;
    let parts: Vec<&str> = date.split(mark).collect();
    let [first, second, year] = parts[..] else { return None };
    let is_year = year.len() == 4 && year.parse::<u32>().is_ok();
    Some((mark, first.parse().ok()?, second.parse().ok()?)).filter(|_| is_year)
}

/// True for a date that has another meaning in each order, and no order of its own: with points the day comes first.
pub(super) fn is_ambiguous(cell: &str) -> bool {
    let months = 1..=12;
    day_and_month(cell).is_some_and(|(mark, first, second)| {
        mark != '.' && first != second && months.contains(&first) && months.contains(&second)
    })
}

/// The error of a date that [`is_ambiguous`] on a line of a table none of whose rows shows the order; `setting` is
/// what sets it.
pub(super) fn ambiguous(text: &str, setting: &str, line: usize) -> FormatError {
    let actual =
        format!("{}, of which no row shows whether the day or the month is first", quoted(text));
    let allowed = format!("{setting} (day or month first), or a date that begins with the year");
    Fault::new("", actual, allowed).at(&FORMAT, Location::line(line))
}

/// Marks between the numbers of a date.
const DATE_MARKS: [char; 3] = ['/', '-', '.'];

impl Time {
    /// The time of a cell. Dates that [`is_ambiguous`] are read in an `order` only.
    pub(super) fn of(cell: &str, order: Option<DateOrder>) -> Option<Self> {
        let cell = cell.trim();
        if let Some(at_s) = compact(cell) {
            return Some(Self::Date(at_s));
        }
        if let Ok(number) = parse(cell) {
            return Some(Self::Number(number));
        }
        let plain = cell.replacen([' ', '/'], "T", 1);
        let plain = plain.strip_suffix("UTC").unwrap_or(&plain).trim_end();
        // A space may stand before a zone in numbers: `10:00:00 +0200`.
        let plain = &plain.replace(" +", "+").replace(" -", "-");
        if let Some((at_s, _)) = iso8601(plain) {
            return Some(Self::Date(at_s));
        }
        if let Some((text, ahead_s)) = in_numbers(cell) {
            return match Self::of(&text, order)? {
                Self::Date(at_s) => Some(Self::Date(at_s - ahead_s)),
                // The day of another zone is not known.
                time => Some(time).filter(|_| ahead_s == 0.0),
            };
        }
        let (date, time) = halves(cell);
        if let Some(date) = self::date(date, order) {
            let at = DateTime::from_parts(date, time_of_day(time)?);
            let at = at.to_zoned(TimeZone::UTC).ok()?.timestamp();
            return Some(Self::Date(at.as_nanosecond() as f64 / 1e9));
        }
        if half_of_day(cell).1.is_some() {
            let since_midnight = time_of_day(cell)?.duration_since(TimeOfDay::midnight());
            return Some(Self::OfDay(since_midnight.as_secs_f64()));
        }
        let minutes = cell.split(':').rev().take(2).map(|part| part.trim().parse::<f64>());
        let is_clock = cell.contains(':')
            && minutes.into_iter().all(|part| part.is_ok_and(|part| (0.0..60.0).contains(&part)));
        sumo::seconds(cell).filter(|_| is_clock).map(Self::OfDay)
    }

    /// Seconds, of a number in a unit of which a second has so many.
    pub(super) fn seconds(self, per_s: f64) -> f64 {
        match self {
            Self::Number(number) => number / per_s,
            Self::Date(at_s) | Self::OfDay(at_s) => at_s,
        }
    }
}

/// `20240229100000` and, of two columns, `20240229 100000`: seconds since the Unix epoch, in UTC.
fn compact(cell: &str) -> Option<f64> {
    let digits = match cell.len() {
        14 => cell.to_owned(),
        15 => cell.replacen([' ', 'T'], "", 1),
        _ => return None,
    };
    if digits.len() != 14 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (at_s, _) = iso8601(&format!("{}T{}", &digits[..8], &digits[8..]))?;
    (0.0..CENTURY_END_UNIX_S).contains(&at_s).then_some(at_s)
}

/// Date and time of a cell, which a space or a T divides.
fn halves(cell: &str) -> (&str, &str) {
    let cell = cell.trim();
    let (date, time) = cell.split_once([' ', 'T']).unwrap_or((cell, ""));
    (date.trim_end_matches(','), time.trim())
}

/// `2024-02-29`, `2024/02/29`, `29.02.2024`, and in an order `2/29/2024` and `29-02-2024`.
fn date(text: &str, order: Option<DateOrder>) -> Option<Date> {
    let mark =
        text.chars().find(|c| !c.is_ascii_digit()).filter(|mark| DATE_MARKS.contains(mark))?;
    let parts: Vec<&str> = text.split(mark).collect();
    let [one, two, three] = parts[..] else { return None };
    let (year, month, day) = match (mark, order) {
        ('-' | '/', _) if one.len() == 4 => (one, two, three),
        (_, Some(DateOrder::DayFirst)) => (three, two, one),
        (_, Some(DateOrder::MonthFirst)) => (three, one, two),
        (_, None) if is_ambiguous(text) => return None,
        (_, None) => (three, two, one),
    };
    // Two digits may be of any century.
    let year = Some(year).filter(|year| year.len() == 4)?;
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// A time without AM or PM, and true for PM.
fn half_of_day(text: &str) -> (&str, Option<bool>) {
    let text = text.trim();
    for (end, is_pm) in [("am", false), ("pm", true), ("a.m.", false), ("p.m.", true)] {
        let begin = text.len().saturating_sub(end.len());
        if text.get(begin..).is_some_and(|own| own.eq_ignore_ascii_case(end)) {
            return (text[..begin].trim_end(), Some(is_pm));
        }
    }
    (text, None)
}

/// `10:00`, `10:00:00`, `10:00:00.5` and `12:00:00 AM`; in UTC.
fn time_of_day(text: &str) -> Option<TimeOfDay> {
    let text = text.trim();
    let text = text.strip_suffix("UTC").or(text.strip_suffix('Z')).unwrap_or(text);
    let (text, is_pm) = half_of_day(text);
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes] => (hours, minutes, "0"),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    let hours: i8 = hours.parse().ok()?;
    let hours = match is_pm {
        None => hours,
        Some(is_pm) => {
            Some(hours).filter(|hours| (1..=12).contains(hours))? % 12 + 12 * i8::from(is_pm)
        }
    };
    let seconds = seconds.replace(',', ".").parse::<f64>().ok()?;
    let seconds = Some(seconds).filter(|seconds| seconds.is_finite())?;
    let nanos = ((seconds % 1.0) * 1e9) as i32;
    TimeOfDay::new(hours, minutes.parse().ok()?, seconds as i8, nanos).ok()
}

/// Names of units behind the names of columns, with their number in a second.
const UNITS: [(&str, f64); 15] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("seconds", 1.0),
    ("ms", 1e3),
    ("msec", 1e3),
    ("millis", 1e3),
    ("milliseconds", 1e3),
    ("us", 1e6),
    ("usec", 1e6),
    ("\u{b5}s", 1e6),
    ("\u{3bc}s", 1e6),
    ("microseconds", 1e6),
    ("ns", 1e9),
    ("nanoseconds", 1e9),
];

/// True for the name of a unit of time, in small letters.
pub(super) fn is_unit(word: &str) -> bool {
    UNITS.iter().any(|(name, _)| *name == word)
}

/// Units in a second, of the numbers of a column: of that of its name, or else of that in which they are dates; 1 where
/// neither is one.
pub(super) fn units_per_s(head: &str, numbers: &[f64]) -> f64 {
    let head = head.to_lowercase();
    let mut words = head.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let last = words.next_back().filter(|_| words.next().is_some());
    let stated = last.and_then(|word| UNITS.iter().find(|(name, _)| *name == word));
    let Some(middle) = numbers.get(numbers.len() / 2) else { return 1.0 };
    match stated {
        // Dates of the next century are those of another unit.
        Some((_, per_s)) if middle / per_s < CENTURY_END_UNIX_S => *per_s,
        _ => date_units_per_s(*middle).unwrap_or(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2024-02-29, s since the Unix epoch.
    const DAY_S: f64 = 1_709_164_800.0;

    #[test]
    fn dates_of_countries_are_read() {
        for (cell, at_s) in [
            ("2024-02-29 10:00:00", 36_000.0),
            ("2024/02/29 10:00", 36_000.0),
            ("2024-02-29 10:00:00 UTC", 36_000.0),
            ("2024-02-29T10:00:00+02:00", 28_800.0),
            ("29.02.2024 10:00:00.5", 36_000.5),
            ("2/29/2024 12:00:30 AM", 30.0),
            ("02/29/2024, 12:01 pm", 43_260.0),
            ("2/29/2024 11:59:00 P.M.", 86_340.0),
            ("29-02-2024 10:00", 36_000.0),
            ("02-29-2024 10:00", 36_000.0),
            ("02.29.2024 10:00", 36_000.0),
            ("20240229100001", 36_001.0),
            ("20240229 100001", 36_001.0),
            ("2024-02-29 10:00:00 +0200", 28_800.0),
            ("29.02.2024 10:00:00,5", 36_000.5),
            ("2024-02-29 12:00:00 CEST", 36_000.0),
            ("Feb 29, 2024 10:00:00 AM", 36_000.0),
            ("29-Feb-2024 10:00", 36_000.0),
            ("Thu, 29 Feb 2024 12:00:00 +0200", 36_000.0),
            ("Thu Feb 29 2024 12:00:00 GMT+0200 (CEST)", 36_000.0),
        ] {
            let order = DateOrder::of([cell].into_iter());
            assert_eq!(Time::of(cell, order), Some(Time::Date(DAY_S + at_s)), "{cell}");
        }
        for cell in [
            "29.02.2023 10:00",
            "13:00 PM",
            "2024-02-29",
            "29.02.24 10:00",
            "noon",
            "1/2/2024 10:00",
            "1-2-2024 10:00",
            "1_2_2024 10:00",
            "10:61:00",
            "10:00:nan",
            "10:00:1e400",
        ] {
            assert_eq!(Time::of(cell, DateOrder::of([cell].into_iter())), None, "{cell}");
        }
        // The day comes first in all rows if it does in one.
        let order = DateOrder::of(["1/2/2024 10:00", "13/2/2024 9:00"].into_iter());
        let first = Some(Time::Date(DAY_S - 28.0 * 86_400.0 + 36_000.0));
        assert_eq!(Time::of("1/2/2024 10:00", order), first);
        // Both orders are one date, and points have an order.
        let third = DAY_S + 3.0 * 86_400.0 + 36_000.0;
        assert_eq!(Time::of("03/03/2024 10:00", None), Some(Time::Date(third)));
        assert_eq!(Time::of("03.03.2024 10:00", None), Some(Time::Date(third)));
        let dots = Time::of("01.02.2024 10:00", None);
        assert_eq!(dots, Some(Time::Date(DAY_S - 28.0 * 86_400.0 + 36_000.0)));
        assert_eq!(Time::of("1:00:10 pm", None), Some(Time::OfDay(46_810.0)));
        assert_eq!(Time::of("23:59:00", None), Some(Time::OfDay(86_340.0)));
    }

    #[test]
    fn units_are_those_of_the_name_or_of_dates() {
        for (head, number, expected) in [
            ("time", 1_709_164_800.0, 1.0),
            ("timestamp", 1_709_164_800_000.0, 1e3),
            ("timestamp", 1_709_164_800_000_000.0, 1e6),
            ("timestamp", 1_709_164_800_000_000_000.0, 1e9),
            ("time_ms", 60_000.0, 1e3),
            ("Time (ms)", 60_000.0, 1e3),
            ("t_us", 6e7, 1e6),
            ("time_s", 1_709_164_800_000.0, 1e3),
            ("ms", 5.0, 1.0),
            ("time", 5.0, 1.0),
        ] {
            assert_eq!(units_per_s(head, &[number]), expected, "{head} {number}");
        }
    }
}
