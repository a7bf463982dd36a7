//! Parameters of actions in the world. Texts may name values of the context: `{{/trigger/node_id}}`.

use std::collections::BTreeMap;

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Severity of an alert.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information.
    Info,
    /// Needs attention.
    #[default]
    Warning,
    /// Needs attention now.
    Critical,
}

impl Severity {
    /// The word of the severity.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Opens an alert, or closes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Alert {
    /// Severity; default `warning`.
    #[serde(default)]
    #[garde(skip)]
    pub severity: Severity,
    /// Text, 1 to 1000 characters.
    #[garde(length(chars, min = 1, max = 1000))]
    pub message: String,
    /// Subject: an open alert of this flow with the same key is not opened again; default the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(length(chars, min = 1, max = 200))]
    pub key: Option<String>,
    /// Closes the open alert with this key instead.
    #[serde(default)]
    #[garde(skip)]
    pub resolve: bool,
}

const fn usual_expiry_s() -> u32 {
    300
}

/// Enqueues a command for a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Command {
    /// Node; default the node of the trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub node_id: Option<Uuid>,
    /// Kind of command, as the node supports.
    #[garde(length(chars, min = 1, max = 64))]
    pub kind: String,
    /// Arguments, up to 16.
    #[serde(default)]
    #[garde(length(max = 16))]
    pub args: BTreeMap<String, String>,
    /// Time until expiry, s; default 300.
    #[serde(default = "usual_expiry_s")]
    #[garde(range(min = 1, max = 86_400))]
    pub expires_s: u32,
}

/// Sets a variable of the flow, for later executions too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct SetVariable {
    /// Name, one of the flow's variables.
    #[garde(length(chars, min = 1, max = 32))]
    pub name: String,
    /// Value; texts may name values of the context.
    #[garde(skip)]
    pub value: Value,
}
