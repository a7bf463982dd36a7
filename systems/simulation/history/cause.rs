//! Causes of outages of flows.

use std::collections::BTreeMap;

use groundwave_model::route::Route;
use serde::Serialize;

use crate::WorldView;
use crate::flow::FlowView;
use crate::link::LinkView;
use crate::site::NodeId;

/// First node or link of the former route of a flow that is gone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// A node failed or was removed.
    NodeDown {
        /// Display name.
        node: String,
    },
    /// A link was cut by command.
    LinkCut {
        /// Node at one end.
        from: String,
        /// Node at the other end.
        to: String,
    },
    /// A link no longer closes: its nodes moved, or rain or an obstacle attenuates it.
    LinkFaded {
        /// Node at one end.
        from: String,
        /// Node at the other end.
        to: String,
        /// Link margin of its weaker direction now, dB; absent when the ends are out of range.
        #[serde(skip_serializing_if = "Option::is_none")]
        margin_db: Option<f64>,
    },
    /// It never had a route: source and destination are not connected.
    NoWay,
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NodeDown { node } => write!(f, "{node} down"),
            Self::LinkCut { from, to } => write!(f, "{from} – {to} cut"),
            Self::LinkFaded { from, to, margin_db: Some(margin_db) } => {
                write!(f, "{from} – {to} faded to {margin_db:.1} dB of margin")
            }
            Self::LinkFaded { from, to, .. } => write!(f, "{from} – {to} out of range"),
            Self::NoWay => f.write_str("no way from end to end"),
        }
    }
}

/// Cause that ended the former route of a flow; `names` are those of all nodes, also of those that are gone.
pub(super) fn of(
    flow: &FlowView,
    before: Option<&Route>,
    now: &WorldView,
    names: &BTreeMap<NodeId, String>,
) -> Cause {
    let called = |id: NodeId| {
        let name = now.node(id).map(|node| &node.name).or_else(|| names.get(&id));
        name.map_or_else(|| id.to_string(), String::clone)
    };
    let runs = |id| now.node(id).is_some_and(|node| node.operating);
    for end in [flow.source, flow.target] {
        if !runs(end) {
            return Cause::NodeDown { node: called(end) };
        }
    }
    for hop in before.map_or(&[][..], |route| &route.hops) {
        if !runs(hop.to) {
            return Cause::NodeDown { node: called(hop.to) };
        }
        let (from, to) = (called(hop.from), called(hop.to));
        match link(now, hop.from, hop.to) {
            Some(link) if link.severed => return Cause::LinkCut { from, to },
            Some(link) if link.budget.etx().is_some() => {}
            faded => {
                let margin_db = faded.map(|link| {
                    let budget = &link.budget;
                    budget.forward.link_margin_db.min(budget.backward.link_margin_db)
                });
                return Cause::LinkFaded { from, to, margin_db };
            }
        }
    }
    Cause::NoWay
}

fn link(now: &WorldView, one: NodeId, other: NodeId) -> Option<&LinkView> {
    let ends = (one.min(other), one.max(other));
    now.links.binary_search_by_key(&ends, |link| (link.a, link.b)).ok().map(|at| &now.links[at])
}
