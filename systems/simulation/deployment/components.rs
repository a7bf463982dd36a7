//! Components of deployments and templates. The doc of each names its writers.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use groundwave_model::radio::{Environment, Role, Station};
use groundwave_model::terrain::GeoPoint;
use serde::{Deserialize, Serialize};

use super::region::Region;

/// The kind of thing that keeps a node's configuration for reuse.
pub struct TemplateKind;
impl Kind for TemplateKind {
    const NAME: &'static str = "template";
}
/// Stable id of a template.
pub type TemplateId = Id<TemplateKind>;

/// Name, centre, region and propagation settings of a deployment. Written by `deployment.create`
/// and `deployment.update`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outline {
    /// Display name, 1 to 64 characters.
    pub name: String,
    /// Centre of its map, WGS84.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<GeoPoint>,
    /// The area it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// Propagation settings of all its analyses.
    #[serde(default)]
    pub environment: Environment,
}

/// A node's configuration kept for reuse. Written by `template.create`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Display name, 1 to 64 characters, unique.
    pub name: String,
    /// Description of its use, up to 1024 characters.
    #[serde(default)]
    pub description: String,
    /// Role of its nodes.
    pub role: Role,
    /// Station of its nodes.
    pub station: Station,
}
