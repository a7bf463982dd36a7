//! Delivery of the broadcast frames by which routing protocols measure links.
//!
//! A probe is short, is sent once and at a basic rate, whatever rate data has: it arrives over links that carry
//! data badly. Probes lost by collisions and fading are not modelled: measured ratios are lower.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Direction, LinkBudget};
use crate::radio::modulation::{
    MODULATIONS, ModulationId, REFERENCE_OCTETS_FIXED, REFERENCE_OCTETS_OFDM, error_prob_at,
};

/// SNR over 20 MHz at which 10 % of 4096-octet packets are lost at 1 Mbit/s, dB.
///
/// DBPSK has a bit error rate of `exp(-Eb/N0) / 2` (J. Proakis, "Digital Communications"): 10 % of 32,768 bits
/// need an Eb/N0 of 10.8 dB, and 1 Mbit/s in 20 MHz has 13.0 dB less.
const DSSS_1_SNR_DB: f64 = -2.2;

/// Rate of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeRate {
    /// 1 Mbit/s DSSS, the basic rate of 802.11b/g networks at 2.4 GHz.
    #[serde(rename = "dsss_1")]
    Dsss1,
    /// 6 Mbit/s OFDM, BPSK 1/2: the basic rate at 5 GHz.
    #[default]
    #[serde(rename = "ofdm_6")]
    Ofdm6,
    /// 12 Mbit/s OFDM, QPSK 1/2.
    #[serde(rename = "ofdm_12")]
    Ofdm12,
    /// 24 Mbit/s OFDM, 16-QAM 1/2.
    #[serde(rename = "ofdm_24")]
    Ofdm24,
}

impl ProbeRate {
    /// Required SNR, as that of [`MODULATIONS`], dB.
    fn required_snr_db(self) -> f64 {
        match self {
            Self::Dsss1 => DSSS_1_SNR_DB,
            Self::Ofdm6 => MODULATIONS[0].required_snr_db,
            Self::Ofdm12 => MODULATIONS[1].required_snr_db,
            Self::Ofdm24 => MODULATIONS[3].required_snr_db,
        }
    }
}

/// A probe of a routing protocol.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// Length of a frame, bytes, [1, 2304]: 134 of the link probes of ETX (De Couto et al., MobiCom 2003).
    #[garde(range(min = 1, max = 2304))]
    pub frame_bytes: u32,
    /// Rate of OFDM radios; others have one.
    #[garde(skip)]
    pub rate: ProbeRate,
}

impl Default for Probe {
    fn default() -> Self {
        Self { frame_bytes: 134, rate: ProbeRate::default() }
    }
}

/// Delivery of probes over a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProbeDelivery {
    /// Share of probes that arrive from the lower id to the higher, [0, 1]: link quality (LQ) of OLSR at the
    /// higher one, its neighbour's (NLQ) at the lower one, and TQ of batman-adv for one hop.
    pub forward_prob: f64,
    /// The same from the higher id to the lower.
    pub backward_prob: f64,
    /// ETX of OLSR, `1 / (LQ NLQ)`.
    pub etx: f64,
}

impl Probe {
    /// Share of probes that arrive, [0, 1].
    #[must_use]
    pub fn delivery_prob(&self, direction: &Direction) -> f64 {
        let (above_lowest_db, reference) = match direction.modulation {
            // Without a modulation nothing is acknowledged, and the link carries no data.
            None => return 0.0,
            Some(ModulationId::Lora | ModulationId::Narrowband) => (0.0, REFERENCE_OCTETS_FIXED),
            Some(_) => {
                let above_db = self.rate.required_snr_db() - MODULATIONS[0].required_snr_db;
                (above_db, REFERENCE_OCTETS_OFDM)
            }
        };
        let margin_db = direction.link_margin_db - above_lowest_db;
        1.0 - error_prob_at(margin_db, reference, self.frame_bytes)
    }

    /// Delivery over a link; `None` where one of its directions carries no data, or no probe.
    #[must_use]
    pub fn delivery(&self, budget: &LinkBudget) -> Option<ProbeDelivery> {
        budget.etx()?;
        let [forward_prob, backward_prob] =
            [&budget.forward, &budget.backward].map(|direction| self.delivery_prob(direction));
        let both_prob = forward_prob * backward_prob;
        (both_prob > 0.0).then(|| ProbeDelivery {
            forward_prob,
            backward_prob,
            etx: both_prob.recip(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(link_margin_db: f64, modulation: ModulationId) -> LinkBudget {
        let direction = Direction {
            modulation: Some(modulation),
            per: 0.5,
            data_rate_bps: 1e6,
            link_margin_db,
            compatible: true,
            ..LinkBudget::default().forward
        };
        LinkBudget { forward: direction, backward: direction, ..LinkBudget::default() }
    }

    /// `PER(L) = 1 - 0.9^(L / 4096)` where the SNR is that required: 0.34 % of 134 octets.
    #[test]
    fn probe_at_its_required_snr_is_lost_as_its_length_has_it() {
        let expected = libm::pow(0.9, 134.0 / 4096.0);
        for (rate, above_db) in [
            (ProbeRate::Dsss1, -6.2),
            (ProbeRate::Ofdm6, 0.0),
            (ProbeRate::Ofdm12, 3.0),
            (ProbeRate::Ofdm24, 8.0),
        ] {
            let probe = Probe { rate, ..Probe::default() };
            let delivery = probe.delivery(&budget(above_db, ModulationId::Bpsk12)).unwrap();
            assert!((delivery.forward_prob - expected).abs() < 1e-12, "{rate:?}: {delivery:?}");
            assert!((delivery.etx - 1.0 / (expected * expected)).abs() < 1e-12);
        }
        let lora = Probe::default().delivery(&budget(0.0, ModulationId::Lora)).unwrap();
        assert!((lora.forward_prob - libm::pow(0.9, 134.0 / 64.0)).abs() < 1e-12);
    }

    #[test]
    fn faster_and_longer_probes_are_lost_more() {
        let at = |rate, frame_bytes| {
            let delivery = Probe { frame_bytes, rate }.delivery(&budget(2.0, ModulationId::Qpsk12));
            delivery.unwrap().forward_prob
        };
        assert!(at(ProbeRate::Dsss1, 134) > at(ProbeRate::Ofdm6, 134));
        assert!(at(ProbeRate::Ofdm6, 134) > at(ProbeRate::Ofdm24, 134));
        assert!(at(ProbeRate::Ofdm6, 134) > at(ProbeRate::Ofdm6, 1500));
        assert!(at(ProbeRate::Ofdm24, 134) < at(ProbeRate::Ofdm12, 134));
        assert_eq!(Probe::default().delivery(&LinkBudget::default()), None);
    }
}
