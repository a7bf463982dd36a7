//! `pfifo` and `bfifo`: a bounded queue (`struct tc_fifo_qopt`, tc-bfifo(8)).

use groundwave_systems::impair::QueueUnit;

use super::KernelError;
use super::nla::word;

/// A discipline of kind `pfifo` or `bfifo`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// What is counted.
    pub unit: QueueUnit,
    /// How many fit.
    pub limit: u32,
}

impl Fifo {
    /// The kind that counts this.
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

    /// What the kernel shows of one of this `kind`, or `None` for any other kind.
    ///
    /// # Errors
    /// [`KernelError::Io`] when it is not what a kernel would show.
    pub fn parse(kind: &str, payload: &[u8]) -> Result<Option<Self>, KernelError> {
        let unit = match kind {
            "pfifo" => QueueUnit::Packets,
            "bfifo" => QueueUnit::Bytes,
            _ => return Ok(None),
        };
        let limit = word("fifo options", payload, 0)?;
        Ok(Some(Self { unit, limit }))
    }
}
