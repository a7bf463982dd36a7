//! Where to build next.

use groundwave_model::mesh::GroundSummary;
use groundwave_model::radio::{Indoor, Surroundings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coverage::Bounds;
use super::place::Place;
use super::radio::RadioConfig;

/// Most sites of a request.
pub const COUNT_MAX: u32 = 16;

/// Request for sites to build next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlacementQuestion {
    /// Edges of the area to be covered.
    pub bounds: Bounds,
    /// Most sites to choose, [1, 16].
    #[serde(default = "count")]
    #[schemars(range(min = 1, max = 16))]
    pub count: u32,
    /// Points to choose from, up to 256; absent or null: high ground in the area.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub candidates: Option<Vec<Place>>,
    /// Radio and antenna of the new sites; absent fields are those of a new node.
    #[serde(default)]
    pub radio: Option<RadioConfig>,
    /// Height of their antennas above ground, m, [0, 20000].
    #[serde(default = "site_height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub height_agl_m: f64,
    /// Height of the receivers above ground, m, [0, 20000].
    #[serde(default = "height")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub rx_height_agl_m: f64,
    /// Buildings and trees around the receivers, default `unknown`: the clutter of the environment.
    #[serde(default)]
    pub rx_surroundings: Surroundings,
    /// Building around the receivers, default `outdoors`.
    #[serde(default)]
    pub rx_indoor: Indoor,
    /// Receiving radio and antenna; absent or null: the radio of the new sites with a half-wave dipole.
    #[serde(default)]
    pub receiver: Option<RadioConfig>,
    /// Link margin from which a cell counts as covered, dB, [0, 100].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub link_margin_db: f64,
    /// Only sites that would have a link with a node of the deployment in both directions.
    #[serde(default)]
    pub require_link: bool,
}

fn count() -> u32 {
    3
}

fn site_height() -> f64 {
    10.0
}

fn height() -> f64 {
    1.5
}

/// Sites to build next.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlacementAdvice {
    /// Sites that were compared.
    pub candidates: usize,
    /// Sites that were left out because they have no link with a node.
    pub without_link: usize,
    /// Area whose ground is known, km².
    pub known_area_km2: f64,
    /// Area where a node of the deployment has the link margin of the request by the model, km², whatever the
    /// surroundings of the receivers.
    pub covered_area_km2: f64,
    /// No choice of as many sites adds more than this, km².
    pub upper_bound_km2: f64,
    /// Ground under the links of the chosen sites.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Chosen sites, the one that adds most first.
    pub sites: Vec<PlacedSite>,
}

/// Chosen site.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PlacedSite {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Height of the ground above mean sea level, m; null where it is not known.
    pub elevation_msl_m: Option<f64>,
    /// Area it adds to those before it, km².
    pub added_area_km2: f64,
    /// Area covered with it and those before it, km².
    pub covered_area_km2: f64,
    /// Share of the area whose ground is known, percent.
    pub covered_percent: f64,
    /// Nodes of the deployment with a link in both directions, over ground that is not unknown.
    pub links: usize,
    /// Ground under the paths to the nodes in reach.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Node with the largest link margin; null without a link.
    pub best_node_id: Option<Uuid>,
    /// Link margin of its worse direction, dB.
    pub best_link_margin_db: Option<f64>,
}
