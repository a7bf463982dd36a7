//! Problem of a rate limit.

use groundwave_http::Problem;

/// Problem with status 429.
#[must_use]
pub fn limited(what: &str, wait_s: u32) -> Problem {
    let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
    let wait_s = wait_s.max(1);
    Problem::new(status, format!("{what}; try again in {wait_s} s")).retry_after(wait_s)
}
