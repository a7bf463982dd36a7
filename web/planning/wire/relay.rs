//! Relay plans.

use groundwave_systems::radio::{LinkResult, Pointing};
use groundwave_systems::relay::{ChainRole, Objective, RelayPlan, Shortfall, Strategy};
use groundwave_systems::terrain::{Terrain, sample_profile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::radio::RadioConfig;
use super::terrain::TerrainProfile;

/// Samples of a segment's profile as shown.
const SHOWN_SAMPLES: usize = 128;

/// Two nodes to connect.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelayQuestion {
    /// Where the chain begins.
    pub tx_node_id: Uuid,
    /// Where it ends.
    pub rx_node_id: Uuid,
    /// Rate every hop has to carry in both directions, bit/s; 1 Mbit/s by default.
    #[serde(default = "megabit")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub target_data_rate_bps: f64,
    /// Antenna height of relays above ground, m, 10 by default.
    #[serde(default = "ten_m")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub relay_height_agl_m: f64,
    /// Most hops, one more than relays, 8 by default.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 64))]
    pub max_hops: u32,
    /// How places are found, `greedy` by default.
    #[serde(default)]
    pub strategy: RelayStrategy,
    /// What `optimal` makes best, `fewest_relays` by default.
    #[serde(default)]
    pub objective: Objective,
}

fn megabit() -> f64 {
    1e6
}

fn ten_m() -> f64 {
    10.0
}

fn eight() -> u32 {
    8
}

/// How places for relays are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelayStrategy {
    /// The farthest step along the great circle that closes, again and again.
    #[default]
    Greedy,
    /// The best chain over the great circle and the high ground beside it; never worse.
    Optimal,
}

impl RelayQuestion {
    /// The strategy as the planner knows it.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        match self.strategy {
            RelayStrategy::Greedy => Strategy::Greedy,
            RelayStrategy::Optimal => Strategy::Optimal {
                objective: self.objective,
            },
        }
    }
}

/// A chain of relays and what it carries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelayChain {
    /// How it was found.
    pub strategy: RelayStrategy,
    /// Whether every hop keeps the target rate in both directions.
    pub meets_target: bool,
    /// Why not, where it does not.
    pub shortfall: Option<Shortfall>,
    /// The rate asked for, bit/s.
    pub target_data_rate_bps: f64,
    /// The slowest hop in its slower direction, bit/s; 0 when one does not close at all.
    pub bottleneck_rate_bps: f64,
    /// The transmitter, the relays in order, the receiver.
    pub hops: Vec<ChainPlace>,
    /// What lies between them, one fewer.
    pub segments: Vec<ChainSegment>,
    /// What every relay sends and receives with: the transmitter's own.
    pub relay_radio: RadioConfig,
    /// Where a relay's antenna looks; null, because it looks both ways: `to_previous` and
    /// `to_next` of each hop say where.
    pub relay_pointing: Option<Pointing>,
    /// Antennas at every relay: one where it is omnidirectional, else one to each side.
    pub antennas_per_relay: u8,
}

/// A place of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChainPlace {
    /// What it is.
    pub role: ChainRole,
    /// The node that stands there; null for a relay, which is yet to be built.
    pub node_id: Option<Uuid>,
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
    /// Ground above mean sea level, m.
    pub ground_msl_m: f64,
    /// Antenna above ground, m.
    pub height_agl_m: f64,
    /// Direction of the previous place.
    pub to_previous: Option<Pointing>,
    /// Direction of the next place.
    pub to_next: Option<Pointing>,
}

/// One hop of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChainSegment {
    /// Length, m.
    pub distance_m: f64,
    /// Rate of the slower direction, bit/s.
    pub data_rate_bps: f64,
    /// Whether that keeps the target rate.
    pub closes: bool,
    /// The ground under it.
    pub profile: TerrainProfile,
    /// Toward the receiver.
    pub result: LinkResult,
    /// Toward the transmitter.
    pub reverse: LinkResult,
}

impl RelayChain {
    /// A plan between two nodes as clients see it.
    #[must_use]
    pub fn new(plan: RelayPlan, ends: [Uuid; 2], terrain: &dyn Terrain) -> Self {
        let between = plan.chain.windows(2).map(|pair| {
            let profile =
                sample_profile(terrain, pair[0].position, pair[1].position, SHOWN_SAMPLES);
            TerrainProfile::new(&profile, terrain)
        });
        let segments = plan.segments.into_iter().zip(between);
        let segment =
            |(segment, profile): (groundwave_systems::relay::RelaySegment, _)| ChainSegment {
                distance_m: segment.distance_m,
                data_rate_bps: segment.data_rate_bps,
                closes: segment.closes,
                profile,
                result: segment.forward,
                reverse: segment.backward,
            };
        let place = |node: &groundwave_systems::relay::ChainNode| ChainPlace {
            role: node.role,
            node_id: match node.role {
                ChainRole::Transmitter => Some(ends[0]),
                ChainRole::Relay => None,
                ChainRole::Receiver => Some(ends[1]),
            },
            lat: node.position.lat_deg(),
            lon: node.position.lon_deg(),
            ground_msl_m: node.ground_msl_m,
            height_agl_m: node.height_agl_m,
            to_previous: node.to_previous,
            to_next: node.to_next,
        };
        Self {
            strategy: match plan.strategy {
                Strategy::Greedy => RelayStrategy::Greedy,
                Strategy::Optimal { .. } => RelayStrategy::Optimal,
            },
            meets_target: plan.meets_target,
            shortfall: plan.shortfall,
            target_data_rate_bps: plan.target_data_rate_bps,
            bottleneck_rate_bps: plan.bottleneck_rate_bps,
            hops: plan.chain.iter().map(place).collect(),
            relay_radio: RadioConfig::of(&plan.relay_station),
            relay_pointing: plan.relay_station.pointing,
            antennas_per_relay: plan.antennas_per_relay,
            segments: segments.map(segment).collect(),
        }
    }
}
