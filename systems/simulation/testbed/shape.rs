//! Shape of a direction of a link: treatment of packets, derived from the frame loss and rate of
//! the radio.
//!
//! With `p` the loss of one frame and `n` tries, a frame is lost for good with `p^n` and takes
//! `(1 - p^n) / (1 - p)` tries, so that `1 - p` of the rate on the air is delivered. Broadcast frames
//! are sent once, at the basic rate. A frame waits DIFS and half a contention window, which doubles
//! with each further try (IEEE 802.11-2020, 10.3.3, 10.3.4).

use groundwave_engine::Refusal;
use groundwave_impair::{Distribution, Impairment, Latency, Loss, Rate};
use groundwave_model::radio::modulation::{
    MODULATIONS, REFERENCE_OCTETS_FIXED, REFERENCE_OCTETS_OFDM, error_prob_at,
};
use groundwave_model::radio::{Radio, Waveform};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::MediumAccess;
use crate::link::Direction;

/// DIFS, ns: SIFS of 16 us and two slots.
const DIFS_NS: f64 = 34_000.0;
/// A slot, ns.
const SLOT_NS: f64 = 9_000.0;
/// First and largest contention window, slots.
const WINDOW_SLOTS: [f64; 2] = [15.0, 1023.0];
/// Speed of light, m/s.
const LIGHT_M_PER_S: f64 = 299_792_458.0;
/// Minimum rate, bit/s: the shaper counts bytes per second, too coarse for lower rates.
pub(super) const RATE_BPS_MIN: u64 = 64;
/// Maximum deviation of a delay that a kernel keeps, ns.
pub const JITTER_NS_MAX: u64 = i32::MAX as u64;
/// A bucket fills in this time, s, or holds two frames.
const BUCKET_S: f64 = 2e-3;
/// Maximum size of a frame on a veth pair, bytes: batman-adv's header around a full packet.
const FRAME_BYTES: u32 = 1600;

/// Treatment of packets in a direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// `true` if the direction passes packets.
    pub up: bool,
    /// Loss probability of unicast packets after all retries, [0, 1].
    pub loss_prob: f64,
    /// Loss probability of broadcast packets, [0, 1].
    pub broadcast_loss_prob: f64,
    /// Rate of what is delivered, bit/s.
    pub rate_bps: u64,
    /// Mean delay, ns.
    pub delay_ns: u64,
    /// Standard deviation of the delay, ns; 0 where it is too small to keep packets apart.
    pub jitter_ns: u64,
    /// Mean length of a run of losses, packets; absent where each is lost by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_burst_packets: Option<f64>,
}

impl Shape {
    /// A direction that nothing passes.
    pub const DOWN: Self = Self {
        up: false,
        loss_prob: 1.0,
        broadcast_loss_prob: 1.0,
        rate_bps: 1_000_000,
        delay_ns: 0,
        jitter_ns: 0,
        loss_burst_packets: None,
    };

    /// This direction, cut: the other values stay, so that only the loss changes.
    #[must_use]
    pub fn cut(self) -> Self {
        Self {
            up: false,
            loss_prob: 1.0,
            broadcast_loss_prob: 1.0,
            loss_burst_packets: None,
            ..self
        }
    }

    /// Size of the bucket of its shaper, bytes.
    #[must_use]
    pub fn burst_bytes(&self) -> u32 {
        let filled = self.rate_bps as f64 / 8.0 * BUCKET_S;
        (filled as u32).max(2 * FRAME_BYTES)
    }

    /// `true` if this differs from `before` by more than small movements cause: up or down, a
    /// twentieth of rate or delay (0.1 ms or more), a twentieth of a loss (1 in 2000 or more).
    #[must_use]
    pub fn moved_from(&self, before: &Self) -> bool {
        let apart =
            |a: f64, b: f64, floor: f64| (a - b).abs() > (0.05 * a.abs().max(b.abs())).max(floor);
        self.up != before.up
            || self.loss_burst_packets != before.loss_burst_packets
            || apart(self.loss_prob, before.loss_prob, 5e-4)
            || apart(self.broadcast_loss_prob, before.broadcast_loss_prob, 5e-4)
            || apart(self.rate_bps as f64, before.rate_bps as f64, 0.0)
            || apart(self.delay_ns as f64, before.delay_ns as f64, 1e5)
            || apart(self.jitter_ns as f64, before.jitter_ns as f64, 1e5)
    }

    /// Loss of unicast packets, two-state where losses come in runs.
    fn loss(&self) -> Loss {
        match self.two_states() {
            Some([p, r]) => Loss::GilbertElliott { p, r, one_minus_h: 0.0, one_minus_k: 1.0 },
            None => Loss::Bernoulli { pct: self.loss_prob * 100.0, correlation: None },
        }
    }

