//! `pfifo` and `bfifo`: a bounded queue (`struct tc_fifo_qopt`, tc-bfifo(8)).

use groundwave_impair::QueueUnit;
use groundwave_netlink::attr::words;
use netlink_packet_core::DecodeError;

/// A discipline of kind `pfifo` or `bfifo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// Unit of the limit.
    pub unit: QueueUnit,
    /// Capacity.
    pub limit: u32,
}

impl Fifo {
    /// Name of the kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self.unit {
            QueueUnit::Packets => "pfifo",
            QueueUnit::Bytes => "bfifo",
        }
    }

    /// Payload of TCA_OPTIONS.
    #[must_use]
    pub fn payload(&self) -> Vec<u8> {
        self.limit.to_ne_bytes().to_vec()
    }

    /// The discipline of this `kind` with these options, `None` for any other kind.
    ///
    /// # Errors
    /// For malformed options.
    pub fn parse(kind: &str, payload: &[u8]) -> Result<Option<Self>, DecodeError> {
        let unit = match kind {
            "pfifo" => QueueUnit::Packets,
            "bfifo" => QueueUnit::Bytes,
            _ => return Ok(None),
        };
        let [limit] = words("fifo options", payload)?;
        Ok(Some(Self { unit, limit }))
    }
}
