//! Templates.

use groundwave_http::Problem;
use groundwave_http::time::rfc3339;
use groundwave_model::radio::{Indoor, Pointing, Role, Station, Surroundings};
use groundwave_simulation::deployment::{
    CreateTemplate, Template as Content, TemplateId, TemplateView,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::name;
use super::radio::{RadioConfig, default_station};

/// Node template.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    /// Id.
    pub id: Uuid,
    /// Name, unique.
    pub name: String,
    /// Description.
    pub description: String,
    /// Role of its nodes.
    pub role: Role,
    /// Height of the antenna above ground, m.
    pub height_agl_m: f64,
    /// Radio and antenna of its nodes.
    pub radio: RadioConfig,
    /// Antenna pointing; null: at the other end of each link.
    pub pointing: Option<Pointing>,
    /// Buildings and trees around the antenna; `unknown`: the clutter of the environment.
    pub surroundings: Surroundings,
    /// Building around the antenna.
    pub indoor: Indoor,
    /// Length of the rays within woodland around the antenna, m; 0: it does not stand in woods.
    pub woodland_depth_m: f64,
    /// Time of creation, RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
}

/// New template. Absent fields take the defaults of a new node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTemplate {
    /// Name, unique.
    #[schemars(regex(pattern = name::PATTERN))]
    pub name: String,
    /// Description.
    #[serde(default)]
    #[schemars(length(max = 1024))]
    pub description: Option<String>,
    /// Role of its nodes, default `relay`.
    #[serde(default)]
    pub role: Option<Role>,
    /// Height of the antenna above ground, m, 10 by default; also accepted as `height`.
    #[serde(default, alias = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: Option<f64>,
    /// Radio and antenna of its nodes.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Antenna pointing; absent or null: at the other end of each link.
    #[serde(default)]
    pub pointing: Option<Pointing>,
    /// Buildings and trees around the antenna, default `unknown`: the clutter of the environment.
    #[serde(default)]
    pub surroundings: Option<Surroundings>,
    /// Building around the antenna, default `outdoors`.
    #[serde(default)]
    pub indoor: Option<Indoor>,
    /// Length of the rays within woodland around the antenna, m, default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub woodland_depth_m: Option<f64>,
}

impl From<&TemplateView> for Template {
    fn from(view: &TemplateView) -> Self {
        let Content { name, description, role, station } = view.content.clone();
        Self {
            id: view.id.uuid(),
            name,
            description,
            role,
            height_agl_m: station.height_agl_m,
            radio: RadioConfig::of(&station),
            pointing: station.pointing,
            surroundings: station.surroundings,
            indoor: station.indoor,
            woodland_depth_m: station.woodland_depth_m,
            created_at: rfc3339(view.stamps.created_ns),
        }
    }
}

impl NewTemplate {
    /// Command that creates it.
    ///
    /// # Errors
    /// 400 for an invalid name or an unknown preset.
    pub fn command(self, template: TemplateId) -> Result<CreateTemplate, Problem> {
        name::check(&self.name)?;
        let base = default_station();
        let (radio, antenna) = self.radio.unwrap_or_default().resolve(&base)?;
        let station = Station {
            height_agl_m: self.height_agl_m.unwrap_or(base.height_agl_m),
            radio,
            antenna,
            pointing: self.pointing,
            surroundings: self.surroundings.unwrap_or_default(),
            indoor: self.indoor.unwrap_or_default(),
            woodland_depth_m: self.woodland_depth_m.unwrap_or_default(),
        };
        let content = Content {
            name: self.name,
            description: self.description.unwrap_or_default(),
            role: self.role.unwrap_or_default(),
            station,
        };
        Ok(CreateTemplate { template, content })
    }
}

/// Template of every new store.
#[must_use]
pub fn built_in() -> CreateTemplate {
    CreateTemplate {
        template: TemplateId::named("mesh-relay"),
        content: Content {
            name: "Mesh relay".to_owned(),
            description: "5 GHz 802.11 mesh router on a 10 m mast with an omnidirectional antenna"
                .to_owned(),
            role: Role::Relay,
            station: default_station(),
        },
    }
}
