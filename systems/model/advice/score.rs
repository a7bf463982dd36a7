//! Scores: a sum of named criteria, each in points.
//!
//! Every criterion is `points_max x (1 - demand x (1 - ability))`: `demand`, [0, 1], is derived
//! from the sample and weights the criterion; `ability`, [0, 1], is the protocol's. At a demand of
//! 0 all protocols get all points. A criterion with a demand of 5 % or more is reported, as a
//! reason where the ability is 0.7 or more, as a trade-off where it is less.
//!
//! | criterion | max | demand |
//! |---|---|---|
//! | `link_quality` | 25 | links other than bridges, as a share, times the larger of: share of links that are fragile, share that are lossy, `1 - p10 / p90` of the rates |
//! | `overhead` | 25 | 1; the ability is `1 / (1 + share / 5 %)`, `share` being the control traffic that a node sends and receives over the 10 % quantile of rates |
//! | `convergence` | 15 | links other than bridges, as a share: where there is no other way, nothing can converge to it |
//! | `asymmetry` | 10 | share of links that are one-way or asymmetric |
//! | `scale` | 15 | `(nodes - 2) / 48`, at most 1 |
//! | `simplicity` | 10 | `1 -` that of `scale` |
//!
//! The points of a protocol that runs on 802.11 alone are multiplied by the share of nodes with an
//! OFDM radio; those of one whose control traffic exceeds the channel capacity, by capacity over
//! control traffic. The ability of `convergence` is 1 for fast, 0.7 for medium and 0 for slow.
//! Points are rounded to 0.1 before they are added.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::connectivity::Connectivity;
use super::protocols::{Class, PROTOCOLS, Protocol, ProtocolId, Speed};
use super::sample::Sampling;
use super::statistics::{ASYMMETRIC_DB, FRAGILE_DB, LinkStatistics};

/// Share of the channel at which overhead costs half its points.
const OVERHEAD_HALF: f64 = 0.05;

/// Number of nodes from which on the demand of `scale` is 1.
const LARGE_NODES: f64 = 50.0;

/// Ability from which on a criterion is a reason; below it is a trade-off.
const FAVOURABLE: f64 = 0.7;

/// Minimum demand of a criterion that is reported.
const WORTH_TELLING: f64 = 0.05;

/// A protocol with its score.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Recommendation {
    /// Id.
    pub id: ProtocolId,
    /// Name of the protocol.
    pub name: &'static str,
    /// Sum of the criteria, [0, 100].
    pub score: f64,
    /// Class of `overhead_share`.
    pub overhead_class: Class,
    /// Control traffic that a node sends and hears over the 10 % quantile of link rates; above 1 it
    /// exceeds the channel. Absent without links.
    pub overhead_share: Option<f64>,
    /// Time until it routes around a broken link.
    pub convergence_class: Speed,
    /// Criteria in its favour for this deployment, with numbers.
    pub reasons: Vec<String>,
    /// Criteria against it for this deployment, with numbers.
    pub tradeoffs: Vec<String>,
    /// Criteria whose points add up to the score.
    pub criteria: Vec<Criterion>,
    /// Source of its properties.
    pub source: &'static str,
}

/// A part of a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Criterion {
    /// Id.
    pub id: CriterionId,
    /// Points, [0, `points_max`].
    pub points: f64,
    /// Most points.
    pub points_max: f64,
}

/// Criterion of the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CriterionId {
    /// Choice of routes by link quality.
    LinkQuality,
    /// Share of the channel taken by control traffic.
    Overhead,
    /// Time until broken links are routed around.
    Convergence,
    /// Handling of links whose directions differ.
    Asymmetry,
    /// Scaling to the number of nodes.
    Scale,
    /// Simplicity of operation.
    Simplicity,
}

/// Statistics of the sample that scores depend on.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub nodes: usize,
    pub ofdm_nodes: usize,
    /// Sampled links, the base of the shares below.
    pub sampled: usize,
    /// Links known, of which some are bridges.
    pub links: usize,
    pub bridges: usize,
    pub diameter_hops: usize,
    pub mean_degree: f64,
    pub fragile_prob: f64,
    pub lossy_prob: f64,
    /// One-way links among those heard at all.
    pub one_way_prob: f64,
    pub asymmetric_prob: f64,
    /// Rates of links: the 10 % and the 90 % quantile, bit/s.
    pub rates_bps: Option<(f64, f64)>,
}

