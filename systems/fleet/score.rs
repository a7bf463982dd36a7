//! How well the mesh is, as one number whose parts can be checked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::liveness::NodeState;
use super::topology::{Edge, EdgeStatus, TopologyGraph, hanging};
use super::view::Fleet;
use crate::site::NodeId;

/// A part of the score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreComponent {
    /// What it looks at.
    pub name: String,
    /// Its share of the score.
    pub weight: f64,
    /// How well that is, 0 to 100.
    pub score: f64,
    /// In words.
    pub detail: String,
}

/// How well the mesh is.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshScore {
    /// 0 to 100: the weighted sum of its components.
    pub score: f64,
    /// A (90 and more), B (75), C (60), D (40), F.
    pub grade: &'static str,
    /// What it is made of.
    pub components: Vec<ScoreComponent>,
    /// Parts of the mesh that do not reach each other.
    pub partitions: usize,
    /// Nodes without which some part would be cut off.
    pub articulation_nodes: Vec<NodeId>,
}

fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        _ => part as f64 / whole as f64,
    }
}

/// Median of the best link's quality of each node that has one.
fn median_best(fleet: &Fleet, graph: &TopologyGraph) -> Option<f64> {
    let up = |edge: &&Edge| edge.status == EdgeStatus::Up;
    let mut best: std::collections::BTreeMap<NodeId, f64> = Default::default();
    for edge in graph.edges.iter().filter(up) {
        let Some(quality) = edge.quality() else {
            continue;
        };
        for end in [edge.a, edge.b] {
            if fleet.nodes.contains_key(&end) {
                let held = best.entry(end).or_default();
                *held = held.max(quality);
            }
        }
    }
    let mut best: Vec<f64> = best.into_values().collect();
    best.sort_by(f64::total_cmp);
    best.get(best.len() / 2).copied()
}

/// 100 (0.4 online/approved + 0.3 median best-link quality + 0.2 (1 - articulation nodes/nodes) +
/// 0.1 nodes that reach the gateway/nodes). A node reaches the gateway when its beats do.
#[must_use]
pub fn mesh_score(fleet: &Fleet, graph: &TopologyGraph) -> MeshScore {
    let approved = fleet
        .nodes
        .values()
        .filter(|node| node.record.registration.is_some());
    let approved = approved.count();
    let count = |state| {
        fleet
            .nodes
            .values()
            .filter(|node| node.liveness.state == state)
            .count()
    };
    let (online, stale) = (count(NodeState::Online), count(NodeState::Stale));
    let hanging = hanging(fleet, graph);
    let quality = median_best(fleet, graph);
    let points = hanging.articulation_nodes.len();
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
    let components = vec![
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
    let score = components
        .iter()
        .map(|part| part.weight * part.score)
        .sum::<f64>();
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
        partitions: hanging.partitions,
        articulation_nodes: hanging.articulation_nodes,
    }
}
