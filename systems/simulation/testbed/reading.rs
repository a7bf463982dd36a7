//! State of the kernel as drivers read it: values of links, and the routing programs of nodes.
//!
//! Times of readings are those of the machine that read, so that a paused world has them too; a replay has
//! those of the log.

use groundwave_impair::{Impairment, Latency, Loss, QueueLimit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Values of a direction as the kernel has them; absent ones are not set there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LinkReading")]
pub struct Reading {
    /// Loss probability of unicast packets, [0, 1]; absent for a two-state loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_prob: Option<f64>,
    /// Probabilities of a two-state loss of unicast packets: Good to Bad, and Bad to Good, [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_state_probs: Option<[f64; 2]>,
    /// Loss probability of broadcast packets, [0, 1]; absent for a bound port, which has one class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast_loss_prob: Option<f64>,
    /// Rate, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Mean delay, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// Standard deviation of the delay, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<u64>,
    /// Size of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueLimit>,
    /// Queueing disciplines with their handles, from the root down; empty for a bound port.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disciplines: Vec<String>,
}

impl Reading {
    /// Values of a bound port, which has one class of packets.
    #[must_use]
    pub fn of_port(impairment: &Impairment) -> Self {
        let (loss_prob, loss_state_probs) = match impairment.loss {
            Some(Loss::Bernoulli { pct, .. }) => (Some(pct / 100.0), None),
            Some(Loss::GilbertElliott { p, r, .. }) => (None, Some([p, r])),
            None => (None, None),
        };
        let (delay_ns, jitter_ns) = match impairment.latency {
            Some(Latency::Constant { duration_ns }) => (Some(duration_ns), None),
            Some(Latency::Stochastic { mean_ns, jitter_ns, .. }) => {
                (Some(mean_ns), Some(jitter_ns))
            }
            None => (None, None),
        };
        Self {
            loss_prob,
            loss_state_probs,
            broadcast_loss_prob: None,
            rate_bps: impairment.rate.map(|rate| rate.bps),
            delay_ns,
            jitter_ns,
            queue: impairment.queue.map(|queue| queue.limit),
            disciplines: Vec::new(),
        }
    }
}

/// Values with the time at which they were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatedReading {
    /// Time of the reading, ns since the Unix epoch.
    pub read_ns: u64,
    /// The values; absent where the port is gone or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// The routing program of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoutingProgram {
    /// Cause for which its routes are not available: it has ended, or is not answering; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Times that this controller has started it again after its end.
    #[serde(default)]
    pub restarts_total: u32,
}

/// State of a routing program with its times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatedProgram {
    /// Time at which its state, or its routes, were another the last time, ns since the Unix epoch.
    pub read_ns: u64,
    /// Time from which it fails, ns since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_since_ns: Option<u64>,
    /// State of the program.
    pub program: RoutingProgram,
}
