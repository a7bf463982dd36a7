//! Route metrics: costs of hops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::Edge;

/// Metric that a route minimises.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Sum of expected transmission times, ETX x bits / rate (Draves, Padhye and Zill, "Routing
    /// in multi-radio, multi-hop wireless mesh networks", MobiCom 2004, without WCETT's channel
    /// term).
    #[default]
    Ett,
    /// Sum of expected transmissions (De Couto et al., MobiCom 2003).
    Etx,
    /// The slowest hop, made as fast as can be; among equals the fewest hops.
    Bottleneck,
    /// The number of hops; among equals the least ETT.
    Hops,
}

/// Cost of a walk. Ordered by `first`, then by `second`; both only grow as hops are added, which
/// is what Dijkstra's algorithm needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Deciding part.
    pub first: f64,
    /// Deciding part between equals.
    pub second: f64,
}

impl Cost {
    /// Cost of no hop.
    pub const ZERO: Self = Self { first: 0.0, second: 0.0 };

    /// Order of two costs.
    pub fn total_cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.first.total_cmp(&other.first).then(self.second.total_cmp(&other.second))
    }
}

impl Metric {
    /// The cost of a walk of cost `so_far` and one more hop over `edge`.
    pub fn extend(self, so_far: Cost, edge: &Edge) -> Cost {
        let (first, second) = (so_far.first, so_far.second);
        match self {
            Self::Ett => Cost { first: first + edge.metric_ett_s(), second: second + 1.0 },
            Self::Etx => {
                Cost { first: first + edge.metric_etx(), second: second + edge.metric_ett_s() }
            }
            Self::Bottleneck => {
                Cost { first: first.max(1.0 / edge.data_rate_bps), second: second + 1.0 }
            }
            Self::Hops => Cost { first: first + 1.0, second: second + edge.metric_ett_s() },
        }
    }
}
