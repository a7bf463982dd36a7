//! The plan of a chain of relays.

use schemars::JsonSchema;
use serde::Serialize;

use super::request::Strategy;
use crate::radio::{LinkResult, Pointing, Station};
use crate::terrain::GeoPoint;

/// A chain of relays and its data rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelayPlan {
    /// Strategy of the search.
    pub strategy: Strategy,
    /// The transmitter, the relays in order, the receiver.
    pub chain: Vec<ChainNode>,
    /// The hops in order, one fewer than nodes.
    pub segments: Vec<RelaySegment>,
    /// The slowest hop in its slower direction, bit/s; 0 when one does not close at all.
    pub bottleneck_rate_bps: f64,
    /// The rate asked for, bit/s.
    pub target_data_rate_bps: f64,
    /// The link margin asked for, dB.
    pub margin_db: f64,
    /// `true` if every hop keeps the target rate and the margin in both directions over ground that is not unknown.
    pub meets_target: bool,
    /// Cause for which the target is not met; absent when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<Shortfall>,
    /// Station at every relay: the transmitter's radio and antenna at the height asked for, without
    /// a fixed pointing, because a relay looks both ways.
    pub relay_station: Station,
    /// Antennas at every relay: one where it is omnidirectional, two where it is directive, each
    /// aimed at its neighbour as [`ChainNode::to_previous`] and [`ChainNode::to_next`] say.
    pub antennas_per_relay: u8,
}

/// A node of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChainNode {
    /// Role in the chain.
    pub role: ChainRole,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Ground above mean sea level, m.
    pub ground_msl_m: f64,
    /// Antenna above ground, m.
    pub height_agl_m: f64,
    /// Antenna above mean sea level, m.
    pub antenna_msl_m: f64,
    /// Direction of the previous node over the effective Earth; absent at the transmitter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_previous: Option<Pointing>,
    /// Direction of the next node; absent at the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_next: Option<Pointing>,
}

/// Role of a node of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChainRole {
    /// First node.
    Transmitter,
    /// Node between transmitter and receiver.
    Relay,
    /// Last node.
    Receiver,
}

/// One hop of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelaySegment {
    /// Length, m.
    pub distance_m: f64,
    /// Rate of the slower direction, bit/s; 0 unless both directions pass.
    pub data_rate_bps: f64,
    /// Link margin of the weaker direction, dB.
    pub link_margin_db: f64,
    /// `true` if the hop keeps the target rate and the margin over ground that is not unknown.
    pub closes: bool,
    /// Toward the receiver.
    pub forward: LinkResult,
    /// Toward the transmitter.
    pub backward: LinkResult,
}

/// Causes for which the target is not met. `segment` is the index of the hop that fails, from 0;
/// its result is in [`RelayPlan::segments`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Shortfall {
    /// No tested place on the rest of the way closes.
    Blocked {
        /// The hop from the last relay to the receiver.
        segment: usize,
        /// Length of that hop, m.
        remaining_m: f64,
        /// Distance to the nearest tested place, m; the receiver's distance where all others lie in
        /// voids of the terrain.
        nearest_tested_m: f64,
        /// Rate to that place in the slower direction, bit/s.
        nearest_data_rate_bps: f64,
        /// Link margin to that place in the weaker direction, dB; absent where it cannot be computed.
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest_link_margin_db: Option<f64>,
    },
    /// The hops allowed are used up before the receiver.
    HopsUsedUp {
        /// The hop from the last relay to the receiver.
        segment: usize,
        /// Length of that hop, m.
        remaining_m: f64,
        /// Hops allowed.
        max_hops: u32,
    },
    /// No chain over the places considered keeps the target; this is the one with the highest
    /// bottleneck, whatever its margin.
    NoChain {
        /// The slowest hop, the first of equals.
        segment: usize,
        /// Rate of that hop in the slower direction, bit/s.
        data_rate_bps: f64,
        /// Places considered.
        places: usize,
    },
    /// No chain over the places considered keeps the target and the margin; this one keeps the target.
    LowMargin {
        /// The hop with the least margin, the first of equals.
        segment: usize,
        /// Link margin of that hop in the weaker direction, dB.
        link_margin_db: f64,
    },
    /// The chain keeps the target over assumed ground alone: more than 5 % of a hop, or an end of it, lies in
    /// voids or off the tiles.
    UnknownGround {
        /// The first such hop.
        segment: usize,
        /// Number of such hops.
        segments: usize,
    },
}
