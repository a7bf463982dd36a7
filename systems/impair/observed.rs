//! What was found outside: the impairment in force, and how it differs from what was asked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shape::Impairment;

/// What a port holds, as read back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Applied {
    /// The impairment in force.
    pub impairment: Impairment,
    /// Monotonic clock of the reading, ns.
    pub captured_at_ns: u64,
    /// Wall clock of the reading, ns since the Unix epoch.
    pub captured_at_wall_ns: u64,
    /// How it differs from what was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergence: Vec<DivergenceItem>,
    /// What the kernel does with it that the words do not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// One difference between what was asked and what is in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DivergenceItem {
    /// The layer of the stack: `netem`, `tbf`, `queue`, or `root` for the stack as a whole.
    pub layer: String,
    /// The field of that layer.
    pub field: String,
    /// What was asked; absent when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Value>,
    /// What is in force; absent when nothing is or it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed: Option<Value>,
    /// What kind of difference it is.
    pub kind: DivergenceKind,
    /// The difference in one sentence.
    pub message: String,
}

/// What kind of difference there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DivergenceKind {
    /// The kernel holds another value.
    Differs,
    /// The kernel does not tell.
    Unverifiable,
    /// Somebody else put it there.
    Foreign,
    /// It was asked for, or is there, and this backend does not do it.
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

/// Something the kernel does silently with what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// What it is about, for programs: for example `jitter_reorders`.
    pub code: String,
    /// Path of the field in the impairment.
    pub field: String,
    /// The effect in one sentence, with numbers.
    pub message: String,
}

/// Why what was asked is not in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// What failed, on what, why.
    pub message: String,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The program lacks the right to shape traffic.
    Denied,
    /// This backend or this kernel cannot do it.
    Unsupported,
    /// The kernel refused it.
    Rejected,
    /// The interface, or the kernel, could not be talked to.
    Io,
}
