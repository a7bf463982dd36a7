//! The values of a measurement, and their ranges.

use groundwave_engine::Refusal;
use serde::{Deserialize, Serialize};

use crate::site::NodeId;

/// Measured values of one direction of a link at one time. A value that was not measured is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Measured {
    /// Power at the receiver as reported, dBm, -200 to 60: of signal and noise from LoRa receivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rx_power_dbm: Option<f64>,
    /// Transmit power at the same time, dBm, -60 to 90, where it is reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_power_dbm: Option<f64>,
    /// Centre frequency at the same time, MHz, 10 to 100000, where it is not that of the station.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// Loss between the radios, antennas not counted, dB, 0 to 400.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_loss_db: Option<f64>,
    /// SNR, dB, -100 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snr_db: Option<f64>,
    /// Share of packets that arrive, [0, 1]. A link that is known to be gone has 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_prob: Option<f64>,
    /// Link quality of a routing protocol, [0, 1]: batman's TQ, OLSR's link quality.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<f64>,
    /// Rate, bit/s, 0 to 1e12.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<f64>,
}

impl Measured {
    /// `true` if no value was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses values outside their ranges.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] names the first such field.
    pub fn validate(&self) -> Result<(), Refusal> {
        let (_, refusals) = self.valid();
        if let Some(refusal) = refusals.into_iter().next() {
            return Err(refusal);
        }
        if self.is_empty() {
            return Err(Refusal::invalid("measurement", "nothing", "at least one value"));
        }
        Ok(())
    }

    /// The values within their ranges, and the refusals of the others, in the order of the fields.
    #[must_use]
    pub fn valid(mut self) -> (Self, Vec<Refusal>) {
        let fields = [
            ("rx_power_dbm", &mut self.rx_power_dbm, -200.0, 60.0),
            ("tx_power_dbm", &mut self.tx_power_dbm, -60.0, 90.0),
            ("frequency_mhz", &mut self.frequency_mhz, 10.0, 100_000.0),
            ("path_loss_db", &mut self.path_loss_db, 0.0, 400.0),
            ("snr_db", &mut self.snr_db, -100.0, 100.0),
            ("delivery_prob", &mut self.delivery_prob, 0.0, 1.0),
            ("quality", &mut self.quality, 0.0, 1.0),
            ("rate_bps", &mut self.rate_bps, 0.0, 1e12),
        ];
        let mut refusals = Vec::new();
        for (key, field, low, high) in fields {
            if let Some(value) = field.filter(|value| !(low..=high).contains(value)) {
                refusals.push(Refusal::invalid(key, value, format!("{low} to {high}")));
                *field = None;
            }
        }
        (self, refusals)
    }
}

/// A direction of a link: the sender, then the receiver.
pub type LinkDirection = (NodeId, NodeId);

/// The last measurement of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelView {
    /// Node that sent.
    pub from: NodeId,
    /// Node that received.
    pub to: NodeId,
    /// Time of the report, simulated ns.
    pub at_ns: u64,
    /// Measured values.
    pub values: Measured,
}
