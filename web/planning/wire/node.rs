//! Nodes.

use groundwave_http::Problem;
use groundwave_http::time::rfc3339;
use groundwave_model::radio::{Indoor, Pointing, Role, Station, Surroundings};
use groundwave_simulation::deployment::{DeploymentId, PlannedNode, Template};
use groundwave_simulation::site::{AddNode, NodeId, UpdateNode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::name;
use super::place::point;
use super::radio::{RadioConfig, default_station};

/// Node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// Id.
    pub id: Uuid,
    /// Deployment id.
    pub deployment_id: Uuid,
    /// Name.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Degrees north, WGS84.
    pub lat: f64,
    /// Degrees east, WGS84.
    pub lon: f64,
    /// Height of its antenna above ground, m.
    pub height_agl_m: f64,
    /// Radio and antenna.
    pub radio: RadioConfig,
    /// Antenna pointing; null: at the other end of each link.
    pub pointing: Option<Pointing>,
    /// Buildings and trees around its antenna; `unknown`: the clutter of the environment.
    pub surroundings: Surroundings,
    /// Building around its antenna.
    pub indoor: Indoor,
    /// Length of the rays within woodland around its antenna, m; 0: it does not stand in woods.
    pub woodland_depth_m: f64,
    /// Time of creation, RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// Time of the last change, RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: String,
}

/// New node. Only name and position are required; the rest comes from the template, or
/// else from the defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNode {
    /// Name.
    #[schemars(regex(pattern = name::PATTERN))]
    pub name: String,
    /// Degrees north, WGS84.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub lat: f64,
    /// Degrees east, WGS84.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub lon: f64,
    /// Role, default `relay`.
    #[serde(default)]
    pub role: Option<Role>,
    /// Height of its antenna above ground, m, 10 by default; also accepted as `height`.
    #[serde(default, alias = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: Option<f64>,
    /// Radio and antenna.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Antenna pointing; absent or null: at the other end of each link.
    #[serde(default)]
    pub pointing: Option<Pointing>,
    /// Buildings and trees around its antenna, default `unknown`: the clutter of the environment.
    #[serde(default)]
    pub surroundings: Option<Surroundings>,
    /// Building around its antenna, default `outdoors`.
    #[serde(default)]
    pub indoor: Option<Indoor>,
    /// Length of the rays within woodland around its antenna, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub woodland_depth_m: Option<f64>,
    /// Template id.
    #[serde(default)]
    pub template_id: Option<Uuid>,
}

/// Changes of a node. What is left out or null stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("not" = {
    "required": ["clear_pointing", "pointing"],
    "properties": { "clear_pointing": { "const": true }, "pointing": { "type": "object" } },
}))]
pub struct NodePatch {
    /// New name.
    #[serde(default)]
    #[schemars(regex(pattern = name::PATTERN))]
    pub name: Option<String>,
    /// New role.
    #[serde(default)]
    pub role: Option<Role>,
    /// Height of its antenna above ground from now on, m; also accepted as `height`.
    #[serde(default, alias = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: Option<f64>,
    /// New radio; absent fields stay.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// New antenna pointing.
    #[serde(default)]
    pub pointing: Option<Pointing>,
    /// Lets the antenna look at the other end of each link from now on.
    #[serde(default)]
    pub clear_pointing: bool,
    /// New buildings and trees around its antenna.
    #[serde(default)]
    pub surroundings: Option<Surroundings>,
    /// New building around its antenna, or `outdoors`.
    #[serde(default)]
    pub indoor: Option<Indoor>,
    /// Length of the rays within woodland around its antenna, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub woodland_depth_m: Option<f64>,
}

/// New position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPosition {
    /// Degrees north, WGS84.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub lat: f64,
    /// Degrees east, WGS84.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub lon: f64,
    /// Height of its antenna above ground, m; absent or null: as it is. Also accepted as `height`.
    #[serde(default, alias = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: Option<f64>,
}

impl From<&PlannedNode> for Node {
    fn from(node: &PlannedNode) -> Self {
        Self {
            id: node.id.uuid(),
            deployment_id: node.deployment.uuid(),
            name: node.name.clone(),
            role: node.role,
            lat: node.position.lat_deg(),
            lon: node.position.lon_deg(),
            height_agl_m: node.station.height_agl_m,
            radio: RadioConfig::of(&node.station),
            pointing: node.station.pointing,
            surroundings: node.station.surroundings,
            indoor: node.station.indoor,
            woodland_depth_m: node.station.woodland_depth_m,
            created_at: rfc3339(node.stamps.created_ns),
            updated_at: rfc3339(node.stamps.updated_ns),
        }
    }
}

impl NewNode {
    /// Command that creates it, based on `template`.
    ///
    /// # Errors
    /// 400 for an invalid position or an unknown preset.
    pub fn command(
        self,
        node: NodeId,
        deployment: DeploymentId,
        template: Option<&Template>,
    ) -> Result<AddNode, Problem> {
        name::check(&self.name)?;
        let base = template.map_or_else(default_station, |kept| kept.station.clone());
        let (radio, antenna) = self.radio.unwrap_or_default().resolve(&base)?;
        let station = Station {
            height_agl_m: self.height_agl_m.unwrap_or(base.height_agl_m),
            radio,
            antenna,
            pointing: self.pointing.or(base.pointing),
            surroundings: self.surroundings.unwrap_or(base.surroundings),
            indoor: self.indoor.unwrap_or(base.indoor),
            woodland_depth_m: self.woodland_depth_m.unwrap_or(base.woodland_depth_m),
        };
        let role = self.role.or(template.map(|kept| kept.role));
        Ok(AddNode {
            node,
            name: self.name,
            role: role.unwrap_or_default(),
            position: point(self.lat, self.lon)?,
            station,
            deployment: Some(deployment),
        })
    }
}

impl NodePatch {
    /// Command of the changes to a node with the station `before`.
    ///
    /// # Errors
    /// 400 for an invalid name or an unknown preset.
    pub fn command(self, node: NodeId, before: &Station) -> Result<UpdateNode, Problem> {
        self.name.as_deref().map_or(Ok(()), name::check)?;
        let has_antenna = self.radio.as_ref().is_some_and(RadioConfig::has_antenna);
        let resolved = self.radio.map(|radio| radio.resolve(before)).transpose()?;
        let (radio, antenna) = resolved.unzip();
        Ok(UpdateNode {
            node,
            name: self.name,
            role: self.role,
            position: None,
            height_agl_m: self.height_agl_m,
            height_msl_m: None,
            radio,
            antenna: antenna.filter(|_| has_antenna),
            pointing: self.pointing,
            clear_pointing: self.clear_pointing,
            surroundings: self.surroundings,
            indoor: self.indoor,
            woodland_depth_m: self.woodland_depth_m,
        })
    }
}

impl NewPosition {
    /// Command that moves a node.
    ///
    /// # Errors
    /// 400 for an invalid position.
    pub fn command(self, node: NodeId) -> Result<UpdateNode, Problem> {
        Ok(UpdateNode {
            position: Some(point(self.lat, self.lon)?),
            height_agl_m: self.height_agl_m,
            ..UpdateNode::of(node)
        })
    }
}
