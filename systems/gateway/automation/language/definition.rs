//! Documents of automation flows.

use std::collections::BTreeMap;

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Steps of a flow at most.
pub const STEPS_MAX: usize = 64;

/// An automation flow: triggers start it, conditions decide, actions act.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct AutomationFlow {
    /// Display name, 1 to 64 characters.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Triggers are watched; default true.
    #[serde(default = "enabled")]
    #[garde(skip)]
    pub enabled: bool,
    /// Handling of a trigger while an execution is unfinished.
    #[serde(default)]
    #[garde(skip)]
    pub mode: FlowMode,
    /// Unfinished executions at most, in the modes `queued` and `parallel`; default 10.
    #[serde(default = "usual_concurrency")]
    #[garde(range(min = 1, max = 1000))]
    pub max_concurrency: u32,
    /// Steps, up to 64.
    #[garde(length(min = 1, max = 64), dive)]
    pub steps: Vec<FlowStep>,
    /// Edges between steps; without cycles.
    #[serde(default)]
    #[garde(length(max = 256), dive)]
    pub edges: Vec<FlowEdge>,
    /// Initial values of variables by name, up to 32.
    #[serde(default)]
    #[garde(length(max = 32))]
    pub variables: BTreeMap<String, Value>,
    /// Retention of finished executions.
    #[serde(default)]
    #[garde(dive)]
    pub retention: Retention,
}

const fn enabled() -> bool {
    true
}

const fn usual_concurrency() -> u32 {
    10
}

/// Handling of a trigger while an execution of the flow is unfinished.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowMode {
    /// The new execution is skipped.
    #[default]
    Single,
    /// The new execution waits for the one before.
    Queued,
    /// The unfinished execution is cancelled.
    Restart,
    /// Executions run side by side.
    Parallel,
}

/// Role of a step.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum StepRole {
    /// Starts executions.
    Trigger,
    /// Decides with true or false.
    Condition,
    /// Acts.
    Action,
}

impl StepRole {
    /// The word of the role.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Condition => "condition",
            Self::Action => "action",
        }
    }
}

/// A step of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct FlowStep {
    /// Id, unique in the flow: 1 to 32 of `a-z 0-9 _ -`.
    #[garde(length(chars, min = 1, max = 32))]
    pub step_id: String,
    /// Role.
    #[serde(rename = "type")]
    #[garde(skip)]
    pub role: StepRole,
    /// Kind, as listed in the builder metadata.
    #[garde(length(chars, min = 1, max = 32))]
    pub kind: String,
    /// Parameters, by the schema of the kind.
    #[serde(default)]
    #[garde(skip)]
    pub params: Map<String, Value>,
}

/// Result of a step that an edge follows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Condition true; trigger or action succeeded.
    #[default]
    True,
    /// Condition false.
    False,
    /// Step failed.
    Error,
}

/// An edge between two steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct FlowEdge {
    /// Id of the first step.
    #[garde(length(chars, min = 1, max = 32))]
    pub from: String,
    /// Id of the step that follows.
    #[garde(length(chars, min = 1, max = 32))]
    pub to: String,
    /// Result of the first step; default `true`.
    #[serde(default)]
    #[garde(skip)]
    pub when: When,
}

/// Retention of finished executions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    /// Executions kept for each final state, 1 to 1000; default 100.
    #[serde(default = "usual_per_state")]
    #[garde(range(min = 1, max = 1000))]
    pub per_state: u32,
    /// Days kept, 1 to 365; default 30.
    #[serde(default = "usual_days")]
    #[garde(range(min = 1, max = 365))]
    pub days: u32,
}

const fn usual_per_state() -> u32 {
    100
}

const fn usual_days() -> u32 {
    30
}

impl Default for Retention {
    fn default() -> Self {
        Self { per_state: usual_per_state(), days: usual_days() }
    }
}
