//! When nodes are there: of maps by the snapshots that list them, of tracks by their fixes.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event};
use super::error::Location;

/// Nodes of the snapshots of a mesh.
#[derive(Debug, Default)]
pub(super) struct Presence {
    /// Keys of the nodes of each snapshot that are there; `None` for one that lists no whole mesh.
    snapshots: Vec<Option<BTreeSet<String>>>,
}

impl Presence {
    /// Adds a snapshot: the nodes that it lists, those of them that are not there, and those with links, which are
    /// there whatever is said of them.
    pub fn push(
        &mut self,
        is_whole: bool,
        mut keys: BTreeSet<String>,
        offline: BTreeSet<String>,
        linked: BTreeSet<String>,
    ) {
        keys.retain(|key| !offline.contains(key));
        keys.extend(linked);
        self.snapshots.push((is_whole && !keys.is_empty()).then_some(keys));
    }

    /// Adds the times at which nodes with a position come and go; `times` has the time, s, and number of each
    /// snapshot. A node that is there in all of them has none.
    pub fn note(self, dataset: &mut Dataset, times: &[(f64, usize)]) {
        let snapshots = times.iter().zip(self.snapshots);
        let mut snapshots: Vec<_> = snapshots.filter_map(|(at, keys)| Some((*at, keys?))).collect();
        snapshots.sort_by(|((a_s, _), _), ((b_s, _), _)| a_s.total_cmp(b_s));
        if snapshots.len() < 2 {
            return;
        }
        let nodes: Vec<(String, u32)> =
            dataset.index.iter().map(|(key, node)| (key.clone(), *node)).collect();
        let mut count = 0_usize;
        for (key, number) in nodes {
            let Some([lat_deg, lon_deg]) = dataset.nodes[number as usize].raw_deg else { continue };
            let Ok(position) = GeoPoint::new(lat_deg, lon_deg) else { continue };
            let is_there = |keys: &BTreeSet<String>| keys.contains(&key);
            let listed = snapshots.iter().filter(|(_, keys)| is_there(keys)).count();
            if listed == 0 || listed == snapshots.len() {
                continue;
            }
            count += 1;
            dataset.nodes[number as usize].comes_and_goes = true;
            let mut was_there = false;
            for ((at_s, line), keys) in &snapshots {
                match (was_there, is_there(keys)) {
                    (false, true) => dataset.event(*at_s, Event::Fix(number, position), *line),
                    (true, false) => dataset.event(*at_s, Event::Leave(number), *line),
                    _ => {}
                }
                was_there = is_there(keys);
            }
        }
        if count > 0 {
            let what = "a node that not all snapshots have: there in those that do";
            dataset.report.add_many(what, count, Location::default);
        }
    }
}

/// Keys of the nodes at the ends of links, which may be addresses of `owners`.
pub(super) fn ends(
    links: &[(String, String, Measured)],
    owners: &BTreeMap<String, Option<String>>,
) -> BTreeSet<String> {
    let owner = |end: &String| owners.get(end).cloned().flatten().unwrap_or_else(|| end.clone());
    links.iter().flat_map(|(from, to, _)| [owner(from), owner(to)]).collect()
}

impl Dataset {
    /// Lets the nodes of the last step of a document leave with the first step of the next one that lacks them.
    pub(super) fn leave_between_parts(&mut self) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.sort_by(|one, other| one.first.0.total_cmp(&other.first.0));
        for pair in parts.windows(2) {
            let ((last_s, before), (at_s, present)) = (&pair[0].last, &pair[1].first);
            // Documents of the same time are about different nodes.
            if at_s > last_s {
                for node in before.difference(present) {
                    self.event(*at_s, Event::Leave(*node), 0);
                }
            }
        }
    }

    /// Lets nodes with a track be there from its first fix to its last, with a single one or a measurement at the last
    /// one for a step more. One with measurements beyond that stays.
    pub(super) fn bound_by_fixes(&mut self) {
        let mut spans: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        let mut measured: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
        let widen = |spans: &mut BTreeMap<u32, [f64; 2]>, node: u32, at_s: f64| {
            let [first_s, last_s] = spans.entry(node).or_insert([at_s; 2]);
            (*first_s, *last_s) = (first_s.min(at_s), last_s.max(at_s));
        };
        for (at_s, event) in &self.events {
            match *event {
                Event::Fix(node, _) => widen(&mut spans, node, *at_s),
                Event::Observe(from, to, _) => {
                    widen(&mut measured, from, *at_s);
                    widen(&mut measured, to, *at_s);
                }
                _ => {}
            }
        }
        let step_s = self.step_s.unwrap_or(1.0);
        let mut beyond = 0_usize;
        for (node, [first_s, last_s]) in spans {
            let is_beyond = |[from_s, to_s]: &[f64; 2]| *from_s < first_s || *to_s > last_s;
            if measured.get(&node).is_some_and(is_beyond) {
                beyond += 1;
                continue;
            }
            self.nodes[node as usize].comes_and_goes = true;
            // A node that leaves as it comes is never there, and one that leaves as it is measured was not measured.
            let is_at_end = |[_, to_s]: &[f64; 2]| *to_s > last_s - step_s;
            let stays = last_s <= first_s || measured.get(&node).is_some_and(is_at_end);
            let leaves_s = if stays { last_s + step_s } else { last_s };
            self.event(leaves_s, Event::Leave(node), 0);
        }
        if beyond > 0 {
            let what = "a node with measurements before or after its track: there throughout";
            self.report.add_many(what, beyond, Location::default);
        }
    }
}
