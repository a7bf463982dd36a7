//! Connectivity of the graph of usable links.

use schemars::JsonSchema;
use serde::Serialize;

use crate::id::NodeId;
use crate::mesh::MeshLink;
use crate::route::Adjacency;

/// Connectivity of the graph of usable links. For an incomplete sample this is a lower bound: links
/// that were not evaluated could only add to it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Connectivity {
    /// Links usable in both directions, over ground that is not unknown.
    pub links: usize,
    /// Connected components; a node without links is one.
    pub components: usize,
    /// Nodes of the largest component.
    pub largest_component_nodes: usize,
    /// Nodes without any link.
    pub isolated_nodes: usize,
    /// Mean number of links of a node.
    pub mean_degree: f64,
    /// Longest of the shortest paths between two connected nodes, hops.
    pub diameter_hops: usize,
    /// Nodes whose removal splits a component, in id order.
    #[schemars(with = "Vec<String>")]
    pub articulation_points: Vec<NodeId>,
    /// Links whose removal splits a component, in id order.
    #[schemars(with = "Vec<[String; 2]>")]
    pub bridges: Vec<[NodeId; 2]>,
}

impl Connectivity {
    /// Connectivity of `nodes` (in id order) by the links known between them.
    pub(super) fn of<'a>(nodes: &[NodeId], links: impl Iterator<Item = &'a MeshLink>) -> Self {
        let index = |id| nodes.binary_search(&id).expect("links end at nodes");
        let usable =
            links.filter(|link| link.is_over_known_ground() && link.budget.etx().is_some());
        let mut pairs: Vec<(usize, usize)> =
            usable.map(|link| (index(link.ends.a()), index(link.ends.b()))).collect();
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
            bridges: cuts.bridges.iter().map(|(a, b)| [nodes[*a], nodes[*b]]).collect(),
        }
    }
}