impl Evidence {
    pub fn of(sampling: &Sampling, links: &LinkStatistics, connectivity: &Connectivity) -> Self {
        let linked = (links.usable + links.one_way).max(1);
        // Of a sample only the share of links is known; the number in all follows from it.
        let usable = links.usable as f64 / sampling.pairs_sampled.max(1) as f64;
        let in_all = usable * sampling.pairs_in_reach as f64;
        Self {
            nodes: sampling.nodes,
            ofdm_nodes: sampling.ofdm_nodes,
            sampled: links.usable,
            links: connectivity.links,
            bridges: connectivity.bridges.len(),
            diameter_hops: connectivity.diameter_hops,
            mean_degree: 2.0 * in_all / sampling.nodes.max(1) as f64,
            fragile_prob: links.fragile_prob,
            lossy_prob: links.lossy_prob,
            one_way_prob: links.one_way as f64 / linked as f64,
            asymmetric_prob: links.asymmetric_prob,
            rates_bps: links.data_rate_bps.map(|rates| (rates.p10, rates.p90)),
        }
    }

    /// Share of links other than bridges.
    fn choice(&self) -> f64 {
        (self.links - self.bridges) as f64 / self.links.max(1) as f64
    }

    fn quality_demand(&self) -> f64 {
        let spread = self.rates_bps.map_or(0.0, |(low, high)| 1.0 - low / high);
        self.choice() * self.fragile_prob.max(self.lossy_prob).max(spread)
    }

    fn asymmetry_demand(&self) -> f64 {
        let twoway = 1.0 - self.one_way_prob;
        self.one_way_prob + twoway * self.asymmetric_prob
    }

    fn scale_demand(&self) -> f64 {
        ((self.nodes as f64 - 2.0) / (LARGE_NODES - 2.0)).clamp(0.0, 1.0)
    }

    /// Factor of the score, [0, 1]: the share of nodes with a radio that can run the protocol, over
    /// the overhead share where that is above 1.
    fn fit(&self, protocol: &Protocol) -> f64 {
        let able = match protocol.wifi_only {
            true if self.nodes > 0 => self.ofdm_nodes as f64 / self.nodes as f64,
            _ => 1.0,
        };
        let share = self.overhead_share(protocol).unwrap_or(0.0);
        able / share.max(1.0)
    }

    /// Control traffic of a node and its neighbours over the 10 % quantile of link rates; `None`
    /// without links.
    pub fn overhead_share(&self, protocol: &Protocol) -> Option<f64> {
        let (slow_bps, _) = self.rates_bps?;
        let sent_bps = protocol.traffic.sent_bps(self.nodes);
        Some(sent_bps * (1.0 + self.mean_degree) / slow_bps)
    }
}

/// All protocols with their scores, the best first.
pub(super) fn rank(evidence: &Evidence) -> Vec<Recommendation> {
    let mut ranked: Vec<_> = PROTOCOLS.iter().map(|one| recommend(evidence, one)).collect();
    // Stable: equals stay in the order of the table.
    ranked.sort_by(|one, other| other.score.total_cmp(&one.score));
    ranked
}

fn recommend(evidence: &Evidence, protocol: &Protocol) -> Recommendation {
    let share = evidence.overhead_share(protocol);
    let convergence = speed(protocol);
    let (mut reasons, mut tradeoffs) = (Vec::new(), Vec::new());
    let mut criteria = Vec::new();
    let fit = evidence.fit(protocol);
    for (id, points_max, demand, ability) in judge(evidence, protocol, convergence) {
        let earned = 1.0 - demand * (1.0 - ability);
        if demand >= WORTH_TELLING {
            let list = if ability >= FAVOURABLE { &mut reasons } else { &mut tradeoffs };
            list.push(say(id, evidence, protocol));
        }
        criteria.push(Criterion {
            id,
            points: (points_max * earned * fit * 10.0).round() / 10.0,
            points_max,
        });
    }
    if protocol.wifi_only && evidence.ofdm_nodes < evidence.nodes {
        tradeoffs.insert(
            0,
            format!(
                "runs on 802.11 alone: {} of {} nodes have no OFDM radio",
                evidence.nodes - evidence.ofdm_nodes,
                evidence.nodes
            ),
        );
    }
    tradeoffs.extend(protocol.note.map(str::to_owned));
    let sum: f64 = criteria.iter().map(|criterion| criterion.points).sum();
    Recommendation {
        id: protocol.id,
        name: protocol.name,
        score: (sum * 10.0).round() / 10.0,
        overhead_class: match share.unwrap_or(0.0) {
            share if share < 0.01 => Class::Low,
            share if share < 0.05 => Class::Medium,
            _ => Class::High,
        },
        overhead_share: share,
        convergence_class: convergence,
        reasons,
        tradeoffs,
        criteria,
        source: protocol.source,
    }
}

