//! Full result of one direction of a link.
//!
//! No value is NaN or infinite: values that do not apply are absent.

use std::borrow::Cow;

use groundwave_propagation::polarization::Polarization;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fresnel::Clearance;
use super::outcome::{Availability, LimitingFactor, Margin, Rate, Receiver, Verdict};
use super::path_loss::Model;
use super::path_loss::{ItmTerrain, PropagationMode};
use super::prediction::Prediction;
use super::station::polarization_schema;
use super::warning::Warnings;
use crate::terrain::PathGround;

/// One direction of a link, from the transmitter to the receiver.
///
/// Two identities hold: `losses.total_path_loss_db` is the sum [`Losses::sum_db`], and
/// `receiver.rx_power_dbm` is [`LinkResult::closed_rx_power_dbm`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkResult {
    /// Transmitting node, where the caller names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_node_id: Option<String>,
    /// Receiving node, where the caller names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_node_id: Option<String>,
    /// Model that made the losses, after any fall-back (see `warnings`).
    pub model: Model,
    /// Edition of that model.
    pub model_version: Cow<'static, str>,
    /// Frequency of the transmitter, MHz.
    pub frequency_mhz: f64,
    /// Bandwidth in use, the narrower of the two ends, Hz.
    pub bandwidth_hz: f64,
    /// Polarisation of the wave, that of the transmitting antenna.
    #[schemars(schema_with = "polarization_schema")]
    pub polarization: Polarization,
    /// Positions of the ends and the geometry of the ray.
    pub geometry: Geometry,
    /// Clearance of the ray over terrain.
    pub clearance: Clearance,
    /// Terrain parameters of ITM; absent under other models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub itm: Option<ItmTerrain>,
    /// Powers and gains of the two ends.
    pub budget: Budget,
    /// Losses along the path.
    pub losses: Losses,
    /// Dominant propagation mode.
    pub propagation_mode: PropagationMode,
    /// Received power and noise.
    pub receiver: Receiver,
    /// Modulation and data rate.
    pub rate: Rate,
    /// Margins over sensitivity and the modulation in use.
    pub margin: Margin,
    /// Availability over time.
    pub availability: Availability,
    /// Sources of the terrain profile.
    pub terrain: TerrainReport,
    /// Warnings about the result.
    pub warnings: Warnings,
    /// Distribution of links like this one, and the probability that they work.
    pub prediction: Prediction,
    /// Rating by that probability.
    pub verdict: Verdict,
    /// Largest avoidable loss; absent if the receiver cannot decode the transmitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limiting_factor: Option<LimitingFactor>,
}

/// Positions of the ends and the geometry of the ray.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// WGS84 geodesic between the ends, m.
    pub distance_m: f64,
    /// Straight line between the antennas, m.
    pub slant_range_m: f64,
    /// Bearing from transmitter to receiver, true north clockwise, deg, [0, 360).
    pub azimuth_deg: f64,
    /// Bearing from receiver to transmitter, deg, [0, 360).
    pub back_azimuth_deg: f64,
    /// Angle of the ray above the horizontal at the transmitter over the effective Earth, deg.
    pub tx_elevation_angle_deg: f64,
    /// Angle of the ray above the horizontal at the receiver over the effective Earth, deg.
    pub rx_elevation_angle_deg: f64,
    /// Ground at the transmitter above mean sea level, m.
    pub tx_ground_msl_m: f64,
    /// Ground at the receiver above mean sea level, m.
    pub rx_ground_msl_m: f64,
    /// Ground at the transmitter above the WGS84 ellipsoid, m. Absent without a geoid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_ground_hae_m: Option<f64>,
    /// Ground at the receiver above the WGS84 ellipsoid, m. Absent without a geoid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rx_ground_hae_m: Option<f64>,
    /// Transmitting antenna above mean sea level, m.
    pub tx_antenna_msl_m: f64,
    /// Receiving antenna above mean sea level, m.
    pub rx_antenna_msl_m: f64,
    /// Effective Earth radius factor used for clearance, angles and delta-Bullington.
    pub k_factor: f64,
    /// That factor times the mean Earth radius, m.
    pub effective_earth_radius_m: f64,
}

/// Powers and gains of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Power at the transmitter's connector, dBm.
    pub tx_power_dbm: f64,
    /// Loss of the transmitter's feeder, dB.
    pub tx_feeder_loss_db: f64,
    /// Boresight gain of the transmitting antenna, dBi.
    pub tx_gain_dbi: f64,
    /// Pointing loss of the transmitting antenna, dB.
    pub tx_pointing_loss_db: f64,
    /// Power radiated toward the receiver, dBm: the four above.
    pub eirp_dbm: f64,
    /// Boresight gain of the receiving antenna, dBi.
    pub rx_gain_dbi: f64,
    /// Pointing loss of the receiving antenna, dB.
    pub rx_pointing_loss_db: f64,
    /// Loss of the receiver's feeder, dB.
    pub rx_feeder_loss_db: f64,
    /// Loss between differently polarised antennas, dB.
    pub polarization_loss_db: f64,
}

