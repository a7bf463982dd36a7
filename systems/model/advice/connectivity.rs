//! How usable links hang together.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::id::NodeId;
use crate::model::mesh::MeshLink;
use crate::model::route::Adjacency;

/// How usable links hang together. Of a sample that is not complete this is a lower bound: links
/// that were not looked at could only add to it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Connectivity {
    /// Links usable in both directions.
    pub links: usize,
    /// Parts that have no link between them; a node without links is one.
    pub components: usize,
    /// Nodes of the largest part.
    pub largest_component_nodes: usize,
    /// Nodes without any link.
    pub isolated_nodes: usize,
    /// Links of a node on average.
    pub mean_degree: f64,
    /// Longest of the shortest ways between two nodes that are connected, hops.
    pub diameter_hops: usize,
    /// Nodes without which a part falls apart, in id order.
    #[schemars(with = "Vec<String>")]
    pub articulation_points: Vec<NodeId>,
    /// Links without which a part falls apart, in id order.
    #[schemars(with = "Vec<[String; 2]>")]
    pub bridges: Vec<[NodeId; 2]>,
}

impl Connectivity {
    /// `nodes` in id order, and whatever links are known between them.
    pub(super) fn of<'a>(nodes: &[NodeId], links: impl Iterator<Item = &'a MeshLink>) -> Self {
        let index = |id| nodes.binary_search(&id).expect("links end at nodes");
        let usable = links.filter(|link| link.budget.etx().is_some());
        let mut pairs: Vec<(usize, usize)> = usable
            .map(|link| (index(link.ends.a()), index(link.ends.b())))
            .collect();
        pairs.sort_unstable();
        let graph = Adjacency::of(nodes.len(), &pairs);
        let cuts = graph.cuts();
        let sizes = &cuts.component_sizes;
        let id = |&node: &usize| nodes[node];
        Self {
            links: pairs.len(),
            components: sizes.len(),
            largest_component_nodes: sizes.iter().copied().max().unwrap_or(0),
            isolated_nodes: sizes.iter().filter(|size| **size == 1).count(),
            mean_degree: 2.0 * pairs.len() as f64 / nodes.len().max(1) as f64,
            diameter_hops: graph.diameter_hops(),
            articulation_points: cuts.points.iter().map(id).collect(),
            bridges: cuts
                .bridges
                .iter()
                .map(|(a, b)| [nodes[*a], nodes[*b]])
                .collect(),
        }
    }
}
