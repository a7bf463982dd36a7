//! Effects of failures on routes, and times until they were restored.
//!
//! The world routes anew in the tick of a failure: a flow is down for as long as there is no other
//! route. In a testbed protocols find the routes, with a delay: a route that they still have over a
//! hop that is gone is stale, and a mesh has converged when no stale route is left.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::WorldView;
use crate::flow::FlowId;
use crate::link::LinkView;
use crate::site::NodeId;
use crate::site::NodeView;
use crate::testbed::Protocol;

/// Disturbances kept; later ones are counted.
const DISTURBANCES_MAX: usize = 10_000;

/// Nodes and links that failed at one time, and the effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disturbance {
    /// Time of the failure, simulated s.
    pub at_s: f64,
    /// Failed nodes and links: `north down`, `north – south cut`.
    pub what: Vec<String>,
    /// Flows that were rerouted at once.
    pub rerouted: usize,
    /// Flows that were left without a route.
    pub lost: usize,
    /// Time until all lost flows had a route again, s; absent if that did not happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_after_s: Option<f64>,
    /// Maximum number of stale routes at one time.
    pub stale_routes: usize,
    /// Time until no stale route was left, s; absent if that did not happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converged_after_s: Option<f64>,
    #[serde(skip)]
    missing: BTreeSet<FlowId>,
}

/// All disturbances so far.
#[derive(Debug, Clone, Default)]
pub struct Convergence {
    /// In the order of time.
    pub disturbances: Vec<Disturbance>,
    /// Number of disturbances beyond those kept.
    pub more: usize,
    before: Option<Before>,
}

#[derive(Debug, Clone)]
struct Before {
    nodes: Arc<Vec<NodeView>>,
    links: Arc<Vec<LinkView>>,
    flows: Arc<Vec<crate::flow::FlowView>>,
}

impl Convergence {
    /// Adds the time since the last snapshot.
    pub(super) fn note(&mut self, now: &WorldView) {
        let at_s = now.now_ns as f64 / 1e9;
        let before = self.before.take();
        if let Some(before) = &before {
            let what = failures(before, now);
            if !what.is_empty() {
                self.open(at_s, what, before, now);
            }
        }
        let open = |one: &&mut Disturbance| {
            one.restored_after_s.is_none() || one.converged_after_s.is_none()
        };
        let mut stale = None;
        for one in self.disturbances.iter_mut().filter(open) {
            let passed_s = at_s - one.at_s;
            if one.restored_after_s.is_none() {
                let without = |id: &FlowId| {
                    let position = now.flows.binary_search_by_key(id, |flow| flow.id);
                    // A flow that was ended misses nothing.
                    position.is_ok_and(|at| now.flows[at].route.is_none())
                };
                one.missing.retain(without);
                if one.missing.is_empty() {
                    one.restored_after_s = Some(passed_s);
                }
            }
            if one.converged_after_s.is_none() {
                let stale = *stale.get_or_insert_with(|| stale_routes(now));
                one.stale_routes = one.stale_routes.max(stale);
                if stale == 0 {
                    one.converged_after_s = Some(passed_s);
                }
            }
        }
        self.before = Some(Before {
            nodes: Arc::clone(&now.nodes),
            links: Arc::clone(&now.links),
            flows: Arc::clone(&now.flows),
        });
    }

    fn open(&mut self, at_s: f64, what: Vec<String>, before: &Before, now: &WorldView) {
        if self.disturbances.len() >= DISTURBANCES_MAX {
            self.more += 1;
            return;
        }
        let (mut rerouted, mut missing) = (0, BTreeSet::new());
        for flow in before.flows.iter().filter(|flow| flow.route.is_some()) {
            let Ok(at) = now.flows.binary_search_by_key(&flow.id, |flow| flow.id) else {
                continue;
            };
            match &now.flows[at].route {
                None => drop(missing.insert(flow.id)),
                Some(route) => {
                    let way = |route: &groundwave_model::route::Route| -> Vec<NodeId> {
                        route.hops.iter().map(|hop| hop.to).collect()
                    };
                    let same = flow.route.as_ref().is_some_and(|old| way(old) == way(route));
                    rerouted += usize::from(!same);
                }
            }
        }
        self.disturbances.push(Disturbance {
            at_s,
            what,
            rerouted,
            lost: missing.len(),
            restored_after_s: None,
            stale_routes: 0,
            converged_after_s: None,
            missing,
        });
    }
}

/// Nodes that stopped and links that were cut since `before`, as text.
fn failures(before: &Before, now: &WorldView) -> Vec<String> {
    let mut what = Vec::new();
    if !Arc::ptr_eq(&before.nodes, &now.nodes) {
        for node in before.nodes.iter().filter(|node| node.operating) {
            if !now.node(node.id).is_some_and(|present| present.operating) {
                what.push(format!("{} down", node.name));
            }
        }
    }
    if !Arc::ptr_eq(&before.links, &now.links) {
        let name =
            |id: NodeId| now.node(id).map_or_else(|| id.to_string(), |node| node.name.clone());
        for link in now.links.iter().filter(|link| link.severed) {
            let ends = (link.a, link.b);
            let position = before.links.binary_search_by_key(&ends, |link| (link.a, link.b));
            if position.is_ok_and(|at| !before.links[at].severed) {
                what.push(format!("{} – {} cut", name(link.a), name(link.b)));
            }
        }
    }
    what
}

/// Routes of protocols over a hop that carries nothing.
fn stale_routes(now: &WorldView) -> usize {
    let carried = |a: NodeId, b: NodeId| {
        let ends = (a.min(b), a.max(b));
        let position = now.links.binary_search_by_key(&ends, |link| (link.a, link.b));
        position.is_ok_and(|at| now.carries(&now.links[at]))
    };
    let runs = |id: NodeId| now.node(id).is_some_and(|node| node.operating);
    let finding = now
        .testbed
        .assignments
        .iter()
        .filter(|assignment| assignment.protocol != Protocol::Static && runs(assignment.node));
    finding
        .map(|assignment| {
            let stale = |next_hop: NodeId| !carried(assignment.node, next_hop);
            assignment.heard.iter().filter(|observed_route| stale(observed_route.next_hop)).count()
        })
        .sum()
}
