//! Record of an execution: the form of documents and views, composed of its components.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::components::{
    AutomationId, ExecutionCause, ExecutionDefinition, ExecutionState, ExecutionStatus,
    ExecutionSteps, StepRecord, TriggerRecord,
};
use crate::automation::language::AutomationFlow;

/// An execution of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExecutionRecord {
    /// Flow.
    pub flow: AutomationId,
    /// Version of the flow.
    pub flow_version: u64,
    /// State.
    pub state: ExecutionState,
    /// Cause.
    pub trigger: TriggerRecord,
    /// Time of the trigger, ms since the Unix epoch.
    pub queued_ms: u64,
    /// Begin, ms since the Unix epoch.
    pub started_ms: Option<u64>,
    /// End, ms since the Unix epoch.
    pub ended_ms: Option<u64>,
    /// Cause of the failure or skip.
    pub error: Option<String>,
    /// Steps in the order of the flow.
    pub steps: Vec<StepRecord>,
    /// Nothing leaves the gateway.
    pub dry_run: bool,
    /// Flow of that version, until the execution is finished.
    pub definition: Option<Box<AutomationFlow>>,
}

impl ExecutionRecord {
    /// The record of the components of an execution.
    #[must_use]
    pub fn of(
        cause: &ExecutionCause,
        status: &ExecutionStatus,
        steps: &ExecutionSteps,
        definition: Option<&ExecutionDefinition>,
    ) -> Self {
        Self {
            flow: cause.flow,
            flow_version: cause.flow_version,
            state: status.state,
            trigger: cause.trigger.clone(),
            queued_ms: cause.queued_ms,
            started_ms: status.started_ms,
            ended_ms: status.ended_ms,
            error: status.error.clone(),
            steps: steps.0.clone(),
            dry_run: cause.dry_run,
            definition: definition.map(|definition| Box::new(AutomationFlow::clone(&definition.0))),
        }
    }

    /// The components of the record.
    #[must_use]
    pub fn into_components(
        self,
    ) -> ((ExecutionCause, ExecutionStatus, ExecutionSteps), Option<ExecutionDefinition>) {
        let cause = ExecutionCause {
            flow: self.flow,
            flow_version: self.flow_version,
            trigger: self.trigger,
            queued_ms: self.queued_ms,
            dry_run: self.dry_run,
        };
        let status = ExecutionStatus {
            state: self.state,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            error: self.error,
        };
        let definition = self.definition.map(|flow| ExecutionDefinition(Arc::new(*flow)));
        ((cause, status, ExecutionSteps(self.steps)), definition)
    }
}
