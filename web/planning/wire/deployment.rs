//! Deployments.

use groundwave_http::Problem;
use groundwave_http::time::rfc3339;
use groundwave_model::radio::Environment;
use groundwave_simulation::deployment::{
    CreateDeployment, DeploymentId, DeploymentView, Outline, Region, UpdateDeployment,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::name;
use super::place::Place;
use super::stated::StatedEnvironment;

/// Deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Deployment {
    /// Id.
    pub id: Uuid,
    /// Name.
    pub name: String,
    /// Initial map centre.
    pub center: Option<Place>,
    /// Service area, GeoJSON polygon.
    pub region: Option<Region>,
    /// Propagation settings of all its analyses.
    pub environment: Environment,
    /// Time of creation, RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Time of the last change, RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

/// New deployment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDeployment {
    /// Name.
    #[schemars(regex(pattern = name::PATTERN))]
    pub name: String,
    /// Initial map centre.
    #[serde(default)]
    pub center: Option<Place>,
    /// Service area, GeoJSON polygon.
    #[serde(default)]
    pub region: Option<Region>,
    /// Propagation settings of all its analyses; what is left out takes its default. That of `model` is `p1812`
    /// where the server has land cover, else `itm`.
    #[serde(default)]
    pub environment: Option<StatedEnvironment>,
}

/// Changes of a deployment. What is left out or null stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = {
    "required": ["clear_region", "region"],
    "properties": { "clear_region": { "const": true }, "region": { "type": "object" } },
}))]
pub struct DeploymentPatch {
    /// New name.
    #[serde(default)]
    #[schemars(regex(pattern = name::PATTERN))]
    pub name: Option<String>,
    /// New centre.
    #[serde(default)]
    pub center: Option<Place>,
    /// New region.
    #[serde(default)]
    pub region: Option<Region>,
    /// Removes the region.
    #[serde(default)]
    pub clear_region: bool,
    /// New propagation settings; replaces all of them, as those of a new deployment.
    #[serde(default)]
    pub environment: Option<StatedEnvironment>,
}

impl From<&DeploymentView> for Deployment {
    fn from(view: &DeploymentView) -> Self {
        let outline = view.outline.clone();
        Self {
            id: view.id.uuid(),
            name: outline.name,
            center: outline.center.map(Place::from),
            region: outline.region,
            environment: outline.environment,
            created_at: rfc3339(view.stamps.created_ns),
            updated_at: rfc3339(view.stamps.updated_ns),
        }
    }
}

impl NewDeployment {
    /// Command that creates it over ground with or without land cover.
    ///
    /// # Errors
    /// 400 for an invalid name or centre.
    pub fn command(
        self,
        deployment: DeploymentId,
        has_land_cover: bool,
    ) -> Result<CreateDeployment, Problem> {
        name::check(&self.name)?;
        let center = self.center.map(TryInto::try_into).transpose()?;
        let outline = Outline {
            name: self.name,
            center,
            region: self.region,
            environment: self.environment.unwrap_or_default().over(has_land_cover),
        };
        Ok(CreateDeployment { deployment, outline })
    }
}

impl DeploymentPatch {
    /// Command of the changes over ground with or without land cover.
    ///
    /// # Errors
    /// 400 for an invalid name or centre.
    pub fn command(
        self,
        deployment: DeploymentId,
        has_land_cover: bool,
    ) -> Result<UpdateDeployment, Problem> {
        self.name.as_deref().map_or(Ok(()), name::check)?;
        Ok(UpdateDeployment {
            deployment,
            name: self.name,
            center: self.center.map(TryInto::try_into).transpose()?,
            region: self.region,
            clear_region: self.clear_region,
            environment: self.environment.map(|stated| stated.over(has_land_cover)),
        })
    }
}
