//! History of a mesh: up times of links and flows, numbers of route changes, causes of outages.
//!
//! Accumulated from snapshots by an observer of a run or a replay; the world itself keeps no
//! history.

mod cause;
mod connected;
mod convergence;
mod levels;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

pub use cause::Cause;
pub use convergence::{Convergence, Disturbance};
pub use levels::{LevelHistory, LevelsHistory, PlaceLevels};

use connected::Carrying;

use crate::WorldView;
use crate::flow::FlowId;
use crate::flow::FlowView;
use crate::link::LinkView;
use crate::site::{NodeId, with_names};
use groundwave_model::route::Route;

/// A mesh at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sample {
    /// Tick at whose end it was taken.
    pub tick: u64,
    /// Simulated time, s.
    pub at_s: f64,
    /// Nodes that run.
    pub nodes_up: usize,
    /// Links that carry traffic in both directions, between nodes that run.
    pub links_up: usize,
    /// Flows with a route.
    pub flows_up: usize,
    /// Share of the ordered pairs of running nodes that can reach each other, [0, 1].
    pub reachable_share: f64,
    /// Sum of what flows carry, bit/s: they share the air, and none carries more than it offers.
    pub carried_bps: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct LinkHistory {
    /// Time during which the link existed, s.
    pub known_s: f64,
    /// Time during which it carried traffic, s.
    pub up_s: f64,
    /// Number of changes between up and down.
    pub changes: u32,
    /// Minimum link margin of its weaker direction, dB.
    pub margin_min_db: f64,
    up: Option<bool>,
}

/// Maximum number of recorded route changes of a flow.
pub const ROUTE_CHANGES_MAX: usize = 1000;

/// Route of a flow from a time on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteChange {
    /// Simulated time of the change, s.
    pub at_s: f64,
    /// Nodes after the source; empty without a route.
    pub nodes: Vec<NodeId>,
}

/// A time without a route.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outage {
    /// Simulated time of the beginning, s.
    pub from_s: f64,
    /// Simulated time of the end, s; absent while it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_s: Option<f64>,
    pub cause: Cause,
}

#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct FlowHistory {
    /// Display name.
    pub name: String,
    /// Time during which the flow existed, s.
    pub known_s: f64,
    /// Time during which it had a route, s.
    pub up_s: f64,
    /// Number of route changes, losses and returns of the route included.
    pub route_changes: u32,
    /// Mean over its time of what it carries, bit/s; 0 without a route.
    pub carried_mean_bps: f64,
    /// Times without a route.
    pub outages: Vec<Outage>,
    /// Route changes in the order of time; the first [`ROUTE_CHANGES_MAX`].
    pub ways: Vec<RouteChange>,
    #[serde(skip)]
    has_begun: bool,
    #[serde(skip)]
    route: Option<Route>,
}

/// History so far; it needs every snapshot in order.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Samples of the snapshots that were to be kept.
    pub samples: Vec<Sample>,
    /// Links by the ids of their nodes.
    pub links: BTreeMap<(NodeId, NodeId), LinkHistory>,
    /// Flows by id.
    pub flows: BTreeMap<FlowId, FlowHistory>,
    /// Measured levels.
    pub levels: LevelsHistory,
    /// Failures and their effects.
    pub convergence: Convergence,
    carrying: Carrying,
    /// Names of all nodes so far, those that are gone included.
    names: BTreeMap<NodeId, String>,
    first_ns: Option<u64>,
    last_ns: Option<u64>,
}

impl History {
    /// Name of a node, also of one that is gone; its id where it never was.
    #[must_use]
    pub fn name(&self, id: NodeId) -> String {
        self.names.get(&id).cloned().unwrap_or_else(|| id.to_string())
    }

    /// A text in which ids of nodes, also of those that are gone, are replaced by their names.
    #[must_use]
    pub fn with_names(&self, text: &str) -> String {
        with_names(text, |id| self.names.get(&id).map(String::as_str))
    }

    /// Adds the time since the last snapshot, with the state that this one shows.
    pub fn note(&mut self, now: &WorldView, keep: bool) {
        let passed_s = now.now_ns.saturating_sub(self.last_ns.unwrap_or(now.now_ns)) as f64 / 1e9;
        self.last_ns = Some(now.now_ns);
        self.first_ns.get_or_insert(now.now_ns);
        if !self.carrying.is_of(&now.nodes) {
            for node in now.nodes.iter() {
                self.names.entry(node.id).or_insert_with(|| node.name.clone());
            }
        }
        self.carrying.update(now);
        self.note_links(now, passed_s);
        for flow in now.flows.iter() {
            let past = self.flows.entry(flow.id).or_default();
            note_flow(past, flow, (now, &self.names), passed_s);
        }
        self.levels.note(now);
        self.convergence.note(now);
        if keep {
            self.samples.push(Sample::with(&self.carrying, now));
        }
    }

