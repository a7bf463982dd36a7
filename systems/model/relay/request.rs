//! Request for a relay plan.

use groundwave_values::bounds::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::link::Inputs;
use crate::radio::prepare::understand;
use crate::radio::{BadValue, Station};
use crate::terrain::GeoPoint;

/// Maximum number of hops of a chain. At 64 equal hops on one channel no throughput worth a relay
/// remains, and the work of a search grows with them.
pub const MAX_HOPS_MAX: u32 = 64;

/// Highest a relay may stand, m above ground: the limit of every station.
pub const HEIGHT_AGL_M_MAX: f64 = 20_000.0;

/// Maximum margin that may be asked for, dB: more than any fade takes.
pub const MARGIN_DB_MAX: f64 = 60.0;

/// One of the two stations that relays are to connect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelayEnd<'a> {
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: &'a Station,
}

/// Request for a chain of relays between two stations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelayRequest<'a> {
    /// The transmitter.
    pub tx: RelayEnd<'a>,
    /// The receiver.
    pub rx: RelayEnd<'a>,
    /// Rate every hop has to carry in both directions, bit/s, above 0.
    pub target_data_rate_bps: f64,
    /// Link margin every hop has to leave in both directions, dB, [0, [`MARGIN_DB_MAX`]].
    pub margin_db: f64,
    /// Antenna height of relays above ground, m, [0, [`HEIGHT_AGL_M_MAX`]].
    pub relay_height_agl_m: f64,
    /// Most hops, one more than relays, [1, [`MAX_HOPS_MAX`]].
    pub max_hops: u32,
    /// Strategy of the search.
    pub strategy: Strategy,
}

/// Search strategy for relay positions.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Strategy {
    /// The farthest step along the great circle that closes, again and again.
    #[default]
    Greedy,
    /// The best chain over the great circle and the high ground beside it.
    Optimal {
        /// Objective of the optimum.
        #[serde(default)]
        objective: Objective,
    },
}

/// Objective by which chains are compared.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// The fewest relays that keep the target rate and the margin; among those the fastest slowest hop.
    #[default]
    FewestRelays,
    /// The fastest slowest hop that leaves the margin within the hops allowed; among those the fewest relays.
    HighestBottleneck,
}

/// Errors of a relay plan.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum RelayError {
    /// A station has an invalid value.
    #[error("{end}: {cause}")]
    Station {
        /// `tx` or `rx`.
        end: &'static str,
        /// The invalid value.
        cause: BadValue,
    },
    /// The environment has an invalid value.
    #[error("environment: {0}")]
    Environment(BadValue),
    /// `margin_db`, `relay_height_agl_m`, `max_hops` or the ground under a hop is out of range.
    #[error(transparent)]
    Value(#[from] BadValue),
    /// The target rate is invalid.
    #[error("`target_data_rate_bps` is {0}, allowed is above 0 and finite")]
    Rate(f64),
    /// No chain of relays with one radio can connect two that do not understand each other.
    #[error(
        "the radios of tx and rx do not understand each other, and relays repeat, they do not \
         translate; allowed are stations of one frequency and waveform"
    )]
    Incompatible,
}

impl RelayRequest<'_> {
    pub(super) fn check(&self, inputs: &Inputs<'_>) -> Result<(), RelayError> {
        let environment = inputs.environment.validate();
        environment.map_err(RelayError::Environment)?;
        for (end, station) in [("tx", self.tx.station), ("rx", self.rx.station)] {
            let checked = station.validate();
            checked.map_err(|cause| RelayError::Station { end, cause })?;
        }
        let rate = self.target_data_rate_bps;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(RelayError::Rate(rate));
        }
        within("margin_db", self.margin_db, 0.0, MARGIN_DB_MAX)?;
        let height_agl_m = self.relay_height_agl_m;
        within("relay_height_agl_m", height_agl_m, 0.0, HEIGHT_AGL_M_MAX)?;
        let (hops, most) = (f64::from(self.max_hops), f64::from(MAX_HOPS_MAX));
        within("max_hops", hops, 1.0, most)?;
        let (tx, rx) = (&self.tx.station.radio, &self.rx.station.radio);
        if !understand(tx, rx) || !understand(rx, tx) {
            return Err(RelayError::Incompatible);
        }
        Ok(())
    }

    /// Station at every relay: the transmitter's radio and antenna at the height asked for.
    ///
    /// The radio is the transmitter's because it is known to be allowed and at hand, and because
    /// the receiver understands it. The antenna has no fixed pointing: an omnidirectional one
    /// serves both neighbours as it is, and of a directive one a relay carries two, each aimed at
    /// its neighbour, because a relay with one direction only connects nothing.
    pub(super) fn relay_station(&self) -> Station {
        let transmitter = self.tx.station;
        let (radio, antenna) = (transmitter.radio.clone(), transmitter.antenna.clone());
        Station::new(self.relay_height_agl_m, radio, antenna)
    }
}
