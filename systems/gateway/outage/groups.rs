//! Division of offline nodes into groups by their entries.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use groundwave_simulation::site::NodeId;

/// Links of nodes by their ends, in both directions.
pub(super) type Links = BTreeMap<NodeId, BTreeSet<NodeId>>;

/// A relay and the nodes behind it; without a relay, nodes that are linked to one another only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub relay: Option<NodeId>,
    /// All nodes, the relay included.
    pub nodes: BTreeSet<NodeId>,
}

/// Divides `offline` nodes, with the gateway clock at their last heartbeats in ns, among the entries of
/// `entries`: a node belongs to the entry with the fewest hops over links between offline nodes, of equals
/// to the one that fell silent first, then to the one with the lowest id. Nodes that no entry reaches are a
/// group for each connected component; a single one is its own relay.
pub(super) fn groups(
    offline: &BTreeMap<NodeId, u64>,
    links: &Links,
    entries: &BTreeSet<NodeId>,
) -> Vec<Group> {
    let mut entries: Vec<NodeId> =
        entries.iter().filter(|node| offline.contains_key(*node)).copied().collect();
    entries.sort_unstable_by_key(|node| (offline[node], *node));
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut queue = VecDeque::new();
    for entry in entries {
        group_of.insert(entry, groups.len());
        groups.push(Group { relay: Some(entry), nodes: BTreeSet::from([entry]) });
        queue.push_back(entry);
    }
    let mut rest = offline.keys();
    loop {
        while let Some(node) = queue.pop_front() {
            let group = group_of[&node];
            for next in links.get(&node).into_iter().flatten() {
                if offline.contains_key(next) && !group_of.contains_key(next) {
                    group_of.insert(*next, group);
                    groups[group].nodes.insert(*next);
                    queue.push_back(*next);
                }
            }
        }
        let Some(first) = rest.find(|node| !group_of.contains_key(*node)) else {
            break;
        };
        group_of.insert(*first, groups.len());
        groups.push(Group { relay: None, nodes: BTreeSet::from([*first]) });
        queue.push_back(*first);
    }
    for group in &mut groups {
        if group.nodes.len() == 1 {
            group.relay = group.nodes.first().copied();
        }
    }
    groups
}

/// The connected component of a node among `nodes`.
pub(super) fn component(node: NodeId, nodes: &BTreeSet<NodeId>, links: &Links) -> BTreeSet<NodeId> {
    let mut component = BTreeSet::from([node]);
    let mut queue = vec![node];
    while let Some(node) = queue.pop() {
        for next in links.get(&node).into_iter().flatten() {
            if nodes.contains(next) && component.insert(*next) {
                queue.push(*next);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id(number: u8) -> NodeId {
        NodeId::from_u128(u128::from(number))
    }

    fn links(pairs: impl IntoIterator<Item = (u8, u8)>) -> Links {
        let mut links = Links::new();
        for (a, b) in pairs {
            links.entry(id(a)).or_default().insert(id(b));
            links.entry(id(b)).or_default().insert(id(a));
        }
        links
    }

    fn offline(nodes: impl IntoIterator<Item = u8>) -> BTreeMap<NodeId, u64> {
        nodes.into_iter().map(|node| (id(node), 0)).collect()
    }

    #[test]
    fn nodes_behind_one_relay_are_one_group() {
        // A star around 1 with a chain: 1-2, 1-3, 3-4, 4-5.
        let links = links([(1, 2), (1, 3), (3, 4), (4, 5), (1, 9)]);
        let groups = groups(&offline([1, 2, 3, 4, 5]), &links, &BTreeSet::from([id(1)]));
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].relay, Some(id(1)));
        assert_eq!(groups[0].nodes.len(), 5);
    }

    #[test]
    fn a_node_between_two_relays_is_behind_the_nearest_then_the_first_silent() {
        let links = links([(1, 3), (2, 4), (3, 5), (4, 5), (4, 6)]);
        let mut silent = offline([1, 2, 3, 4, 5, 6]);
        silent.insert(id(1), 7);
        let groups = groups(&silent, &links, &BTreeSet::from([id(1), id(2)]));
        let nodes = |numbers: &[u8]| numbers.iter().map(|number| id(*number)).collect();
        let expected = [
            Group { relay: Some(id(2)), nodes: nodes(&[2, 4, 5, 6]) },
            Group { relay: Some(id(1)), nodes: nodes(&[1, 3]) },
        ];
        assert_eq!(groups, expected);
    }

    #[test]
    fn nodes_without_an_entry_are_groups_without_a_relay_and_a_single_one_is_its_own() {
        let groups = groups(&offline([1, 2, 3]), &links([(1, 2)]), &BTreeSet::new());
        assert_eq!((groups[0].relay, groups[0].nodes.len()), (None, 2));
        assert_eq!((groups[1].relay, groups[1].nodes.len()), (Some(id(3)), 1));
    }

    proptest! {
        /// Each node is in one group, and within it linked to its relay; with one entry in its component,
        /// it has no path from elsewhere that avoids the relay.
        #[test]
        fn groups_divide_the_nodes_and_are_connected_to_their_relays(
            pairs in prop::collection::vec((0_u8..24, 0_u8..24), 0..60),
            number in 1_u8..24,
            entries in prop::collection::btree_set(0_u8..24, 0..5),
        ) {
            let links = links(pairs.into_iter().filter(|(a, b)| a != b));
            let silent = offline(0..number);
            let entries: BTreeSet<NodeId> = entries.into_iter().map(id).collect();
            let groups = groups(&silent, &links, &entries);
            let mut all = BTreeSet::new();
            for group in &groups {
                for node in &group.nodes {
                    prop_assert!(all.insert(*node), "{node} is in two groups");
                }
                let first = group.relay.or_else(|| group.nodes.first().copied()).unwrap();
                prop_assert_eq!(&component(first, &group.nodes, &links), &group.nodes);
                let others = group.nodes.iter().filter(|node| Some(**node) != group.relay);
                for node in others {
                    prop_assert!(!entries.contains(node));
                }
            }
            prop_assert_eq!(all, silent.keys().copied().collect::<BTreeSet<_>>());
        }
    }
}
