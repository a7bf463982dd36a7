//! A whole deployment at once.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::commands::CreateDeployment;
use super::components::Outline;
use crate::radio::{Role, Station};
use crate::site::{AddNode, DeploymentId, NODES_MAX, NodeId, NodeKind, check_name};
use crate::terrain::GeoPoint;

/// A node of a deployment to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedNode {
    /// Its id, minted by the caller.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Where it stands.
    pub position: GeoPoint,
    /// What stands there.
    pub station: Station,
}

/// Makes a deployment with all its nodes, or nothing.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportDeployment {
    /// Its id, minted by the caller.
    pub deployment: DeploymentId,
    /// What it is.
    pub outline: Outline,
    /// Its nodes.
    pub nodes: Vec<ImportedNode>,
}

impl ImportDeployment {
    fn check_nodes(&self, world: &World) -> Result<(), Refusal> {
        let index = world.resource::<Index<NodeKind>>();
        if index.len() + self.nodes.len() > NODES_MAX {
            let (here, more) = (index.len(), self.nodes.len());
            return Err(Refusal::conflict(format!(
                "the world has {here} nodes and takes {NODES_MAX}; {more} more do not fit"
            )));
        }
        let mut ids = BTreeSet::new();
        for (place, node) in self.nodes.iter().enumerate() {
            check_name(&format!("nodes[{place}].name"), &node.name)?;
            node.station.validate().map_err(|bad| {
                let key = format!("nodes[{place}].{}", bad.key);
                Refusal::invalid(key, bad.found, bad.allowed.to_string())
            })?;
            index.vacant(node.node)?;
            if !ids.insert(node.node) {
                let key = format!("nodes[{place}].node");
                return Err(Refusal::invalid(key, node.node, "each id once"));
            }
        }
        Ok(())
    }
}

impl Command for ImportDeployment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.check_nodes(world)?;
        let create = CreateDeployment {
            deployment: self.deployment,
            outline: self.outline,
        };
        create.apply(world)?;
        for node in self.nodes {
            let add = AddNode {
                node: node.node,
                name: node.name,
                role: node.role,
                position: node.position,
                station: node.station,
                deployment: Some(self.deployment),
            };
            add.apply(world).expect("all nodes were checked");
        }
        Ok(())
    }
}
impl Recorded for ImportDeployment {
    const NAME: &'static str = "deployment.import";
    type Reply = ();
}
