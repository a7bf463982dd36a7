//! Topology snapshots: one a minute for a day, one an hour for a month, within a size limit.
//!
//! A snapshot is a document, stored compressed. Snapshots that are too old or over the limit are
//! removed with the write that makes them so.

use std::io::Write;

use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use zstd::stream::write::Encoder;

use super::{ABOUT, HistoryError, TelemetryStore};

/// Snapshots by time, ms since the Unix epoch.
pub(super) const TOPOLOGY_SNAPSHOTS: TableDefinition<'_, u64, &[u8]> =
    TableDefinition::new("stills");

/// Age up to which every snapshot is kept, ms.
pub const EACH_MS: u64 = 24 * HOUR_MS;
/// Age up to which the first snapshot of each hour is kept, ms.
pub const HOURLY_MS: u64 = 30 * EACH_MS;
/// Size of all snapshots at most, bytes; a larger mesh has a shorter history.
pub const TOPOLOGY_SNAPSHOTS_BYTES_MAX: u64 = 256 << 20;

const HOUR_MS: u64 = 3_600_000;
/// zstd level: the fastest.
const LEVEL: i32 = 1;
/// Key of the size of all snapshots in the table of metadata.
const BYTES: &str = "stills_bytes";

fn packed(err: std::io::Error) -> HistoryError {
    HistoryError::new(format!("topology snapshot: {err}"))
}

impl TelemetryStore {
    /// Stores a snapshot of `at_ms`, ms since the Unix epoch, given in pieces, and removes those that
    /// are too old by then.
    ///
    /// # Errors
    /// When the disk fails; then nothing changed.
    pub fn store_topology(
        &self,
        at_ms: u64,
        snapshot: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> Result<(), HistoryError> {
        self.store_topology_within(at_ms, snapshot, TOPOLOGY_SNAPSHOTS_BYTES_MAX)
    }

    pub(super) fn store_topology_within(
        &self,
        at_ms: u64,
        snapshot: impl Iterator<Item = impl AsRef<[u8]>>,
        bytes_max: u64,
    ) -> Result<(), HistoryError> {
        // Compressed in pieces: the text of a large mesh is never held as a whole.
        let mut packer = Encoder::new(Vec::new(), LEVEL).map_err(packed)?;
        for piece in snapshot {
            packer.write_all(piece.as_ref()).map_err(packed)?;
        }
        let bytes = packer.finish().map_err(packed)?;
        self.write(|write| {
            let mut about = write.open_table(ABOUT)?;
            let mut weight = about.get(BYTES)?.map_or(0, |held| held.value());
            let mut snapshots = write.open_table(TOPOLOGY_SNAPSHOTS)?;
            weight += bytes.len() as u64;
            if let Some(before) = snapshots.insert(at_ms, bytes.as_slice())? {
                weight -= before.value().len() as u64;
            }
            let aged_ms = self.aged_ms(at_ms);
            let (each_from, hourly_from) =
                (aged_ms.saturating_sub(EACH_MS), aged_ms.saturating_sub(HOURLY_MS));
            let mut old = Vec::new();
            for entry in snapshots.range(..hourly_from)? {
                old.push(entry?.0.value());
            }
            // Hours that have just become too old for a snapshot a minute.
            let mut hour = None;
            for entry in snapshots.range(each_from.saturating_sub(2 * HOUR_MS)..each_from)? {
                let at = entry?.0.value();
                if hour.replace(at / HOUR_MS) == Some(at / HOUR_MS) {
                    old.push(at);
                }
            }
            for at in old {
                if let Some(gone) = snapshots.remove(at)? {
                    weight -= gone.value().len() as u64;
                }
            }
            while weight > bytes_max {
                let Some((at, gone)) = snapshots.pop_first()? else {
                    break;
                };
                weight -= gone.value().len() as u64;
                tracing::debug!(at_ms = at.value(), "a snapshot over the size limit is removed");
            }
            about.insert(BYTES, weight)?;
            Ok(())
        })
    }

    /// Last snapshot at or before `at_ms`: its time and its document.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn topology_at(&self, at_ms: u64) -> Result<Option<(u64, Vec<u8>)>, HistoryError> {
        self.database.with(|database| {
            let snapshots = database.begin_read()?.open_table(TOPOLOGY_SNAPSHOTS)?;
            let Some(entry) = snapshots.range(..=at_ms)?.next_back() else {
                return Ok(None);
            };
            let (at, held) = entry?;
            let snapshot = zstd::decode_all(held.value()).map_err(packed)?;
            Ok(Some((at.value(), snapshot)))
        })
    }

    /// Times of the first and the last snapshot, ms since the Unix epoch.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn topology_range(&self) -> Result<Option<(u64, u64)>, HistoryError> {
        self.database.with(|database| {
            let snapshots = database.begin_read()?.open_table(TOPOLOGY_SNAPSHOTS)?;
            let first = snapshots.first()?.map(|(at, _)| at.value());
            let last = snapshots.last()?.map(|(at, _)| at.value());
            Ok(first.zip(last))
        })
    }
}
