//! Answers to route requests over a plan.

use schemars::JsonSchema;
use serde::Serialize;

use crate::id::NodeId;
use crate::radio::LinkResult;
use crate::route::{Metric, Route};

/// Answer to a request for a route.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum RouteAnswer {
    /// There is a route; `meets_target` of its summary is true if it keeps the target rate.
    Found(Box<PlannedRoute>),
    /// Nothing connects the two.
    NoPath {
        /// Nodes that the source can reach, itself included.
        source_side_nodes: usize,
        /// Nodes from which the target can be reached, itself included.
        target_side_nodes: usize,
        /// The pair across the gap that comes closest to being a link, the nearest where none is in
        /// reach; absent when its radios do not understand each other.
        closest: Option<Gap>,
    },
}

/// A pair of nodes without a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Gap {
    /// The end on the source's side.
    #[schemars(with = "String")]
    pub source_side: NodeId,
    /// The end on the target's side.
    #[schemars(with = "String")]
    pub target_side: NodeId,
    /// Length, m.
    pub distance_m: f64,
    /// Link margin of the worse direction, dB: below 0 by what is missing.
    pub link_margin_db: f64,
}

/// A route with its links evaluated in full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlannedRoute {
    /// The nodes from the source to the target; one when they are the same.
    #[schemars(with = "Vec<String>")]
    pub path: Vec<NodeId>,
    /// Links in order, one fewer than nodes.
    pub segments: Vec<Segment>,
    /// Metrics, rates and delivery probability of the route.
    pub summary: Summary,
}

/// One link of a route.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Segment {
    /// Node that sends.
    #[schemars(with = "String")]
    pub source: NodeId,
    /// Node that receives.
    #[schemars(with = "String")]
    pub target: NodeId,
    /// Length, m.
    pub distance_m: f64,
    /// Rate left to payload along the route, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost along the route, [0, 1).
    pub per: f64,
    /// Expected transmissions, acknowledgements counted, at least 1.
    pub etx: f64,
    /// Expected time of a packet, s.
    pub ett_s: f64,
    /// The link along the route.
    pub forward: LinkResult,
    /// The link back.
    pub backward: LinkResult,
}

/// Metrics, rates and delivery probability of a route.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// Metric that was minimised.
    pub metric: Metric,
    /// Links of the route.
    pub hop_count: usize,
    /// The rate asked for, bit/s; absent when none was.
    pub target_data_rate_bps: Option<f64>,
    /// `true` if every link keeps the target rate, or none was asked, over ground that is not unknown. A route
    /// that does not is the best one there is.
    pub meets_target: bool,
    /// The slowest link, bit/s; absent without links.
    pub bottleneck_rate_bps: Option<f64>,
    /// Estimate when all links share one channel, bit/s: `min over i of 1 / (t_i + t_i+1 + t_i+2)`
    /// with `t = ETX / data_rate_bps`, the time a delivered bit occupies a link. Three consecutive
    /// links take turns, links farther apart send at once (Li et al., "Capacity of ad hoc wireless
    /// networks", MobiCom 2001, section 3: one third where interference ends two hops away, one
    /// quarter measured with 802.11). Absent without links.
    pub single_radio_throughput_bps: Option<f64>,
    /// Estimate when every link has a channel of its own, bit/s: `min over i of 1 / t_i`. Absent
    /// without links.
    pub multi_radio_throughput_bps: Option<f64>,
    /// Probability that a packet sent once on each link arrives, (0, 1].
    pub delivery_prob: f64,
    /// Sum of the links' ETX.
    pub etx: f64,
    /// Sum of the links' ETT, s.
    pub ett_s: f64,
}

impl Summary {
    pub(super) fn of(route: &Route, target_data_rate_bps: Option<f64>) -> Self {
        Self {
            metric: route.metric,
            hop_count: route.hops.len(),
            target_data_rate_bps,
            meets_target: route.meets_target,
            bottleneck_rate_bps: route.bottleneck_rate_bps,
            single_radio_throughput_bps: route.single_radio_throughput_bps,
            multi_radio_throughput_bps: route.multi_radio_throughput_bps,
            delivery_prob: route.delivery_prob,
            etx: route.etx,
            ett_s: route.ett_s,
        }
    }
}
