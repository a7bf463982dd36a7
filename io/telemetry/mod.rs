//! History of readings: every sample for two hours, minutes for a week, hours for 400 days.
//!
//! A roll-up keeps count, sum, minimum, maximum and last value: means, extremes and last values stay
//! exact. Rows are keyed by time first: old rows are adjacent and removed together.

mod copy;
mod recent;
mod retention;
mod roll;
mod row;
#[cfg(test)]
mod tests;
mod topology_snapshots;

use std::borrow::Borrow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundwave_systems::fleet::{Sample, StoreMinute};
use groundwave_systems::site::NodeId;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use thiserror::Error;

use crate::files::Files;
use groundwave_engine::FaultKind;
use recent::{RECENT, Samples};
use retention::Retention;
pub use row::Point;
use row::{Aggregates, Raw, Row};
pub use topology_snapshots::{EACH_MS, HOURLY_MS, TOPOLOGY_SNAPSHOTS_BYTES_MAX};

/// Samples of a minute: (hour, node, minute) to a row. Of earlier versions, and what comes after its
/// hour was rolled up.
const RAW: TableDefinition<'_, (u64, u128, u64), &[u8]> = TableDefinition::new("samples");
/// Minutes of an hour: (day, node, hour) to a row.
const MINUTES: TableDefinition<'_, (u64, u128, u64), &[u8]> = TableDefinition::new("minutes");
/// Hours of a day: (day, node) to a row.
const HOURS: TableDefinition<'_, (u64, u128), &[u8]> = TableDefinition::new("hours");
/// Metadata of the file.
const ABOUT: TableDefinition<'_, &str, u64> = TableDefinition::new("about");

/// Hours of which every sample is kept, besides the current one.
pub const RAW_HOURS: u64 = 2;
/// Days of which minutes are kept.
pub const MINUTE_DAYS: u64 = 7;
/// Days of which hours are kept.
pub const HOUR_DAYS: u64 = 400;

/// Page cache, bytes: small, for the file is written often and read rarely.
const CACHE_BYTES: usize = 16 << 20;

const MINUTE_MS: u64 = 60_000;
const HOUR_MINUTES: u64 = 60;
const DAY_HOURS: u64 = 24;

/// Error of the history of readings.
#[derive(Debug, Error)]
#[error("history of readings: {cause}")]
pub struct HistoryError {
    /// Kind of the failure.
    pub kind: FaultKind,
    cause: String,
}

impl HistoryError {
    fn new(cause: String) -> Self {
        let kind = FaultKind::Failed;
        Self { kind, cause }
    }
}

impl<E: Into<redb::Error>> From<E> for HistoryError {
    fn from(err: E) -> Self {
        let err = err.into();
        let kind = match &err {
            redb::Error::Io(err) => FaultKind::of(err),
            _ => FaultKind::Failed,
        };
        let cause = err.to_string();
        Self { kind, cause }
    }
}

/// Change of the mark after which it is stored, ms.
const MARK_STEP_MS: u64 = 600_000;
/// Key of the mark in the table of metadata.
const MARK: &str = "retention_ms";

/// History of readings, in a file of its own. Cheap to clone.
#[derive(Clone)]
pub struct TelemetryStore {
    database: Arc<Database>,
    files: Files,
    retention: Arc<Mutex<Retention>>,
}

