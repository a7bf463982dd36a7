//! Deployments: planned meshes, and the templates of their nodes.
//!
//! A planned node is a node like any other, with a deployment it belongs to. It is not simulated:
//! analyses run over snapshots, off the world's thread, so that thousands of plans cost the world
//! nothing but their storage.

mod commands;
mod components;
mod document;
mod import;
mod region;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, Phase};

pub use crate::site::{DeploymentId, DeploymentKind, InDeployment, Members, Stamps};
pub use commands::{
    CreateDeployment, CreateTemplate, DEPLOYMENTS_MAX, DESCRIPTION_CHARS_MAX, DeleteDeployment,
    DeleteTemplate, TEMPLATES_MAX, UpdateDeployment,
};
pub use components::{Outline, Template, TemplateId, TemplateKind};
pub use document::{DeploymentDocument, TemplateDocument};
pub use import::{ImportDeployment, ImportedNode};
pub use region::{BadRegion, Region, VERTICES_MAX};
pub use view::{DeploymentView, Plan, PlannedNode, TemplateView};

/// Deployments and templates. Moves in before nodes, whose rows refer to deployments.
pub fn deployment(engine: &mut Builder) {
    engine
        .kind::<DeploymentKind>()
        .kind::<TemplateKind>()
        .section::<Plan>()
        .command::<CreateDeployment>()
        .command::<UpdateDeployment>()
        .command::<DeleteDeployment>()
        .command::<ImportDeployment>()
        .command::<CreateTemplate>()
        .command::<DeleteTemplate>()
        .document::<DeploymentDocument>()
        .document::<TemplateDocument>()
        .systems(Phase::Publish, view::publish_plan);
}
