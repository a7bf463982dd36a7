//! Times of schedules: cron expressions in IANA time zones, by the time zone data of this build.

use std::sync::LazyLock;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Time zones of this build: those of the machine would be another input.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The time zone with this IANA name.
///
/// # Errors
/// The allowed values.
pub(super) fn zone(name: &str) -> Result<TimeZone, String> {
    ZONES.get(name).map_err(|_| format!("found {name:?}, allowed an IANA time zone"))
}

/// Time of a number of ms since the Unix epoch.
pub(super) fn timestamp(at_ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(at_ms).ok()?).ok()
}

/// RFC 3339 form of a time, ms since the Unix epoch; empty beyond the calendar.
#[must_use]
pub fn time(at_ms: u64) -> String {
    timestamp(at_ms).map_or_else(String::new, |at| format!("{at:.3}"))
}

fn parse(cron: &str) -> Result<Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    let parsed = parser.parse(cron);
    parsed.map_err(|err| format!("found {cron:?}, allowed five cron fields: {err}"))
}

/// Checks a schedule: expression, time zone, and that there is a next time.
///
/// # Errors
/// The value found and the values allowed.
pub fn check_cron(cron: &str, tz: &str) -> Result<(), String> {
    zone(tz)?;
    parse(cron)?;
    // Any moment serves: a date that never comes, such as 30 February, has no next time at all.
    match next_run_ms(cron, tz, 0) {
        Some(_) => Ok(()),
        None => Err(format!("found {cron:?}, allowed a time that comes")),
    }
}

/// First time of a schedule after `after_ms`, ms since the Unix epoch; `None` without one.
#[must_use]
pub fn next_run_ms(cron: &str, tz: &str, after_ms: u64) -> Option<u64> {
    let (cron, tz) = (parse(cron).ok()?, zone(tz).ok()?);
    let after = timestamp(after_ms)?.to_zoned(tz);
    let next = cron.find_next_occurrence(&after, false).ok()?;
    u64::try_from(next.timestamp().as_millisecond()).ok()
}
