//! Undirected connectivity of a graph: components, cut vertices, bridges, diameter.

use groundwave_values::parallel;

/// The neighbours of each node in rising order.
pub struct Adjacency {
    near: Vec<Vec<usize>>,
}

/// The components of a graph, and the nodes and edges whose removal disconnects one.
#[derive(Debug, PartialEq, Eq)]
pub struct Cuts {
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
    /// Neighbours of each of `nodes` nodes, of the pairs that are linked.
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
        const UNVISITED: usize = usize::MAX;
        let count = self.near.len();
        let (mut order, mut low) = (vec![UNVISITED; count], vec![UNVISITED; count]);
        let mut is_point = vec![false; count];
        let mut bridges = Vec::new();
        let mut component_sizes = Vec::new();
        let mut time = 0;
        for root in 0..count {
            if order[root] != UNVISITED {
                continue;
            }
            let before = time;
            let mut branches = 0;
            let visit = |node, parent| Visit { node, parent, next: 0 };
            let mut way = vec![visit(root, UNVISITED)];
            while let Some(top) = way.last_mut() {
                let Visit { node, parent, .. } = *top;
                if top.next == 0 {
                    (order[node], low[node]) = (time, time);
                    time += 1;
                }
                let onward = self.near[node].get(top.next).copied();
                top.next += 1;
                match onward {
                    Some(near) if near == parent => {}
                    Some(near) if order[near] == UNVISITED => way.push(visit(near, node)),
                    Some(near) => low[node] = low[node].min(order[near]),
                    None => {
                        way.pop();
                        if parent == UNVISITED {
                            continue;
                        }
                        low[parent] = low[parent].min(low[node]);
                        branches += usize::from(parent == root);
                        is_point[parent] |= parent != root && low[node] >= order[parent];
                        if low[node] > order[parent] {
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

    /// Maximum of the shortest ways between two connected nodes, hops: a breadth-first search from
    /// each.
    pub fn diameter_hops(&self) -> usize {
        let mut farthest: Vec<(usize, usize)> = (0..self.near.len()).map(|n| (n, 0)).collect();
        parallel::for_each(&mut farthest, 16, |(from, hops)| *hops = self.eccentricity(*from));
        farthest.into_iter().map(|(_, hops)| hops).max().unwrap_or(0)
    }

    fn eccentricity(&self, from: usize) -> usize {
        let mut visited = vec![false; self.near.len()];
        visited[from] = true;
        let (mut circle, mut hops) = (vec![from], 0);
        loop {
            let mut next = Vec::new();
            for node in circle {
                for &near in &self.near[node] {
                    if !std::mem::replace(&mut visited[near], true) {
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
