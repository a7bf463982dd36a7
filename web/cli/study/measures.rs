//! Measures of a run: means over its ticks.

use std::collections::BTreeMap;

use groundwave_gateway::Snapshot;
use groundwave_simulation::site::NodeId;

/// Measures of a cell, in the order of its columns: name and unit, and the meaning for the help.
pub const MEASURES: [(&str, &str); 8] = [
    ("nodes_operating", "nodes that operate"),
    ("links_usable", "links with an ETX, not cut, whose nodes operate"),
    ("connected_percent", "nodes of the largest connected part, of those that operate"),
    ("flows_met_percent", "flows that carry all they offer"),
    ("delivery_percent", "mean probability that a packet of a flow arrives; 0 without a route"),
    ("hops", "mean number of hops of the routes"),
    ("route_etx", "mean of the sums of ETX of the routes"),
    ("throughput_bps", "mean of what flows carry, which share the air; 0 without a route"),
];

/// Number of measures.
pub const COUNT: usize = MEASURES.len();

/// Sums over ticks.
#[derive(Debug, Default)]
pub struct Sums {
    sums: [f64; COUNT],
    /// Ticks in which a measure has a value: hops and ETX need a route.
    ticks: [u64; COUNT],
}

impl Sums {
    /// Adds a tick.
    pub fn add(&mut self, view: &Snapshot) {
        for (measure, value) in values(view).into_iter().enumerate() {
            if let Some(value) = value {
                self.sums[measure] += value;
                self.ticks[measure] += 1;
            }
        }
    }

    /// Means over the ticks; `None` where a measure never had a value.
    #[must_use]
    pub fn means(&self) -> [Option<f64>; COUNT] {
        std::array::from_fn(|measure| {
            let ticks = self.ticks[measure];
            (ticks > 0).then(|| self.sums[measure] / ticks as f64)
        })
    }
}

fn values(view: &Snapshot) -> [Option<f64>; COUNT] {
    let operating: Vec<NodeId> =
        view.nodes.iter().filter(|node| node.operating).map(|node| node.id).collect();
    let usable = view.links.iter().filter(|link| view.carries(link));
    let usable: Vec<[NodeId; 2]> = usable.map(|link| [link.a, link.b]).collect();
    let flows = view.flows.len() as f64;
    let routes: Vec<_> = view.flows.iter().filter_map(|flow| flow.route.as_ref()).collect();
    let mean = |sum: f64, count: f64| (count > 0.0).then(|| sum / count);
    let met = view.flows.iter().filter(|flow| flow.is_met()).count() as f64;
    // A sum of no floats has a minus.
    let delivery = routes.iter().map(|route| route.delivery_prob).sum::<f64>() + 0.0;
    let hops: usize = routes.iter().map(|route| route.hops.len()).sum();
    let etx: f64 = routes.iter().flat_map(|route| &route.hops).map(|hop| hop.etx).sum();
    let throughput_bps: f64 = view.flows.iter().map(|flow| flow.share.carried_bps).sum();
    let count = operating.len() as f64;
    [
        Some(count),
        Some(usable.len() as f64),
        mean(100.0 * largest_part(&operating, &usable) as f64, count),
        mean(100.0 * met, flows),
        mean(100.0 * delivery, flows),
        mean(hops as f64, routes.len() as f64),
        mean(etx, routes.len() as f64),
        mean(throughput_bps, flows),
    ]
}

/// Number of nodes of the largest connected part.
fn largest_part(nodes: &[NodeId], links: &[[NodeId; 2]]) -> usize {
    let numbers: BTreeMap<NodeId, usize> = nodes.iter().copied().zip(0..).collect();
    let mut parents: Vec<usize> = (0..nodes.len()).collect();
    fn root(parents: &mut [usize], mut node: usize) -> usize {
        while parents[node] != node {
            parents[node] = parents[parents[node]];
            node = parents[node];
        }
        node
    }
    for [a, b] in links {
        if let (Some(&a), Some(&b)) = (numbers.get(a), numbers.get(b)) {
            let (a, b) = (root(&mut parents, a), root(&mut parents, b));
            parents[a.max(b)] = a.min(b);
        }
    }
    let mut sizes = vec![0; nodes.len()];
    for node in 0..nodes.len() {
        sizes[root(&mut parents, node)] += 1;
    }
    sizes.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_part_is_counted_over_usable_links() {
        let nodes: Vec<NodeId> =
            ["a", "b", "c", "d", "e"].iter().map(|name| NodeId::named(name)).collect();
        let [a, b, c, d, e] = nodes[..] else { panic!("five nodes") };
        assert_eq!(largest_part(&nodes, &[]), 1);
        assert_eq!(largest_part(&nodes, &[[a, b], [d, e], [c, b]]), 3);
        assert_eq!(largest_part(&nodes[..2], &[[a, b], [b, c]]), 2);
        assert_eq!(largest_part(&[], &[]), 0);
    }
}
