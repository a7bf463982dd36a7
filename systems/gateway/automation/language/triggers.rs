//! Parameters of triggers.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Beginning of the metrics of the gateway's own machine.
pub const GATEWAY_PREFIX: &str = "gateway.";

/// Reading of a node or of the gateway. Followed by thresholds only, which start the execution when
/// the value crosses them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct SensorValue {
    /// Metric, `sys.disk_used_pct`. Those of the gateway's own machine begin with `gateway.`:
    /// `gateway.disk_used_pct`, `gateway.i2c.TEMPLATE.METRIC`.
    #[garde(length(chars, min = 1, max = 100))]
    pub metric: String,
    /// Node; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub node_id: Option<Uuid>,
    /// Tag that nodes must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 64))]
    pub tag: Option<String>,
}

/// Event of a node.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeEventKind {
    /// Heartbeats arrive.
    Online,
    /// No heartbeat for three periods.
    Stale,
    /// No heartbeat for twelve periods.
    Offline,
    /// Registration waits for a decision.
    Pending,
    /// Registration expired without a decision.
    Expired,
    /// Registration approved.
    Approved,
    /// Registration rejected.
    Rejected,
    /// Registration revoked.
    Revoked,
    /// Removed from the fleet.
    Gone,
    /// Alert of the gateway or of a flow.
    Alert,
    /// Nodes went offline: one event for a relay and the nodes behind it.
    Outage,
    /// The nodes of an outage are back.
    Recovered,
    /// An alert of a flow was closed.
    Resolved,
}

/// Event of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct NodeEvent {
    /// Events, 1 to 13.
    #[garde(length(min = 1, max = 13))]
    pub events: Vec<NodeEventKind>,
    /// Node; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub node_id: Option<Uuid>,
    /// Tag that nodes must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 64))]
    pub tag: Option<String>,
}

/// Change of a link's status.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LinkEventKind {
    /// Reported by a node that is online.
    Up,
    /// Reported only by nodes that are stale.
    Stale,
    /// Reported only by nodes that are offline, or not any more.
    Down,
}

/// Change of a link's status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct LinkEvent {
    /// New statuses, 1 to 3.
    #[garde(length(min = 1, max = 3))]
    pub events: Vec<LinkEventKind>,
    /// Node at either end; default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub node_id: Option<Uuid>,
}

/// Times of a calendar. Runs that were missed while the gateway was down are made up for by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Cron expression of five fields: minute, hour, day of month, month, day of week.
    #[garde(length(chars, min = 1, max = 100))]
    pub cron: String,
    /// IANA time zone; default `UTC`.
    #[serde(default = "utc")]
    #[garde(length(chars, min = 1, max = 64))]
    pub tz: String,
}

pub(super) fn utc() -> String {
    "UTC".to_owned()
}

/// Request of another system to the trigger endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct WebhookIn {
    /// Names of required inputs, up to 32.
    #[serde(default)]
    #[garde(length(max = 32))]
    pub required: Vec<String>,
}

/// Request of a user to the trigger endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Manual {}
