//! Stills of the whole mesh: one a minute for a day, one an hour for a month, as far as their
//! budget goes.
//!
//! A still is any document; here it is bytes, compressed. What is too old, or over the budget,
//! goes with the write that makes it so.

use std::io::Write;

use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use zstd::stream::write::Encoder;

use super::{ABOUT, HistoryError, TelemetryStore};

/// Stills by their time, ms since the Unix epoch.
pub(super) const TOPOLOGY_SNAPSHOTS: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("stills");

/// Time of which every still is kept, ms.
pub const EACH_MS: u64 = 24 * HOUR_MS;
/// Time of which the first still of each hour is kept, ms.
pub const HOURLY_MS: u64 = 30 * EACH_MS;
/// Most bytes of stills; a mesh too large for it has a shorter past.
pub const TOPOLOGY_SNAPSHOTS_BYTES_MAX: u64 = 256 << 20;

const HOUR_MS: u64 = 3_600_000;
/// Compression that costs next to nothing.
const LEVEL: i32 = 1;
/// What the stills weigh, in the table of what the file says of itself.
const BYTES: &str = "stills_bytes";

fn packed(err: std::io::Error) -> HistoryError {
    HistoryError(format!("a still of the mesh: {err}"))
}

impl TelemetryStore {
    /// Keeps a still of `at_ms`, ms since the Unix epoch, given in pieces, and drops what is too old by then.
    ///
    /// # Errors
    /// When the disk fails; then nothing changed.
    pub fn store_topology(
        &self,
        at_ms: u64,
        still: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), HistoryError> {
        self.store_topology_within(at_ms, still, TOPOLOGY_SNAPSHOTS_BYTES_MAX)
    }

    pub(super) fn store_topology_within(
        &self,
        at_ms: u64,
        still: impl Iterator<Item = impl AsRef<[u8]>>,
        bytes_max: u64,
    ) -> Result<(), HistoryError> {
        // Packed as it comes: a large mesh is never there as text in full.
        let mut packer = Encoder::new(Vec::new(), LEVEL).map_err(packed)?;
        for piece in still {
            packer.write_all(piece.as_ref()).map_err(packed)?;
        }
        let bytes = packer.finish().map_err(packed)?;
        let write = self.database.begin_write()?;
        {
            let mut about = write.open_table(ABOUT)?;
            let mut weight = about.get(BYTES)?.map_or(0, |held| held.value());
            let mut stills = write.open_table(TOPOLOGY_SNAPSHOTS)?;
            weight += bytes.len() as u64;
            if let Some(before) = stills.insert(at_ms, bytes.as_slice())? {
                weight -= before.value().len() as u64;
            }
            let (each_from, hourly_from) = (
                at_ms.saturating_sub(EACH_MS),
                at_ms.saturating_sub(HOURLY_MS),
            );
            let mut old = Vec::new();
            for entry in stills.range(..hourly_from)? {
                old.push(entry?.0.value());
            }
            // Hours that have just become too old for a still a minute.
            let mut hour = None;
            for entry in stills.range(each_from.saturating_sub(2 * HOUR_MS)..each_from)? {
                let at = entry?.0.value();
                if hour.replace(at / HOUR_MS) == Some(at / HOUR_MS) {
                    old.push(at);
                }
            }
            for at in old {
                if let Some(gone) = stills.remove(at)? {
                    weight -= gone.value().len() as u64;
                }
            }
            while weight > bytes_max {
                let Some((at, gone)) = stills.pop_first()? else {
                    break;
                };
                weight -= gone.value().len() as u64;
                tracing::debug!(at_ms = at.value(), "a still over the budget is dropped");
            }
            about.insert(BYTES, weight)?;
        }
        write.commit()?;
        Ok(())
    }

    /// The still of `at_ms`, or the last one before: its time and what it shows.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn topology_at(&self, at_ms: u64) -> Result<Option<(u64, Vec<u8>)>, HistoryError> {
        let read = self.database.begin_read()?;
        let stills = read.open_table(TOPOLOGY_SNAPSHOTS)?;
        let Some(entry) = stills.range(..=at_ms)?.next_back() else {
            return Ok(None);
        };
        let (at, held) = entry?;
        let still = zstd::decode_all(held.value()).map_err(packed)?;
        Ok(Some((at.value(), still)))
    }

    /// Times of the first and the last still, ms since the Unix epoch.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn topology_range(&self) -> Result<Option<(u64, u64)>, HistoryError> {
        let read = self.database.begin_read()?;
        let stills = read.open_table(TOPOLOGY_SNAPSHOTS)?;
        let first = stills.first()?.map(|(at, _)| at.value());
        let last = stills.last()?.map(|(at, _)| at.value());
        Ok(first.zip(last))
    }
}
