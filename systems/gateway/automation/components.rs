//! Components of automation, each with its writer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::delivery_id::DeliveryId;
use crate::automation::language::{
    AutomationFlow, FlowPlan, NodeUse, StepState, ThresholdMemory, plan, remove_node,
};
use crate::config::{ConfigObject, WithoutNode};

/// An automation flow as a configuration object. Written by `automation.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(transparent)]
#[garde(transparent)]
#[require(FlowMemory, PlannedFlow)]
pub struct Automation(#[garde(dive)] pub AutomationFlow);

impl Kind for Automation {
    const NAME: &'static str = "flow";
}

/// Stable id of an automation flow.
pub type AutomationId = Id<Automation>;

impl ConfigObject for Automation {
    const KIND: &'static str = "automation";
    const COUNT_MAX: usize = 500;

    fn name(&self) -> Option<&str> {
        Some(&self.0.name)
    }

    fn check(&self, _: Id<Self>, _: &World) -> Result<(), Refusal> {
        let Err(mistakes) = plan(&self.0) else {
            return Ok(());
        };
        let first = mistakes.first().expect("a refusal has a mistake");
        let key = first.pointer.trim_start_matches('/').replace('/', ".");
        let code = first.code.as_str();
        Err(Refusal::invalid(key, code, first.message.clone()))
    }

    /// A step that names no other node would wait for ever, or act on all: the flow is disabled.
    fn without_node(&self, node: NodeId) -> WithoutNode<Self> {
        let mut flow = self.0.clone();
        let steps = flow.steps.iter_mut();
        let needs = steps.filter_map(|step| remove_node(&mut step.params, node.uuid())).max();
        match needs {
            None => return WithoutNode::Same,
            Some(NodeUse::AmongOthers) => {}
            Some(NodeUse::Only) => flow.enabled = false,
        }
        match flow == self.0 {
            true => WithoutNode::Same,
            false => WithoutNode::Other(Self(flow)),
        }
    }
}

/// Memory of a flow between executions. Written by the systems of automation.
#[derive(Component, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowMemory {
    /// Version of the flow that it belongs to.
    pub version: u64,
    /// Executions so far.
    pub sequence: u64,
    /// Minute of the last execution, since the Unix epoch, and its executions.
    pub minute: (u64, u32),
    /// Thresholds that are crossed or about to be, by step and node (nil for the gateway).
    pub thresholds: BTreeMap<(String, Uuid), ThresholdMemory>,
    /// Last passes of cooldowns by step and node (nil for the flow), ms since the Unix epoch.
    pub passes: BTreeMap<(String, Uuid), u64>,
    /// Next times of schedules by step, ms since the Unix epoch.
    pub next_ms: BTreeMap<String, u64>,
    /// Variables that were set.
    pub variables: BTreeMap<String, Value>,
}

/// Plan of the steps of a flow. Derived by `plan_flows`.
#[derive(Component, Debug, Clone, Default)]
pub struct PlannedFlow(pub Option<Arc<FlowPlan>>);

/// Kind of an execution.
pub struct ExecutionKind;
impl Kind for ExecutionKind {
    const NAME: &'static str = "execution";
}
/// Stable id of an execution; executions of later milliseconds have higher ids.
pub type ExecutionId = Id<ExecutionKind>;

/// State of an execution.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionState {
    /// Waits for another execution of its flow.
    Queued,
    /// Steps run or wait for work outside.
    Running,
    /// Finished.
    Succeeded,
    /// A step failed, or the time ran out.
    Failed,
    /// Cancelled by a user or by a later execution.
    Cancelled,
    /// No action was reached, or the flow admits no further execution.
    Skipped,
}

impl ExecutionState {
    /// `true` if the state is final.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The word of the state.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }
}

/// Cause of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TriggerRecord {
    /// Step of the trigger.
    pub step_id: String,
    /// Kind of the trigger.
    pub kind: String,
    /// Values for the context.
    pub data: Map<String, Value>,
    /// Results of the thresholds that the reading crossed, by step.
    pub crossed: BTreeMap<String, bool>,
    /// Executions that led to this one.
    pub depth: u32,
}

