//! Reports about the testbed, as drivers send them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading::Reading;
use crate::link::LinkKey;
use crate::site::NodeId;

/// A direction of a veth pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkDirection {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
}

impl LinkDirection {
    /// Both directions of a pair, from the lower id to the higher first.
    #[must_use]
    pub fn both(key: LinkKey) -> [Self; 2] {
        let [a, b] = [key.a(), key.b()];
        [Self { from: a, to: b }, Self { from: b, to: a }]
    }
}

/// Result of applying a desired shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Direction.
    pub side: LinkDirection,
    /// The generation that was tried.
    pub generation: u64,
    /// Cause for which it is not in force; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Change of another program that was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<String>,
    /// Values as read afterwards; absent where nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// A direction with its values as read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideReading {
    /// Direction.
    pub side: LinkDirection,
    /// The values; absent where the port is gone or cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// Packets of one class, since the veth pair was created.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Packets that passed.
    pub passed_total: u64,
    /// Packets dropped by the modelled loss.
    pub lost_total: u64,
    /// Packets dropped because the queue was full.
    pub overflowed_total: u64,
    /// Bytes that passed.
    pub bytes_total: u64,
}

impl Tally {
    /// Share of the packets dropped by the modelled loss, [0, 1]; `None` before the first.
    #[must_use]
    pub fn loss_prob(&self) -> Option<f64> {
        let all = self.passed_total + self.lost_total + self.overflowed_total;
        (all > 0).then(|| self.lost_total as f64 / all as f64)
    }
}

/// Counters of one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    /// Direction.
    pub side: LinkDirection,
    /// Unicast packets.
    pub unicast: Tally,
    /// Broadcast and multicast packets.
    pub broadcast: Tally,
}

/// Result of a measurement with packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Echo requests sent.
    pub sent: u32,
    /// Echo replies received.
    pub received: u32,
    /// Minimum, mean and maximum round-trip time, ms; absent without a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<[f64; 3]>,
    /// Throughput of a stream, bit/s; absent when none was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<f64>,
}

/// Link features of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// Traffic classes, loss, delay and rate.
    Full,
    /// Rate only; a link passes everything or nothing.
    Rate,
}

/// A controller that took over from one that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Takeover {
    /// Simulated time at the takeover, ns: the last in the log.
    pub from_ns: u64,
    /// Number of the takeover, from 1.
    pub number: u32,
}

/// A route that a protocol found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedRoute {
    pub destination: NodeId,
    pub next_hop: NodeId,
    /// Metric of the protocol: that of babel, or the TQ of batman-adv, 255 at best.
    pub metric: f64,
}
