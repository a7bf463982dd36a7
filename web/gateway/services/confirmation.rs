//! Changes that may cut the way to this host: undone unless they are confirmed in time.

use std::time::Duration;

use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Time until an unconfirmed change is undone where a request has none, s.
const WITHIN_S: u32 = 60;

/// Setting that differs from the request.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Divergence {
    /// JSON pointer, RFC 6901.
    pub pointer: String,
    /// Requested value.
    pub wanted: Value,
    /// Value in force.
    pub found: Value,
}

/// Confirmation of a change.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confirmation {
    /// Token of the change.
    #[schemars(length(max = 64))]
    pub confirm_token: String,
}

/// Time in which a change is confirmed, s.
#[derive(Debug, Clone, Copy)]
pub struct ConfirmationTime(u32);

impl ConfirmationTime {
    /// Time of `confirm_within_s`, or the default.
    ///
    /// # Errors
    /// 422 outside 10 to 600 s.
    pub fn of(confirm_within_s: Option<u32>) -> Result<Self, Problem> {
        let within_s = confirm_within_s.unwrap_or(WITHIN_S);
        if (10..=600).contains(&within_s) {
            return Ok(Self(within_s));
        }
        let message = format!("invalid time: found {within_s}, allowed 10 to 600");
        Err(Problem::field("/confirm_within_s", FieldCode::NotAllowed, message))
    }

    /// Time, s.
    #[must_use]
    pub fn seconds(self) -> u32 {
        self.0
    }

    /// Deadline of a change made at `now_s` of the Unix epoch, RFC 3339.
    #[must_use]
    pub fn deadline(self, now_s: u64) -> String {
        rfc3339((now_s + u64::from(self.0)) * 1_000_000_000)
    }

    /// Waits until the time is over, or the gateway stops.
    pub async fn over(self, stop: &CancellationToken) {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(u64::from(self.0))) => {}
            () = stop.cancelled() => {}
        }
    }
}