/// A step of an execution.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StepRecord {
    /// Step.
    pub step_id: String,
    /// State.
    pub state: StepState,
    /// Result of a condition.
    pub result: Option<bool>,
    /// Begin, ms since the Unix epoch.
    pub started_ms: Option<u64>,
    /// End, ms since the Unix epoch.
    pub ended_ms: Option<u64>,
    /// Parameters with their values filled in, without secrets.
    pub input: Option<Value>,
    /// Result.
    pub output: Option<Value>,
    /// Cause of the failure, or of the last failed attempt.
    pub error: Option<String>,
    /// Delivery that the step waits for or waited for.
    pub delivery: Option<DeliveryId>,
    /// Progress of a step for each node, while it waits for deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<EachProgress>,
}

/// Progress of a step that acts for each of several nodes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EachProgress {
    /// Nodes.
    pub nodes: u32,
    /// Nodes for which the action failed.
    pub failed: u32,
    /// First node for which it failed, and the cause.
    pub error: Option<(Uuid, String)>,
    /// Deliveries that are not made yet.
    pub waiting: BTreeSet<DeliveryId>,
}

impl EachProgress {
    /// Notes that the action failed for a node.
    pub(super) fn fail(&mut self, node: Uuid, error: &str) {
        self.failed += 1;
        self.error.get_or_insert_with(|| (node, error.to_owned()));
    }

    /// Result of the step once no delivery is waited for.
    pub(super) fn result(&self) -> Result<Value, String> {
        match &self.error {
            None => Ok(json!({ "nodes": self.nodes })),
            Some((node, error)) => {
                Err(format!("{} of {} nodes failed; node {node}: {error}", self.failed, self.nodes))
            }
        }
    }
}

/// Unfinished executions of a flow. Derived from [`UnfinishedOf`].
#[derive(Component, Debug)]
#[relationship_target(relationship = UnfinishedOf)]
pub struct UnfinishedExecutions(Vec<Entity>);

/// The flow of an unfinished execution. An unfinished execution without one has lost its flow.
#[derive(Component, Debug)]
#[relationship(relationship_target = UnfinishedExecutions)]
pub struct UnfinishedOf(pub Entity);

/// Finished executions of a flow. Derived from [`FinishedOf`].
#[derive(Component, Debug)]
#[relationship_target(relationship = FinishedOf)]
pub struct FinishedExecutions(Vec<Entity>);

/// The flow of a finished execution. A finished execution without one has lost its flow.
#[derive(Component, Debug)]
#[relationship(relationship_target = FinishedExecutions)]
pub struct FinishedOf(pub Entity);

/// A running execution and its deadline. Written where an execution begins to run and where it ends.
#[derive(Component, Debug, Clone, Copy)]
pub struct RunningExecution {
    /// Time at which it fails, ms since the Unix epoch.
    pub deadline_ms: u64,
}

/// An execution that ended in this tick: `trim_executions` compares its flow with its retention.
#[derive(Component, Debug, Clone, Copy)]
#[component(storage = "SparseSet")]
pub struct RetentionDue;

/// Flow and cause of an execution. Written once, where it begins.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct ExecutionCause {
    /// Flow.
    pub flow: AutomationId,
    /// Version of the flow.
    pub flow_version: u64,
    /// Cause.
    pub trigger: TriggerRecord,
    /// Time of the trigger, ms since the Unix epoch.
    pub queued_ms: u64,
    /// Nothing leaves the gateway.
    pub dry_run: bool,
}

/// State of an execution. Written by [`Executions`](super::execution::Executions).
#[derive(Component, Debug, Clone, PartialEq)]
pub struct ExecutionStatus {
    /// State.
    pub state: ExecutionState,
    /// Begin, ms since the Unix epoch.
    pub started_ms: Option<u64>,
    /// End, ms since the Unix epoch.
    pub ended_ms: Option<u64>,
    /// Cause of the failure or skip.
    pub error: Option<String>,
}

/// Steps of an execution in the order of the flow. Written by `advance_executions` and
/// `automation.finish`.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct ExecutionSteps(pub Vec<StepRecord>);

/// Flow of the version of an unfinished execution.
#[derive(Component, Debug, Clone, PartialEq)]
pub struct ExecutionDefinition(pub Arc<AutomationFlow>);

/// Plan of the version of an unfinished execution. Derived by `plan_executions`.
#[derive(Component, Debug, Clone)]
pub struct ExecutionPlan(pub Arc<FlowPlan>);

/// A running execution with a step that may be ready.
#[derive(Component, Debug, Clone, Copy)]
#[component(storage = "SparseSet")]
pub struct MayAdvance;
