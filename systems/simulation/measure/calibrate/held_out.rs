//! Errors of a calibration at nodes that were left out of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Link, offset};
use crate::site::NodeId;

/// Maximum number of folds.
const FOLDS_MAX: usize = 10;

/// Errors at nodes that were left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOut {
    /// Mean absolute error, dB.
    pub error_db: f64,
    /// Share of the links within the interval of the next link, [0, 1].
    pub inside_prob: f64,
}

/// Errors of the offset of a class of distances, km. Links are divided by the end with fewer links, so that each
/// fold has nodes of its own: in a star those are the nodes around the gateway. `None` where they have one
/// such node.
pub fn held_out(band: &[&Link], reach_km: [f64; 2]) -> Option<HeldOut> {
    let mut degrees: BTreeMap<NodeId, usize> = BTreeMap::new();
    for link in band {
        for end in [link.ends.0, link.ends.1] {
            *degrees.entry(end).or_default() += 1;
        }
    }
    let leaf = |link: &Link| {
        let (a, b) = link.ends;
        if degrees[&a] <= degrees[&b] { a } else { b }
    };
    let leaves: BTreeSet<NodeId> = band.iter().map(|link| leaf(link)).collect();
    if leaves.len() < 2 {
        return None;
    }
    let folds = leaves.len().min(FOLDS_MAX);
    let fold: BTreeMap<NodeId, usize> =
        leaves.into_iter().enumerate().map(|(number, node)| (node, number % folds)).collect();
    let (mut error_db, mut inside, mut count) = (0.0, 0, 0);
    for number in 0..folds {
        let is_out = |node: &NodeId| fold.get(node) == Some(&number);
        let others: Vec<&Link> = band
            .iter()
            .filter(|link| !is_out(&link.ends.0) && !is_out(&link.ends.1))
            .copied()
            .collect();
        let estimate = offset(&others, reach_km);
        for link in band.iter().filter(|link| fold[&leaf(link)] == number) {
            let km = link.distance_m * 1e-3;
            let Some(excess_db) =
                link.excess_db.filter(|_| (reach_km[0]..reach_km[1]).contains(&km))
            else {
                continue;
            };
            let away_db = (excess_db - estimate.loss_db).abs();
            error_db += away_db;
            inside += u32::from(away_db <= estimate.half_width_db());
            count += 1;
        }
    }
    let count = f64::from(count);
    (count > 0.0)
        .then(|| HeldOut { error_db: error_db / count, inside_prob: f64::from(inside) / count })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{deviates, link};
    use super::*;

    fn node(number: usize) -> NodeId {
        NodeId::named(&format!("node {number}"))
    }

    #[test]
    fn offsets_of_nodes_are_not_taken_for_those_of_the_place() {
        // Ten nodes with an offset each; their ten links to gateways differ by one dB.
        let (nodes, noise) = (deviates(10, "nodes"), deviates(100, "noise"));
        let links: Vec<Link> = (0..100)
            .map(|number| Link {
                ends: (node(number / 10), node(100 + number % 10)),
                ..link(12.0 * nodes[number / 10] + noise[number])
            })
            .collect();
        let held_out = held_out(&links.iter().collect::<Vec<_>>(), [0.0, 1.0]).unwrap();
        // By links in turn the error would be that of the noise about each node's own.
        assert!(held_out.error_db > 6.0, "{held_out:?}");
        assert!(held_out.inside_prob > 0.85, "{held_out:?}");
    }

    #[test]
    fn links_of_one_node_have_nothing_to_leave_out() {
        let one = link(3.0);
        assert_eq!(held_out(&[&one], [0.0, 1.0]), None);
    }
}
