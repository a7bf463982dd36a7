//! Write-ahead journal of the store: each commit is one record on disk, and the store itself is its
//! checkpoint.
//!
//! Two segments, `STORE.journal.0` and `STORE.journal.1`, take turns: while one is written, the rows of
//! the other go into the store. A record costs its own blocks, a commit of the store eight pages
//! however little changed.

mod record;
mod rows;
mod segment;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use groundwave_engine::Row;
use thiserror::Error;

use crate::files::{Change, Files};
use record::Record;
pub(super) use rows::Value;
use segment::{Segment, scan};

/// Length of a segment at first, bytes.
const SEGMENT_BYTES_MIN: u64 = 1 << 20;
/// Length of a segment at most, bytes: replayed within a second.
const SEGMENT_BYTES_MAX: u64 = 32 << 20;
/// Length of a segment for each byte of the rows that it changes: the store writes each of them once
/// a segment.
const SEGMENT_PER_ROWS: u64 = 8;
/// Bytes that a segment has left before the commands of a tick are applied.
const TICK_BYTES: u64 = 256 << 10;

/// Error of the journal at start.
#[derive(Debug, Error)]
pub enum JournalError {
    /// Files copied at different times.
    #[error(
        "its journal goes on at commit {found} where {expected} was expected: the files are not of one \
         moment; copy them again, or make the copy with `groundwave backup`"
    )]
    Moments {
        /// First number after the gap.
        found: u64,
        /// Number expected.
        expected: u64,
    },
    /// The journal is not there.
    #[error(
        "its journal {path} is missing: the last commits are in it; copy it as well, or make the copy \
         with `groundwave backup`"
    )]
    Missing {
        /// Path of the segment.
        path: PathBuf,
    },
    /// A record in the middle is damaged.
    #[error(
        "its journal {path} is damaged after commit {last}, and has a whole record of commit {beyond} \
         at byte {offset}: restore a backup, or move {path} away and start from the checkpoint"
    )]
    Damaged {
        /// Path of the segment.
        path: PathBuf,
        /// Last commit before the damage.
        last: u64,
        /// Number of a commit after it.
        beyond: u64,
        /// Offset of that, bytes.
        offset: u64,
    },
    /// The files fail.
    #[error("its journal: {0}")]
    Io(#[from] io::Error),
}

/// Commits that the store does not have yet.
#[derive(Debug)]
pub(super) struct Recovered {
    records: Vec<Record>,
    /// Segment of the last record, and where it ends, bytes.
    last_in: Option<(usize, u64)>,
}

impl Recovered {
    /// Number and tick of the last commit, if there is one.
    pub fn last(&self) -> Option<(u64, u64)> {
        self.records.last().map(|last| (last.sequence, last.tick))
    }

    /// Hands over all rows with their numbers, in order; `before` is the value known of a row.
    pub fn rows<T>(
        &self,
        known: &mut T,
        before: impl Fn(&T, &str, [u8; 16]) -> io::Result<Option<Value>>,
        mut put: impl FnMut(&mut T, u64, &str, [u8; 16], Option<Value>),
    ) -> io::Result<()> {
        for record in &self.records {
            rows::decode(&record.payload, known, &before, |known, table, key, value| {
                put(known, record.sequence, table, key, value);
            })?;
        }
        Ok(())
    }
}

/// Paths of the segments of a store.
pub(super) fn paths(store: &Path) -> [PathBuf; 2] {
    [".journal.0", ".journal.1"].map(|ending| {
        let mut path = OsString::from(store);
        path.push(ending);
        path.into()
    })
}

/// Reads the commits after number `stored` of the store `id`; `is_open` when the store was not
/// closed, so that there must be a journal.
pub(super) fn recover(
    store: &Path,
    id: u64,
    stored: u64,
    is_open: bool,
) -> Result<Recovered, JournalError> {
    let paths = paths(store);
    if let Some(path) = paths.iter().find(|path| is_open && !path.exists()) {
        let path = path.clone();
        return Err(JournalError::Missing { path });
    }
    let found = [scan(&paths[0], id)?, scan(&paths[1], id)?];
    let newest = |place: &usize| found[*place].records.last().map_or(0, |last| last.sequence);
    let last_in = (0..2)
        .max_by_key(newest)
        .filter(|place| newest(place) > stored)
        .map(|place| (place, found[place].end));
    let beyond = [&found[0], &found[1]].map(|segment| segment.beyond);
    let mut records: Vec<Record> = found.into_iter().flat_map(|segment| segment.records).collect();
    records.retain(|record| record.sequence > stored);
    records.sort_by_key(|record| record.sequence);
    let mut last = stored;
    for record in &records {
        if record.sequence != last + 1 {
            let (found, expected) = (record.sequence, last + 1);
            return Err(JournalError::Moments { found, expected });
        }
        last = record.sequence;
    }
    for (path, beyond) in paths.into_iter().zip(beyond) {
        if let Some((offset, beyond)) = beyond.filter(|(_, sequence)| *sequence > last) {
            return Err(JournalError::Damaged { path, last, beyond, offset });
        }
    }
    Ok(Recovered { records, last_in })
}

