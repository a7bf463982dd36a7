//! Flows: who sends to whom, and which way it goes now.

mod commands;
mod state;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Id, Index, Kind, Phase, Section};

pub use commands::{StartFlow, StopFlow};

use crate::link::{Limits, LinkBudget, Links, Severed};
use crate::route::{Graph, GraphBuilder, Route, find};
use crate::site::{NodeId, NodeKind, Operating};
use crate::snapshot::FlowView;

/// The kind of thing that carries traffic between two nodes.
pub struct FlowKind;
impl Kind for FlowKind {
    const NAME: &'static str = "flow";
}
/// Stable id of a flow.
pub type FlowId = Id<FlowKind>;

/// A flow as asked for. Written by `flow.start`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(FlowRoute)]
pub struct Flow {
    /// What people call it.
    pub name: String,
    /// Where it begins.
    pub source: NodeId,
    /// Where it ends.
    pub target: NodeId,
    /// Rate it needs, bit/s.
    pub rate_bps: f64,
}

/// Which way a flow goes. Derived: written by `route_flows` only.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct FlowRoute(pub Option<Route>);

/// Flows from a node; they go when it goes.
#[derive(Component, Debug)]
#[relationship_target(relationship = FlowFrom, linked_spawn)]
pub struct FlowsOut(Vec<Entity>);

/// The node a flow begins at.
#[derive(Component, Debug)]
#[relationship(relationship_target = FlowsOut)]
pub struct FlowFrom(pub Entity);

/// Flows to a node; they go when it goes.
#[derive(Component, Debug)]
#[relationship_target(relationship = FlowTo, linked_spawn)]
pub struct FlowsIn(Vec<Entity>);

/// The node a flow ends at.
#[derive(Component, Debug)]
#[relationship(relationship_target = FlowsIn)]
pub struct FlowTo(pub Entity);

/// Flows and their routes.
pub fn flow(engine: &mut Builder) {
    engine
        .kind::<FlowKind>()
        .section::<Vec<FlowView>>()
        .state::<state::Flows>()
        .command::<StartFlow>()
        .command::<StopFlow>()
        .systems(Phase::Route, route_flows)
        .systems(Phase::Publish, publish_flows);
}

type MeshChanged = Or<(Changed<LinkBudget>, Changed<Operating>)>;

/// Routes every flow anew when anything a route depends on changed.
fn route_flows(
    changed: Query<(), MeshChanged>,
    begun: Query<(), Added<Flow>>,
    links: Res<Links>,
    severed: Res<Severed>,
    limits: Res<Limits>,
    nodes: Res<Index<NodeKind>>,
    budgets: Query<&LinkBudget>,
    operating: Query<&Operating>,
    mut flows: Query<(&Flow, &mut FlowRoute)>,
) {
    let mesh = links.is_changed() || severed.is_changed() || limits.is_changed();
    let stale = mesh || nodes.is_changed() || !changed.is_empty() || !begun.is_empty();
    if flows.is_empty() || !stale {
        return;
    }
    let runs = |entity| operating.get(entity).is_ok_and(|operating| operating.0);
    let running = nodes
        .iter()
        .filter(|(_, entity)| runs(*entity))
        .map(|(id, _)| id);
    let mut graph = GraphBuilder::new(running.collect(), limits.packet_bytes);
    for (ends, entity) in links.iter() {
        if !severed.0.contains(&ends) {
            graph.link(
                ends,
                budgets.get(entity).expect("a link requires its budget"),
            );
        }
    }
    let graph: Graph = graph.build();
    for (flow, mut route) in &mut flows {
        let found = find(
            &graph,
            flow.source,
            flow.target,
            limits.metric,
            Some(flow.rate_bps),
        );
        route.set_if_neq(FlowRoute(found));
    }
}

/// Redraws the flow section when any flow or route changed, came or went.
fn publish_flows(
    index: Res<Index<FlowKind>>,
    changed: Query<(), Or<(Changed<Flow>, Changed<FlowRoute>)>>,
    flows: Query<(&Flow, &FlowRoute)>,
    mut section: ResMut<Section<Vec<FlowView>>>,
) {
    if !index.is_changed() && changed.is_empty() {
        return;
    }
    let view = |(id, entity)| {
        let (flow, route) = flows
            .get(entity)
            .expect("every indexed flow has its components");
        FlowView {
            id,
            name: flow.name.clone(),
            source: flow.source,
            target: flow.target,
            rate_bps: flow.rate_bps,
            route: route.0.clone(),
        }
    };
    section.redraw(index.iter().map(view).collect());
}
