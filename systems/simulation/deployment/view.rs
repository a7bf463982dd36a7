//! Views of deployments: persistent maps that share unchanged entries, so that adding a node copies
//! that node only, not a hundred thousand.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_values::persistent::{PersistentMap, PersistentSet};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::components::{Outline, Template, TemplateId, TemplateKind};
use crate::site::{
    DeploymentId, DeploymentKind, InDeployment, Label, NodeId, NodeKind, Position, Stamps,
    StationConfig,
};

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DeploymentView {
    pub id: DeploymentId,
    /// Name, centre, region and propagation settings.
    pub outline: Outline,
    /// Times of creation and of the last change.
    pub stamps: Stamps,
}

/// A node of a deployment.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PlannedNode {
    pub id: NodeId,
    /// The deployment it belongs to.
    pub deployment: DeploymentId,
    /// Display name.
    pub name: String,
    pub role: Role,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: Station,
    /// Times of creation and of the last change.
    pub stamps: Stamps,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TemplateView {
    pub id: TemplateId,
    /// Name, description, role and station.
    pub content: Template,
    /// Time of creation.
    pub stamps: Stamps,
}

/// Everything planned.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Deployments in id order.
    pub deployments: PersistentMap<DeploymentId, Arc<DeploymentView>>,
    /// Nodes of all deployments in id order.
    pub nodes: PersistentMap<NodeId, Arc<PlannedNode>>,
    /// Templates in id order.
    pub templates: PersistentMap<TemplateId, Arc<TemplateView>>,
    members: PersistentMap<DeploymentId, PersistentSet<NodeId>>,
}

impl Plan {
    /// `true` if there is no deployment and no template.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deployments.is_empty() && self.templates.is_empty()
    }

    /// The nodes of a deployment in id order; none for one that is not there.
    pub fn nodes_of(&self, id: DeploymentId) -> impl Iterator<Item = &Arc<PlannedNode>> {
        self.members.get(&id).into_iter().flatten().filter_map(|node| self.nodes.get(node))
    }

    /// Number of nodes of a deployment; 0 for an unknown one.
    #[must_use]
    pub fn node_count(&self, id: DeploymentId) -> usize {
        self.members.get(&id).map_or(0, PersistentSet::len)
    }

    fn enter(&mut self, node: PlannedNode) {
        self.members.get_or_default(node.deployment).insert(node.id);
        self.nodes.insert(node.id, Arc::new(node));
    }

    fn leave(&mut self, id: NodeId) {
        let Some(node) = self.nodes.remove(&id) else {
            return;
        };
        if let Some(members) = self.members.get_mut(&node.deployment) {
            members.remove(&id);
        }
    }
}

/// The three maps as lists, as a digest reads them.
impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn list<K: Ord + Clone, V>(map: &PersistentMap<K, Arc<V>>) -> Vec<&V> {
            map.values().map(|view| &**view).collect()
        }
        let mut plan = serializer.serialize_struct("Plan", 3)?;
        plan.serialize_field("deployments", &list(&self.deployments))?;
        plan.serialize_field("nodes", &list(&self.nodes))?;
        plan.serialize_field("templates", &list(&self.templates))?;
        plan.end()
    }
}

type NodeParts = (
    &'static NodeId,
    &'static InDeployment,
    &'static Label,
    &'static Position,
    &'static StationConfig,
    &'static Stamps,
);
type NodeChanged = Or<(Changed<Label>, Changed<Position>, Changed<StationConfig>, Changed<Stamps>)>;
type OutlineChanged = Or<(Changed<Outline>, Changed<Stamps>)>;

/// Updates the entries that changed, appeared or were removed.
pub(super) fn publish_plan(
    deployments: Query<(&DeploymentId, &Outline, &Stamps), OutlineChanged>,
    nodes: Query<NodeParts, NodeChanged>,
    templates: Query<(&TemplateId, &Template, &Stamps), Changed<Template>>,
    indices: (Res<Index<DeploymentKind>>, Res<Index<NodeKind>>, Res<Index<TemplateKind>>),
    ids: Query<&DeploymentId>,
    mut section: ResMut<Section<Plan>>,
) {
    let (gone_deployments, gone_nodes, gone_templates) =
        (indices.0.departed(), indices.1.departed(), indices.2.departed());
    let still = deployments.is_empty()
        && nodes.is_empty()
        && templates.is_empty()
        && [gone_deployments.len(), gone_nodes.len(), gone_templates.len()] == [0; 3];
    if still {
        return;
    }
    let mut plan = Plan::clone(&section.share());
    // Departures first: what left and came back in one tick is there.
    for id in gone_nodes {
        plan.leave(*id);
    }
    for id in gone_deployments {
        plan.deployments.remove(id);
        plan.members.remove(id);
    }
    for id in gone_templates {
        plan.templates.remove(id);
    }
    for (id, outline, stamps) in &deployments {
        let view = DeploymentView { id: *id, outline: outline.clone(), stamps: *stamps };
        plan.deployments.insert(*id, Arc::new(view));
    }
    for (id, content, stamps) in &templates {
        let view = TemplateView { id: *id, content: content.clone(), stamps: *stamps };
        plan.templates.insert(*id, Arc::new(view));
    }
    for (id, within, label, position, standing, stamps) in &nodes {
        plan.enter(PlannedNode {
            id: *id,
            deployment: *ids.get(within.0).expect("a deployment outlives its nodes"),
            name: label.name.clone(),
            role: label.role,
            position: position.0,
            station: standing.0.clone(),
            stamps: *stamps,
        });
    }
    section.redraw(plan);
}
