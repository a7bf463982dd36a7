//! The budget of a link, in short form.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::radio::modulation::ModulationId;
use crate::radio::{Basis, Expectation, LinkResult, Model, Verdict, Warning, Warnings};
use crate::terrain::PathGround;

/// The result of a link in both directions, reduced to what routing and views need.
///
/// The binary form, which digests are made of, has no `ground`, as that of [`Direction`] has no probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkBudget {
    /// The model that answered.
    pub model: Model,
    /// WGS84 geodesic, m.
    pub distance_m: f64,
    /// `true` if the straight ray over the effective Earth is clear.
    pub line_of_sight: bool,
    /// Least clearance over the radius of the first Fresnel zone; `None` where the models ask
    /// for none because no sample lies between the ends.
    pub fresnel_clearance_ratio: Option<f64>,
    /// Samples of the profile without a height in the tile.
    pub void_samples: u32,
    /// Samples of the profile without a tile.
    pub missing_samples: u32,
    /// Knowledge of the ground: `unknown` leaves no verdict.
    pub ground: PathGround,
    /// Warnings of the path-loss model, of both directions.
    pub warnings: Warnings,
    /// From the lower id to the higher.
    pub forward: Direction,
    /// From the higher id to the lower.
    pub backward: Direction,
}

impl Default for LinkBudget {
    fn default() -> Self {
        Self {
            model: Model::FreeSpace,
            distance_m: 0.0,
            line_of_sight: false,
            fresnel_clearance_ratio: None,
            void_samples: 0,
            missing_samples: 0,
            ground: PathGround::Known,
            warnings: Warnings::default(),
            forward: Direction::NONE,
            backward: Direction::NONE,
        }
    }
}

impl Serialize for LinkBudget {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_text = serializer.is_human_readable();
        let fields = if is_text { 10 } else { 9 };
        let mut out = serializer.serialize_struct("LinkBudget", fields)?;
        out.serialize_field("model", &self.model)?;
        out.serialize_field("distance_m", &self.distance_m)?;
        out.serialize_field("line_of_sight", &self.line_of_sight)?;
        out.serialize_field("fresnel_clearance_ratio", &self.fresnel_clearance_ratio)?;
        out.serialize_field("void_samples", &self.void_samples)?;
        out.serialize_field("missing_samples", &self.missing_samples)?;
        if is_text {
            out.serialize_field("ground", &self.ground)?;
        }
        out.serialize_field("warnings", &self.warnings)?;
        out.serialize_field("forward", &self.forward)?;
        out.serialize_field("backward", &self.backward)?;
        out.end()
    }
}

/// Loss of a link that cannot be computed, dB: no power comes through it.
const NOT_COMPUTABLE_DB: f64 = 1_000.0;

/// One direction of a link.
///
/// The text form has all fields. The binary form, which digests are made of, has those of version 0.1.0,
/// so that logs of that version replay to their digests: the rating by link margin as `verdict`, and no
/// probability, interval and basis, which follow from other inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// Total path loss, dB.
    pub path_loss_db: f64,
    /// Power at the receiver, dBm.
    pub rx_power_dbm: f64,
    /// SNR, dB.
    pub snr_db: f64,
    /// SNR above the lowest modulation's need, dB.
    pub link_margin_db: f64,
    /// Modulation in use, if any can be decoded.
    pub modulation: Option<ModulationId>,
    /// Rate left to payload, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost, [0, 1].
    pub per: f64,
    /// Probability that a link like this one works, [0, 1].
    pub link_prob: f64,
    /// Received power of 90 % of links like this one, dBm: 5 % lie below the first, 5 % above the
    /// second.
    pub rx_power_interval_dbm: [f64; 2],
    /// Knowledge that probability and interval rest on.
    pub basis: Basis,
    /// Verdict by that probability.
    pub verdict: Verdict,
    /// `true` if the receiver can decode the transmitter.
    pub compatible: bool,
}

impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_text = serializer.is_human_readable();
        let fields = if is_text { 11 } else { 8 };
        let mut out = serializer.serialize_struct("Direction", fields)?;
        out.serialize_field("path_loss_db", &self.path_loss_db)?;
        out.serialize_field("rx_power_dbm", &self.rx_power_dbm)?;
        out.serialize_field("snr_db", &self.snr_db)?;
        out.serialize_field("link_margin_db", &self.link_margin_db)?;
        out.serialize_field("modulation", &self.modulation)?;
        out.serialize_field("data_rate_bps", &self.data_rate_bps)?;
        out.serialize_field("per", &self.per)?;
        if is_text {
            out.serialize_field("link_prob", &self.link_prob)?;
            out.serialize_field("rx_power_interval_dbm", &self.rx_power_interval_dbm)?;
            out.serialize_field("basis", &self.basis)?;
            out.serialize_field("verdict", &self.verdict)?;
        } else {
            let by_margin = if self.compatible {
                Verdict::of_margin(self.link_margin_db)
            } else {
                Verdict::NoLink
            };
            out.serialize_field("verdict", &by_margin)?;
        }
        out.end()
    }
}

