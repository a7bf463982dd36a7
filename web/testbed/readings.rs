//! State of the kernel as read, with times.

use groundwave_http::time::rfc3339;
use groundwave_simulation::testbed::{DatedProgram, Reading, SideView, TestbedView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values of a direction as read from the kernel, or from the daemon of a bound port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadBack {
    /// Time of the reading, RFC 3339 in UTC.
    pub read_at: String,
    /// The values; absent where the port is gone or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Reading>,
}

/// The routing program of a node as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeProgram {
    /// Cause for which its routes are not available; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Time from which it fails for that cause, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_since: Option<String>,
    /// Times that the controller has started it again after its end.
    pub restarts_total: u32,
}

impl ReadBack {
    /// Values of a direction. Those that no later reading of all directions reported as others are of its time.
    pub(super) fn of(testbed: &TestbedView, side: &SideView) -> Option<Self> {
        let dated = side.reading.as_ref()?;
        let read_ns = testbed.read_ns.map_or(dated.read_ns, |all_ns| all_ns.max(dated.read_ns));
        Some(Self { read_at: rfc3339(read_ns), values: dated.reading.clone() })
    }
}

impl NodeProgram {
    pub(super) fn of(dated: &DatedProgram) -> Self {
        Self {
            failure: dated.program.failure.clone(),
            failed_since: dated.failed_since_ns.map(rfc3339),
            restarts_total: dated.program.restarts_total,
        }
    }
}
