//! Routes with their metrics and rates.

use serde::Serialize;

use super::dijkstra::shortest;
use super::graph::{Edge, Graph};
use super::metric::Metric;
use crate::id::NodeId;

/// Hops within which a single shared channel is taken to be one collision domain. A node hears
/// its neighbour and interferes with the neighbour's neighbour, so hops three apart may send at
/// once (Li et al., "Capacity of ad hoc wireless networks", MobiCom 2001: 1/4 of the rate
/// along an ideal chain, 1/3 where interference ends two hops away).
const COLLISION_HOPS: usize = 3;

/// One hop of a route.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Hop {
    /// Node that sends.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Length, m.
    pub distance_m: f64,
    /// SNR, dB.
    pub snr_db: f64,
    /// Rate left to payload, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost, [0, 1).
    pub per: f64,
    /// Expected transmissions.
    pub etx: f64,
    /// Expected time of a packet, s.
    pub ett_s: f64,
    /// Expected transmissions of a probe, where metrics count those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe_etx: Option<f64>,
}

/// A route from a source to a target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Route {
    /// Hops in order; none when source and target are one node.
    pub hops: Vec<Hop>,
    /// Metric that was minimised.
    pub metric: Metric,
    /// Sum of the hops' ETX.
    pub etx: f64,
    /// Sum of the hops' ETT, s.
    pub ett_s: f64,
    /// The slowest hop, bit/s; `None` without hops.
    pub bottleneck_rate_bps: Option<f64>,
    /// Estimate when all hops share one channel: the slowest window of three hops, which take
    /// turns, with retransmissions paid for, bit/s.
    pub single_radio_throughput_bps: Option<f64>,
    /// Estimate when every hop has a channel of its own: the slowest hop with retransmissions
    /// paid for, bit/s.
    pub multi_radio_throughput_bps: Option<f64>,
    /// Probability that a packet sent once on each hop arrives, (0, 1].
    pub delivery_prob: f64,
    /// `true` if every hop keeps the target rate, or none was asked.
    pub meets_target: bool,
}

/// The best route from `source` to `target`, or `None` when there is none.
///
/// With a `target_rate_bps` hops below it are left out; if no route remains, the best of all hops
/// is returned with `meets_target` false.
#[must_use]
pub fn find(
    graph: &Graph,
    source: NodeId,
    target: NodeId,
    metric: Metric,
    target_rate_bps: Option<f64>,
) -> Option<Route> {
    let (source, target) = (graph.index(source)?, graph.index(target)?);
    let walk = |floor_bps: f64| {
        let admit = |edge: &Edge| edge.data_rate_bps >= floor_bps;
        shortest(graph, source, Some(target), metric, admit).path(target)
    };
    let path = walk(target_rate_bps.unwrap_or(0.0));
    let meets_target = path.is_some();
    let hops = if target_rate_bps.is_some() { path.or_else(|| walk(0.0)) } else { path }?;
    Some(summarise(graph, &hops, metric, meets_target))
}

fn summarise(graph: &Graph, walk: &[(usize, Edge)], metric: Metric, meets_target: bool) -> Route {
    let hop = |(from, edge): &(usize, Edge)| Hop {
        from: graph.nodes()[*from],
        to: graph.nodes()[edge.to],
        distance_m: edge.distance_m,
        snr_db: edge.snr_db,
        data_rate_bps: edge.data_rate_bps,
        per: edge.per,
        etx: edge.etx,
        ett_s: edge.ett_s,
        probe_etx: edge.probe_etx,
    };
    let hops: Vec<Hop> = walk.iter().map(hop).collect();
    let slowest = |rates: &mut dyn Iterator<Item = f64>| rates.reduce(f64::min);
    // Seconds that one bit keeps each hop busy.
    let busy_s: Vec<f64> = hops.iter().map(|hop| hop.etx / hop.data_rate_bps).collect();
    let window = COLLISION_HOPS.min(busy_s.len()).max(1);
    Route {
        metric,
        // The sum of no numbers is -0.
        etx: hops.iter().map(|hop| hop.etx).sum::<f64>() + 0.0,
        ett_s: hops.iter().map(|hop| hop.ett_s).sum::<f64>() + 0.0,
        bottleneck_rate_bps: slowest(&mut hops.iter().map(|hop| hop.data_rate_bps)),
        single_radio_throughput_bps: slowest(
            &mut busy_s.windows(window).map(|turns| 1.0 / turns.iter().sum::<f64>()),
        ),
        multi_radio_throughput_bps: slowest(&mut busy_s.iter().map(|busy| 1.0 / busy)),
        delivery_prob: hops.iter().map(|hop| 1.0 - hop.per).product(),
        meets_target,
        hops,
    }
}
