//! Failures of the history of readings as answers.

use groundwave_http::Problem;
use groundwave_telemetry::{HistoryError, TelemetryStore};

/// Time after which a client tries again, s.
const RETRY_S: u32 = 5;

/// A failure of the history as a problem: 507 while its disk has no space or takes no writes, 503
/// while it fails otherwise. Both are answered before anything changed, or about what was not kept.
#[must_use]
pub fn history_failed(err: HistoryError) -> Problem {
    match err.kind.may_pass() {
        true => Problem::storage_full(err.to_string()),
        false => Problem::unavailable(err.to_string()).retry_after(RETRY_S),
    }
}

/// Checks that the history takes readings.
///
/// # Errors
/// As [`history_failed`].
pub fn takes_readings(history: &TelemetryStore) -> Result<(), Problem> {
    match history.failure() {
        Some(err) => Err(history_failed(err)),
        None => Ok(()),
    }
}
