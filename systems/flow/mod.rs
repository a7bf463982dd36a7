//! Flows: who sends to whom, and which way it goes now.

mod commands;
mod state;
mod view;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Id, Index, Kind, Phase};

pub use commands::{StartFlow, StopFlow};
pub use view::FlowView;

use crate::link::{Limits, Links, Predicted, Severed};
use crate::route::{Graph, GraphBuilder, Route, find};
use crate::site::{NodeId, NodeKind, OperState};

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
        .systems(Phase::Publish, view::publish_flows);
}

type MeshChanged = Or<(Changed<Predicted>, Changed<OperState>)>;

/// Routes every flow anew when anything a route depends on changed.
fn route_flows(
    changed: Query<(), MeshChanged>,
    begun: Query<(), Added<Flow>>,
    links: Res<Links>,
    severed: Res<Severed>,
    limits: Res<Limits>,
    nodes: Res<Index<NodeKind>>,
    budgets: Query<&Predicted>,
    operating: Query<&OperState>,
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
    for (key, entity) in links.iter() {
        if !severed.0.contains(&key) {
            graph.link(key, &budgets.get(entity).expect("a link requires it").0);
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
