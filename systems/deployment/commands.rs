//! What can be done to deployments and templates.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Outline, Template, TemplateId, TemplateKind};
use super::region::Region;
use crate::radio::Environment;
use crate::site::{DeploymentId, DeploymentKind, Members, Stamps, check_name, not_live};
use crate::terrain::GeoPoint;

/// Deployments one world may hold; a list of more is no longer one people read.
pub const DEPLOYMENTS_MAX: usize = 100_000;

/// Templates one world may hold.
pub const TEMPLATES_MAX: usize = 10_000;

/// Longest description of a template, characters.
pub const DESCRIPTION_CHARS_MAX: usize = 1024;

fn room<K: groundwave_engine::Kind>(world: &World, most: usize) -> Result<(), Refusal> {
    if world.resource::<Index<K>>().len() >= most {
        return Err(Refusal::conflict(format!(
            "there are {most} {}s, the most",
            K::NAME
        )));
    }
    Ok(())
}

/// Makes a deployment without nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateDeployment {
    /// Its id, minted by the caller.
    pub deployment: DeploymentId,
    /// What it is.
    pub outline: Outline,
}
impl Command for CreateDeployment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_name("name", &self.outline.name)?;
        self.outline.environment.validate()?;
        world
            .resource::<Index<DeploymentKind>>()
            .vacant(self.deployment)?;
        room::<DeploymentKind>(world, DEPLOYMENTS_MAX)?;
        let stamps = Stamps::new(world);
        world.spawn((self.deployment, self.outline, stamps));
        Ok(())
    }
}
impl Recorded for CreateDeployment {
    const NAME: &'static str = "deployment.create";
    type Reply = ();
}

/// Changes what is given and leaves the rest.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateDeployment {
    /// Which deployment.
    pub deployment: DeploymentId,
    /// Its name from now on.
    #[serde(default)]
    pub name: Option<String>,
    /// Its centre from now on.
    #[serde(default)]
    pub center: Option<GeoPoint>,
    /// Its region from now on.
    #[serde(default)]
    pub region: Option<Region>,
    /// Whether the region goes.
    #[serde(default)]
    pub clear_region: bool,
    /// Its propagation settings from now on.
    #[serde(default)]
    pub environment: Option<Environment>,
}
impl Command for UpdateDeployment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world
            .resource::<Index<DeploymentKind>>()
            .get(self.deployment)?;
        if let Some(name) = &self.name {
            check_name("name", name)?;
        }
        if let Some(environment) = &self.environment {
            environment.validate()?;
        }
        if self.clear_region && self.region.is_some() {
            let allowed = "clear_region or a region, not both";
            return Err(Refusal::invalid("clear_region", true, allowed));
        }
        let mut outline = world
            .get_mut::<Outline>(entity)
            .expect("every deployment has an outline");
        let new = Outline {
            name: self.name.unwrap_or_else(|| outline.name.clone()),
            center: self.center.or(outline.center),
            region: match (self.clear_region, self.region) {
                (true, _) => None,
                (false, region) => region.or_else(|| outline.region.clone()),
            },
            environment: self
                .environment
                .unwrap_or_else(|| outline.environment.clone()),
        };
        outline.set_if_neq(new);
        Stamps::touch(world, entity);
        Ok(())
    }
}
impl Recorded for UpdateDeployment {
    const NAME: &'static str = "deployment.update";
    type Reply = ();
}

/// Takes a deployment away, with its nodes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteDeployment {
    /// Which deployment.
    pub deployment: DeploymentId,
}
impl Command for DeleteDeployment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world
            .resource::<Index<DeploymentKind>>()
            .get(self.deployment)?;
        let members = world.get::<Members>(entity);
        members.map_or(Ok(()), |members| {
            members
                .iter()
                .try_for_each(|member| not_live(world, member))
        })?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for DeleteDeployment {
    const NAME: &'static str = "deployment.delete";
    type Reply = ();
}

/// Keeps a configuration under a name nobody else has.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateTemplate {
    /// Its id, minted by the caller.
    pub template: TemplateId,
    /// What it keeps.
    pub content: Template,
}
impl Command for CreateTemplate {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let Template {
            name, description, ..
        } = &self.content;
        check_name("name", name)?;
        if description.chars().count() > DESCRIPTION_CHARS_MAX {
            let found = format!("{} characters", description.chars().count());
            let allowed = format!("up to {DESCRIPTION_CHARS_MAX} characters");
            return Err(Refusal::invalid("description", found, allowed));
        }
        self.content.station.validate()?;
        world
            .resource::<Index<TemplateKind>>()
            .vacant(self.template)?;
        room::<TemplateKind>(world, TEMPLATES_MAX)?;
        let mut all = world.query::<&Template>();
        if all.iter(world).any(|template| template.name == *name) {
            let what = format!("a template is called {name:?} already");
            return Err(Refusal::conflict(what));
        }
        let stamps = Stamps::new(world);
        world.spawn((self.template, self.content, stamps));
        Ok(())
    }
}
impl Recorded for CreateTemplate {
    const NAME: &'static str = "template.create";
    type Reply = ();
}

/// Takes a template away. Nodes made from it stay.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeleteTemplate {
    /// Which template.
    pub template: TemplateId,
}
impl Command for DeleteTemplate {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<TemplateKind>>().get(self.template)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for DeleteTemplate {
    const NAME: &'static str = "template.delete";
    type Reply = ();
}
