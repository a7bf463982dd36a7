//! Reachability between running nodes.

use super::carries;
use crate::Snapshot;

/// Share of the ordered pairs of running nodes that can reach each other, [0, 1]; 1 where there
/// are fewer than two.
#[must_use]
pub fn reachable_share(now: &Snapshot) -> f64 {
    let running: Vec<_> = now.nodes.iter().filter(|node| node.operating).collect();
    let count = running.len();
    if count < 2 {
        return 1.0;
    }
    let place = |id| running.binary_search_by_key(&id, |node| node.id).ok();
    // Trees of nodes that reach each other; each knows its root, the root its size.
    let mut roots: Vec<usize> = (0..count).collect();
    let mut sizes = vec![1_usize; count];
    fn root(roots: &mut [usize], mut at: usize) -> usize {
        while roots[at] != at {
            roots[at] = roots[roots[at]];
            at = roots[at];
        }
        at
    }
    for link in now.links.iter().filter(|link| carries(now, link)) {
        let (Some(a), Some(b)) = (place(link.a), place(link.b)) else {
            continue;
        };
        let (a, b) = (root(&mut roots, a), root(&mut roots, b));
        if a != b {
            let (small, large) = if sizes[a] < sizes[b] { (a, b) } else { (b, a) };
            roots[small] = large;
            sizes[large] += sizes[small];
        }
    }
    let pairs: usize = (0..count)
        .filter(|at| roots[*at] == *at)
        .map(|at| sizes[at] * (sizes[at] - 1))
        .sum();
    pairs as f64 / (count * (count - 1)) as f64
}
