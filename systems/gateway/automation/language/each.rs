//! Parameters of an action that is performed for each of several nodes.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Most nodes of a step.
pub const EACH_NODES_MAX: u32 = 1_000;

/// Liveness of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeLiveness {
    /// No heartbeat yet.
    Joining,
    /// Heartbeats arrive.
    Online,
    /// No heartbeat for three periods.
    Stale,
    /// No heartbeat for twelve periods.
    Offline,
}

/// Action that can be performed for a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EachKind {
    /// Node command.
    Command,
    /// Alert.
    Alert,
    /// HTTP request.
    WebhookOut,
    /// E-mail.
    Email,
    /// MQTT message.
    MqttPublish,
}

impl EachKind {
    /// Kind of the step that performs it once.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Alert => "alert",
            Self::WebhookOut => "webhook_out",
            Self::Email => "email",
            Self::MqttPublish => "mqtt_publish",
        }
    }
}

/// Action for each node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct EachAction {
    /// Kind of the action.
    #[garde(skip)]
    pub kind: EachKind,
    /// Parameters of that kind; texts may name the node: `{{/node/node_id}}`, `{{/node/name}}`,
    /// `{{/node/hostname}}`, `{{/node/state}}`.
    #[garde(skip)]
    pub params: Map<String, Value>,
}

const fn usual_nodes() -> u32 {
    100
}

/// Performs an action for each approved node that fits, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct ForEachNode {
    /// Nodes, up to 1000; default all.
    #[serde(default)]
    #[garde(length(max = 1000))]
    pub node_ids: Vec<Uuid>,
    /// Tag that nodes must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 64))]
    pub tag: Option<String>,
    /// Liveness that nodes must have; default any.
    #[serde(default)]
    #[garde(length(max = 4))]
    pub states: Vec<NodeLiveness>,
    /// Most nodes, 1 to 1000: the step fails where more fit; default 100.
    #[serde(default = "usual_nodes")]
    #[garde(range(min = 1, max = EACH_NODES_MAX))]
    pub max_nodes: u32,
    /// Action.
    #[garde(dive)]
    pub action: EachAction,
}
