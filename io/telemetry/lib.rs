//! History of readings: every sample for two hours, minutes for a week, hours for 400 days.
//!
//! A roll-up keeps count, sum, minimum, maximum and last value: means, extremes and last values stay
//! exact. Rows are keyed by time first: old rows are adjacent and removed together.

mod copy;
mod error;
#[cfg(test)]
mod full_tests;
mod keep;
mod late;
mod read;
mod recent;
mod retention;
mod roll;
mod row;
#[cfg(test)]
mod tests;
mod topology_snapshots;
#[cfg(test)]
mod wear_tests;

use std::borrow::Borrow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundwave_gateway::fleet::StoreMinute;
use groundwave_model::id::NodeId;
use groundwave_protocol::Sample;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

pub use error::HistoryError;
use groundwave_files::space::free_bytes;
use groundwave_store::files::Files;
pub use groundwave_store::files::reopened::{Effect, ReopenedDatabase};
use keep::keep_in;
use late::{LATE, Late};
use read::points;
use recent::{RECENT, Samples};
use retention::Retention;
pub use row::Point;
use row::{Aggregates, Row};
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

/// Change of the mark after which it is stored, ms.
const MARK_STEP_MS: u64 = 600_000;
/// Key of the mark in the table of metadata.
const MARK: &str = "retention_ms";
/// Key of the number of [`TelemetryStore::probe`]s in the table of metadata.
const PROBES: &str = "probes";

/// Space that the disk must have before a history that found none takes writes again, bytes: with
/// less, it would at once find none again.
const SPARE_BYTES: u64 = 1 << 20;

/// Failure of writes of a history.
#[derive(Debug, Clone, Default)]
struct Fault {
    /// The last failure, until there is space again.
    last: Option<HistoryError>,
    /// Minutes wait for space.
    has_waiting: bool,
}