fn speed(protocol: &Protocol) -> Speed {
    match protocol.repair_s {
        Some(s) if s <= 3.0 => Speed::Fast,
        Some(s) if s <= 30.0 => Speed::Medium,
        _ => Speed::Slow,
    }
}

/// Each criterion with its most points, its demand and the ability of the protocol, both [0, 1].
fn judge(
    evidence: &Evidence,
    protocol: &Protocol,
    speed: Speed,
) -> [(CriterionId, f64, f64, f64); 6] {
    let haste = match speed {
        Speed::Fast => 1.0,
        Speed::Medium => 0.7,
        Speed::Slow => 0.0,
    };
    let share = evidence.overhead_share(protocol).unwrap_or(0.0);
    let frugal = 1.0 / (1.0 + share / OVERHEAD_HALF);
    let (quality, asymmetry) = (evidence.quality_demand(), evidence.asymmetry_demand());
    let large = evidence.scale_demand();
    [
        (CriterionId::LinkQuality, 25.0, quality, protocol.quality.0),
        (CriterionId::Overhead, 25.0, 1.0, frugal),
        (CriterionId::Convergence, 15.0, evidence.choice(), haste),
        (CriterionId::Asymmetry, 10.0, asymmetry, protocol.asymmetry.0),
        (CriterionId::Scale, 15.0, large, protocol.scale.0),
        (CriterionId::Simplicity, 10.0, 1.0 - large, protocol.simplicity.0),
    ]
}

/// Text of a criterion: the property of the protocol, and the numbers behind the demand.
fn say(id: CriterionId, evidence: &Evidence, protocol: &Protocol) -> String {
    let e = evidence;
    let percent = |share: f64| share * 100.0;
    let mut text = String::new();
    let written = match id {
        CriterionId::LinkQuality => {
            let spread = e.rates_bps.map_or(1.0, |(low, high)| high / low);
            write!(
                text,
                "{}: {:.0} % of {} usable links have less than {FRAGILE_DB} dB of margin, {:.0} % \
                 lose 10 % of packets or more, and rates differ by a factor of {spread:.1}; \
                 {:.0} % of the links have a way around them",
                protocol.quality.1,
                percent(e.fragile_prob),
                e.sampled,
                percent(e.lossy_prob),
                percent(e.choice()),
            )
        }
        CriterionId::Overhead => match (e.overhead_share(protocol), e.rates_bps) {
            (Some(share), Some((slow_bps, _))) => write!(
                text,
                "control traffic of {} nodes, {:.1} neighbours each, takes about {:.2} % of the \
                 {:.3} Mbit/s that nine tenths of the links have",
                e.nodes,
                e.mean_degree,
                percent(share),
                slow_bps / 1e6,
            ),
            _ => write!(text, "control traffic takes nothing: {} usable links", e.links),
        },
        CriterionId::Convergence => {
            let repaired = protocol.repair_s.map_or_else(
                || "a broken link stays broken until somebody comes".to_owned(),
                |s| format!("a broken link is routed around in about {s:.0} s"),
            );
            write!(
                text,
                "{repaired}: {} of {} usable links are bridges, with no way around them",
                e.bridges, e.links,
            )
        }
        CriterionId::Asymmetry => write!(
            text,
            "{}: {:.0} % of usable links differ by {ASYMMETRIC_DB} dB or more between their \
             directions, {:.0} % of those heard are one-way",
            protocol.asymmetry.1,
            percent(e.asymmetric_prob),
            percent(e.one_way_prob),
        ),
        CriterionId::Scale => write!(
            text,
            "{}: {} nodes, at most {} hops apart",
            protocol.scale.1, e.nodes, e.diameter_hops,
        ),
        CriterionId::Simplicity => {
            write!(text, "{}: {} nodes to look after", protocol.simplicity.1, e.nodes)
        }
    };
    written.expect("a string takes whatever is written");
    text
}
