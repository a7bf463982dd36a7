//! Changes of other programs: noticed by the kernel's notifications, compared with the desired state
//! and undone. The interfaces of a testbed are its own, and so are their queueing disciplines.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_kernel::{Handle, Qdisc, Request, Verb};
use groundwave_netlink::Changes;
use groundwave_netlink::route::delete_link;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    LinkDirection, NamespaceAssignment, Observation, Protocol, Reading, Wiring,
};

use super::actions::{Action, send_all};
use super::error::TestbedError;
use super::link_reading::reading;
use super::names::{NETNS, Names, index, interface};
use super::network::{DesiredDirection, NodeNamespace, TestbedNetwork};
use super::{batman, dump};
use crate::bridge_port_qdiscs::{empty_root, unheard_class, unheard_queue};
use crate::veth_check::obstacles;
use crate::veth_qdiscs::{Means, QdiscLayout, VethQdiscs, group_filter};

/// Text of a removed interface.
const REMOVED: &str = "its interface was removed";

/// Text of a removed `bat0`.
const BAT0_REMOVED: &str = "bat0 of its node was removed";

/// Changes found, in words, by direction.
pub(super) type Found = BTreeMap<LinkDirection, String>;

impl TestbedNetwork {
    /// Waits until another program may have changed something. A dropped future loses nothing.
    ///
    /// # Errors
    /// When notifications cannot be received.
    pub async fn until_changed(&mut self) -> Result<(), TestbedError> {
        let notified = self.notifications.wait().await;
        notified.map_err(TestbedError::file("watch the namespaces in", NETNS))
    }

    /// Undoes the changes of other programs since the last call.
    ///
    /// # Errors
    /// When the kernel's state cannot be read or changed. Refusals are part of the result.
    pub fn repair(&mut self) -> Result<Vec<Observation>, TestbedError> {
        let mut configured = Vec::new();
        let (mut found, unrepairable) = match self.wiring {
            Wiring::Link => (self.changed_links(&mut configured)?, Found::new()),
            Wiring::Segment => {
                let without_bat0 = self.changed_radios(&mut configured)?;
                let (mut changes, lost) = self.changed_ports()?;
                changes.extend(self.removals_of_bat0(&without_bat0));
                (changes, lost)
            }
        };
        for (side, change) in self.restore_deleted_routes()? {
            found.entry(side).or_insert(change);
        }
        let desired = |side: &LinkDirection| -> Option<DesiredDirection> {
            let (number, state) = self.goals.get(side)?;
            Some((*side, *number, *state))
        };
        let broken: Vec<Observation> = unrepairable
            .into_iter()
            .filter_map(|(side, failure)| {
                let (side, _, state) = desired(&side)?;
                Some(Observation {
                    side,
                    generation: state.generation,
                    failure: Some(failure),
                    repaired: None,
                    reading: None,
                })
            })
            .collect();
        configured.retain(|side| !found.contains_key(side));
        let desired: Vec<DesiredDirection> =
            found.keys().chain(&configured).filter_map(desired).collect();
        if desired.is_empty() {
            return Ok(broken);
        }
        let mut outcome = self.shape(&desired)?;
        for observation in &mut outcome {
            let emulated = observation.failure.is_none() || self.means == Some(Means::Rate);
            if emulated {
                observation.repaired = found.get(&observation.side).cloned();
            }
        }
        configured.retain(|side| !self.link_faults.contains_key(side));
        self.restore_routes(&found, &configured)?;
        outcome.extend(broken);
        Ok(outcome)
    }

