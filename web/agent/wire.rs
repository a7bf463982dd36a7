//! Bodies of requests that have no type in the model.

use std::borrow::Cow;

use groundwave_http::time::rfc3339;
use groundwave_io_agent::backlog::UnreportedReading;
use groundwave_io_agent::finished::Finished;
use groundwave_io_agent::mesh_settings::Values;
use groundwave_protocol::Interface;
use groundwave_protocol::heartbeat::RejectedEntry;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A login.
#[derive(Serialize)]
pub struct Login<'a> {
    pub username: &'a str,
    pub password: &'a str,
}

/// Answer to a login.
#[derive(Deserialize)]
pub struct Token {
    pub access_token: String,
}

/// Identity and capabilities of a node.
#[derive(Serialize)]
pub struct Join<'a> {
    pub node_id: Uuid,
    pub boot_id: &'a str,
    pub agent_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    pub firmware: std::collections::BTreeMap<String, String>,
    pub interfaces: &'a [Interface],
    pub capabilities: &'a [String],
    pub supported_commands: Vec<&'static str>,
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub settings: Values,
}

/// Reply to the report of a node.
#[derive(Debug, Default, Deserialize)]
pub struct JoinReply {
    #[serde(default)]
    pub rejected_count: usize,
    #[serde(default)]
    pub rejected: Vec<RejectedEntry>,
}

/// Reply to stored readings.
#[derive(Debug, Default, Deserialize)]
pub struct ReplayReply {
    #[serde(default)]
    pub rejected_count: usize,
    #[serde(default)]
    rejected: Vec<RejectedReading>,
}

#[derive(Debug, Deserialize)]
struct RejectedReading {
    code: String,
}

impl ReplayReply {
    /// Reason of the first rejected reading.
    pub fn first_code(&self) -> Option<&str> {
        self.rejected.first().map(|one| one.code.as_str())
    }
}

/// Readings reported late, with the times of measurement by the clock of the gateway.
#[derive(Serialize)]
pub struct Batch {
    samples: Vec<BatchSample>,
}

#[derive(Serialize)]
struct BatchSample {
    ts: String,
    metric: Cow<'static, str>,
    value: f64,
}

impl Batch {
    /// Batch of readings; `time_ms` is the time since the Unix epoch at a time since boot, both in ms.
    pub fn of(readings: &[UnreportedReading], time_ms: impl Fn(u64) -> u64) -> Self {
        let sample = |one: &UnreportedReading| BatchSample {
            ts: rfc3339(time_ms(one.boot_ms).saturating_mul(1_000_000)),
            metric: one.metric.clone(),
            value: one.value,
        };
        Self { samples: readings.iter().map(sample).collect() }
    }
}

/// Result of a node command.
#[derive(Serialize)]
pub struct CommandOutcome<'a> {
    state: &'static str,
    output: &'a str,
}

impl<'a> From<&'a Finished> for CommandOutcome<'a> {
    fn from(finished: &'a Finished) -> Self {
        Self { state: if finished.done { "done" } else { "failed" }, output: &finished.output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_readings_have_times_of_the_gateway_whatever_the_clock_of_the_node() {
        let reading =
            |boot_ms| UnreportedReading { boot_ms, metric: Cow::Borrowed("sys.load1"), value: 0.5 };
        let mut time = groundwave_io_agent::GatewayTime::default();
        time.observe(1_793_000_000_000, 90_000);
        let readings = [reading(30_000), reading(35_000)];
        let batch = Batch::of(&readings, |boot_ms| time.at(boot_ms).unwrap_or_default());
        let times: Vec<_> = batch.samples.iter().map(|sample| sample.ts.as_str()).collect();
        assert_eq!(times, ["2026-10-26T07:32:20.000Z", "2026-10-26T07:32:25.000Z"]);
    }
}
