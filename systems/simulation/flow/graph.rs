//! The usable links as a graph, kept up to date from what changed.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_model::route::Graph;

use super::Flow;
use crate::link::{
    AdminDown, Endpoints, Limits, LinkKey, Links, OutOfRange, Predicted, PredictedChanges,
};
use crate::site::{InDeployment, NodeId, NodeKind, OperState};

/// Running nodes and the links that carry traffic. Derived: written by `update_graph`, while there are
/// flows or after [`keep`](Self::keep).
#[derive(Resource, Debug, Default)]
pub struct MeshGraph {
    graph: Graph,
    /// The connected component of each node of the graph.
    components: Vec<usize>,
    stale: Stale,
    current: bool,
    /// `true` if it is needed without flows. Written by `testbed.begin`.
    pub keep: bool,
}

/// Part of the graph that changed in this tick.
#[derive(Debug, Default)]
enum Stale {
    #[default]
    Nowhere,
    Everywhere,
    Components(BTreeSet<usize>),
}

impl MeshGraph {
    /// The graph at the end of this tick's [`Route`](groundwave_engine::Phase::Route).
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// `true` if anything changed in this tick.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        !matches!(self.stale, Stale::Nowhere)
    }

    /// `true` if a route from `source` may have changed in this tick.
    #[must_use]
    pub fn is_stale_at(&self, source: NodeId) -> bool {
        match &self.stale {
            Stale::Nowhere => false,
            Stale::Everywhere => true,
            Stale::Components(stale) => {
                let index = self.graph.index(source);
                index.is_some_and(|node| stale.contains(&self.components[node]))
            }
        }
    }

    fn rebuild(&mut self, mesh: &Mesh) {
        let running = mesh.nodes.iter().filter(|(_, entity)| {
            let state = mesh.states.get(*entity);
            state.is_ok_and(|state| state.0)
        });
        let ids = running.map(|(id, _)| id).collect();
        self.graph = Graph::new(ids, mesh.limits.packet_bytes).with_probe(mesh.limits.probe);
        for (key, link) in mesh.links.iter() {
            if let Ok((_, predicted, false)) = mesh.budgets.get(link) {
                self.graph.set(key, Some(&predicted.0));
            }
        }
        self.components = self.graph.components();
        self.stale = Stale::Everywhere;
    }

    /// Sets links to what they are now.
    fn patch(&mut self, mesh: &Mesh, touched: &BTreeSet<LinkKey>) {
        let mut nodes = BTreeSet::new();
        let mut relabel = false;
        for key in touched {
            let link = mesh.links.get(*key).and_then(|link| mesh.budgets.get(link).ok());
            let budget = link.filter(|(.., down)| !down).map(|(_, budget, _)| &budget.0);
            let (before, now) = self.graph.set(*key, budget);
            relabel |= before != now;
            if before || now {
                nodes.extend([key.a(), key.b()].map(|id| self.graph.index(id)));
            }
        }
        if relabel {
            self.components = self.graph.components();
        }
        // A component that fell apart has a touched node in each of its parts.
        let stale: BTreeSet<usize> =
            nodes.iter().flatten().map(|node| self.components[*node]).collect();
        if !stale.is_empty() {
            self.stale = Stale::Components(stale);
        }
    }
}

type Running = (Changed<OperState>, Without<InDeployment>);

/// Inputs of the graph.
#[derive(SystemParam)]
pub(super) struct Mesh<'w, 's> {
    links: Res<'w, Links>,
    limits: Res<'w, Limits>,
    nodes: Res<'w, Index<NodeKind>>,
    states: Query<'w, 's, &'static OperState, Without<InDeployment>>,
    budgets: Query<'w, 's, (&'static Endpoints, &'static Predicted, Has<AdminDown>)>,
    changed: PredictedChanges<'w, 's>,
    taken_down: Query<'w, 's, &'static Endpoints, Added<AdminDown>>,
    switched: Query<'w, 's, (), Running>,
    restored: RemovedComponents<'w, 's, AdminDown>,
}

/// Brings the graph up to date.
pub(super) fn update_graph(
    mut mesh: Mesh,
    flows: Query<(), With<Flow>>,
    out_of_range: Res<OutOfRange>,
    mut graph: ResMut<MeshGraph>,
) {
    let graph = graph.bypass_change_detection();
    let restored: Vec<Entity> = mesh.restored.read().collect();
    graph.stale = Stale::Nowhere;
    if flows.is_empty() && !graph.keep {
        graph.current = false;
        return;
    }
    let mut departed = mesh.nodes.departed().iter();
    if !graph.current
        || mesh.limits.is_changed()
        || !mesh.switched.is_empty()
        || departed.any(|id| graph.graph.index(*id).is_some())
    {
        graph.rebuild(&mesh);
        graph.current = true;
        return;
    }
    let mut touched: BTreeSet<LinkKey> = out_of_range.0.iter().copied().collect();
    touched.extend(mesh.changed.iter().map(|(_, endpoints)| endpoints.0));
    touched.extend(mesh.taken_down.iter().map(|endpoints| endpoints.0));
    let restored = restored.iter().filter_map(|link| mesh.budgets.get(*link).ok());
    touched.extend(restored.map(|(endpoints, ..)| endpoints.0));
    graph.patch(&mesh, &touched);
}
