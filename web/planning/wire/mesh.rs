//! Routes and protocol advice.

use groundwave_model::advice::Advice;
use groundwave_model::mesh::{GroundSummary, Mesh, MeshLink, RouteAnswer, Segment, Summary};
use groundwave_model::radio::{Basis, LinkResult, ModulationId, Verdict};
use groundwave_model::route::Metric;
use groundwave_model::terrain::PathGround;
use groundwave_simulation::link::Direction;
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Two nodes to find a way between.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteQuestion {
    /// Source node id.
    pub src_node_id: Uuid,
    /// Receiving node id.
    pub dst_node_id: Uuid,
    /// Metric, default `ett`.
    #[serde(default)]
    pub metric: Metric,
    /// Rate every link must keep along the route, bit/s; absent or null asks for none.
    #[serde(default)]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub target_data_rate_bps: Option<f64>,
}

/// Best route.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MeshRoute {
    /// Nodes from source to destination; empty without a route.
    pub path: Vec<Uuid>,
    /// Every link meets the target rate, over ground that is not unknown; false without a route.
    pub meets_target: bool,
    /// Ground under the route: over unknown ground it leads only where there is no route without it.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Links of the route.
    pub segments: Vec<RouteSegment>,
    /// End-to-end performance; null without a route.
    pub summary: Option<Summary>,
    /// Reason why there is no path; null with one.
    pub no_path: Option<NoPath>,
    /// Pairs of nodes in reach that were left out of the search, see the links of the deployment.
    pub pairs_left_out: usize,
}

/// Link of a route.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RouteSegment {
    /// Transmitting node id.
    pub src_node_id: Uuid,
    /// Receiving node id.
    pub dst_node_id: Uuid,
    /// Length, m.
    pub distance_m: f64,
    /// Knowledge of the ground; over `unknown` ground figures and results rest on assumed heights.
    pub ground: PathGround,
    /// Rate left to payload along the route, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost along the route, [0, 1).
    pub per: f64,
    /// Expected transmissions, acknowledgements counted, at least 1.
    pub etx: f64,
    /// Expected time of a packet, s.
    pub ett_s: f64,
    /// Forward direction.
    pub result: LinkResult,
    /// Reverse direction.
    pub reverse: LinkResult,
}

/// Reason why no path connects two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoPath {
    /// Nodes the source can reach, itself included.
    pub src_side_nodes: usize,
    /// Nodes that can reach the destination, itself included.
    pub dst_side_nodes: usize,
    /// Node pair across the gap with the best margin.
    pub closest: Option<ClosestPair>,
}

/// Node pair without a link.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ClosestPair {
    /// Node on the source's side.
    pub src_side_node_id: Uuid,
    /// Node on the destination's side.
    pub dst_side_node_id: Uuid,
    /// Length, m.
    pub distance_m: f64,
    /// Link margin of the worse direction, dB: below 0 by what is missing.
    pub link_margin_db: f64,
}

impl From<Segment> for RouteSegment {
    fn from(segment: Segment) -> Self {
        Self {
            src_node_id: segment.source.uuid(),
            dst_node_id: segment.target.uuid(),
            distance_m: segment.distance_m,
            ground: segment.forward.terrain.ground,
            data_rate_bps: segment.data_rate_bps,
            per: segment.per,
            etx: segment.etx,
            ett_s: segment.ett_s,
            result: segment.forward,
            reverse: segment.backward,
        }
    }
}

impl MeshRoute {
    /// Answer of a search over `mesh`.
    #[must_use]
    pub fn new(answer: RouteAnswer, mesh: &Mesh) -> Self {
        let pairs_left_out = mesh.pairs_left_out;
        match answer {
            RouteAnswer::Found(route) => Self {
                path: route.path.into_iter().map(NodeId::uuid).collect(),
                meets_target: route.summary.meets_target,
                ground: route.segments.iter().map(|link| link.forward.terrain.ground).collect(),
                segments: route.segments.into_iter().map(Into::into).collect(),
                summary: Some(route.summary),
                no_path: None,
                pairs_left_out,
            },
            RouteAnswer::NoPath { source_side_nodes, target_side_nodes, closest } => Self {
                path: Vec::new(),
                meets_target: false,
                ground: GroundSummary::default(),
                segments: Vec::new(),
                summary: None,
                no_path: Some(NoPath {
                    src_side_nodes: source_side_nodes,
                    dst_side_nodes: target_side_nodes,
                    closest: closest.map(|gap| ClosestPair {
                        src_side_node_id: gap.source_side.uuid(),
                        dst_side_node_id: gap.target_side.uuid(),
                        distance_m: gap.distance_m,
                        link_margin_db: gap.link_margin_db,
                    }),
                }),
                pairs_left_out,
            },
        }
    }
}

/// Filter of links.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LinkFilter {
    /// Only links with a direction that closes over ground that is not unknown
    pub usable: Option<bool>,
}

