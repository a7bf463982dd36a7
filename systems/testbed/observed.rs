//! Reports about the testbed, as drivers send them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::link::LinkKey;
use crate::site::NodeId;

/// A direction of a wire.
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

/// What came of a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Which direction.
    pub side: LinkDirection,
    /// The generation that was tried.
    pub generation: u64,
    /// Why it is not in force, if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// Packets of one class, since the wire was laid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Packets that passed.
    pub passed_total: u64,
    /// Packets that the loss took.
    pub lost_total: u64,
    /// Packets that found the queue full.
    pub overflowed_total: u64,
    /// Bytes that passed.
    pub bytes_total: u64,
}

impl Tally {
    /// Share of the packets that the loss took, [0, 1]; `None` before the first.
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
    /// Which direction.
    pub side: LinkDirection,
    /// To one receiver.
    pub unicast: Tally,
    /// To everybody.
    pub broadcast: Tally,
}

/// What a measurement with packets gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Packets sent there and back.
    pub sent: u32,
    /// Packets that came back.
    pub received: u32,
    /// Shortest, mean and longest time there and back, ms; absent when none came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<[f64; 3]>,
    /// What a stream carried, bit/s; absent when none was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<f64>,
}

/// What a kernel can do for links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Means {
    /// Classes, loss, delay and rate.
    Full,
    /// Rate alone, and all or nothing.
    Rate,
}

/// A controller that took over from one that ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Takeover {
    /// The simulated time it went on from, ns: the last that the log had.
    pub from_ns: u64,
    /// The how-manieth it was.
    pub number: u32,
}

/// A route that a protocol found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedRoute {
    /// Where it leads.
    pub destination: NodeId,
    /// The neighbour it goes to.
    pub next_hop: NodeId,
    /// What the protocol makes of it: babel's metric, batman's TQ of 255.
    pub metric: f64,
}