impl TelemetryStore {
    /// Opens a history, or creates it.
    ///
    /// # Errors
    /// When the file is in use, damaged or of another format.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Self::open_files(path, Files::default())
    }

    /// As [`Self::open`], with the changes of its file noted in `files`.
    pub(crate) fn open_files(path: &Path, files: Files) -> Result<Self, HistoryError> {
        let mut builder = Database::builder();
        let database = files
            .open_database(path, builder.set_cache_size(CACHE_BYTES))
            .map_err(|err| HistoryError::new(format!("open {}: {err}", path.display())))?;
        // A file with all tables is opened without a write, which a full disk may not have space for.
        if !has_tables(&database) {
            let write = database.begin_write()?;
            write.open_table(RAW)?;
            write.open_table(RECENT)?;
            write.open_table(MINUTES)?;
            write.open_table(HOURS)?;
            write.open_table(ABOUT)?;
            write.open_table(topology_snapshots::TOPOLOGY_SNAPSHOTS)?;
            write.commit()?;
        }
        let about = database.begin_read()?.open_table(ABOUT)?;
        let mark_ms = match about.get(MARK)? {
            Some(mark) => mark.value(),
            // Written before there was a mark: it follows from what was rolled up.
            None => match rolled_hour(&about)? {
                0 => 0,
                hour => (hour + RAW_HOURS) * HOUR_MINUTES * MINUTE_MS,
            },
        };
        drop(about);
        Ok(Self {
            database: Arc::new(database),
            files,
            retention: Arc::new(Mutex::new(Retention::at(mark_ms))),
        })
    }

    /// Bytes written to its file since it was opened.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.files.written_bytes()
    }

    fn retention(&self) -> MutexGuard<'_, Retention> {
        self.retention
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the time by which readings grow old to the present, for [`Self::roll`]: wall clock and
    /// time since boot, ms, and whether a time server disciplines the wall clock. It follows the wall
    /// clock only as far as that agrees with the time since boot.
    ///
    /// # Errors
    /// When the disk fails; the mark is moved nevertheless.
    pub fn advance_retention(
        &self,
        now_ms: u64,
        boot_ms: u64,
        synchronised: bool,
    ) -> Result<u64, HistoryError> {
        let mark_ms = self.retention().advance(now_ms, boot_ms, synchronised);
        let stored = {
            let about = self.database.begin_read()?.open_table(ABOUT)?;
            about.get(MARK)?.map_or(0, |mark| mark.value())
        };
        if stored.abs_diff(mark_ms) >= MARK_STEP_MS {
            let write = self.database.begin_write()?;
            write.open_table(ABOUT)?.insert(MARK, mark_ms)?;
            write.commit()?;
        }
        Ok(mark_ms)
    }

    /// Time by which what is of `at_ms` is old, ms since the Unix epoch.
    fn aged_ms(&self, at_ms: u64) -> u64 {
        match self.retention().mark_ms() {
            0 => at_ms,
            mark_ms => mark_ms.min(at_ms),
        }
    }

    /// Stores completed minutes. Storing one twice has the effect of storing it once.
    ///
    /// # Errors
    /// When the disk fails; then none was stored.
    pub fn keep(&self, minutes: &[StoreMinute]) -> Result<(), HistoryError> {
        let write = self.database.begin_write()?;
        {
            let rolled = rolled_hour(&write.open_table(ABOUT)?)?;
            let mut samples = Samples::open(&write, rolled)?;
            let (minutes_table, hours) = (write.open_table(MINUTES)?, write.open_table(HOURS)?);
            for kept in minutes {
                let hour = kept.minute.minute / HOUR_MINUTES;
                // A minute of a time that was rolled up is new after the clock was set back, and
                // comes a second time after a restart.
                if hour < rolled && is_rolled_up(&minutes_table, &hours, kept)? {
                    continue;
                }
                samples.change(kept.node.as_u128(), kept.minute.minute, |row| {
                    for (place, ts_ms, value) in kept.minute.samples() {
                        if let Some(name) = kept.names.get(place) {
                            row.add(name, ts_ms, value);
                        }
                    }
                })?;
            }
        }
        write.commit()?;
        Ok(())
    }

    /// Adds late samples of any time since [`HOUR_DAYS`].
    ///
    /// # Errors
    /// When the disk fails; then none was added.
    pub fn add(&self, node: NodeId, samples: &[Sample]) -> Result<(), HistoryError> {
        let write = self.database.begin_write()?;
        {
            let rolled = rolled_hour(&write.open_table(ABOUT)?)?;
            let mut recent = Samples::open(&write, rolled)?;
            let mut minutes = write.open_table(MINUTES)?;
            let mut hours = write.open_table(HOURS)?;
            let minutes_from = rolled / DAY_HOURS;
            for sample in samples {
                let minute = sample.ts_ms / MINUTE_MS;
                let hour = minute / HOUR_MINUTES;
                let day = hour / DAY_HOURS;
                let one = Point::one(sample.ts_ms, sample.value);
                if hour >= rolled {
                    recent.change(node.as_u128(), minute, |row| {
                        row.add(&sample.metric, sample.ts_ms, sample.value);
                    })?;
                } else if day + MINUTE_DAYS >= minutes_from {
                    let key = (day, node.as_u128(), hour);
                    let mut row = held::<_, Aggregates>(&minutes, key)?;
                    row.add(&sample.metric, minute * MINUTE_MS, &one);
                    minutes.insert(key, row::write(&row)?.as_slice())?;
                } else {
                    let key = (day, node.as_u128());
                    let mut row = held::<_, Aggregates>(&hours, key)?;
                    row.add(&sample.metric, hour * HOUR_MINUTES * MINUTE_MS, &one);
                    hours.insert(key, row::write(&row)?.as_slice())?;
                }
            }
        }
        write.commit()?;
        Ok(())
    }

    /// Points of one metric of one node between two times, ms since the Unix epoch, both included, in
    /// order of time: samples where they are kept, else minutes, else hours.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(
        &self,
        node: NodeId,
        metric: &str,
        from_ms: u64,
        to_ms: u64,
    ) -> Result<Vec<Point>, HistoryError> {
        let read = self.database.begin_read()?;
        let id = node.as_u128();
        let hour_of = |ms: u64| ms / MINUTE_MS / HOUR_MINUTES;
        let (first, last) = (hour_of(from_ms), hour_of(to_ms));
        let mut points = Vec::new();
        let hours = read.open_table(HOURS)?;
        let minutes = read.open_table(MINUTES)?;
        // What was rolled up may be of a later time than the mark, once a clock was set back: days and
        // hours are those that have rows.
        let mut day = first / DAY_HOURS;
        loop {
            let next = minutes.range((day, 0, 0)..)?.next().transpose()?;
            let next = next.map_or(u64::MAX, |(key, _)| key.value().0);
            let of_hours = hours.range((day, 0)..)?.next().transpose()?;
            day = of_hours
                .map_or(u64::MAX, |(key, _)| key.value().0)
                .min(next);
            if day > last / DAY_HOURS || day == u64::MAX {
                break;
            }
            if let Some(held) = hours.get((day, id))? {
                let row = row::read::<Aggregates>(Some(held.value()))?;
                points.extend(row.points(metric));
            }
            for entry in minutes.range((day, id, 0)..=(day, id, u64::MAX))? {
                let row = row::read::<Aggregates>(Some(entry?.1.value()))?;
                points.extend(row.points(metric));
            }
            day += 1;
        }
        let raw = read.open_table(RAW)?;
        let mut hour = first;
        loop {
            let next = raw.range((hour, 0, 0)..)?.next().transpose()?;
            hour = next.map_or(u64::MAX, |(key, _)| key.value().0);
            if hour > last || hour == u64::MAX {
                break;
            }
            for entry in raw.range((hour, id, 0)..=(hour, id, u64::MAX))? {
                let row = row::read::<Raw>(Some(entry?.1.value()))?;
                points.extend(row.points(metric));
            }
            hour += 1;
        }
        recent::read(&read, id, first * HOUR_MINUTES..=to_ms / MINUTE_MS, |row| {
            points.extend(row.points(metric));
        })?;
        points.retain(|point| (from_ms..=to_ms).contains(&point.ts_ms));
        points.sort_by_key(|point| point.ts_ms);
        Ok(points)
    }
}