/// All links of a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeploymentLinks {
    /// Deployment id.
    pub deployment_id: Uuid,
    /// Number of nodes.
    pub nodes: usize,
    /// Pairs in reach that were not evaluated: of more than 250,000 each node has its nearest and some farther away.
    pub pairs_left_out: usize,
    /// Ground under the links.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Links, by the lower and then the higher node id.
    pub links: Vec<DeploymentLink>,
}

/// Link of a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeploymentLink {
    /// Node with the lower id.
    pub a_node_id: Uuid,
    /// Node with the higher id.
    pub b_node_id: Uuid,
    /// Length, m.
    pub distance_m: f64,
    /// The straight ray over the effective Earth is clear.
    pub line_of_sight: bool,
    /// Least clearance over the radius of the first Fresnel zone, below 0 where the ground stands above
    /// the ray; null where no sample lies between the ends.
    pub fresnel_clearance_ratio: Option<f64>,
    /// Samples of the profile without a height in the tile.
    pub void_samples: u32,
    /// Samples of the profile without a tile.
    pub missing_samples: u32,
    /// Knowledge of the ground. Where it is `unknown`, both directions have the verdict `no_link`.
    pub ground: PathGround,
    /// From the lower id to the higher.
    pub forward: LinkDirection,
    /// From the higher id to the lower.
    pub reverse: LinkDirection,
}

/// Direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkDirection {
    /// Path loss, dB.
    pub path_loss_db: f64,
    /// Received power, dBm.
    pub rx_power_dbm: f64,
    /// SNR, dB.
    pub snr_db: f64,
    /// SNR above the need of the lowest modulation, dB.
    pub link_margin_db: f64,
    /// Modulation; null when none can be decoded.
    pub modulation: Option<ModulationId>,
    /// Rate left to payload, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost, [0, 1].
    pub per: f64,
    /// Probability that a link like this one works, [0, 1].
    pub link_prob: f64,
    /// Received power of 90 % of links like this one, dBm: 5 % lie below the first, 5 % above the
    /// second.
    pub rx_power_interval_dbm: [f64; 2],
    /// Knowledge that probability and interval rest on.
    pub basis: Basis,
    /// Rating by that probability; `no_link` over unknown ground.
    pub verdict: Verdict,
}

impl LinkDirection {
    /// A direction of a link over `ground`.
    fn over(ground: PathGround, direction: Direction) -> Self {
        Self {
            path_loss_db: direction.path_loss_db,
            rx_power_dbm: direction.rx_power_dbm,
            snr_db: direction.snr_db,
            link_margin_db: direction.link_margin_db,
            modulation: direction.modulation,
            data_rate_bps: direction.data_rate_bps,
            per: direction.per,
            link_prob: direction.link_prob,
            rx_power_interval_dbm: direction.rx_power_interval_dbm,
            basis: direction.basis,
            verdict: verdict_over(ground, direction.verdict),
        }
    }
}

/// Verdict of a link over `ground`: over unknown ground none, for which `no_link` stands.
#[must_use]
pub fn verdict_over(ground: PathGround, verdict: Verdict) -> Verdict {
    if ground.is_enough() { verdict } else { Verdict::NoLink }
}

impl From<&MeshLink> for DeploymentLink {
    fn from(link: &MeshLink) -> Self {
        Self {
            a_node_id: link.ends.a().uuid(),
            b_node_id: link.ends.b().uuid(),
            distance_m: link.budget.distance_m,
            line_of_sight: link.budget.line_of_sight,
            fresnel_clearance_ratio: link.budget.fresnel_clearance_ratio,
            void_samples: link.budget.void_samples,
            missing_samples: link.budget.missing_samples,
            ground: link.budget.ground,
            forward: LinkDirection::over(link.budget.ground, link.budget.forward),
            reverse: LinkDirection::over(link.budget.ground, link.budget.backward),
        }
    }
}

impl DeploymentLinks {
    /// The links of `mesh`, or those of them that close in a direction over ground that is not unknown.
    #[must_use]
    pub fn new(deployment_id: Uuid, mesh: &Mesh, only_usable: bool) -> Self {
        let closes = |link: &MeshLink| {
            let budget = &link.budget;
            let is_closed = budget.forward.closes() || budget.backward.closes();
            is_closed && link.is_over_known_ground()
        };
        let wanted = |link: &&MeshLink| !only_usable || closes(link);
        Self {
            deployment_id,
            nodes: mesh.nodes.len(),
            pairs_left_out: mesh.pairs_left_out,
            ground: mesh.links.iter().filter(wanted).map(|link| link.budget.ground).collect(),
            links: mesh.links.iter().filter(wanted).map(Into::into).collect(),
        }
    }
}

/// Request for protocol advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviceQuestion {
    /// Deployment id.
    pub deployment_id: Uuid,
}

/// Routing protocols for a deployment, and what the advice rests on.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ProtocolAdvice {
    /// Deployment id.
    pub deployment_id: Uuid,
    /// Ranking and evidence.
    #[serde(flatten)]
    pub advice: Advice,
}
