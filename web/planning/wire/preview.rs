//! Links of a node that is not stored: one that is being moved, or a point on the map.

use groundwave_http::Problem;
use groundwave_model::mesh::{GroundSummary, MeshLink};
use groundwave_model::radio::{Indoor, Pointing, Station, Surroundings, Verdict};
use groundwave_model::terrain::geodesic::inverse;
use groundwave_model::terrain::{GeoPoint, PathGround};
use groundwave_simulation::deployment::PlannedNode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::mesh::{DeploymentLink, verdict_over};
use super::place::point;
use super::radio::{RadioConfig, default_station};

/// Node of a deployment as it might be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssumedNode {
    /// Node that it stands for; absent or null: one more, with the default radio and antenna.
    #[serde(default)]
    pub node_id: Option<Uuid>,
    /// Degrees north, WGS84.
    #[schemars(range(min = -90.0, max = 90.0))]
    pub lat: f64,
    /// Degrees east, WGS84.
    #[schemars(range(min = -180.0, max = 180.0))]
    pub lon: f64,
    /// Height of its antenna above ground, m; absent or null: as it is.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: Option<f64>,
    /// Radio and antenna; absent fields are as they are.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Antenna pointing; absent or null: as it is.
    #[serde(default)]
    pub pointing: Option<Pointing>,
    /// Lets the antenna look at the other end of each link.
    #[serde(default)]
    pub clear_pointing: bool,
    /// Buildings and trees around its antenna; absent or null: as they are.
    #[serde(default)]
    pub surroundings: Option<Surroundings>,
    /// Building around its antenna; absent or null: as it is.
    #[serde(default)]
    pub indoor: Option<Indoor>,
    /// Length of the rays within woodland around its antenna, m; absent or null: as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub woodland_depth_m: Option<f64>,
}

impl AssumedNode {
    /// Position and station, based on the node it stands for.
    ///
    /// # Errors
    /// 400 for a value out of range or an unknown preset.
    pub fn resolve(self, base: Option<&PlannedNode>) -> Result<(GeoPoint, Station), Problem> {
        let base = base.map_or_else(default_station, |node| node.station.clone());
        let position = point(self.lat, self.lon)?;
        let (radio, antenna) = self.radio.unwrap_or_default().resolve(&base)?;
        let before = base.pointing.filter(|_| !self.clear_pointing);
        let station = Station {
            height_agl_m: self.height_agl_m.unwrap_or(base.height_agl_m),
            radio,
            antenna,
            pointing: self.pointing.or(before),
            surroundings: self.surroundings.unwrap_or(base.surroundings),
            indoor: self.indoor.unwrap_or(base.indoor),
            woodland_depth_m: self.woodland_depth_m.unwrap_or(base.woodland_depth_m),
        };
        station.validate()?;
        Ok((position, station))
    }
}

/// All links of a node.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NodeLinks {
    /// Node id; null for a node that is assumed. Its links name it by the nil UUID.
    pub node_id: Option<Uuid>,
    /// Ground under the links.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Links, by the id of the other node.
    pub links: Vec<DeploymentLink>,
}

impl NodeLinks {
    /// The links of a node.
    #[must_use]
    pub fn new(node_id: Option<Uuid>, links: &[MeshLink]) -> Self {
        Self {
            node_id,
            ground: links.iter().map(|link| link.budget.ground).collect(),
            links: links.iter().map(Into::into).collect(),
        }
    }
}

/// Nodes that a point can reach.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PointScan {
    /// Ground under the links to them.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Nodes in reach, usable or not, largest margin first, those over unknown ground last.
    pub candidates: Vec<ScanCandidate>,
}

/// Node that a point can reach.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ScanCandidate {
    /// Node id.
    pub node_id: Uuid,
    /// Name of the node.
    pub name: String,
    /// Length of the link, m.
    pub distance_m: f64,
    /// Bearing of the node from the point, clockwise from true north, deg, [0, 360).
    pub azimuth_deg: f64,
    /// Link margin of the worse direction, dB; over assumed heights where `ground` is `unknown`.
    pub link_margin_db: f64,
    /// Rating of the worse direction; `no_link` over unknown ground.
    pub verdict: Verdict,
    /// Knowledge of the ground.
    pub ground: PathGround,
    /// The link; the point is the nil UUID.
    pub link: DeploymentLink,
}

impl ScanCandidate {
    /// The link between a point and a node.
    #[must_use]
    pub fn new(from: GeoPoint, node: &PlannedNode, link: &MeshLink) -> Self {
        let budget = &link.budget;
        let (forward, backward) = (&budget.forward, &budget.backward);
        let worse = match forward.link_margin_db <= backward.link_margin_db {
            true => forward,
            false => backward,
        };
        Self {
            node_id: node.id.uuid(),
            name: node.name.clone(),
            distance_m: budget.distance_m,
            azimuth_deg: inverse(from, node.position).azimuth_deg,
            link_margin_db: worse.link_margin_db,
            verdict: verdict_over(budget.ground, worse.verdict),
            ground: budget.ground,
            link: link.into(),
        }
    }
}
