//! Outages as nodes fall silent and return.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index};
use groundwave_protocol::{Mac, NodeState};
use groundwave_simulation::site::NodeId;

use super::components::{Outage, OutageEnd, OutageId, OutageKind, OutageWatch};
use super::groups::{Links, component, groups};
use super::notice::{MemberNames, Notice};
use super::silence::Silence;
use crate::fleet::{
    EventBuffer, GatewayClock, LastHeartbeat, LivenessRules, LivenessState, MeshEdges, NodeRecord,
    OFFLINE_PERIODS,
};
use crate::timed_id::timed_id;

/// Time for which a node that is offline waits for those that it is linked to, periods: heartbeats of one
/// group stop within a period of each other.
const SETTLING_PERIODS: u64 = 2;
/// Maximum number of outages; the oldest of those that are over are dropped.
const OUTAGES_MAX: usize = 1_000;

type Node = (
    &'static NodeId,
    &'static NodeRecord,
    &'static LivenessState,
    &'static LastHeartbeat,
    &'static MeshEdges,
);

/// Nodes of the fleet with their links.
#[derive(SystemParam)]
pub(super) struct Nodes<'w, 's> {
    nodes: Query<'w, 's, Node>,
    names: MemberNames<'w, 's>,
}

impl Nodes<'_, '_> {
    /// Measured links, by both ends.
    fn links(&self) -> Links {
        let mut links = Links::new();
        for (.., edges) in &self.nodes {
            for edge in edges.0.iter().filter(|edge| edge.at_a.is_some() || edge.at_b.is_some()) {
                links.entry(edge.a).or_default().insert(edge.b);
                links.entry(edge.b).or_default().insert(edge.a);
            }
        }
        links
    }

    /// Nodes that are reached without one that is offline.
    fn entries(&self, watch: &OutageWatch, links: &Links) -> BTreeSet<NodeId> {
        let is_reachable = |state| matches!(state, NodeState::Online | NodeState::Stale);
        let reachable =
            self.nodes.iter().filter(|(_, _, liveness, ..)| is_reachable(liveness.0.state));
        let reachable: BTreeSet<NodeId> = reachable.map(|(id, ..)| *id).collect();
        let is_linked = |id: &NodeId| {
            links.get(id).into_iter().flatten().any(|other| reachable.contains(other))
        };
        let entries = self.nodes.iter().filter(|(id, record, _, last, _)| {
            is_linked(id) || is_direct(watch, record.0.mac, last)
        });
        entries.map(|(id, ..)| *id).collect()
    }

    fn states(&self) -> BTreeMap<NodeId, NodeState> {
        self.nodes.iter().map(|(id, _, liveness, ..)| (*id, liveness.0.state)).collect()
    }
}

/// `true` for a node that the gateway reaches without another one, by its last heartbeat.
fn is_direct(watch: &OutageWatch, mac: Option<Mac>, last: &LastHeartbeat) -> bool {
    let is_neighbor = |mac: &Mac| watch.neighbors.contains(mac);
    let Some(received) = &last.0 else {
        return mac.as_ref().is_some_and(is_neighbor);
    };
    let heartbeat = &received.heartbeat;
    let interfaces = heartbeat.interfaces.iter();
    let mut interface_macs = interfaces.filter_map(|one| one.mac.as_ref()?.parse().ok());
    mac.as_ref().is_some_and(is_neighbor)
        || interface_macs.any(|mac| is_neighbor(&mac))
        || heartbeat.mesh.links.iter().any(|link| watch.macs.contains(&link.neigh_address))
        || heartbeat.has_uplink()
}

/// Clocks of a tick.
#[derive(SystemParam)]
pub(super) struct Clocks<'w> {
    gateway: Res<'w, GatewayClock>,
    clock: Res<'w, Clock>,
    rules: Res<'w, LivenessRules>,
}

impl Clocks<'_> {
    /// `true` once so many periods passed since `at_ns` of the gateway clock.
    fn has_passed(&self, periods: u64, at_ns: u64) -> bool {
        let until_ns = at_ns.saturating_add(periods.saturating_mul(self.rules.period_ns));
        self.gateway.now_ns > until_ns
    }
}

