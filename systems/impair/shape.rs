//! Impairment of the traffic of one direction: the complete shaping state, as on the wire.
//!
//! Every kind is optional and independent of the others; together they make one stack. Names and
//! units are those of the interface: durations in ns, `pct` in [0, 100], correlations and
//! probabilities in [0, 1]. Reading only checks the shape; [`Impairment::validate`] checks ranges.

mod rules;

use std::num::NonZeroU32;

use garde::Validate;
use groundwave_engine::Refusal;
use groundwave_values::bounds;
use groundwave_values::bounds::{finite, finite_if_some};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{DURATION_NS_MAX, RATE_BPS_MIN};
use super::distribution::{Distribution, distribution};
use super::field::{Draw, Kind, impairment_fields, random_shares};
pub use rules::{IMPAIRED_RULES_MAX, RULES_MAX, Rule, Rules};

impairment_fields! {
    /// The complete shaping state of one direction. The default impairs nothing.
    Impairment {
        /// One-way delay.
        latency: Latency,
        /// Packets dropped.
        loss: Loss,
        /// Ceiling of the data rate.
        rate: Rate,
        /// Bounded queue.
        queue: Queue #[schemars(description = "Bounded queue at the bottom of the stack.")],
        /// Packets sent twice.
        duplication: Duplication,
        /// Packets that overtake others.
        reordering: Reordering,
        /// Packets given a single-bit error.
        corruption: Corruption,
        /// Traffic selected by its headers, with impairments of its own.
        rules: Rules,
    }
}

/// One-way delay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Latency {
    /// The same for every packet.
    Constant {
        /// Delay, ns.
        #[serde(rename = "duration")]
        #[garde(range(max = DURATION_NS_MAX))]
        duration_ns: u64,
    },
    /// Drawn anew for every packet.
    Stochastic {
        /// Mean delay, ns.
        #[serde(rename = "mean")]
        #[garde(range(max = DURATION_NS_MAX))]
        mean_ns: u64,
        /// Scale of the deviation from the mean, ns: half the width of `uniform`, one standard
        /// deviation of `normal`.
        #[serde(rename = "jitter")]
        #[garde(range(max = DURATION_NS_MAX))]
        jitter_ns: u64,
        /// Distribution of the deviations.
        #[serde(default, deserialize_with = "distribution")]
        #[garde(dive)]
        distribution: Distribution,
        /// Correlation with the packet before, [0, 1].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
        correlation: Option<f64>,
    },
}

/// Packets dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// Each packet by itself.
    Bernoulli {
        /// Percentage dropped, [0, 100].
        #[garde(range(min = 0.0, max = 100.0), custom(finite))]
        pct: f64,
        /// Autocorrelation of consecutive draws, [0, 1].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
        correlation: Option<f64>,
    },
    /// Two states that change per packet, each with a drop probability of its own.
    GilbertElliott {
        /// Probability of Good to Bad, [0, 1].
        #[garde(range(min = 0.0, max = 1.0), custom(finite))]
        p: f64,
        /// Probability of Bad to Good, [0, 1].
        #[garde(range(min = 0.0, max = 1.0), custom(finite))]
        r: f64,
        /// Drop probability in Good, [0, 1].
        #[garde(range(min = 0.0, max = 1.0), custom(finite))]
        one_minus_h: f64,
        /// Drop probability in Bad, [0, 1].
        #[garde(range(min = 0.0, max = 1.0), custom(finite))]
        one_minus_k: f64,
    },
}

/// Ceiling of the data rate, by a token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Ceiling, bit/s, 8 or more; the shaper counts bytes, so multiples of 8 are exact.
    #[garde(range(min = RATE_BPS_MIN, max = u64::MAX))]
    pub bps: u64,
    /// Size of the bucket, bytes, 1 or more; below one frame, whole frames never pass.
    #[garde(range(min = 1, max = u32::MAX))]
    pub burst_bytes: u32,
}

/// Bounded queue at the bottom of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Size of the queue.
    #[garde(dive)]
    pub limit: QueueLimit,
}

/// Size of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct QueueLimit {
    /// Unit of the size.
    #[garde(skip)]
    pub unit: QueueUnit,
    /// Size, in that unit.
    #[schemars(range(max = 4_294_967_295_u32))]
    #[garde(skip)]
    pub value: u32,
}

/// Unit of the size of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum QueueUnit {
    /// Packets of any size.
    Packets,
    /// Bytes.
    Bytes,
}

random_shares! {
    /// Packets sent twice.
    Duplication {
        /// Percentage duplicated, [0, 100].
        pct: packets,
    }
    /// Packets that overtake those delayed before them.
    Reordering {
        /// Percentage of the candidates that go at once, [0, 100].
        pct: packets,
        /// Every packet from the `gap`-th after the last one that went at once is a candidate.
        #[schemars(range(min = 1, max = 4_294_967_295_u32))]
        #[garde(skip)]
        gap: NonZeroU32,
    }
    /// Packets given a single-bit error.
    Corruption {
        /// Percentage corrupted, [0, 100].
        pct,
    }
}

impl Impairment {
    /// `true` if it impairs nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the ranges that the shape alone does not.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the path of the key, the value found and the values allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        bounds::check(self, "")?;
        self.rules.as_ref().map_or(Ok(()), Rules::check)
    }

    /// True if a field counts a super-packet as one packet.
    pub(super) fn counts_packets(&self) -> bool {
        let mut fields = ImpairmentField::ALL.into_iter().filter_map(|field| field.value(self));
        fields.any(Kind::counts_packets)
    }
}

impl Latency {
    /// Mean delay, ns.
    #[must_use]
    pub fn mean_ns(&self) -> u64 {
        match self {
            Self::Constant { duration_ns } => *duration_ns,
            Self::Stochastic { mean_ns, .. } => *mean_ns,
        }
    }

    /// Scale of the deviation, ns.
    #[must_use]
    pub fn jitter_ns(&self) -> u64 {
        match self {
            Self::Constant { .. } => 0,
            Self::Stochastic { jitter_ns, .. } => *jitter_ns,
        }
    }
}

impl Kind for Latency {}

impl Kind for Loss {
    fn draw(&self) -> Option<Draw> {
        match *self {
            Self::Bernoulli { pct, correlation } => Some(Draw { pct, correlation }),
            Self::GilbertElliott { .. } => None,
        }
    }

    fn counts_packets(&self) -> bool {
        true
    }
}

impl Kind for Rate {}

impl Kind for Queue {
    fn counts_packets(&self) -> bool {
        self.limit.unit == QueueUnit::Packets
    }
}
