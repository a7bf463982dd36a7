//! Texts of outages, and the attributes of their events.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_simulation::site::{NodeId, NodeKind};
use serde_json::{Value, json};

use super::components::{Outage, OutageId};
use crate::fleet::{LastHeartbeat, LivenessState, NodeRecord};

/// Names of a text at most; the others are counted.
const NAMES_MAX: usize = 20;

/// Names and silence of nodes.
#[derive(SystemParam)]
pub(crate) struct MemberNames<'w, 's> {
    index: Res<'w, Index<NodeKind>>,
    nodes: Query<'w, 's, (&'static NodeRecord, &'static LivenessState, &'static LastHeartbeat)>,
}

impl MemberNames<'_, '_> {
    fn get(&self, node: NodeId) -> Option<(&NodeRecord, &LivenessState, &LastHeartbeat)> {
        self.nodes.get(self.index.get(node).ok()?).ok()
    }

    /// Name of a node, or its id once it left the fleet.
    pub fn name(&self, node: NodeId) -> String {
        self.get(node).map_or_else(|| node.to_string(), |(record, ..)| record.0.name.clone())
    }

    /// Time of the last heartbeat, ns since the Unix epoch.
    pub(super) fn silent_since_ns(&self, node: NodeId) -> Option<u64> {
        let (.., last) = self.get(node)?;
        last.0.as_ref().map(|received| received.wall_ns)
    }

    /// Cause of the present state of a node.
    fn reason(&self, node: NodeId) -> String {
        let change = self.get(node).and_then(|(_, liveness, _)| liveness.0.changes.back());
        change.map(|change| change.reason.clone()).unwrap_or_default()
    }

    fn listed(&self, nodes: impl Iterator<Item = NodeId>) -> String {
        let names: Vec<String> = nodes.map(|node| self.name(node)).collect();
        let first = names[..names.len().min(NAMES_MAX)].join(", ");
        match names.len() - names.len().min(NAMES_MAX) {
            0 => first,
            others => format!("{first} and {others} more"),
        }
    }
}

/// A time span as text, of its two largest units: `1 h 5 min`.
pub(crate) fn duration(span_s: u64) -> String {
    let (days, hours, minutes, seconds) =
        (span_s / 86_400, span_s / 3_600 % 24, span_s / 60 % 60, span_s % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {seconds} s"),
        (0, ..) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

fn nodes(count: usize) -> String {
    match count {
        1 => "1 node".to_owned(),
        count => format!("{count} nodes"),
    }
}

/// Nodes behind the relay of an outage, as values of triggers: `{node_id, name, is_silent}` each.
pub(crate) fn behind(outage: &Outage, names: &MemberNames<'_, '_>) -> Vec<Value> {
    let values = outage.behind().map(|node| {
        let is_silent = outage.silent.contains(&node);
        json!({ "node_id": node, "name": names.name(node), "is_silent": is_silent })
    });
    values.collect()
}

/// Notice of the begin or the end of an outage.
pub(super) struct Notice {
    id: OutageId,
    relay: Option<NodeId>,
    is_over: bool,
    summary: String,
}

impl Notice {
    pub fn of(id: OutageId, outage: &Outage, names: &MemberNames<'_, '_>) -> Self {
        let count = outage.behind().count();
        let list = names.listed(outage.behind());
        let summary = match (&outage.end, outage.relay) {
            (None, Some(relay)) if count == 0 => {
                format!("node {} is silent: {}", names.name(relay), names.reason(relay))
            }
            (None, Some(relay)) => {
                let name = names.name(relay);
                format!("relay {name} is silent: {} behind it: {list}", nodes(count))
            }
            (None, None) => format!("{} are silent together: {list}", nodes(count)),
            (Some(end), relay) => {
                let lasted = duration(end.at_ns.saturating_sub(outage.since_ns) / 1_000_000_000);
                let subject = match relay {
                    Some(relay) if count == 0 => format!("node {}", names.name(relay)),
                    Some(relay) => format!("relay {}", names.name(relay)),
                    None => nodes(count),
                };
                let behind = outage.back.iter().filter(|node| Some(**node) != relay).count();
                let others = match (relay, count) {
                    (Some(_), 0) => String::new(),
                    (Some(_), _) => format!(": {behind} of {} behind it", nodes(count)),
                    (None, _) => format!(": {behind} of {count}"),
                };
                let silent = match end.silent.len() {
                    0 => String::new(),
                    _ => format!("; silent still: {}", names.listed(end.silent.iter().copied())),
                };
                let verb = if relay.is_none() { "are" } else { "is" };
                format!("{subject} {verb} back after {lasted}{others}{silent}")
            }
        };
        Self { id, relay: outage.relay, is_over: outage.end.is_some(), summary }
    }

    /// Attributes of the event.
    pub fn data(self) -> BTreeMap<String, String> {
        let state = if self.is_over { "over" } else { "open" };
        let data = [
            ("outage_id", Some(self.id.to_string())),
            ("node_id", self.relay.map(|relay| relay.to_string())),
            ("state", Some(state.to_owned())),
            ("summary", Some(self.summary)),
        ];
        let data = data.into_iter();
        data.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}
