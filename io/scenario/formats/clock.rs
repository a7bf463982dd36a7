//! Times of a recording: rows whose clock was not set, and the length of what is replayed.

use groundwave_engine::Clock;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Format;
use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location};
use super::extremes::{CENTURY_END_UNIX_S, CLOCK_SET_UNIX_S};

/// A day, s.
pub(super) const DAY_S: f64 = 86_400.0;

/// A time of ISO 8601, s since the Unix epoch, and true if it has a zone; without one it is UTC.
pub(super) fn iso8601(text: &str) -> Option<(f64, bool)> {
    let text = text.trim();
    let zoned = text.parse::<Timestamp>().ok();
    let time = zoned.or_else(|| format!("{text}Z").parse::<Timestamp>().ok())?;
    Some((time.as_nanosecond() as f64 / 1e9, zoned.is_some()))
}

/// Units in a second, of the unit in which a number is a date of this time.
pub(super) fn date_units_per_s(number: f64) -> Option<f64> {
    let dates = CLOCK_SET_UNIX_S..CENTURY_END_UNIX_S;
    [1.0, 1e3, 1e6, 1e9].into_iter().find(|per_s| dates.contains(&(number / per_s)))
}

/// Seconds since the Unix epoch, of a number in the unit in which it is a date; of another one those of itself.
pub(super) fn unix_s(number: f64) -> f64 {
    number / date_units_per_s(number).unwrap_or(1.0)
}

/// A time of the day `hh:mm:ss`, s.
pub(super) fn time_of_day(text: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = text.split(':').map(|part| part.trim().parse().ok()).collect();
    let [hours, minutes, seconds] = parts?[..] else { return None };
    let is_valid = [(hours, 24.0), (minutes, 60.0), (seconds, 61.0)]
        .into_iter()
        .all(|(part, end)| (0.0..end).contains(&part));
    is_valid.then_some(hours * 3_600.0 + minutes * 60.0 + seconds)
}

/// Beginning of a date of a day, a month or a year, `2024-02-29`, `2024-02` or `2024`, in UTC, s since the Unix epoch.
pub(super) fn begin_of_date(text: &str) -> Option<f64> {
    let text = text.trim();
    let rest = match text.len() {
        4 => "-01-01",
        7 => "-01",
        10 => "",
        _ => return None,
    };
    let date: Date = format!("{text}{rest}").parse().ok()?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second() as f64)
}

/// Seconds below which they are written out.
const SECONDS_MAX: f64 = 1e15;

/// Seconds for a message: large ones with an exponent instead of hundreds of digits.
fn seconds(seconds: f64) -> String {
    match seconds.abs() < SECONDS_MAX {
        true => format!("{seconds} s"),
        false => format!("{seconds:e} s"),
    }
}

impl Dataset {
    /// Drops events before 1990 from a recording with times since the Unix epoch, unless they are
    /// the half of it or more: then the clock was never set, and the times are its own. A
    /// beginning that goes with them moves to the first event that is left.
    pub(super) fn drop_unset_clocks(&mut self) {
        let set = |at_s: &f64| *at_s >= CLOCK_SET_UNIX_S;
        let all = self.events.len();
        let unset = all - self.events.iter().filter(|(at_s, _)| set(at_s)).count();
        if unset == 0 || unset * 2 >= all {
            return;
        }
        self.events.retain(|(at_s, _)| set(at_s));
        // They are reported once, by rows: those of a table have a fix and a measurement.
        self.suspects.forget_before(CLOCK_SET_UNIX_S);
        let rows = std::mem::take(&mut self.extremes.unset_rows);
        let line = self.extremes.unset.take().map_or(0, |row| row.1);
        let what = "a time before 1990, as of a clock that was not set";
        self.report.add_many(what, rows, || Location::line(line));
        if self.begin_unix_s.is_some_and(|begin_s| !set(&begin_s)) {
            let times = self.events.iter().map(|event| event.0);
            self.begin_unix_s = Some(times.fold(f64::INFINITY, f64::min));
        }
    }

    /// Takes the times of events for times since the Unix epoch where none of them is before 1990.
    pub(super) fn begin_with_clock(&mut self) {
        let times = self.events.iter().map(|event| event.0);
        let begin_s = times.fold(f64::INFINITY, f64::min);
        if begin_s >= CLOCK_SET_UNIX_S && begin_s.is_finite() {
            self.begin_unix_s = Some(begin_s);
        }
    }

