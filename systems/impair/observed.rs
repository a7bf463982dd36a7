//! Observed state of a port: the impairment in force, and its differences from the requested one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shape::Impairment;

/// Impairment in force, as read back from the kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// The impairment in force.
    pub impairment: Impairment,
    /// Monotonic clock of the reading, ns.
    pub captured_at_ns: u64,
    /// Wall clock of the reading, ns since the Unix epoch.
    pub captured_at_wall_ns: u64,
    /// Differences from the requested impairment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergence: Vec<DivergenceItem>,
    /// Side effects of the kernel that the requested impairment does not state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// MTU of the interface, bytes; absent in earlier logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u32>,
}

/// One difference between the requested and the observed impairment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DivergenceItem {
    /// The layer of the stack: `netem`, `tbf`, `queue`, or `root` for the stack as a whole.
    pub layer: String,
    /// The field of that layer.
    pub field: String,
    /// Requested value; absent when none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Value>,
    /// Value in force; absent when there is none or it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Value>,
    /// Kind of difference.
    pub kind: DivergenceKind,
    /// The difference in one sentence.
    pub message: String,
}

/// Kind of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DivergenceKind {
    /// The kernel holds another value.
    Differs,
    /// The kernel does not report the value.
    Unverifiable,
    /// It was set by another program.
    Foreign,
    /// It was requested, or is in force, and this backend does not support it.
    Unsupported,
}

/// A number or a word of a field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A count, bytes or ns.
    Whole(u64),
    /// A percentage or a probability.
    Real(f64),
    /// A word.
    Text(String),
}

/// A side effect of the kernel on the requested impairment, which it does not report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Machine-readable code, for example `jitter_reorders`.
    pub code: String,
    /// Path of the field in the impairment.
    pub field: String,
    /// The effect in one sentence, with numbers.
    pub message: String,
}

/// Cause for which the requested impairment is not in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Class of the cause.
    pub kind: FailureKind,
    /// Operation that failed, its object and the cause.
    pub message: String,
}

/// Class of the cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The program lacks the right to shape traffic.
    Denied,
    /// This backend or this kernel cannot do it.
    Unsupported,
    /// The kernel refused it.
    Rejected,
    /// The interface or the kernel could not be reached.
    Io,
}