/// Begins, extends and ends outages.
pub(super) fn track_outages(
    clocks: Clocks,
    watch: Res<OutageWatch>,
    nodes: Nodes,
    mut silence: ResMut<Silence>,
    mut outages: Query<(&OutageId, &mut Outage)>,
    mut events: ResMut<EventBuffer>,
    mut commands: Commands,
) {
    let silence = silence.bypass_change_detection();
    if !watch.is_active || !(silence.is_changed || silence.waits) {
        return;
    }
    // Automation takes the events of a start for old ones.
    if clocks.gateway.now_ns <= clocks.rules.begun_ns {
        return;
    }
    (silence.is_changed, silence.waits) = (false, false);
    let (states, names) = (nodes.states(), &nodes.names);
    let mut open: BTreeMap<OutageId, Mut<Outage>> = BTreeMap::new();
    let mut all: Vec<_> = outages.iter_mut().collect();
    all.sort_unstable_by_key(|(id, _)| **id);
    for (id, mut outage) in all {
        if !outage.is_open() {
            continue;
        }
        let next = returned(&outage, &states, &clocks);
        silence.waits |= next.is_open() && next.returning_ns.is_some();
        outage.set_if_neq(next);
        match outage.is_open() {
            true => _ = open.insert(*id, outage),
            false => events.outage(clocks.clock.wall_ns, Notice::of(*id, &outage, names).data()),
        }
    }
    let of_outages: BTreeSet<NodeId> =
        open.values().flat_map(|outage| outage.silent.iter().copied()).collect();
    let candidates: BTreeSet<NodeId> = silence
        .nodes
        .iter()
        .filter(|(node, (state, _))| *state == NodeState::Offline && !of_outages.contains(*node))
        .map(|(node, _)| *node)
        .collect();
    if candidates.is_empty() {
        return;
    }
    let links = nodes.links();
    let due = due(&candidates, silence, &links, &clocks);
    silence.waits |= due.len() < candidates.len();
    if due.is_empty() {
        return;
    }
    let offline = silence.nodes.iter().filter(|(_, (state, _))| *state == NodeState::Offline);
    let offline: BTreeMap<NodeId, u64> =
        offline.map(|(node, (_, since_ns))| (*node, *since_ns)).collect();
    let entries = nodes.entries(&watch, &links);
    for group in groups(&offline, &links, &entries) {
        let members: BTreeSet<NodeId> = group.nodes.intersection(&due).copied().collect();
        if members.is_empty() {
            continue;
        }
        // Nodes that fall silent later join the outage of their relay.
        let earlier = open.values_mut().find(|outage| match group.relay {
            Some(relay) => outage.silent.contains(&relay),
            None => !outage.silent.is_disjoint(&group.nodes),
        });
        if let Some(outage) = earlier {
            outage.back.retain(|node| !members.contains(node));
            outage.silent.extend(members);
            continue;
        }
        let head = group.relay.or_else(|| members.first().copied()).expect("a group has nodes");
        let since_ns = names.silent_since_ns(head).unwrap_or(clocks.clock.wall_ns);
        let outage = Outage {
            relay: group.relay,
            silent: members,
            back: BTreeSet::new(),
            since_ns,
            opened_ns: clocks.clock.wall_ns,
            returning_ns: None,
            end: None,
        };
        let opened_ms = clocks.clock.wall_ns / 1_000_000;
        let id = OutageId::new(timed_id(opened_ms, head.uuid(), b"outage"));
        events.outage(clocks.clock.wall_ns, Notice::of(id, &outage, names).data());
        commands.spawn((id, outage));
    }
}

/// An outage with the nodes that returned or left, and its end where it is over.
fn returned(outage: &Outage, states: &BTreeMap<NodeId, NodeState>, clocks: &Clocks<'_>) -> Outage {
    let mut next = outage.clone();
    let is_online = |node: &NodeId| states.get(node) == Some(&NodeState::Online);
    let members: BTreeSet<NodeId> =
        next.silent.union(&next.back).filter(|node| states.contains_key(*node)).copied().collect();
    (next.back, next.silent) = members.into_iter().partition(is_online);
    let is_returning = match outage.relay {
        Some(relay) if states.contains_key(&relay) => next.back.contains(&relay),
        // The relay was removed: its outage is over.
        Some(_) => true,
        None => !next.back.is_empty(),
    };
    next.returning_ns = match is_returning {
        true => Some(outage.returning_ns.unwrap_or(clocks.gateway.now_ns)),
        false => None,
    };
    let is_late = next.returning_ns.is_some_and(|at_ns| clocks.has_passed(OFFLINE_PERIODS, at_ns));
    if next.silent.is_empty() || is_late {
        let silent = next.silent.clone();
        next.end = Some(OutageEnd { at_ns: clocks.clock.wall_ns, silent });
    }
    next
}

/// Nodes of `candidates` whose group is complete: no node that they are linked to is about to be offline,
/// or they waited long enough.
fn due(
    candidates: &BTreeSet<NodeId>,
    silence: &Silence,
    links: &Links,
    clocks: &Clocks<'_>,
) -> BTreeSet<NodeId> {
    let silent: BTreeSet<NodeId> = silence.nodes.keys().copied().collect();
    let mut due = BTreeSet::new();
    let mut rest = candidates.clone();
    while let Some(first) = rest.first().copied() {
        let component = component(first, &silent, links);
        let group: BTreeSet<NodeId> = rest.intersection(&component).copied().collect();
        rest.retain(|node| !component.contains(node));
        let is_complete = component.iter().all(|node| silence.nodes[node].0 == NodeState::Offline);
        let since_ns = group.iter().map(|node| silence.nodes[node].1).min();
        let has_waited = |at_ns| clocks.has_passed(OFFLINE_PERIODS + SETTLING_PERIODS, at_ns);
        if is_complete || since_ns.is_some_and(has_waited) {
            due.extend(group);
        }
    }
    due
}

/// Drops the oldest outages that are over beyond the number kept.
pub(super) fn trim_outages(
    index: Res<Index<OutageKind>>,
    outages: Query<&Outage>,
    mut commands: Commands,
) {
    let surplus = index.len().saturating_sub(OUTAGES_MAX);
    if surplus == 0 {
        return;
    }
    let over = index
        .iter()
        .filter(|(_, entity)| outages.get(*entity).is_ok_and(|outage| !outage.is_open()));
    over.take(surplus).for_each(|(_, entity)| commands.entity(entity).despawn());
}
