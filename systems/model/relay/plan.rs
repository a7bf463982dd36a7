//! What is said about a chain of relays.

use schemars::JsonSchema;
use serde::Serialize;

use super::request::Strategy;
use crate::radio::{LinkResult, Pointing, Station};
use crate::terrain::GeoPoint;

/// A chain of relays and what it carries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelayPlan {
    /// How it was found.
    pub strategy: Strategy,
    /// The transmitter, the relays in order, the receiver.
    pub chain: Vec<ChainNode>,
    /// The hops in order, one fewer than nodes.
    pub segments: Vec<RelaySegment>,
    /// The slowest hop in its slower direction, bit/s; 0 when one does not close at all.
    pub bottleneck_rate_bps: f64,
    /// The rate asked for, bit/s.
    pub target_data_rate_bps: f64,
    /// Whether every hop keeps it in both directions.
    pub meets_target: bool,
    /// Why the target is not met; absent when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<Shortfall>,
    /// What stands at every relay: the transmitter's radio and antenna at the height asked for,
    /// without a fixed pointing, because a relay looks both ways.
    pub relay_station: Station,
    /// Antennas at every relay: one where it is omnidirectional, two where it is directive, each
    /// aimed at its neighbour as [`ChainNode::to_previous`] and [`ChainNode::to_next`] say.
    pub antennas_per_relay: u8,
}

/// A node of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct ChainNode {
    /// What it is.
    pub role: ChainRole,
    /// Where it stands.
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

/// What a node of the chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChainRole {
    /// Where the chain begins.
    Transmitter,
    /// Between the two.
    Relay,
    /// Where it ends.
    Receiver,
}

/// One hop of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelaySegment {
    /// Length, m.
    pub distance_m: f64,
    /// Rate of the slower direction, bit/s; 0 unless both directions pass.
    pub data_rate_bps: f64,
    /// Whether that keeps the target rate.
    pub closes: bool,
    /// Toward the receiver.
    pub forward: LinkResult,
    /// Toward the transmitter.
    pub backward: LinkResult,
}

/// Why the target is not met. `segment` is the hop that fails, from 0; what it came to is in
/// [`RelayPlan::segments`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Shortfall {
    /// No tested place on the rest of the way closes.
    Blocked {
        /// The hop from the last relay to the receiver.
        segment: usize,
        /// Its length, m.
        remaining_m: f64,
        /// How far the nearest tested place lies, m; the receiver's distance where all others lie in
        /// voids of the terrain.
        nearest_tested_m: f64,
        /// Rate to that place in the slower direction, bit/s.
        nearest_data_rate_bps: f64,
    },
    /// The hops allowed are used up before the receiver.
    HopsUsedUp {
        /// The hop from the last relay to the receiver.
        segment: usize,
        /// Its length, m.
        remaining_m: f64,
        /// Hops allowed.
        max_hops: u32,
    },
    /// No chain over the places considered keeps the target; this is the one with the highest
    /// bottleneck.
    NoChain {
        /// The slowest hop, the first of equals.
        segment: usize,
        /// Its rate in the slower direction, bit/s.
        data_rate_bps: f64,
        /// Places considered.
        places: usize,
    },
}
