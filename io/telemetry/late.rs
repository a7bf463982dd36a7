//! Late samples that were added, so that one that is uploaded again counts once.
//!
//! The hours of these samples were rolled up: their aggregates do not tell which samples they have.

use groundwave_protocol::Sample;
use redb::{ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction};

use super::row::{self, Raw};
use super::{DAY_HOURS, HistoryError, TelemetryStore, held};

/// Late samples of a minute: (day of the upload, node, minute) to a row.
pub(super) const LATE: TableDefinition<'_, (u64, u128, u64), &[u8]> = TableDefinition::new("late");

/// Days after that of an upload in which it may be repeated.
const REPEAT_DAYS: u64 = 1;

/// Table of late samples in a transaction.
pub(super) struct Late<'t> {
    table: Table<'t, (u64, u128, u64), &'static [u8]>,
    day: u64,
}

impl<'t> Late<'t> {
    /// Opens it; hours before `rolled` are rolled up.
    pub fn open(write: &'t WriteTransaction, rolled: u64) -> Result<Self, HistoryError> {
        Ok(Self { table: write.open_table(LATE)?, day: rolled / DAY_HOURS })
    }

    /// Notes a sample; `false` where it was added before.
    pub fn note(&mut self, node: u128, minute: u64, sample: &Sample) -> Result<bool, HistoryError> {
        for day in self.day.saturating_sub(REPEAT_DAYS)..=self.day {
            let row = held::<_, Raw>(&self.table, (day, node, minute))?;
            if row.has(&sample.metric, sample.ts_ms, sample.value) {
                return Ok(false);
            }
        }
        let key = (self.day, node, minute);
        let mut row = held::<_, Raw>(&self.table, key)?;
        row.add(&sample.metric, sample.ts_ms, sample.value);
        self.table.insert(key, row::write(&row)?.as_slice())?;
        Ok(true)
    }
}

impl TelemetryStore {
    /// Drops the samples of uploads that are not repeated any more; hours before `rolled` are rolled up.
    pub(super) fn drop_late(&self, rolled: u64) -> Result<(), HistoryError> {
        let keep_from = (rolled / DAY_HOURS).saturating_sub(REPEAT_DAYS);
        let oldest = self.database.with(|database| {
            let late = database.begin_read()?.open_table(LATE)?;
            let oldest = late.first()?;
            Ok::<_, HistoryError>(oldest.map(|(key, _)| key.value().0))
        })?;
        if oldest.is_none_or(|oldest| oldest >= keep_from) {
            return Ok(());
        }
        self.write(|write| {
            let mut late = write.open_table(LATE)?;
            late.retain_in(..(keep_from, 0, 0), |_, _| false)?;
            Ok(())
        })
    }
}
