//! Alerts: their components, and the record of documents and views.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::components::{AutomationId, ExecutionId};
use crate::automation::language::Severity;

/// Kind of an alert.
pub struct AlertKind;
impl Kind for AlertKind {
    const NAME: &'static str = "alert";
}
/// Stable id of an alert.
pub type AlertId = Id<AlertKind>;

/// State of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertState {
    /// Needs attention.
    Open,
    /// Acknowledged by a user.
    Acked,
    /// Over.
    Closed,
}

/// An alert of a flow: the form of documents and views, composed of the components of an alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertRecord {
    /// Flow.
    pub flow: AutomationId,
    /// Execution that opened it.
    pub execution: ExecutionId,
    /// Node.
    pub node: Option<Uuid>,
    /// Severity.
    pub severity: Severity,
    /// Text.
    pub message: String,
    /// Subject within the flow.
    pub key: String,
    /// State.
    pub state: AlertState,
    /// Times it was raised.
    pub count: u32,
    /// Begin, ms since the Unix epoch.
    pub opened_ms: u64,
    /// User who acknowledged it.
    pub acked_by: Option<String>,
    /// Note of that user.
    pub note: Option<String>,
    /// Time of the acknowledgement, ms since the Unix epoch.
    pub acked_ms: Option<u64>,
    /// End, ms since the Unix epoch.
    pub closed_ms: Option<u64>,
}

/// Subject and origin of an alert. Written once, where it opens.
#[derive(Component, Debug, Clone, PartialEq, Eq)]
pub struct AlertOrigin {
    /// Flow.
    pub flow: AutomationId,
    /// Execution that opened it.
    pub execution: ExecutionId,
    /// Node.
    pub node: Option<Uuid>,
    /// Severity.
    pub severity: Severity,
    /// Subject within the flow.
    pub key: String,
    /// Begin, ms since the Unix epoch.
    pub opened_ms: u64,
}

/// Text of an alert. Written by `advance_executions`.
#[derive(Component, Debug, Clone, PartialEq, Eq)]
pub struct AlertMessage {
    /// Text.
    pub text: String,
    /// Times it was raised.
    pub count: u32,
}

/// Acknowledgement of an alert. Written by `automation.acknowledge`.
#[derive(Component, Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// User.
    pub by: String,
    /// Note of that user.
    pub note: Option<String>,
    /// Time, ms since the Unix epoch.
    pub at_ms: u64,
}

/// End of an alert. Written by `advance_executions`, and where its node or flow is removed.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlertEnd {
    /// Time, ms since the Unix epoch.
    pub at_ms: u64,
}

/// Components of an alert.
pub(super) type AlertParts<'a> =
    (&'a AlertOrigin, &'a AlertMessage, Option<&'a Acknowledgement>, Option<&'a AlertEnd>);

/// Filter of alerts that changed.
pub(super) type AlertChanged =
    Or<(Changed<AlertMessage>, Changed<Acknowledgement>, Added<AlertEnd>)>;

impl AlertRecord {
    /// The record of the components of an alert.
    pub(super) fn of((origin, message, acknowledgement, end): AlertParts<'_>) -> Self {
        let origin = origin.clone();
        let state = match (end, acknowledgement) {
            (Some(_), _) => AlertState::Closed,
            (None, Some(_)) => AlertState::Acked,
            (None, None) => AlertState::Open,
        };
        Self {
            flow: origin.flow,
            execution: origin.execution,
            node: origin.node,
            severity: origin.severity,
            message: message.text.clone(),
            key: origin.key,
            state,
            count: message.count,
            opened_ms: origin.opened_ms,
            acked_by: acknowledgement.map(|one| one.by.clone()),
            note: acknowledgement.and_then(|one| one.note.clone()),
            acked_ms: acknowledgement.map(|one| one.at_ms),
            closed_ms: end.map(|end| end.at_ms),
        }
    }

    /// The components of the record.
    pub(super) fn into_components(
        self,
    ) -> ((AlertOrigin, AlertMessage), Option<Acknowledgement>, Option<AlertEnd>) {
        let origin = AlertOrigin {
            flow: self.flow,
            execution: self.execution,
            node: self.node,
            severity: self.severity,
            key: self.key,
            opened_ms: self.opened_ms,
        };
        let message = AlertMessage { text: self.message, count: self.count };
        let (by, note) = (self.acked_by.unwrap_or_default(), self.note);
        let acknowledgement = self.acked_ms.map(|at_ms| Acknowledgement { by, note, at_ms });
        ((origin, message), acknowledgement, self.closed_ms.map(|at_ms| AlertEnd { at_ms }))
    }
}
