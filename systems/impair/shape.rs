//! Impairment of the traffic of one direction: the complete shaping state, as on the wire.
//!
//! Every kind is optional and independent of the others; together they make one stack. Names and
//! units are those of the interface: durations in ns, `pct` in [0, 100], correlations and
//! probabilities in [0, 1]. Reading only checks the shape; [`Impairment::validate`] checks ranges.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use garde::Validate;
use groundwave_engine::Refusal;
use groundwave_values::bounds;
use groundwave_values::bounds::{finite, finite_if_some};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::check::{DURATION_NS_MAX, RATE_BPS_MIN, table_name};

/// The complete shaping state of one direction. The default impairs nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Impairment {
    /// One-way delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub latency: Option<Latency>,
    /// Packets dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub loss: Option<Loss>,
    /// Ceiling of the data rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub rate: Option<Rate>,
    /// Bounded queue at the bottom of the stack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub queue: Option<Queue>,
    /// Packets sent twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub duplication: Option<Duplication>,
    /// Packets that overtake others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub reordering: Option<Reordering>,
    /// Packets given a single-bit error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub corruption: Option<Corruption>,
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

/// Distribution of the deviations from the mean delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distribution {
    /// Evenly over mean ± jitter.
    Uniform {},
    /// Gaussian.
    Normal {},
    /// Heavy-tailed.
    Pareto {},
    /// A quarter Gaussian, three quarters heavy-tailed.
    ParetoNormal {},
    /// A histogram of the operator's, by name.
    Table {
        /// Name: 1 to 64 of `a-z0-9_-`.
        #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}$"))]
        #[garde(custom(table_name))]
        name: String,
    },
}

/// Reads a distribution strictly by its schema: an object of strings. Inside a tagged object serde
/// would also take a kind by its number.
fn distribution<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
    const KINDS: &[&str] = &["uniform", "normal", "pareto", "paretonormal", "table"];
    let mut fields = BTreeMap::<String, String>::deserialize(deserializer)?;
    let mut take = |key| fields.remove(key).ok_or_else(|| D::Error::missing_field(key));
    let found = match take("kind")?.as_str() {
        "uniform" => Distribution::Uniform {},
        "normal" => Distribution::Normal {},
        "pareto" => Distribution::Pareto {},
        "paretonormal" => Distribution::ParetoNormal {},
        "table" => Distribution::Table { name: take("name")? },
        other => return Err(D::Error::unknown_variant(other, KINDS)),
    };
    match fields.keys().next() {
        None => Ok(found),
        Some(surplus) => Err(D::Error::unknown_field(surplus, &["kind"])),
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Uniform {}
    }
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

/// Packets sent twice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Duplication {
    /// Percentage duplicated, [0, 100].
    #[garde(range(min = 0.0, max = 100.0), custom(finite))]
    pub pct: f64,
    /// Correlation of consecutive draws, [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
    pub correlation: Option<f64>,
}

/// Packets that overtake those delayed before them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Reordering {
    /// Percentage of the candidates that go at once, [0, 100].
    #[garde(range(min = 0.0, max = 100.0), custom(finite))]
    pub pct: f64,
    /// Every packet from the `gap`-th after the last one that went at once is a candidate.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    #[garde(skip)]
    pub gap: NonZeroU32,
    /// Correlation of consecutive draws, [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
    pub correlation: Option<f64>,
}

/// Packets given a single-bit error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Corruption {
    /// Percentage corrupted, [0, 100].
    #[garde(range(min = 0.0, max = 100.0), custom(finite))]
    pub pct: f64,
    /// Correlation of consecutive draws, [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 1.0), custom(finite_if_some))]
    pub correlation: Option<f64>,
}

impl Impairment {
    /// `true` if it impairs nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
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

impl Distribution {
    /// Name of the kind on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Uniform {} => "uniform",
            Self::Normal {} => "normal",
            Self::Pareto {} => "pareto",
            Self::ParetoNormal {} => "paretonormal",
            Self::Table { .. } => "table",
        }
    }
}

impl Impairment {
    /// Checks the ranges that the shape alone does not.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the path of the key, the value found and the values allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        Ok(bounds::check(self, "")?)
    }
}