impl Direction {
    const NONE: Self = Self {
        path_loss_db: 0.0,
        rx_power_dbm: 0.0,
        snr_db: 0.0,
        link_margin_db: 0.0,
        modulation: None,
        data_rate_bps: 0.0,
        per: 1.0,
        link_prob: 0.0,
        rx_power_interval_dbm: [0.0; 2],
        basis: Basis::GroundUnknown,
        verdict: Verdict::NoLink,
        compatible: false,
    };

    fn of(result: &LinkResult) -> Self {
        Self {
            path_loss_db: result.losses.total_path_loss_db,
            rx_power_dbm: result.receiver.rx_power_dbm,
            snr_db: result.receiver.sinr_db,
            link_margin_db: result.margin.link_margin_db,
            modulation: result.rate.modulation_id,
            data_rate_bps: result.rate.data_rate_bps,
            per: result.rate.per,
            link_prob: result.prediction.link_prob,
            rx_power_interval_dbm: result.prediction.rx_power_interval_dbm,
            basis: result.prediction.basis,
            verdict: result.verdict,
            // Every compatible link has a limiting factor.
            compatible: result.limiting_factor.is_some(),
        }
    }

    /// Interval and probability of links like this one over `ground`.
    #[must_use]
    pub fn expectation(&self, ground: PathGround) -> Expectation {
        Expectation {
            basis: self.basis,
            ground,
            rx_power_interval_dbm: self.rx_power_interval_dbm,
            link_prob: self.link_prob,
        }
    }

    /// `true` if the link margin is not negative and the receiver can decode the transmitter.
    #[must_use]
    pub fn closes(&self) -> bool {
        self.compatible && self.link_margin_db >= 0.0
    }

    /// `true` if a modulation is decoded and PER is below 1.
    #[must_use]
    pub fn usable(&self) -> bool {
        self.modulation.is_some() && self.per < 1.0
    }
}

impl LinkBudget {
    /// The budget of a link over `distance_m` whose stations, environment or ground are out of the range
    /// of every model: no link, with [`Warning::NotComputable`].
    #[must_use]
    pub fn not_computable(distance_m: f64) -> Self {
        let direction = Direction {
            path_loss_db: NOT_COMPUTABLE_DB,
            rx_power_dbm: -NOT_COMPUTABLE_DB,
            snr_db: -NOT_COMPUTABLE_DB,
            link_margin_db: -NOT_COMPUTABLE_DB,
            rx_power_interval_dbm: [-NOT_COMPUTABLE_DB; 2],
            ..Direction::NONE
        };
        Self {
            distance_m,
            warnings: [Warning::NotComputable].into_iter().collect(),
            forward: direction,
            backward: direction,
            ..Self::default()
        }
    }

    /// The short form of a result in both directions.
    #[must_use]
    pub fn of(forward: &LinkResult, backward: &LinkResult) -> Self {
        Self {
            model: forward.model,
            distance_m: forward.geometry.distance_m,
            line_of_sight: forward.clearance.line_of_sight,
            fresnel_clearance_ratio: forward.clearance.fresnel_clearance_ratio,
            void_samples: forward.terrain.void_samples,
            missing_samples: forward.terrain.missing_samples,
            ground: forward.terrain.ground,
            warnings: forward.warnings.union(backward.warnings),
            forward: Direction::of(forward),
            backward: Direction::of(backward),
        }
    }

    /// The direction that works with the lower probability; of equal ones that with less link margin.
    #[must_use]
    pub fn weaker(&self) -> &Direction {
        let rank = |way: &Direction| (way.link_prob, way.link_margin_db);
        match rank(&self.forward) <= rank(&self.backward) {
            true => &self.forward,
            false => &self.backward,
        }
    }

    /// Interval and probability of links like the weaker direction.
    #[must_use]
    pub fn expectation(&self) -> Expectation {
        self.weaker().expectation(self.ground)
    }

    /// Expected transmissions with acknowledgements counted, `1 / (df dr)` (De Couto et al., "A
    /// high-throughput path metric for multi-hop wireless routing", MobiCom 2003); `None` unless
    /// both directions pass.
    #[must_use]
    pub fn etx(&self) -> Option<f64> {
        let both = self.forward.usable() && self.backward.usable();
        both.then(|| 1.0 / ((1.0 - self.forward.per) * (1.0 - self.backward.per)))
    }
}
