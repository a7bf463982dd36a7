//! Capabilities of a backend, probed on the running kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Optional features of a backend beyond the interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extensions {
    /// Two-state loss.
    #[serde(default)]
    pub gilbert_elliott: bool,
    /// The mixed distribution.
    #[serde(default)]
    pub paretonormal: bool,
}

/// Capabilities of a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capabilities {
    /// Latency, Bernoulli loss, duplication, reordering, corruption: all by `netem`.
    pub netem: bool,
    /// Rate, by `tbf`.
    pub tbf: bool,
    /// Queues of packets, by `pfifo`.
    pub pfifo: bool,
    /// Queues of bytes, by `bfifo`.
    pub bfifo: bool,
    /// Optional features in use; none without `netem`.
    pub extensions: Extensions,
    /// Queueing disciplines that the kernel lacks.
    pub missing: Vec<Missing>,
    /// Name of the backend, for example `linux-tc`.
    pub backend_name: String,
    /// Version of the backend: the release of the kernel.
    pub backend_version: String,
}

/// A kind of queueing discipline that the kernel does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Missing {
    /// The kind, for example `netem`.
    pub kind: String,
    /// The kernel module that would bring it, for example `sch_netem`.
    pub module: String,
}

impl Capabilities {
    /// Kinds of distributions that can be asked for, in the order of the interface.
    #[must_use]
    pub fn distributions(&self) -> Vec<&'static str> {
        if !self.netem {
            return Vec::new();
        }
        let mixed = self.extensions.paretonormal.then_some("paretonormal");
        ["uniform", "normal", "pareto"].into_iter().chain(mixed).collect()
    }
}