/// True when the roll-up has that minute of that node.
fn is_rolled_up(
    minutes: &impl ReadableTable<(u64, u128, u64), &'static [u8]>,
    hours: &impl ReadableTable<(u64, u128), &'static [u8]>,
    kept: &StoreMinute,
) -> Result<bool, HistoryError> {
    let hour = kept.minute.minute / HOUR_MINUTES;
    let (day, node) = (hour / DAY_HOURS, kept.node.as_u128());
    let has = |row: Aggregates, ts_ms: u64| {
        let mut names = kept.names.iter();
        names.any(|name| row.points(name).any(|point| point.ts_ms == ts_ms))
    };
    let minute = held::<_, Aggregates>(minutes, (day, node, hour))?;
    let of_hour = held::<_, Aggregates>(hours, (day, node))?;
    Ok(
        has(minute, kept.minute.minute * MINUTE_MS)
            || has(of_hour, hour * HOUR_MINUTES * MINUTE_MS),
    )
}

/// True when the file has all tables.
fn has_tables(database: &Database) -> bool {
    let Ok(read) = database.begin_read() else {
        return false;
    };
    read.open_table(RAW).is_ok()
        && read.open_table(RECENT).is_ok()
        && read.open_table(MINUTES).is_ok()
        && read.open_table(HOURS).is_ok()
        && read.open_table(ABOUT).is_ok()
        && read
            .open_table(topology_snapshots::TOPOLOGY_SNAPSHOTS)
            .is_ok()
}

/// Row under `key`; an empty one where there is none.
fn held<'k, K: redb::Key + 'static, T: Row>(
    table: &impl ReadableTable<K, &'static [u8]>,
    key: impl Borrow<K::SelfType<'k>>,
) -> Result<T, HistoryError> {
    row::read(table.get(key)?.as_ref().map(redb::AccessGuard::value))
}

/// First hour of which every sample is kept.
fn rolled_hour(about: &impl ReadableTable<&'static str, u64>) -> Result<u64, HistoryError> {
    Ok(about.get("rolled")?.map_or(0, |hour| hour.value()))
}