    /// Directions whose veth end another program changed; what is in the way is deleted, removed
    /// interfaces are forgotten. Adds to `configured` the directions whose interface has another fault than
    /// before.
    fn changed_links(
        &mut self,
        configured: &mut Vec<LinkDirection>,
    ) -> Result<Found, TestbedError> {
        let mut found = Found::new();
        let mut gone = BTreeSet::new();
        let mut states = Vec::new();
        let mut without_bat0 = Vec::new();
        let means = self.means.unwrap_or(Means::Rate);
        let ready = self
            .notifications
            .ready()
            .map_err(TestbedError::file("watch the namespaces in", NETNS))?;
        let ready: BTreeSet<u64> = ready.into_iter().collect();
        for (node, node_namespace) in &mut self.assignments {
            if !ready.contains(&node_namespace.assignment.number.into()) {
                continue;
            }
            let changes = node_namespace.namespace.changes()?;
            if changes.routes || changes.overrun {
                self.route_suspects.insert(*node);
            }
            let own = self.wires.iter().filter(|(side, _)| side.from == *node);
            let members = own.map(|(_, veth)| index(veth.number));
            if restore_bat0(&self.names, node_namespace, &changes, members)? {
                without_bat0.push(*node);
            }
            let suspect = |number| {
                touches(&changes, index(number)) || changes.configured.contains(&index(number))
            };
            let own = self.wires.iter_mut();
            let own: Vec<_> =
                own.filter(|(side, veth)| side.from == *node && suspect(veth.number)).collect();
            if own.is_empty() {
                continue;
            }
            let batch = &mut node_namespace.namespace.batch;
            let failed = || TestbedError::kernel("read queueing disciplines");
            let links = dump::links(batch).map_err(failed())?;
            let qdiscs = dump::qdiscs(batch).map_err(failed())?;
            let addresses = dump::addresses(batch).map_err(failed())?;
            for (side, veth) in own {
                let (Some((_, goal)), index) = (self.goals.get(side), index(veth.number)) else {
                    continue;
                };
                if !links.contains_key(&index) {
                    gone.insert(*side);
                    continue;
                }
                let there = qdiscs.get(&index).map_or(&[][..], Vec::as_slice);
                let goal = VethQdiscs::of(&goal.shape, means);
                let layout = QdiscLayout::VETH;
                let mut change = difference(there, &goal, &layout);
                let obstacles = obstacles(there, &layout, means, index);
                if let Some((text, _)) = obstacles.first() {
                    change = Some(format!("{text} is in its place"));
                }
                let deletions: Vec<_> =
                    obstacles.into_iter().map(|(_, request)| Action::Qdisc(request)).collect();
                // A refusal shows when the state is read back.
                let _ = batch.execute(&deletions);
                if change.is_none() && goal.bands {
                    let filter = [Action::Route(group_filter(index))];
                    let refused = batch.execute(&filter);
                    let restored = refused.is_ok_and(|refused| refused.is_empty());
                    change = restored.then(|| "the broadcast filter is missing".to_owned());
                }
                if let Some(change) = change {
                    veth.qdiscs = None;
                    found.insert(*side, change);
                }
            }
            states.push((*node, links, addresses));
        }
        for (node, links, addresses) in states {
            configured.extend(self.note_link_faults(node, &links, &addresses));
        }
        for side in gone {
            self.delete_far_end(side);
            for side in [side, LinkDirection { from: side.to, to: side.from }] {
                self.wires.remove(&side);
                self.link_faults.remove(&side);
                found.insert(side, REMOVED.to_owned());
            }
        }
        for (side, change) in self.removals_of_bat0(&without_bat0) {
            found.entry(side).or_insert(change);
        }
        Ok(found)
    }

    /// The directions from nodes whose `bat0` was removed.
    fn removals_of_bat0(&self, nodes: &[NodeId]) -> Found {
        let own = self.goals.keys().filter(|side| nodes.contains(&side.from));
        own.map(|side| (*side, BAT0_REMOVED.to_owned())).collect()
    }

    /// Deletes the other end of a veth pair whose end has left its namespace, and so that end wherever it is: it is in
    /// the way of a new pair. The end of a deleted pair is gone already.
    fn delete_far_end(&mut self, side: LinkDirection) {
        let number = self.wires.get(&side).map(|veth| veth.number);
        if let (Some(number), Some(peer)) = (number, self.assignments.get_mut(&side.to)) {
            let deletion = delete_link(index(number), "the other end of a link");
            let _ = peer.namespace.batch.execute(&[Action::Route(deletion)]);
        }
    }

