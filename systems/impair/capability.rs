//! Capabilities of a backend, probed on the running kernel.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Distribution;

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
    /// Delays and random shares of packets, by `netem`.
    pub netem: bool,
    /// Rate, by `tbf`.
    pub tbf: bool,
    /// Queues of packets, by `pfifo`.
    pub pfifo: bool,
    /// Queues of bytes, by `bfifo`.
    pub bfifo: bool,
    /// Rules of a direction, by `prio` and `flower`.
    #[serde(default)]
    pub rules: bool,
    /// Incoming traffic of an interface as a port, by `ifb` and a redirection.
    #[serde(default)]
    pub incoming: bool,
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
    /// Kinds of distributions that can be requested, in the order of the interface.
    #[must_use]
    pub fn distributions(&self) -> Vec<&'static str> {
        if !self.netem {
            return Vec::new();
        }
        let distributions = Distribution::BUILT_IN.iter();
        let allowed = distributions.filter(|distribution| {
            self.extensions.paretonormal || **distribution != Distribution::ParetoNormal {}
        });
        allowed.map(Distribution::kind).collect()
    }
}