    /// The shape as an impairment of a port, which has only one class of packets. Losses in runs
    /// are an extension there.
    #[must_use]
    pub fn impairment(&self) -> Impairment {
        let latency = match self.jitter_ns {
            0 => Latency::Constant { duration_ns: self.delay_ns },
            jitter_ns => Latency::Stochastic {
                mean_ns: self.delay_ns,
                jitter_ns: jitter_ns.min(JITTER_NS_MAX),
                distribution: Distribution::Normal {},
                correlation: None,
            },
        };
        Impairment {
            latency: Some(latency),
            loss: Some(self.loss()),
            rate: Some(Rate { bps: self.rate_bps, burst_bytes: self.burst_bytes() }),
            ..Impairment::default()
        }
    }

    /// The chances p (Good to Bad) and r (Bad to Good) of a two-state loss with this loss and run
    /// length, everything lost in Bad and nothing in Good: `r = 1/B`, `p = l r / (1 - l)`. Runs are longer where
    /// runs of that length, one packet apart, lose less: `p = 1`, `r = (1 - l) / l`. A loss of all has no runs.
    #[must_use]
    pub fn two_states(&self) -> Option<[f64; 2]> {
        let burst = self
            .loss_burst_packets
            .filter(|_| self.up && 0.0 < self.loss_prob && self.loss_prob < 1.0)?;
        let (lost, passed) = (self.loss_prob, 1.0 - self.loss_prob);
        let r = (1.0 / burst).min(passed / lost);
        Some([(lost * r / passed).min(1.0), r])
    }
}

/// The shape of a direction that carries frames of `packet_bytes` over `distance_m`; `radio` is the
/// sender's. A direction that carries none is [`Shape::DOWN`].
#[must_use]
pub fn shape(
    direction: &Direction,
    distance_m: f64,
    radio: &Radio,
    packet_bytes: u32,
    mac: &MediumAccess,
) -> Shape {
    if !direction.usable() {
        return Shape::DOWN;
    }
    let per = direction.per.clamp(0.0, 1.0);
    let tries = i32::from(mac.retries) + 1;
    let loss_prob = per.powi(tries);
    // Of what is sent, retries included, 1 - p gets through.
    let rate_bps = direction.data_rate_bps * mac.airtime_share_prob * (1.0 - per);
    let frame_ns = f64::from(packet_bytes) * 8e9 / direction.data_rate_bps;
    let contends = matches!(radio.waveform, Waveform::Ofdm { .. });
    let wait_ns = |retry: i32| {
        let [first, largest] = WINDOW_SLOTS;
        let window = (first * f64::from(retry).exp2()).min(largest);
        if contends { DIFS_NS + window / 2.0 * SLOT_NS } else { 0.0 }
    };
    let again_ns: f64 = (1..tries).map(|retry| per.powi(retry) * (frame_ns + wait_ns(retry))).sum();
    let flight_ns = distance_m / LIGHT_M_PER_S * 1e9;
    let delay_ns = flight_ns + mac.processing_ns as f64 + wait_ns(0) + again_ns;
    let deviation_ns =
        if tries > 1 { per.sqrt() / (1.0 - per).max(1e-3) * (frame_ns + wait_ns(1)) } else { 0.0 };
    // Below a packet's time the kernel's jitter would only reorder what a radio keeps in order.
    let spacing_ns = f64::from(packet_bytes) * 8e9 / rate_bps;
    Shape {
        up: true,
        loss_prob,
        broadcast_loss_prob: broadcast_loss(direction, radio, mac),
        rate_bps: (rate_bps as u64).max(RATE_BPS_MIN),
        delay_ns: delay_ns as u64,
        jitter_ns: if deviation_ns > spacing_ns { deviation_ns as u64 } else { 0 },
        loss_burst_packets: mac.loss_burst_packets,
    }
}

/// Loss probability of one broadcast frame at the basic rate, [0, 1].
fn broadcast_loss(direction: &Direction, radio: &Radio, mac: &MediumAccess) -> f64 {
    let (above_lowest_db, reference) = match radio.waveform {
        Waveform::Ofdm { .. } => {
            let rung = &MODULATIONS[usize::from(mac.broadcast_mcs).min(MODULATIONS.len() - 1)];
            let lowest = &MODULATIONS[0];
            let above = rung.required_snr_db - lowest.required_snr_db;
            (above, REFERENCE_OCTETS_OFDM)
        }
        Waveform::Lora { .. } | Waveform::Narrowband { .. } => (0.0, REFERENCE_OCTETS_FIXED),
    };
    let margin_db = direction.link_margin_db - above_lowest_db;
    error_prob_at(margin_db, reference, mac.broadcast_bytes)
}

impl Shape {
    /// Refuses values that no kernel accepts.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the key, what was found and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        self.impairment().validate()
    }
}
