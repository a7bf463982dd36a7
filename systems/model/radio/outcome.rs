//! Received power, rate, margin, availability and verdict of a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::modulation::ModulationId;

/// Received power and noise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receiver {
    /// Power at the receiver's connector, dBm.
    pub rx_power_dbm: f64,
    /// Noise figure, dB.
    pub noise_figure_db: f64,
    /// Man-made noise over k T0 B (ITU-R P.372), dB; absent when none is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub man_made_noise_db: Option<f64>,
    /// Interference at the receiver's connector, dBm; absent when none is assumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference_dbm: Option<f64>,
    /// Thermal noise, noise figure and man-made noise together, dBm.
    pub noise_floor_dbm: f64,
    /// Received power over noise floor and interference, dB.
    #[serde(rename = "snr_db")]
    pub sinr_db: f64,
}

/// Modulation and data rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Modulation in use; absent, with the four fields below, when none can be decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulation_id: Option<ModulationId>,
    /// MCS index, 0 the most robust.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcs_index: Option<u8>,
    /// Bits per symbol before coding; absent for a narrowband modem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits_per_symbol: Option<u8>,
    /// Information bits per coded bit; absent for a narrowband modem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_rate: Option<f64>,
    /// SNR the modulation needs, dB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_snr_db: Option<f64>,
    /// PHY rate over bandwidth, bit/s/Hz.
    pub spectral_efficiency: f64,
    /// Rate on the air, bit/s; 0 without a modulation.
    pub phy_rate_bps: f64,
    /// Rate left to payload, bit/s; 0 without a modulation.
    pub data_rate_bps: f64,
    /// Packet length of the figures below, octets; that of one frame where the waveform has a longest
    /// (LoRa: 255).
    pub packet_octets: u32,
    /// Probability that a packet is lost, [0, 1]; that of the lowest modulation where none
    /// can be decoded, and 1 where the ends cannot understand each other.
    pub per: f64,
    /// Expected transmissions counting losses in this direction alone, at least 1; absent
    /// without a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etx_forward: Option<f64>,
    /// Expected transmissions with the acknowledgement's loss counted; absent unless both
    /// directions are known and link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etx: Option<f64>,
    /// Expected time of a packet, `etx` times its bits over `data_rate_bps`, s; absent with `etx`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ett_s: Option<f64>,
}

/// Margins over sensitivity and the modulation in use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Margin {
    /// Received power at which the lowest modulation still works over this noise, dBm.
    pub sensitivity_dbm: f64,
    /// SNR above what the modulation in use needs, dB; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fade_margin_db: Option<f64>,
    /// SNR above what the lowest modulation needs, dB; negative without a link.
    pub link_margin_db: f64,
    /// Reserve the modulation was chosen with, dB.
    pub required_margin_db: f64,
}

/// Availability over time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Availability {
    /// Share of time the loss is not exceeded, percent: of the requested one the nearest that the model has.
    pub time_percent: f64,
    /// Share of places the loss is not exceeded, percent: of the requested one the nearest that the model has.
    pub location_percent: f64,
    /// Share of situations the loss is not exceeded, percent: of the requested one the nearest that the model has.
    pub situation_percent: f64,
    /// Share of the average year lost to multipath fades deeper than the link margin
    /// (ITU-R P.530), percent; absent where not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multipath_outage_percent: Option<f64>,
    /// Share of the average year lost to rain fades deeper than the link margin
    /// (ITU-R P.530), percent; absent where not predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rain_outage_percent: Option<f64>,
    /// 100 less both outages, percent; absent unless both are predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_percent: Option<f64>,
}

/// Rating of a link by the probability that it works.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Below 0.1, or the receiver cannot decode the transmitter.
    NoLink,
    /// 0.1 and more.
    Poor,
    /// 0.5 and more.
    Marginal,
    /// 0.9 and more.
    Good,
    /// 0.99 and more.
    Excellent,
}

/// Largest avoidable loss of a link.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitingFactor {
    /// Nothing removable costs 3 dB: free space and air.
    Distance,
    /// Terrain in the way, clutter and woodland.
    Terrain,
    /// Terrain below the ray but within 0.6 of the first Fresnel zone.
    Fresnel,
    /// Rain.
    Rain,
    /// Man-made noise and interference.
    Noise,
    /// Antenna misalignment or polarisation mismatch.
    Pointing,
}

/// A factor must cost this much to be named before distance, dB: a halving of power.
const NOTICEABLE_DB: f64 = 3.0;

impl Verdict {
    /// The verdict of the probability that a link works, [0, 1].
    #[must_use]
    pub fn of(link_prob: f64) -> Self {
        match link_prob {
            p if p >= 0.99 => Self::Excellent,
            p if p >= 0.9 => Self::Good,
            p if p >= 0.5 => Self::Marginal,
            p if p >= 0.1 => Self::Poor,
            _ => Self::NoLink,
        }
    }

    /// Verdicts by their numbers, from none to excellent.
    pub const ALL: [Self; 5] =
        [Self::NoLink, Self::Poor, Self::Marginal, Self::Good, Self::Excellent];

    /// The rating by link margin, dB, that version 0.1.0 had in its place: digests hold it.
    pub(crate) fn of_margin(link_margin_db: f64) -> Self {
        match link_margin_db {
            m if m >= 20.0 => Self::Excellent,
            m if m >= 10.0 => Self::Good,
            m if m >= 3.0 => Self::Marginal,
            m if m >= 0.0 => Self::Poor,
            _ => Self::NoLink,
        }
    }
}

/// Cost of each factor, dB: the gain of the link without it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Attenuation by terrain while the ray is blocked, and by clutter and woodland.
    pub terrain_db: f64,
    /// Attenuation by terrain while the ray is clear but the Fresnel zone is not.
    pub fresnel_db: f64,
    /// Rain loss.
    pub rain_db: f64,
    /// Rise of the noise floor over thermal noise and noise figure.
    pub noise_db: f64,
    /// Pointing and polarisation losses.
    pub pointing_db: f64,
}

impl LimitingFactor {
    /// The costliest factor, the first in case of a tie; distance when none costs 3 dB.
    #[must_use]
    pub fn of(costs: &Costs) -> Self {
        let named = [
            (Self::Terrain, costs.terrain_db),
            (Self::Fresnel, costs.fresnel_db),
            (Self::Rain, costs.rain_db),
            (Self::Noise, costs.noise_db),
            (Self::Pointing, costs.pointing_db),
        ];
        let mut worst = (Self::Distance, NOTICEABLE_DB);
        for (factor, cost_db) in named {
            let beats =
                if worst.0 == Self::Distance { cost_db >= worst.1 } else { cost_db > worst.1 };
            if beats {
                worst = (factor, cost_db);
            }
        }
        worst.0
    }
}