    /// Time since the beginning of the recording, s. Of dates, which have 53 bits for the seconds since
    /// 1970 as well, no more than microseconds are kept.
    pub(super) fn elapsed_s(&self, at_s: f64) -> f64 {
        match self.begin_unix_s {
            Some(begin_s) => (((at_s - begin_s) * 1e6).round() / 1e6).max(0.0),
            None => at_s.max(0.0),
        }
    }

    /// Takes the time of the first event as the beginning: that of a recording with dates.
    pub(super) fn begin_with_first(&mut self) {
        let times = self.events.iter().map(|event| event.0);
        let begin_s = times.fold(f64::INFINITY, f64::min);
        self.begin_unix_s = Some(begin_s).filter(|begin_s| begin_s.is_finite());
    }

    /// A time of the day near the last event, s: with a day for each midnight since the first. Times that differ by
    /// more than half a day have a midnight between them.
    pub(super) fn after_midnights(&self, time_s: f64) -> f64 {
        let last_s = self.events.last().map_or(time_s, |event| event.0);
        let at_s = (last_s / DAY_S).floor() * DAY_S + time_s;
        match at_s - last_s {
            later_s if later_s < -DAY_S / 2.0 => at_s + DAY_S,
            later_s if later_s > DAY_S / 2.0 && at_s >= DAY_S => at_s - DAY_S,
            _ => at_s,
        }
    }

    /// Counts times of the day from that of the first event; those beside dates stay as they are.
    pub(super) fn begin_with_time_of_day(&mut self) {
        if !std::mem::take(&mut self.has_times_of_day) || self.begin_unix_s.is_some() {
            return;
        }
        let first_s = self.events.iter().map(|event| event.0).fold(f64::INFINITY, f64::min);
        for event in &mut self.events {
            event.0 -= first_s;
        }
    }

    /// Counts seconds from the first event where events are before second 0, and notes it; dates stay as they are.
    pub(super) fn begin_with_negative(&mut self) {
        let times = self.events.iter().map(|event| event.0);
        let first_s = times.fold(f64::INFINITY, f64::min);
        if self.begin_unix_s.is_some() || first_s >= 0.0 {
            return;
        }
        let negative = self.events.iter().filter(|event| event.0 < 0.0).count();
        let what = format!("a time before second 0: seconds count from the first, {first_s} s");
        let line = self.extremes.unset.map_or(0, |row| row.1);
        self.report.add_many(&what, negative, || Location::line(line));
        for event in &mut self.events {
            event.0 -= first_s;
        }
        self.end_s = self.end_s.map(|end_s| end_s - first_s);
        self.extremes.shift(-first_s);
    }

    /// Refuses a recording of more than `ticks_max` ticks, with the row that makes it as long.
    pub(super) fn check_span(
        &self,
        format: &Format,
        step_ns: u64,
        ticks_max: u64,
    ) -> Result<(), FormatError> {
        let begin_s = self.begin_unix_s.unwrap_or(0.0);
        let times = self.events.iter().map(|event| event.0);
        let last_s = times.chain(self.end_s).fold(begin_s, f64::max);
        let (span_s, step_s) = (last_s - begin_s, step_ns as f64 / 1e9);
        // Longer ones have no number of nanoseconds.
        let last_ns = Some((span_s * 1e9).round()).filter(|last_ns| *last_ns < u64::MAX as f64);
        if last_ns.is_some_and(|last_ns| Clock::new(step_ns).tick_at(last_ns as u64) <= ticks_max) {
            return Ok(());
        }
        let allowed = format!(
            "a recording of at most {ticks_max} ticks of {step_s} s ({})",
            seconds(ticks_max as f64 * step_s)
        );
        let mut times: Vec<f64> = self.events.iter().map(|event| event.0).collect();
        times.sort_by(f64::total_cmp);
        let median_s = times.get(times.len() / 2).copied().unwrap_or(begin_s);
        let row = self.extremes.farthest(median_s);
        let (actual, line) = match row.filter(|_| self.end_s != Some(last_s)) {
            Some((at_s, line)) => {
                let (time, apart_s) = (self.time(at_s), (at_s - median_s).abs());
                let apart = seconds(apart_s);
                let actual = format!(
                    "a recording of {} with the time {time}, {apart} from the median time",
                    seconds(span_s)
                );
                (actual, line)
            }
            None => {
                let end = self.time(last_s);
                (format!("a recording of {} with the end {end}", seconds(span_s)), 0)
            }
        };
        Err(Fault::new("", actual, allowed).at(format, Location::line(line)))
    }

    /// A time of the recording as text: a date where it has dates.
    fn time(&self, at_s: f64) -> String {
        let date = self.begin_unix_s.and(Timestamp::from_second(at_s as i64).ok());
        date.map_or_else(|| seconds(at_s), |date| date.to_string())
    }
}