/// Both segments, open for writing.
#[derive(Debug)]
pub(super) struct Journal {
    id: u64,
    segments: [Segment; 2],
    active: usize,
    /// Number of the last commit in each segment; a segment is free when the store has it.
    last: [u64; 2],
    /// Length that the segments should have, bytes.
    wanted_bytes: u64,
}

impl Journal {
    /// Opens the journal of the store `id` behind what was recovered; creates it when there is none.
    pub fn open(
        store: &Path,
        files: &Files,
        id: u64,
        recovered: Option<&Recovered>,
    ) -> io::Result<Self> {
        let [first, second] = paths(store);
        let segments = [
            Segment::open(&first, files, SEGMENT_BYTES_MIN)?,
            Segment::open(&second, files, SEGMENT_BYTES_MIN)?,
        ];
        let mut journal =
            Self { id, segments, active: 0, last: [0; 2], wanted_bytes: SEGMENT_BYTES_MIN };
        let last = recovered.and_then(|found| found.last_in.zip(found.last()));
        if let Some(((active, end), (last, _))) = last {
            journal.active = active;
            journal.segments[active].set_end(end);
            // Records of the other segment that the store lacks come before those of this one.
            journal.last = [last; 2];
        }
        Ok(journal)
    }

    /// Makes sure that the active segment has space for `payload` bytes, or for a tick; the store has
    /// the commits up to `stored`. Returns whether it has.
    pub fn has_space(&mut self, payload: u64, stored: u64) -> bool {
        let wanted = payload.max(TICK_BYTES);
        if self.segments[self.active].space_bytes() >= wanted {
            return true;
        }
        let other = 1 - self.active;
        if self.last[other] > stored {
            return false;
        }
        // A longer segment is a gain, not a need.
        let bytes = self.wanted_bytes.max(self.segments[other].bytes());
        if let Err(err) = self.segments[other].grow(bytes) {
            tracing::warn!(%err, "the journal of the store stays at its length");
        }
        self.segments[other].set_end(0);
        self.active = other;
        self.segments[other].space_bytes() >= payload
    }

    /// True when one segment is in use only, as after the store has caught up.
    pub fn is_settled(&self, stored: u64) -> bool {
        self.last[1 - self.active] <= stored
    }

    /// Sets the length of the segments by the rows that the store has to write for each.
    pub fn set_rows_bytes(&mut self, rows_bytes: u64) {
        let wanted = (rows_bytes * SEGMENT_PER_ROWS).next_multiple_of(SEGMENT_BYTES_MIN);
        self.wanted_bytes = wanted.clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
    }

    /// Rows as a payload; `before` is the value that was committed last.
    pub fn encode<'a>(
        rows: &'a [Row],
        before: impl Fn(&Row) -> Option<&'a [u8]>,
    ) -> io::Result<Vec<u8>> {
        rows::encode(rows, before)
    }

    /// True when such a payload fits into the active segment.
    pub fn fits(&self, payload: usize) -> bool {
        self.segments[self.active].fits(payload)
    }

    /// Writes a commit that fits; it is on disk when this returns.
    pub fn append(&mut self, sequence: u64, tick: u64, payload: Vec<u8>) -> io::Result<()> {
        let record = Record { store: self.id, sequence, tick, payload };
        self.segments[self.active].append(&record)?;
        self.last[self.active] = sequence;
        Ok(())
    }
}

/// Removes the segments of a store that has all their commits.
pub(super) fn remove(store: &Path, files: &Files) -> io::Result<()> {
    for path in paths(store) {
        match std::fs::remove_file(&path) {
            Err(err) if err.kind() != io::ErrorKind::NotFound => return Err(err),
            _ => files.note(&path, &Change::Removed),
        }
    }
    groundwave_files::sync_folder(store)?;
    files.note(store, &Change::FolderSynced);
    Ok(())
}