/// History of readings, in a file of its own. Cheap to clone.
///
/// After a failed write the file is closed and opened again; [`Self::failure`] is the failure until
/// writes succeed.
#[derive(Clone)]
pub struct TelemetryStore {
    database: Arc<ReopenedDatabase>,
    files: Files,
    retention: Arc<Mutex<Retention>>,
    fault: Arc<Mutex<Fault>>,
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
        let database = ReopenedDatabase::open(path, &files, CACHE_BYTES)
            .map_err(|err| HistoryError::of_open(path, err))?;
        let store = Self {
            database: Arc::new(database),
            files,
            retention: Arc::default(),
            fault: Arc::default(),
        };
        // A file with all tables is opened without a write, which a full disk may not have space for.
        if !store.database.with(has_tables)? {
            store.write(|write| {
                write.open_table(RAW)?;
                write.open_table(RECENT)?;
                write.open_table(LATE)?;
                write.open_table(MINUTES)?;
                write.open_table(HOURS)?;
                write.open_table(ABOUT)?;
                write.open_table(topology_snapshots::TOPOLOGY_SNAPSHOTS)?;
                Ok(())
            })?;
        }
        let mark_ms = store.database.with(stored_mark_ms)?;
        *store.retention() = Retention::at(mark_ms);
        Ok(store)
    }

    /// Writes in one transaction, and notes how that ended.
    fn write<T>(
        &self,
        work: impl Fn(&WriteTransaction) -> Result<T, HistoryError>,
    ) -> Result<T, HistoryError> {
        let done: Result<T, HistoryError> = self.database.with(|database| {
            let write = database.begin_write()?;
            let done = work(&write)?;
            write.commit()?;
            Ok(done)
        });
        match &done {
            Ok(_) => self.note_success(),
            Err(err) if err.effect == Effect::None => {}
            Err(err) => self.fault().last = Some(err.clone()),
        }
        done
    }

    fn fault(&self) -> MutexGuard<'_, Fault> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_success(&self) {
        let mut fault = self.fault();
        if fault.last.is_some() && !fault.has_waiting && self.has_space() {
            tracing::info!("the history of readings takes writes again");
            fault.last = None;
        }
    }

    /// True unless the disk is known to have no space.
    #[must_use]
    pub fn has_space(&self) -> bool {
        free_bytes(self.database.path()).is_none_or(|free| free >= SPARE_BYTES)
    }

    /// The failure for which it takes no writes: the last one, until writes succeed and the disk has
    /// space to spare.
    #[must_use]
    pub fn failure(&self) -> Option<HistoryError> {
        self.fault().last.clone()
    }

    /// Writes something small, to see whether a disk that failed works again.
    ///
    /// # Errors
    /// When it does not.
    pub fn probe(&self) -> Result<(), HistoryError> {
        self.write(|write| {
            let mut about = write.open_table(ABOUT)?;
            let count = about.get(PROBES)?.map_or(0, |count| count.value());
            about.insert(PROBES, count + 1)?;
            Ok(())
        })
    }

    /// Bytes written to its file since it was opened.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.files.written_bytes()
    }

    fn retention(&self) -> MutexGuard<'_, Retention> {
        self.retention.lock().unwrap_or_else(PoisonError::into_inner)
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
        let stored = self.database.with(|database| {
            let about = database.begin_read()?.open_table(ABOUT)?;
            let mark = about.get(MARK)?.map_or(0, |mark| mark.value());
            Ok::<_, HistoryError>(mark)
        })?;
        if stored.abs_diff(mark_ms) >= MARK_STEP_MS {
            self.write(|write| {
                write.open_table(ABOUT)?.insert(MARK, mark_ms)?;
                Ok(())
            })?;
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

    /// Stores completed minutes. Storing one twice has the effect of storing it once. A minute whose row
    /// is damaged in the file is left out and logged; returns the number of those.
    ///
    /// # Errors
    /// When the disk fails; then none was stored, and all wait.
    pub fn keep(&self, minutes: &[StoreMinute]) -> Result<usize, HistoryError> {
        let kept = self.write(|write| keep_in(write, minutes).map(|()| 0));
        let kept = match kept {
            Err(err) if err.effect == Effect::None => self.keep_each(minutes),
            kept => kept,
        };
        self.fault().has_waiting = kept.is_err();
        if kept.is_ok() {
            self.note_success();
        }
        kept
    }

    /// Stores minutes one by one.
    fn keep_each(&self, minutes: &[StoreMinute]) -> Result<usize, HistoryError> {
        let mut damaged = 0;
        for kept in minutes {
            let one = self.write(|write| keep_in(write, std::slice::from_ref(kept)));
            match one {
                Err(err) if err.effect == Effect::None => {
                    let (node, minute) = (kept.node, kept.minute.minute);
                    tracing::error!(%err, %node, minute, "readings of a minute could not be kept");
                    damaged += 1;
                }
                one => one?,
            }
        }
        Ok(damaged)
    }

    /// Adds late samples of any time since [`HOUR_DAYS`]. One that is added again within a day counts once.
    ///
    /// # Errors
    /// When the disk fails; then none was added.
    pub fn add(&self, node: NodeId, samples: &[Sample]) -> Result<(), HistoryError> {
        self.write(|write| {
            let rolled = rolled_hour(&write.open_table(ABOUT)?)?;
            let mut recent = Samples::open(write, rolled)?;
            let mut late = Late::open(write, rolled)?;
            let mut minutes = write.open_table(MINUTES)?;
            let mut hours = write.open_table(HOURS)?;
            let minutes_from = rolled / DAY_HOURS;
            for sample in samples {
                let minute = sample.ts_ms / MINUTE_MS;
                let hour = minute / HOUR_MINUTES;
                let day = hour / DAY_HOURS;
                if hour < rolled && !late.note(node.as_u128(), minute, sample)? {
                    continue;
                }
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
            Ok(())
        })
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
        let read = |database: &Database| points(database, node, metric, (from_ms, to_ms));
        self.database.with(read)
    }
}

/// True when the file has all tables.
fn has_tables(database: &Database) -> Result<bool, HistoryError> {
    let read = database.begin_read()?;
    Ok(read.open_table(RAW).is_ok()
        && read.open_table(RECENT).is_ok()
        && read.open_table(LATE).is_ok()
        && read.open_table(MINUTES).is_ok()
        && read.open_table(HOURS).is_ok()
        && read.open_table(ABOUT).is_ok()
        && read.open_table(topology_snapshots::TOPOLOGY_SNAPSHOTS).is_ok())
}

/// The mark as it is stored, ms since the Unix epoch.
fn stored_mark_ms(database: &Database) -> Result<u64, HistoryError> {
    let about = database.begin_read()?.open_table(ABOUT)?;
    Ok(match about.get(MARK)? {
        Some(mark) => mark.value(),
        // Written before there was a mark: it follows from what was rolled up.
        None => match rolled_hour(&about)? {
            0 => 0,
            hour => (hour + RAW_HOURS) * HOUR_MINUTES * MINUTE_MS,
        },
    })
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
