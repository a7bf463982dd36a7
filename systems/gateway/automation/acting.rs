//! Action of a step: its circumstances and its result.

use serde_json::Value;
use uuid::Uuid;

use super::components::{EachProgress, ExecutionCause, ExecutionId};
use super::delivery::DeliveryId;
use crate::automation::language::AutomationFlow;

impl ExecutionCause {
    /// Node in the values of the trigger.
    pub(super) fn node(&self) -> Option<Uuid> {
        let node = self.trigger.data.get("node_id")?;
        node.as_str()?.parse().ok()
    }
}

/// Circumstances of an action.
#[derive(Clone, Copy)]
pub(super) struct Acting<'a> {
    pub execution: ExecutionId,
    pub cause: &'a ExecutionCause,
    pub definition: &'a AutomationFlow,
    pub step_id: &'a str,
    pub context: &'a Value,
    pub now_ms: u64,
    /// Node, in a step for each node.
    pub node: Option<Uuid>,
}

impl Acting<'_> {
    /// Node that the action is about.
    pub fn subject(&self) -> Option<Uuid> {
        self.node.or_else(|| self.cause.node())
    }

    /// Name of the action within its execution.
    pub fn name(&self) -> Vec<u8> {
        let mut name = self.step_id.as_bytes().to_vec();
        name.extend(self.node.iter().flat_map(Uuid::as_bytes));
        name
    }
}

/// Result of an action.
pub(super) struct Acted {
    pub input: Option<Value>,
    /// `None` while deliveries are awaited.
    pub result: Option<Result<Value, String>>,
    pub delivery: Option<DeliveryId>,
    pub each: Option<EachProgress>,
}

impl Acted {
    pub fn done(input: Option<Value>, output: Value) -> Self {
        Self { input, result: Some(Ok(output)), delivery: None, each: None }
    }

    pub fn failed(input: Option<Value>, error: String) -> Self {
        Self { input, result: Some(Err(error)), delivery: None, each: None }
    }
}
