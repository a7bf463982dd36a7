//! Mesh score: one number for the state of the mesh, with its components.

use std::collections::BTreeMap;

use groundwave_model::route::Adjacency;
use groundwave_protocol::NodeState;
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::topology::{Edge, EdgeStatus};

/// A component of the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreComponent {
    /// Name.
    pub name: String,
    /// Weight in the score.
    pub weight: f64,
    /// Value, 0 to 100.
    pub score: f64,
    /// Explanation.
    pub detail: String,
}

/// State of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshScore {
    /// Weighted sum of the components, 0 to 100.
    pub score: f64,
    /// A (90 and more), B (75), C (60), D (40), F.
    pub grade: &'static str,
    pub components: Vec<ScoreComponent>,
    /// Connected components of the mesh.
    pub partitions: usize,
    /// Articulation nodes, in id order: without one of them a part is cut off.
    pub articulation_nodes: Vec<NodeId>,
}

/// Inputs of the score from a node of the mesh.
pub(super) struct ScoredNode<'a> {
    pub id: NodeId,
    pub state: NodeState,
    /// `true` if its registration was approved.
    pub approved: bool,
    /// Links to nodes with higher ids.
    pub edges: &'a [Edge],
}

/// Connectivity of the nodes that are online or stale, over links that are not down.
struct Connectivity {
    partitions: usize,
    articulation_nodes: Vec<NodeId>,
}

impl Connectivity {
    fn of(mesh: &[ScoredNode<'_>]) -> Self {
        let present = |state| matches!(state, NodeState::Online | NodeState::Stale);
        let nodes: Vec<NodeId> =
            mesh.iter().filter(|node| present(node.state)).map(|node| node.id).collect();
        let index = |id: NodeId| nodes.binary_search(&id).ok();
        let pairs: Vec<(usize, usize)> = mesh
            .iter()
            .flat_map(|node| node.edges)
            .filter(|edge| edge.status != EdgeStatus::Down)
            .filter_map(|edge| Some((index(edge.a)?, index(edge.b)?)))
            .collect();
        let cuts = Adjacency::of(nodes.len(), &pairs).cuts();
        Self {
            partitions: cuts.component_sizes.len(),
            articulation_nodes: cuts.points.iter().map(|index| nodes[*index]).collect(),
        }
    }
}

fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

/// Median over nodes of the quality of their best link; `None` without a measured link.
fn median_best(mesh: &[ScoredNode<'_>]) -> Option<f64> {
    let up = |edge: &&Edge| edge.status == EdgeStatus::Up;
    let mut best: BTreeMap<NodeId, f64> = BTreeMap::new();
    for edge in mesh.iter().flat_map(|node| node.edges).filter(up) {
        let Some(quality) = edge.quality() else {
            continue;
        };
        for end in [edge.a, edge.b] {
            let score = best.entry(end).or_default();
            *score = score.max(quality);
        }
    }
    let mut best: Vec<f64> = best.into_values().collect();
    best.sort_by(f64::total_cmp);
    best.get(best.len() / 2).copied()
}

/// Value to two decimal places.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// 100 (0.4 online/approved + 0.3 median best-link quality + 0.2 (1 - articulation nodes/nodes) +
/// 0.1 nodes that reach the gateway/nodes). A node reaches the gateway when
/// its heartbeats do.
/// `nodes` are in id order.
pub(super) fn mesh_score(nodes: &[ScoredNode<'_>]) -> MeshScore {
    let approved = nodes.iter().filter(|node| node.approved).count();
    let count = |state| nodes.iter().filter(|node| node.state == state).count();
    let (online, stale) = (count(NodeState::Online), count(NodeState::Stale));
    let connectivity = Connectivity::of(nodes);
    let quality = median_best(nodes);
    let points = connectivity.articulation_nodes.len();
    let firm = match online + stale {
        0 => 0.0,
        there => 1.0 - share(points, there),
    };
    let component = |name: &str, weight: f64, score: f64, detail: String| ScoreComponent {
        name: name.to_owned(),
        weight,
        score: 100.0 * score,
        detail,
    };
    let mut components = vec![
        component(
            "online",
            0.4,
            share(online, approved),
            format!("{online} of {approved} approved nodes are online"),
        ),
        component(
            "links",
            0.3,
            quality.unwrap_or(0.0),
            quality.map_or("no link was measured".to_owned(), |quality| {
                format!("half of the nodes have a link of quality {quality:.2} or better")
            }),
        ),
        component(
            "redundancy",
            0.2,
            firm,
            format!("{points} of {} nodes would cut the mesh", online + stale),
        ),
        component(
            "gateway",
            0.1,
            share(online + stale, approved),
            format!("{} of {approved} nodes reach the gateway", online + stale),
        ),
    ];
    components.iter_mut().for_each(|part| part.score = hundredths(part.score));
    // Before the grade: 0.4 * 100 is no F by a rounding error.
    let score = hundredths(components.iter().map(|part| part.weight * part.score).sum::<f64>());
    let grade = match score {
        90.0.. => "A",
        75.0.. => "B",
        60.0.. => "C",
        40.0.. => "D",
        _ => "F",
    };
    MeshScore {
        score,
        grade,
        components,
        partitions: connectivity.partitions,
        articulation_nodes: connectivity.articulation_nodes,
    }
}