    fn note_links(&mut self, now: &WorldView, passed_s: f64) {
        // Both are in the order of ends: they are walked side by side, without a search for each.
        let mut histories = self.links.iter_mut().peekable();
        let mut new = Vec::new();
        for (link, up) in now.links.iter().zip(&self.carrying.up) {
            let ends = (link.a, link.b);
            while histories.next_if(|(other, _)| **other < ends).is_some() {}
            if let Some((_, past)) = histories.next_if(|(other, _)| **other == ends) {
                note_link(past, link, *up, passed_s);
            } else {
                let mut past =
                    LinkHistory { margin_min_db: f64::INFINITY, ..LinkHistory::default() };
                note_link(&mut past, link, *up, passed_s);
                new.push((ends, past));
            }
        }
        self.links.extend(new);
    }

    /// Simulated time from the first to the last snapshot, s.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        let span_ns = self.last_ns.zip(self.first_ns).map_or(0, |(to, from)| to - from);
        span_ns as f64 / 1e9
    }
}

fn note_link(past: &mut LinkHistory, link: &LinkView, up: bool, passed_s: f64) {
    let budget = &link.budget;
    let margin = budget.forward.link_margin_db.min(budget.backward.link_margin_db);
    past.known_s += passed_s;
    past.up_s += if up { passed_s } else { 0.0 };
    past.changes += u32::from(past.up.is_some_and(|before| before != up));
    past.up = Some(up);
    past.margin_min_db = past.margin_min_db.min(margin);
}

fn note_flow(
    past: &mut FlowHistory,
    flow: &FlowView,
    (now, names): (&WorldView, &BTreeMap<NodeId, String>),
    passed_s: f64,
) {
    let at_s = now.now_ns as f64 / 1e9;
    if past.name != flow.name {
        past.name.clone_from(&flow.name);
    }
    let way = |route: &Option<Route>| -> Option<Vec<NodeId>> {
        let hops = &route.as_ref()?.hops;
        Some(hops.iter().map(|hop| hop.to).collect())
    };
    let fresh = !std::mem::replace(&mut past.has_begun, true);
    let new_way = way(&flow.route);
    let changed = way(&past.route) != new_way;
    past.route_changes += u32::from(!fresh && changed);
    if (fresh || changed) && past.ways.len() < ROUTE_CHANGES_MAX {
        let nodes = new_way.unwrap_or_default();
        past.ways.push(RouteChange { at_s, nodes });
    }
    if flow.route.is_some() {
        let carried_bps = flow.share.carried_bps;
        let all_s = past.known_s + passed_s;
        if all_s > 0.0 {
            past.carried_mean_bps =
                (past.carried_mean_bps * past.known_s + carried_bps * passed_s) / all_s;
        }
        past.up_s += passed_s;
        if let Some(outage) = past.outages.last_mut() {
            outage.to_s.get_or_insert(at_s);
        }
    } else {
        let all_s = past.known_s + passed_s;
        if all_s > 0.0 {
            past.carried_mean_bps *= past.known_s / all_s;
        }
        if past.route.is_some() || fresh {
            past.outages.push(Outage {
                from_s: at_s,
                to_s: None,
                cause: cause::of(flow, past.route.as_ref(), now, names),
            });
        }
    }
    past.known_s += passed_s;
    past.route.clone_from(&flow.route);
}

impl Sample {
    /// The mesh of this snapshot.
    #[must_use]
    pub fn of(now: &WorldView) -> Self {
        Self::with(&Carrying::of(now), now)
    }

    fn with(carrying: &Carrying, now: &WorldView) -> Self {
        Self {
            tick: now.tick,
            at_s: now.now_ns as f64 / 1e9,
            nodes_up: carrying.nodes_up,
            links_up: carrying.links_up,
            flows_up: now.flows.iter().filter(|flow| flow.route.is_some()).count(),
            reachable_share: carrying.reachable_share,
            carried_bps: now.flows.iter().fold(0.0, |sum, flow| sum + flow.share.carried_bps),
        }
    }
}