/// Losses along the path, dB. Terms that a model does not have are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Losses {
    /// Free-space loss over the slant range (ITU-R P.525), dB.
    pub free_space_loss_db: f64,
    /// ITM's median attenuation over free space, dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_attenuation_db: Option<f64>,
    /// ITM's addition for the quantile asked for, dB, often negative; limited so that it and the
    /// reference together are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variability_db: Option<f64>,
    /// The reference attenuation again when troposcatter makes it, dB. Not a term of the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub troposcatter_loss_db: Option<f64>,
    /// Delta-Bullington diffraction loss (ITU-R P.526), dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diffraction_loss_db: Option<f64>,
    /// Absorption by oxygen (ITU-R P.676), dB.
    pub gas_oxygen_db: f64,
    /// Absorption by water vapour (ITU-R P.676), dB.
    pub gas_water_vapour_db: f64,
    /// Rain falling now (ITU-R P.838 over the effective path of P.530), dB.
    pub rain_loss_db: f64,
    /// The rain rate behind it, mm/h.
    pub rain_rate_mm_h: f64,
    /// Clutter around the transmitter (ITU-R P.2108), dB.
    pub clutter_tx_db: f64,
    /// Clutter around the receiver (ITU-R P.2108), dB.
    pub clutter_rx_db: f64,
    /// Walls around the transmitter (ITU-R P.2109), dB; absent outdoors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building_tx_db: Option<f64>,
    /// Walls around the receiver (ITU-R P.2109), dB; absent outdoors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building_rx_db: Option<f64>,
    /// Woodland (ITU-R P.833), dB: that around the ends, or else that on every path.
    pub vegetation_db: f64,
    /// Part of it around the transmitter, dB; absent where that does not stand in woodland of its own. Not a term of
    /// the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vegetation_tx_db: Option<f64>,
    /// Part of it around the receiver, dB; likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vegetation_rx_db: Option<f64>,
    /// Other loss of the environment, dB.
    pub other_loss_db: f64,
    /// Offset of the calibration profile, dB; limited so that the total is not below free space.
    /// Absent without a class that holds the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration_db: Option<f64>,
    /// Everything beyond free space, dB.
    pub excess_loss_db: f64,
    /// Everything, dB.
    pub total_path_loss_db: f64,
}

/// Sources of the terrain profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerrainReport {
    /// Tiles that supplied a sample.
    pub tiles_used: u32,
    /// Samples that touch a void.
    pub void_samples: u32,
    /// Samples off every tile.
    pub missing_samples: u32,
    /// Knowledge of the ground: `unknown` leaves no verdict.
    #[serde(default)]
    pub ground: PathGround,
    /// Coarsest spacing of posts, arc-seconds; absent without tiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution_arcsec: Option<f64>,
}

impl Losses {
    /// Sum of the terms beyond free space, in field order, dB.
    #[must_use]
    pub fn excess_sum_db(&self) -> f64 {
        self.reference_attenuation_db.unwrap_or(0.0)
            + self.variability_db.unwrap_or(0.0)
            + self.diffraction_loss_db.unwrap_or(0.0)
            + self.gas_oxygen_db
            + self.gas_water_vapour_db
            + self.rain_loss_db
            + self.clutter_tx_db
            + self.clutter_rx_db
            + self.building_tx_db.unwrap_or(0.0)
            + self.building_rx_db.unwrap_or(0.0)
            + self.vegetation_db
            + self.other_loss_db
            + self.calibration_db.unwrap_or(0.0)
    }

    /// Free space plus [`Self::excess_sum_db`], dB.
    #[must_use]
    pub fn sum_db(&self) -> f64 {
        self.free_space_loss_db + self.excess_sum_db()
    }
}

impl Budget {
    /// Power at the receiver's connector after `losses`, dBm.
    pub(super) fn rx_power_dbm(&self, losses: &Losses) -> f64 {
        self.eirp_dbm - losses.total_path_loss_db + self.rx_gain_dbi
            - self.rx_pointing_loss_db
            - self.rx_feeder_loss_db
            - self.polarization_loss_db
    }
}

impl LinkResult {
    /// `true` if the link margin is not negative and the receiver can decode the transmitter.
    #[must_use]
    pub fn closes(&self) -> bool {
        // Where it cannot, nothing limits the link.
        self.limiting_factor.is_some() && self.margin.link_margin_db >= 0.0
    }

    /// The received power as the other fields imply it, dBm:
    /// EIRP - path loss + receive gain - receive losses.
    #[must_use]
    pub fn closed_rx_power_dbm(&self) -> f64 {
        self.budget.rx_power_dbm(&self.losses)
    }
}
