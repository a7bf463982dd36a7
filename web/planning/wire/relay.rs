//! Relay plans.

use groundwave_model::mesh::GroundSummary;
use groundwave_model::radio::{LinkResult, Pointing};
use groundwave_model::relay::{ChainRole, Objective, RelayPlan, Shortfall, Strategy};
use groundwave_model::terrain::{PathGround, Terrain, sample_profile};
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
    /// Transmitting node id.
    pub tx_node_id: Uuid,
    /// Receiving node id.
    pub rx_node_id: Uuid,
    /// Rate every hop has to carry in both directions, bit/s; 1 Mbit/s by default.
    #[serde(default = "megabit")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub target_data_rate_bps: f64,
    /// Link margin every hop has to leave in both directions, dB: by default 10 for `optimal`, 0 for `greedy`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 60.0))]
    pub margin_db: Option<f64>,
    /// Antenna height of relays above ground, m, 10 by default.
    #[serde(default = "ten_m")]
    #[schemars(range(min = 0.0, max = 20_000.0))]
    pub relay_height_agl_m: f64,
    /// Most hops, one more than relays, 8 by default.
    #[serde(default = "eight")]
    #[schemars(range(min = 1, max = 64))]
    pub max_hops: u32,
    /// Placement strategy, default `greedy`.
    #[serde(default)]
    pub strategy: RelayStrategy,
    /// Objective of `optimal`, default `fewest_relays`.
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

/// Placement strategy of relays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelayStrategy {
    /// Repeatedly the farthest closing hop along the great circle.
    #[default]
    Greedy,
    /// Best chain over the great circle and high ground beside it; never worse.
    Optimal,
}

/// Link margin that `optimal` leaves where none is asked for, dB: a fade of 10 dB is common on links of a mesh.
const MARGIN_DB: f64 = 10.0;

impl RelayQuestion {
    /// Link margin of every hop, dB.
    #[must_use]
    pub fn margin_db(&self) -> f64 {
        self.margin_db.unwrap_or(match self.strategy {
            RelayStrategy::Greedy => 0.0,
            RelayStrategy::Optimal => MARGIN_DB,
        })
    }

    /// Strategy of the model.
    #[must_use]
    pub fn strategy(&self) -> Strategy {
        match self.strategy {
            RelayStrategy::Greedy => Strategy::Greedy,
            RelayStrategy::Optimal => Strategy::Optimal { objective: self.objective },
        }
    }
}

/// Relay chain and its performance.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RelayChain {
    /// Strategy.
    pub strategy: RelayStrategy,
    /// Every hop meets the target rate and the margin in both directions, over ground that is not unknown.
    pub meets_target: bool,
    /// Ground under the hops.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Reason why the target is not met; null if it is.
    pub shortfall: Option<Shortfall>,
    /// Requested rate, bit/s.
    pub target_data_rate_bps: f64,
    /// Link margin that every hop had to leave, dB.
    pub margin_db: f64,
    /// Rate of the slowest hop in its slower direction, bit/s; 0 when a hop does not close.
    pub bottleneck_rate_bps: f64,
    /// Transmitter, relays in order, receiver.
    pub hops: Vec<ChainPlace>,
    /// Hops between the sites.
    pub segments: Vec<ChainSegment>,
    /// Radio of every relay: that of the transmitter.
    pub relay_radio: RadioConfig,
    /// Pointing of the first relay's antenna toward the next hop; null without a relay. Those of all
    /// relays, in both directions, are `to_previous` and `to_next` of each hop.
    pub relay_pointing: Option<Pointing>,
    /// Antennas at every relay: one where it is omnidirectional, else one to each side.
    pub antennas_per_relay: u8,
}

/// Site of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChainPlace {
    /// Role.
    pub role: ChainRole,
    /// Node id; null for a relay to be built.
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

/// Hop of the chain.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ChainSegment {
    /// Length, m.
    pub distance_m: f64,
    /// Rate of the slower direction, bit/s.
    pub data_rate_bps: f64,
    /// Link margin of the weaker direction, dB.
    pub link_margin_db: f64,
    /// The hop meets the target rate and the margin, over ground that is not unknown.
    pub closes: bool,
    /// Knowledge of the ground; over `unknown` ground rates and results rest on assumed heights.
    pub ground: PathGround,
    /// Terrain profile.
    pub profile: TerrainProfile,
    /// Toward the receiver.
    pub result: LinkResult,
    /// Toward the transmitter.
    pub reverse: LinkResult,
}

impl RelayChain {
    /// Response of a relay plan.
    #[must_use]
    pub fn new(plan: RelayPlan, ends: [Uuid; 2], terrain: &dyn Terrain) -> Self {
        let between = plan.chain.windows(2).map(|pair| {
            let profile =
                sample_profile(terrain, pair[0].position, pair[1].position, SHOWN_SAMPLES);
            TerrainProfile::new(&profile, terrain)
        });
        let ground = plan.segments.iter().map(|segment| segment.forward.terrain.ground).collect();
        let segments = plan.segments.into_iter().zip(between);
        let segment =
            |(segment, profile): (groundwave_model::relay::RelaySegment, _)| ChainSegment {
                distance_m: segment.distance_m,
                data_rate_bps: segment.data_rate_bps,
                link_margin_db: segment.link_margin_db,
                closes: segment.closes,
                ground: segment.forward.terrain.ground,
                profile,
                result: segment.forward,
                reverse: segment.backward,
            };
        let place = |node: &groundwave_model::relay::ChainNode| ChainPlace {
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
            ground,
            shortfall: plan.shortfall,
            target_data_rate_bps: plan.target_data_rate_bps,
            margin_db: plan.margin_db,
            bottleneck_rate_bps: plan.bottleneck_rate_bps,
            hops: plan.chain.iter().map(place).collect(),
            relay_radio: RadioConfig::of(&plan.relay_station),
            relay_pointing: plan
                .chain
                .iter()
                .find(|node| node.role == ChainRole::Relay)
                .and_then(|relay| relay.to_next),
            antennas_per_relay: plan.antennas_per_relay,
            segments: segments.map(segment).collect(),
        }
    }
}
