//! Mistakes in a flow, each at the step or field that fails.

use serde::Serialize;

/// Kind of a mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MistakeCode {
    /// Unknown kind of step, or a kind of another role.
    UnknownKind,
    /// Parameters do not fit the schema of the kind.
    InvalidParams,
    /// Invalid cron expression or time zone.
    InvalidSchedule,
    /// Invalid or repeated id of a step.
    InvalidStepId,
    /// Unknown end of an edge, edge into a trigger, repeated edge or a result the step does not have.
    InvalidEdge,
    /// Cycle of edges.
    Cycle,
    /// Step that no trigger leads to.
    Unreachable,
    /// Flow without a trigger or without an action.
    Incomplete,
    /// Sensor trigger that is not followed by thresholds only.
    NoThreshold,
    /// Value out of its range.
    OutOfRange,
    /// Service that the gateway lacks.
    BackendAbsent,
}

impl MistakeCode {
    /// The code on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownKind => "unknown-kind",
            Self::InvalidParams => "invalid-params",
            Self::InvalidSchedule => "invalid-schedule",
            Self::InvalidStepId => "invalid-step-id",
            Self::InvalidEdge => "invalid-edge",
            Self::Cycle => "cycle",
            Self::Unreachable => "unreachable",
            Self::Incomplete => "incomplete",
            Self::NoThreshold => "no-threshold",
            Self::OutOfRange => "out-of-range",
            Self::BackendAbsent => "backend-absent",
        }
    }
}

/// A mistake in a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FlowMistake {
    /// JSON pointer into the flow, RFC 6901.
    pub pointer: String,
    /// Kind.
    pub code: MistakeCode,
    /// Explanation; names the step.
    pub message: String,
}

impl FlowMistake {
    /// A mistake at `pointer`.
    pub fn new(pointer: impl Into<String>, code: MistakeCode, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, message: message.into() }
    }
}