    /// Directions whose bridge port another program changed, with the change; and those whose port was
    /// removed, with the failure.
    fn changed_ports(&mut self) -> Result<(Found, Found), TestbedError> {
        let (mut found, mut lost) = (Found::new(), Found::new());
        let Some(segment) = &mut self.segment else {
            return Ok((found, lost));
        };
        let changes = segment.namespace.changes()?;
        let sides: Vec<LinkDirection> = segment.sides.keys().copied().collect();
        let suspects: Vec<(LinkDirection, u32, u32)> = sides
            .into_iter()
            .filter_map(|side| {
                let [from, to] = self.numbers(side)?;
                touches(&changes, index(to)).then_some((side, from, index(to)))
            })
            .collect();
        if suspects.is_empty() {
            return Ok((found, lost));
        }
        let means = self.means.unwrap_or(Means::Rate);
        let qdiscs = self.segment_qdiscs()?;
        let segment = self.segment()?;
        let links = dump::links(&mut segment.namespace.batch)
            .map_err(TestbedError::kernel("read interfaces"))?;
        let ports: BTreeSet<u32> = suspects.iter().map(|(.., port)| *port).collect();
        let mut rebuilt = BTreeMap::new();
        for port in ports.iter().filter(|port| links.contains_key(port)) {
            let there = qdiscs.get(port).map_or(&[][..], Vec::as_slice);
            if let Some(change) = root_change(there) {
                let mut actions: Vec<Action> =
                    remove_root(there, *port).into_iter().map(Action::Qdisc).collect();
                actions.push(Action::Qdisc(empty_root(*port)));
                actions.push(Action::Route(unheard_class(*port)));
                actions.push(Action::Qdisc(unheard_queue(*port)));
                send_all(&mut segment.namespace, &actions, "the segment")?;
                rebuilt.insert(*port, change);
            }
        }
        for (side, from, port) in suspects {
            if !links.contains_key(&port) {
                let what = format!("{REMOVED}; `testbed down` and `up` create it");
                lost.insert(side, what);
                continue;
            }
            let there = qdiscs.get(&port).map_or(&[][..], Vec::as_slice);
            let layout = QdiscLayout::of_sender(from);
            let goal = self.goals.get(&side).map(|(_, state)| VethQdiscs::of(&state.shape, means));
            let mut change = rebuilt.get(&port).cloned();
            if let (None, Some(goal)) = (&change, goal) {
                let filters =
                    changes.filters.contains(&port).then(|| "a filter was changed".to_owned());
                change = difference(there, &goal, &layout).or(filters);
                let obstacles = obstacles(there, &layout, means, port);
                let deletions: Vec<_> = obstacles.into_iter().map(|(_, request)| request).collect();
                let segment = self.segment()?;
                // A refusal shows when the state is read back.
                let _ = segment.namespace.batch.send(&deletions);
            }
            if let Some(change) = change {
                self.segment()?.sides.insert(side, None);
                found.insert(side, change);
            }
        }
        Ok((found, lost))
    }

    /// Values of `sides` as read; a difference of their disciplines from the desired state is a failure.
    pub(super) fn read_back(
        &mut self,
        sides: &BTreeSet<LinkDirection>,
        failures: &mut BTreeMap<LinkDirection, String>,
    ) -> Result<BTreeMap<LinkDirection, Reading>, TestbedError> {
        let mut readings = BTreeMap::new();
        if sides.is_empty() {
            return Ok(readings);
        }
        let means = self.means.unwrap_or(Means::Rate);
        let mut places: BTreeMap<NodeId, Vec<(LinkDirection, u32, QdiscLayout)>> = BTreeMap::new();
        for side in sides {
            let place = match (self.wiring, self.numbers(*side), self.wires.get(side)) {
                (Wiring::Segment, Some([from, to]), _) => {
                    (*side, index(to), QdiscLayout::of_sender(from))
                }
                (Wiring::Link, _, Some(veth)) => (*side, index(veth.number), QdiscLayout::VETH),
                _ => continue,
            };
            places.entry(side.from).or_default().push(place);
        }
        let of_segment = match self.wiring {
            Wiring::Segment => Some(self.segment_qdiscs()?),
            Wiring::Link => None,
        };
        for (node, places) in places {
            let of_node = match (&of_segment, self.assignments.get_mut(&node)) {
                (None, Some(node_namespace)) => {
                    dump::qdiscs(&mut node_namespace.namespace.batch)
                        .map_err(TestbedError::kernel("read queueing disciplines"))?
                }
                _ => BTreeMap::new(),
            };
            let qdiscs = of_segment.as_ref().unwrap_or(&of_node);
            for (side, index, layout) in places {
                let Some((_, state)) = self.goals.get(&side) else {
                    continue;
                };
                let goal = VethQdiscs::of(&state.shape, means);
                let there = qdiscs.get(&index).map_or(&[][..], Vec::as_slice);
                readings.extend(reading(there, &layout).map(|reading| (side, reading)));
                if let Some(difference) = difference(there, &goal, &layout) {
                    failures.entry(side).or_insert_with(|| format!("not in force: {difference}"));
                }
            }
        }
        Ok(readings)
    }

