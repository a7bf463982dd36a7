//! Links.

use groundwave_http::strict::{saturating, whole_number};
use groundwave_model::link::LinkPercentile;
use groundwave_model::radio::{Assumptions, LinkResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::terrain::{TerrainProfile, samples};

/// Fewest samples of a link's profile.
pub const SAMPLES_MIN: i64 = 8;

/// Two nodes to look between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkQuestion {
    /// Transmitting node.
    pub tx_node_id: Uuid,
    /// Receiving node.
    pub rx_node_id: Uuid,
    /// Samples of the profile, clamped to [8, 4096].
    #[serde(default = "samples", deserialize_with = "saturating")]
    #[schemars(schema_with = "whole_number")]
    pub samples: i64,
    /// One sample per terrain post, 32 to 1024, in place of `samples`: as the links of a deployment have.
    #[serde(default)]
    pub is_per_post: bool,
}

/// Link analysis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkAnalysis {
    /// Transmitting node.
    pub tx_node_id: Uuid,
    /// Receiving node.
    pub rx_node_id: Uuid,
    /// Terrain profile.
    pub profile: TerrainProfile,
    /// False if more than 5 % of the profile, or an end of it, lies in voids or off the tiles: the verdicts and
    /// figures rest on assumed ground then.
    pub terrain_known: bool,
    /// From the sender to the receiver.
    pub result: LinkResult,
    /// Reverse direction.
    pub reverse: LinkResult,
    /// Both directions at 10, 50 and 90 % of links like this one.
    pub percentiles: Vec<LinkPercentile>,
    /// Shares of time, locations and situations of both results, effects left out, calibration.
    pub assumptions: Assumptions,
}
