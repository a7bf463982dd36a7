//! Links.

use groundwave_http::strict::{saturating, whole_number};
use groundwave_model::radio::{Assumptions, LinkResult};
use groundwave_simulation::link::Percentile;
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

/// Both directions at one share of links.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkPercentile {
    /// Share of links like this one, percent.
    pub percent: f64,
    /// Received power exceeded in that share, from the sender to the receiver, dBm.
    pub rx_power_dbm: f64,
    /// Link margin exceeded in that share, from the sender to the receiver, dB.
    pub link_margin_db: f64,
    /// Received power of the reverse direction, dBm.
    pub reverse_rx_power_dbm: f64,
    /// Link margin of the reverse direction, dB.
    pub reverse_link_margin_db: f64,
}

impl From<Percentile> for LinkPercentile {
    fn from(one: Percentile) -> Self {
        let [rx_power_dbm, reverse_rx_power_dbm] = one.rx_power_dbm;
        let [link_margin_db, reverse_link_margin_db] = one.link_margin_db;
        Self {
            percent: one.percent,
            rx_power_dbm,
            link_margin_db,
            reverse_rx_power_dbm,
            reverse_link_margin_db,
        }
    }
}
