//! Request and response types.
//!
//! Impairment and counters are those of the model.

use groundwave_systems::impair::{
    Applied, Capabilities, Direction, DivergenceItem, Impairment, LinkStats, Missing, Warning,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::state::Ports;

crate::schema_refs!(DirectionName);

/// Complete impairment of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct NewImpairment(pub Impairment);

/// Direction of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct DirectionName(pub Direction);

/// Cumulative counters at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LinkSample(pub LinkStats);

/// Impairment of a direction, read back from the kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedState {
    /// Direction.
    pub direction: Direction,
    /// Impairment in force.
    pub impairment: Impairment,
    /// Impairment that was requested last, also if it was refused; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<Impairment>,
    /// Monotonic clock of the reading, ns.
    pub captured_at: u64,
    /// Wall clock of the reading, ns since the Unix epoch.
    pub captured_at_wall: u64,
    /// Differences from the last request; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub divergence: Vec<DivergenceItem>,
    /// Side effects in the kernel; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl AppliedState {
    /// Response of a reading.
    #[must_use]
    pub fn of(direction: Direction, applied: Applied, requested: Option<Impairment>) -> Self {
        Self {
            direction,
            impairment: applied.impairment,
            requested,
            captured_at: applied.captured_at_ns,
            captured_at_wall: applied.captured_at_wall_ns,
            divergence: applied.divergence,
            warnings: applied.warnings,
        }
    }
}

/// Version, ports and capabilities of the daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SystemRecord {
    /// Version of the daemon.
    pub version: String,
    /// Ports, one for each direction.
    pub ports: Vec<PortRecord>,
    /// Capabilities of the backend.
    pub capabilities: CapabilityRecord,
}

/// Port: direction and interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortRecord {
    /// Direction.
    pub direction: Direction,
    /// Name of the interface.
    pub interface: String,
    /// Bus address of the device, such as `0000:03:00.0`; `virtual` for an interface on no bus,
    /// empty for one that sysfs did not show at the start.
    pub bdf: String,
}

/// Capabilities of the backend on the running kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityRecord {
    /// Latency; duplication, reordering and corruption come with it.
    pub supports_latency: bool,
    /// Independent loss.
    pub supports_loss_bernoulli: bool,
    /// Two-state loss.
    pub supports_loss_gilbert_elliott: bool,
    /// Rate limit.
    pub supports_rate: bool,
    /// Kinds of latency distributions.
    pub supports_distributions: Vec<DistributionRecord>,
    /// Name of the backend.
    pub backend_name: String,
    /// Version of the backend.
    pub backend_version: String,
    /// Missing kernel features; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// Kind of distribution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DistributionRecord {
    /// Name.
    pub kind: String,
}

impl SystemRecord {
    /// Record of these ports.
    #[must_use]
    pub fn of(ports: &Ports) -> Self {
        let record = |direction: Direction| PortRecord {
            direction,
            interface: ports.interfaces[direction as usize].clone(),
            bdf: ports.addresses[direction as usize].clone(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ports: Direction::ALL.map(record).to_vec(),
            capabilities: CapabilityRecord::of(&ports.capabilities),
        }
    }
}

impl CapabilityRecord {
    fn of(can: &Capabilities) -> Self {
        let kinds = can.distributions().into_iter();
        let record = |kind: &str| DistributionRecord {
            kind: kind.to_owned(),
        };
        Self {
            supports_latency: can.netem,
            supports_loss_bernoulli: can.netem,
            supports_loss_gilbert_elliott: can.netem && can.extensions.gilbert_elliott,
            supports_rate: can.tbf,
            supports_distributions: kinds.map(record).collect(),
            backend_name: can.backend_name.clone(),
            backend_version: can.backend_version.clone(),
            missing: can.missing.clone(),
        }
    }
}
