//! Flows: traffic from one node to another, and its present route.

mod air;
mod commands;
mod graph;
mod queue;
mod state;
#[cfg(test)]
mod tests;
mod view;

use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Id, Kind, Phase};
use serde::Serialize;

pub use commands::{StartFlow, StopFlow};
pub use graph::MeshGraph;
pub use view::FlowView;

use crate::link::Limits;
use crate::site::NodeId;
use groundwave_model::route::{Route, find};

/// Flows routed by one task: a search of a large mesh takes far longer than starting a task.
const FLOWS_PER_TASK: usize = 8;

/// The kind of thing that carries traffic between two nodes.
pub struct FlowKind;
impl Kind for FlowKind {
    const NAME: &'static str = "flow";
}
/// Stable id of a flow.
pub type FlowId = Id<FlowKind>;

/// A flow as requested. Written by `flow.start`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(FlowRoute, FlowShare)]
pub struct Flow {
    /// Display name.
    pub name: String,
    /// Source node.
    pub source: NodeId,
    /// Destination node.
    pub target: NodeId,
    /// Required rate, bit/s.
    pub rate_bps: f64,
}

/// Route of a flow; `None` while there is none. Derived: written by `route_flows` only.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct FlowRoute(pub Option<Route>);

/// Traffic that a flow carries beside all others. Derived: written by `share_air` only.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowShare {
    /// Rate that arrives, bit/s: that of the flow or less; 0 without a route.
    pub carried_bps: f64,
    /// Part of the route that carries no more; absent where all arrives, and without a route.
    pub bottleneck: Option<Bottleneck>,
    /// Estimate of the mean time that a packet waits in the queues of its route, s; absent without a route, and
    /// where the air is in use all the time: the queue of a flow that is not met then grows by what is lost.
    pub queue_wait_s: Option<f64>,
}

/// Part of a route where the air is in use all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bottleneck {
    /// Node that sends, of the hop that needs most of that time.
    pub from: NodeId,
    /// Node that receives.
    pub to: NodeId,
    /// Links that take turns there, with this one.
    pub links: usize,
    /// Flows over them, with this one.
    pub flows: usize,
}

/// Flows from a node; they are despawned with it.
#[derive(Component, Debug)]
#[relationship_target(relationship = FlowFrom, linked_spawn)]
pub struct FlowsOut(Vec<Entity>);

/// The node a flow begins at.
#[derive(Component, Debug)]
#[relationship(relationship_target = FlowsOut)]
pub struct FlowFrom(pub Entity);

/// Flows to a node; they are despawned with it.
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
        .resource(MeshGraph::default())
        .section::<Vec<FlowView>>()
        .state::<state::Flows>()
        .command::<StartFlow>()
        .command::<StopFlow>()
        .systems(Phase::Route, (graph::update_graph, route_flows, air::share_air).chain())
        .systems(Phase::Publish, view::publish_flows);
}

/// Routes new flows, and those whose part of the mesh changed.
fn route_flows(
    mesh: Res<MeshGraph>,
    limits: Res<Limits>,
    added: Query<(), Added<Flow>>,
    mut flows: Query<(Ref<Flow>, &mut FlowRoute)>,
) {
    if !mesh.is_stale() && added.is_empty() {
        return;
    }
    flows
        .par_iter_mut()
        .batching_strategy(BatchingStrategy::new().max_batch_size(FLOWS_PER_TASK))
        .for_each(|(flow, mut route)| {
            if flow.is_added() || mesh.is_stale_at(flow.source) {
                let rate_bps = Some(flow.rate_bps);
                let graph = mesh.graph();
                let path = find(graph, flow.source, flow.target, limits.metric, rate_bps);
                route.set_if_neq(FlowRoute(path));
            }
        });
}
