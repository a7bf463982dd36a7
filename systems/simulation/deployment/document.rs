//! The durable faces of deployments and templates.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Outline, Template, TemplateId, TemplateKind};
use crate::site::{DeploymentId, DeploymentKind, Stamps};

/// A deployment as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeploymentDocument {
    outline: Outline,
    stamps: Stamps,
}

impl Document for DeploymentDocument {
    const TABLE: &'static str = "deployments";
    type Kind = DeploymentKind;
    type Changed = Or<(Changed<Outline>, Changed<Stamps>)>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let outline = entity.get::<Outline>().expect("a deployment has one");
        let stamps = entity.get::<Stamps>().expect("a deployment has them");
        Self { outline: outline.clone(), stamps: *stamps }
    }

    fn restore(self, id: DeploymentId, world: &mut World) -> Result<(), Refusal> {
        self.outline.environment.validate()?;
        world.resource::<Index<DeploymentKind>>().vacant(id)?;
        world.spawn((id, self.outline, self.stamps));
        Ok(())
    }
}

/// A template as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemplateDocument {
    content: Template,
    stamps: Stamps,
}

impl Document for TemplateDocument {
    const TABLE: &'static str = "templates";
    type Kind = TemplateKind;
    type Changed = Changed<Template>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let content = entity.get::<Template>().expect("a template has one");
        let stamps = entity.get::<Stamps>().expect("a template has them");
        Self { content: content.clone(), stamps: *stamps }
    }

    fn restore(self, id: TemplateId, world: &mut World) -> Result<(), Refusal> {
        self.content.station.validate()?;
        world.resource::<Index<TemplateKind>>().vacant(id)?;
        world.spawn((id, self.content, self.stamps));
        Ok(())
    }
}