    /// Sets the routes again that went with removed interfaces, or with those that are up again.
    fn restore_routes(
        &mut self,
        found: &Found,
        recovered: &[LinkDirection],
    ) -> Result<(), TestbedError> {
        let mut setup: BTreeMap<NodeId, Vec<(LinkDirection, Action)>> = BTreeMap::new();
        for side in recovered {
            let requests = match self.wiring {
                Wiring::Segment => self.radio_setup(*side).into_iter().collect(),
                Wiring::Link => self.link_setup(*side),
            };
            let requests = requests.into_iter().map(|request| (*side, request));
            setup.entry(side.from).or_default().extend(requests);
        }
        // What is refused shows when a route is refused.
        self.execute(setup, &mut BTreeMap::new())?;
        let removed = found.iter().filter(|(_, change)| *change == REMOVED);
        let removed: Vec<LinkDirection> = removed.map(|(side, _)| *side).collect();
        let nodes: BTreeSet<NodeId> =
            removed.iter().chain(recovered).map(|side| side.from).collect();
        for node in nodes {
            let Some(node_namespace) = self.assignments.get_mut(&node) else {
                continue;
            };
            node_namespace.routes.clear();
            self.route_again(node)?;
            let own = removed.iter().filter(|side| side.from == node);
            let names =
                own.filter_map(|side| Some(interface(&self.assignments.get(&side.to)?.assignment)));
            let names: Vec<String> = names.collect();
            if self.wiring == Wiring::Link {
                self.start_routing(node, &names)?;
            }
        }
        Ok(())
    }
}

/// Creates `bat0` of a node again, with its member interfaces, if a change removed it; `true` if so.
pub(super) fn restore_bat0(
    names: &Names,
    own: &mut NodeNamespace,
    changes: &Changes,
    members: impl Iterator<Item = u32>,
) -> Result<bool, TestbedError> {
    let is_suspect = changes.overrun || changes.removed.contains(&batman::INDEX);
    if own.protocol != Protocol::Batman || !is_suspect {
        return Ok(false);
    }
    let NamespaceAssignment { name, number } = &own.assignment;
    let (path, address) = (names.path(name), names.address(*number));
    batman::restore(&mut own.namespace, (&path, name), address, members)
}

/// Effect of `changes` on the interface `index`.
fn touches(changes: &Changes, index: u32) -> bool {
    changes.overrun
        || changes.disciplines.contains(&index)
        || changes.filters.contains(&index)
        || changes.removed.contains(&index)
}

/// Difference of the disciplines found from the desired ones, in words.
fn difference(found: &[Qdisc], goal: &VethQdiscs, layout: &QdiscLayout) -> Option<String> {
    match VethQdiscs::read(found, layout) {
        Ok(found) => found.difference(goal, layout),
        Err(err) => Some(format!("a discipline cannot be decoded: {err}")),
    }
}

/// Change of the root of a bridge port, in words.
fn root_change(found: &[Qdisc]) -> Option<String> {
    let Some(root) = root(found) else {
        return Some("htb 1: is missing".to_owned());
    };
    let own = root.kind == "htb" && root.handle == Handle::new(1, 0);
    let queue = found.iter().any(|qdisc| qdisc.handle == Handle::new(2, 0));
    match (own, queue) {
        (false, _) => Some(format!("{} {} is the root", root.kind, root.handle)),
        (true, false) => Some("the queue of unheard nodes is missing".to_owned()),
        (true, true) => None,
    }
}

fn root(found: &[Qdisc]) -> Option<&Qdisc> {
    found.iter().find(|qdisc| qdisc.parent == Handle::ROOT)
}

/// The request that deletes the root of a bridge port, if there is one.
fn remove_root(found: &[Qdisc], index: u32) -> Option<Request> {
    let root = root(found)?;
    Some(Request {
        verb: Verb::Delete,
        index,
        handle: root.handle,
        parent: Handle::ROOT,
        kind: crate::veth_check::kind(&root.kind)?,
        options: None,
    })
}
