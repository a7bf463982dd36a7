//! View of the simulated mesh: its consistent state at the end of a tick.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::world::World;
use groundwave_engine::log::Parts;
use groundwave_engine::{Clock, Section, Snapshot, parts_of};
use groundwave_impair::Impairments;
use groundwave_model::radio::Environment;
use groundwave_model::route::Graph;
use serde::Serialize;

use crate::deployment::Plan;
use crate::flow::FlowView;
use crate::link::{Limits, LinkKey, LinkView};
use crate::measure::Levels;
use crate::site::{NodeId, NodeView, WorldTerrain, with_names};
use crate::testbed::TestbedView;

/// State of the simulated mesh at the end of a tick. A section is replaced only when it changed, so
/// equal pointers mean equal content.
#[derive(Debug, Clone, Default, Serialize)]
pub struct WorldView {
    /// Tick at whose end it was taken.
    pub tick: u64,
    /// Simulated time of that tick, ns.
    pub now_ns: u64,
    /// Nodes in id order.
    #[serde(serialize_with = "section")]
    pub nodes: Arc<Vec<NodeView>>,
    /// Links in id order of their ends.
    #[serde(serialize_with = "section")]
    pub links: Arc<Vec<LinkView>>,
    /// Flows in id order.
    #[serde(serialize_with = "section")]
    pub flows: Arc<Vec<FlowView>>,
    /// Propagation settings of all links.
    #[serde(serialize_with = "section")]
    pub environment: Arc<Environment>,
    /// Settings that links share.
    #[serde(serialize_with = "section")]
    pub limits: Arc<Limits>,
    /// Deployments, their nodes and templates.
    #[serde(serialize_with = "section", skip_serializing_if = "nothing")]
    pub plan: Arc<Plan>,
    /// The ports of the link emulator.
    #[serde(serialize_with = "section", skip_serializing_if = "untouched")]
    pub impairments: Arc<Impairments>,
    /// Last measurements of links.
    #[serde(serialize_with = "section", skip_serializing_if = "unmeasured")]
    pub measured: Arc<Levels>,
    /// The testbed that follows this world.
    #[serde(serialize_with = "section", skip_serializing_if = "no_testbed")]
    pub testbed: Arc<TestbedView>,
}

fn unmeasured(measured: &Arc<Levels>) -> bool {
    measured.is_empty()
}

fn no_testbed(testbed: &Arc<TestbedView>) -> bool {
    testbed.settings.is_none()
}

fn untouched(impairments: &Arc<Impairments>) -> bool {
    impairments.is_untouched()
}

fn nothing(plan: &Arc<Plan>) -> bool {
    plan.is_empty()
}

/// An `Arc` as what it holds; serde's own support would be a feature for one line.
///
/// # Errors
/// Those of the serialiser.
pub fn section<T: Serialize, S: serde::Serializer>(
    arc: &Arc<T>,
    out: S,
) -> Result<S::Ok, S::Error> {
    arc.as_ref().serialize(out)
}

impl AsRef<Self> for WorldView {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// A snapshot that has the view of the simulated mesh: the view itself, or one with more sections.
pub trait MeshSnapshot: Snapshot + AsRef<WorldView> {}

impl<S: Snapshot + AsRef<WorldView>> MeshSnapshot for S {}

impl Snapshot for WorldView {
    fn gather(world: &World, clock: Clock) -> Self {
        Self {
            tick: clock.tick,
            now_ns: clock.now_ns(),
            nodes: world.resource::<Section<_>>().share(),
            links: world.resource::<Section<_>>().share(),
            flows: world.resource::<Section<_>>().share(),
            environment: world.resource::<Section<_>>().share(),
            limits: world.resource::<Section<_>>().share(),
            plan: world.resource::<Section<_>>().share(),
            impairments: world.resource::<Section<_>>().share(),
            measured: world.resource::<Section<_>>().share(),
            testbed: world.resource::<Section<_>>().share(),
        }
    }

    fn parts(&self) -> Parts {
        let mut parts = Parts::new();
        let mut put = |name: &str, part| parts.push((name.to_owned(), part));
        put("limits", parts_of([&*self.limits]));
        put("environment", parts_of([&*self.environment]));
        put("nodes", parts_of(self.nodes.iter()));
        put("links", parts_of(self.links.iter()));
        put("flows", parts_of(self.flows.iter()));
        if !self.measured.is_empty() {
            put("measured", parts_of(self.measured.iter()));
        }
        if !no_testbed(&self.testbed) {
            put("testbed", parts_of([&*self.testbed]));
        }
        parts
    }

    fn files(world: &World) -> BTreeMap<String, String> {
        world.resource::<WorldTerrain>().0.files()
    }

    fn file_digest(world: &World, name: &str) -> Option<String> {
        world.resource::<WorldTerrain>().0.file_digest(name)
    }

    fn label(&self, part: &str, place: usize) -> Option<String> {
        let name = |id| self.node(id).map_or("?", |node| node.name.as_str());
        match part {
            "nodes" => Some(format!("node {}", self.nodes.get(place)?.name)),
            "links" => {
                let link = self.links.get(place)?;
                Some(format!("link {} – {}", name(link.a), name(link.b)))
            }
            "measured" => {
                let level = self.measured.iter().nth(place)?;
                Some(format!("what was measured {} → {}", name(level.from), name(level.to)))
            }
            "flows" => Some(format!("flow {}", self.flows.get(place)?.name)),
            _ => None,
        }
    }
}

impl WorldView {
    /// The node with this id.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&NodeView> {
        let at = self.nodes.binary_search_by_key(&id, |node| node.id).ok()?;
        Some(&self.nodes[at])
    }

    /// The first node in id order with this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<&NodeView> {
        self.nodes.iter().find(|node| node.name == name)
    }

    /// A text in which ids of nodes are replaced by their names.
    #[must_use]
    pub fn with_names(&self, text: &str) -> String {
        with_names(text, |id| self.node(id).map(|node| node.name.as_str()))
    }

    /// `true` if a link carries traffic now: it is usable both ways and not cut, and its ends operate.
    #[must_use]
    pub fn carries(&self, link: &LinkView) -> bool {
        let operates = |id| self.node(id).is_some_and(|node| node.operating);
        !link.severed && link.budget.etx().is_some() && operates(link.a) && operates(link.b)
    }

    /// The graph of what carries traffic now: running nodes and links that are not cut.
    #[must_use]
    pub fn graph(&self) -> Graph {
        let running = self.nodes.iter().filter(|node| node.operating).map(|node| node.id);
        let mut graph =
            Graph::new(running.collect(), self.limits.packet_bytes).with_probe(self.limits.probe);
        for link in self.links.iter().filter(|link| !link.severed) {
            let key = LinkKey::new(link.a, link.b).expect("a link has two ends");
            graph.set(key, Some(&link.budget));
        }
        graph
    }
}
