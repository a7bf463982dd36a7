//! How usable links hang together.

use groundwave_engine::parallel;
use schemars::JsonSchema;
use serde::Serialize;

use crate::mesh::MeshLink;
use crate::site::NodeId;

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

/// Neighbours of each node, rising.
pub(crate) struct Adjacency {
    near: Vec<Vec<usize>>,
}

/// Where a graph falls apart.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    pub component_sizes: Vec<usize>,
    /// Rising.
    pub points: Vec<usize>,
    /// Lower end first, rising.
    pub bridges: Vec<(usize, usize)>,
}

/// A node on the way of the search: itself, where it was reached from, its next neighbour.
struct Visit {
    node: usize,
    parent: usize,
    next: usize,
}

impl Adjacency {
    pub fn of(nodes: usize, pairs: &[(usize, usize)]) -> Self {
        let mut near = vec![Vec::new(); nodes];
        for &(a, b) in pairs {
            near[a].push(b);
            near[b].push(a);
        }
        for near in &mut near {
            near.sort_unstable();
        }
        Self { near }
    }

    /// Components, articulation points and bridges by one depth-first search (J. Hopcroft and
    /// R. Tarjan, "Efficient algorithms for graph manipulation", CACM 16, 1973), without
    /// recursion, so that a long chain does not exhaust the stack.
    pub fn cuts(&self) -> Cuts {
        const UNSEEN: usize = usize::MAX;
        let count = self.near.len();
        let (mut seen, mut low) = (vec![UNSEEN; count], vec![UNSEEN; count]);
        let mut is_point = vec![false; count];
        let mut bridges = Vec::new();
        let mut component_sizes = Vec::new();
        let mut time = 0;
        for root in 0..count {
            if seen[root] != UNSEEN {
                continue;
            }
            let before = time;
            let mut branches = 0;
            let visit = |node, parent| Visit {
                node,
                parent,
                next: 0,
            };
            let mut way = vec![visit(root, UNSEEN)];
            while let Some(top) = way.last_mut() {
                let Visit { node, parent, .. } = *top;
                if top.next == 0 {
                    (seen[node], low[node]) = (time, time);
                    time += 1;
                }
                let onward = self.near[node].get(top.next).copied();
                top.next += 1;
                match onward {
                    Some(near) if near == parent => {}
                    Some(near) if seen[near] == UNSEEN => way.push(visit(near, node)),
                    Some(near) => low[node] = low[node].min(seen[near]),
                    None => {
                        way.pop();
                        if parent == UNSEEN {
                            continue;
                        }
                        low[parent] = low[parent].min(low[node]);
                        branches += usize::from(parent == root);
                        is_point[parent] |= parent != root && low[node] >= seen[parent];
                        if low[node] > seen[parent] {
                            bridges.push((node.min(parent), node.max(parent)));
                        }
                    }
                }
            }
            is_point[root] = branches > 1;
            component_sizes.push(time - before);
        }
        bridges.sort_unstable();
        Cuts {
            component_sizes,
            points: (0..count).filter(|&node| is_point[node]).collect(),
            bridges,
        }
    }

    /// Longest of the shortest ways between two connected nodes, hops: a breadth-first search from
    /// each.
    pub fn diameter_hops(&self) -> usize {
        let mut farthest: Vec<(usize, usize)> = (0..self.near.len()).map(|n| (n, 0)).collect();
        parallel::for_each(&mut farthest, 16, |(from, hops)| {
            *hops = self.eccentricity(*from)
        });
        farthest
            .into_iter()
            .map(|(_, hops)| hops)
            .max()
            .unwrap_or(0)
    }

    fn eccentricity(&self, from: usize) -> usize {
        let mut seen = vec![false; self.near.len()];
        seen[from] = true;
        let (mut circle, mut hops) = (vec![from], 0);
        loop {
            let mut next = Vec::new();
            for node in circle {
                for &near in &self.near[node] {
                    if !std::mem::replace(&mut seen[near], true) {
                        next.push(near);
                    }
                }
            }
            if next.is_empty() {
                return hops;
            }
            (circle, hops) = (next, hops + 1);
        }
    }
}
