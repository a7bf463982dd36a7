//! Audit log: append-only lines, each with the digest of the line before it and a keyed digest of its
//! own, so that a line changed or removed later is detected, and none can be made without the key.
//!
//! Damage does not stop the gateway. Lines after it form a new segment, whose first line holds the
//! digest of the damaged lines. The file is rotated within a bound; the chain goes on from file to file.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use groundwave_engine::FaultKind;
use groundwave_files::rotated::{Bounds, RotatedFile};
use thiserror::Error;

use super::audit_chain::{AuditReport, Chain, with_mac};
use super::audit_entry::{AuditEntry, AuditRecord};
use super::audit_slots::AuditSlots;

/// Error of the audit log.
#[derive(Debug, Error)]
pub enum AuditError {
    /// The file fails.
    #[error("audit {path}: {err}")]
    File {
        /// Path.
        path: PathBuf,
        /// Cause.
        #[source]
        err: io::Error,
    },
    /// Another process writes to it.
    #[error("audit {path} is in use: stop the gateway first")]
    InUse {
        /// Path.
        path: PathBuf,
    },
}

/// Filter of audit records.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Actor, or username of a login.
    pub actor: Option<String>,
    /// Operation id.
    pub action: Option<String>,
    /// Earliest time, ns since the Unix epoch.
    pub from_ns: u64,
    /// Latest time, ns since the Unix epoch.
    pub to_ns: u64,
    /// Only records with lower numbers.
    pub before: u64,
    /// Records at most.
    pub limit: usize,
}

/// Entries that wait at most for a disk that takes none; of more, the latest are lost and logged.
const WAITING_MAX: usize = 4_096;
/// Space that an operation needs before it is carried out, bytes: several entries.
const SPACE_BYTES: u64 = 16 << 10;

struct End {
    file: RotatedFile,
    number: u64,
    digest: String,
    /// Entries that found no space, the oldest first, with their slots.
    waiting: VecDeque<(AuditEntry, Option<usize>)>,
    /// Failure of the last write or look for space.
    failure: Option<FaultKind>,
    /// Writes fail as on a full disk.
    #[cfg(test)]
    is_full: bool,
}

/// The audit log. Lines survive a crash of the program at once, one of the machine within seconds.
pub struct Audit {
    path: PathBuf,
    key: [u8; 32],
    report: AuditReport,
    /// Locked file, so that one process at a time writes to the log.
    _lock: File,
    slots: AuditSlots,
    end: Mutex<End>,
}

/// An operation on record that is carried out. Without an end its outcome is recorded as unknown.
pub struct AuditIntent {
    audit: Arc<Audit>,
    slot: usize,
    entry: Option<AuditEntry>,
}

impl AuditIntent {
    /// Ends the record with the entry of the operation; `None` for one that is counted elsewhere.
    ///
    /// # Errors
    /// When the log cannot be written: the entry waits, on disk.
    pub fn end(mut self, entry: Option<AuditEntry>) -> io::Result<()> {
        self.entry = None;
        match entry {
            Some(entry) => self.audit.write(entry, Some(self.slot)),
            None => {
                self.audit.slots.free(self.slot);
                Ok(())
            }
        }
    }
}

impl Drop for AuditIntent {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take()
            && let Err(err) = self.audit.write(entry, Some(self.slot))
        {
            tracing::error!(%err, "audit log write failed: the entry waits");
        }
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> AuditError + use<> {
    let path = path.to_owned();
    move |err| AuditError::File { path: path.clone(), err }
}

/// Reads all lines of a file into a chain; returns the length of the complete lines, bytes.
fn read(file: &Path, chain: &mut Chain) -> Result<u64, AuditError> {
    let failed = failed(file);
    let mut lines = BufReader::new(File::open(file).map_err(&failed)?);
    let (mut line, mut whole_bytes) = (Vec::new(), 0);
    loop {
        line.clear();
        let count = lines.read_until(b'\n', &mut line).map_err(&failed)?;
        let Some(text) = line.strip_suffix(b"\n") else {
            chain.torn(count);
            return Ok(whole_bytes);
        };
        chain.line(text);
        whole_bytes += count as u64;
    }
}

/// Reads all files of a log; returns the length of the complete lines of the last one, bytes.
fn read_all(path: &Path, key: &[u8; 32]) -> Result<(Chain, u64), AuditError> {
    let files = RotatedFile::files(path);
    // Older files may have been removed.
    let mut chain = Chain::new(key, files.len() > 1);
    let mut whole_bytes = 0;
    for file in files {
        whole_bytes = read(&file, &mut chain)?;
    }
    Ok((chain, whole_bytes))
}

fn lock(path: &Path) -> Result<File, AuditError> {
    let path = path.with_extension("lock");
    let failed = failed(&path);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = options.mode(0o600).open(&path).map_err(&failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AuditError::InUse { path }),
        Err(TryLockError::Error(err)) => Err(failed(err)),
    }
}

impl Audit {
    /// Opens the log, or creates it, and checks it. A last line cut off by a crash is removed. After
    /// damage a new segment begins ([`Self::report`]). Where older files were removed, the chain begins
    /// at the first line that is kept.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn open(path: &Path, key: &[u8; 32]) -> Result<Self, AuditError> {
        Self::open_within(path, key, Bounds::USUAL)
    }

    /// As [`Self::open`], with bounds of its own.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn open_within(path: &Path, key: &[u8; 32], bounds: Bounds) -> Result<Self, AuditError> {
        let lock = lock(path)?;
        let failed = failed(path);
        let mut file = RotatedFile::open(path, bounds).map_err(&failed)?;
        let (chain, whole_bytes) = read_all(path, key)?;
        file.cut(whole_bytes).map_err(&failed)?;
        let segment = chain.segment(groundwave_files::wall::wall_ns());
        let (number, digest, report) = chain.end();
        let (slots, mut begun) =
            AuditSlots::open(&path.with_extension("begun")).map_err(&failed)?;
        // Those whose line was written already before the last run ended.
        let lines =
            if begun.is_empty() { Vec::new() } else { std::fs::read(path).map_err(&failed)? };
        let lines = String::from_utf8_lossy(&lines);
        begun.retain(|(slot, entry)| {
            let is_missing = !lines.contains(&format!("\"request_id\":{:?}", entry.request_id));
            if !is_missing {
                slots.free(*slot);
            }
            is_missing
        });
        let waiting = begun.into_iter().map(|(slot, entry)| (entry, Some(slot))).collect();
        let audit = Self {
            path: path.to_owned(),
            key: *key,
            report,
            _lock: lock,
            slots,
            end: Mutex::new(End {
                file,
                number,
                digest,
                waiting,
                failure: None,
                #[cfg(test)]
                is_full: false,
            }),
        };
        if let Some((entry, follows)) = segment {
            let mut end = audit.end();
            audit.append(&mut end, entry, Some(follows)).map_err(&failed)?;
        }
        if let Err(err) = audit.flush() {
            tracing::error!(%err, "audit log write failed: entries wait");
        }
        Ok(audit)
    }

    /// Checks a log without changing it.
    ///
    /// # Errors
    /// [`AuditError::File`].
    pub fn verify(path: &Path, key: &[u8; 32]) -> Result<AuditReport, AuditError> {
        let (chain, _) = read_all(path, key)?;
        let (_, _, report) = chain.end();
        Ok(report)
    }

    /// Result of the check when the log was opened.
    #[must_use]
    pub fn report(&self) -> &AuditReport {
        &self.report
    }

    fn end(&self) -> MutexGuard<'_, End> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends an entry, after those that wait. One that finds no space waits itself.
    ///
    /// # Errors
    /// When the file cannot be written: the entry waits in memory.
    pub fn add(&self, entry: AuditEntry) -> io::Result<()> {
        self.write(entry, None)
    }

    /// Puts an operation on record before it is carried out, with an outcome that is not known yet.
    ///
    /// # Errors
    /// When neither its record nor its entry would find space, or too many are carried out.
    pub fn begin(self: &Arc<Self>, entry: AuditEntry) -> io::Result<AuditIntent> {
        self.space()?;
        let entry = AuditEntry { outcome: 0, ..entry };
        let slot = self.slots.begin(&entry)?;
        Ok(AuditIntent { audit: Arc::clone(self), slot, entry: Some(entry) })
    }

    /// Appends an entry, whose slot is free once it is written.
    fn write(&self, entry: AuditEntry, slot: Option<usize>) -> io::Result<()> {
        let mut end = self.end();
        if slot.is_some() || end.waiting.len() < WAITING_MAX {
            end.waiting.push_back((entry, slot));
        } else {
            let (action, actor) = (&entry.action, &entry.actor);
            tracing::error!(%action, %actor, "an audit entry is lost: too many wait for the disk");
        }
        let result = self.write_waiting(&mut end);
        if let (Err(_), Some(slot), Some((entry, _))) = (&result, slot, end.waiting.back()) {
            // The outcome is on disk until the line is.
            self.slots.replace(slot, entry)?;
        }
        result
    }

    /// Writes the entries that wait.
    ///
    /// # Errors
    /// When the file cannot be written: they go on waiting.
    pub fn flush(&self) -> io::Result<()> {
        self.write_waiting(&mut self.end())
    }

    /// Makes sure that the entry of an operation finds space, before the operation is carried out.
    ///
    /// # Errors
    /// When there is none, or entries of earlier ones still wait.
    pub fn space(&self) -> io::Result<()> {
        let mut end = self.end();
        self.write_waiting(&mut end)
    }

    /// Failure for which entries wait or find no space.
    #[must_use]
    pub fn failure(&self) -> Option<FaultKind> {
        self.end().failure
    }

    fn write_waiting(&self, end: &mut End) -> io::Result<()> {
        let mut write = || {
            while let Some((entry, slot)) = end.waiting.front().cloned() {
                self.append(end, entry, None)?;
                end.waiting.pop_front();
                slot.into_iter().for_each(|slot| self.slots.free(slot));
            }
            end.file.reserve(SPACE_BYTES)
        };
        let written = write();
        end.failure = written.as_ref().err().map(FaultKind::of);
        written
    }

    /// Lets writes fail as on a full disk.
    #[cfg(test)]
    pub(super) fn fail_writes(&self, is_full: bool) {
        self.end().is_full = is_full;
    }

    fn append(&self, end: &mut End, entry: AuditEntry, follows: Option<String>) -> io::Result<()> {
        let record = AuditRecord {
            number: end.number + 1,
            entry,
            follows: follows.unwrap_or_else(|| end.digest.clone()),
            mac: None,
        };
        let line = serde_json::to_string(&record).map_err(io::Error::other)?;
        let line = with_mac(&self.key, &line);
        #[cfg(test)]
        if end.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        end.file.write_all(format!("{line}\n").as_bytes())?;
        end.number += 1;
        end.digest = super::audit_chain::digest(line.as_bytes());
        Ok(())
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end().number
    }

    /// `true` if there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Matching records, latest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find(&self, query: &AuditQuery) -> Result<Vec<AuditRecord>, AuditError> {
        self.find_counted(query).map(|(records, _)| records)
    }

    /// As [`Self::find`], with the number of matching records of any number.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn find_counted(
        &self,
        query: &AuditQuery,
    ) -> Result<(Vec<AuditRecord>, usize), AuditError> {
        let mut count = 0;
        let failed = failed(&self.path);
        let mut records = VecDeque::new();
        let files: Result<Vec<_>, _> = {
            // Not while the files are numbered anew.
            let _end = self.end();
            RotatedFile::files(&self.path).iter().map(File::open).collect()
        };
        let lines = files.map_err(&failed)?.into_iter().map(BufReader::new);
        for line in lines.flat_map(|file| file.split(b'\n')) {
            let line = line.map_err(&failed)?;
            let Ok(record) = serde_json::from_slice::<AuditRecord>(&line) else {
                continue;
            };
            let is = |filter: &Option<String>, value: &String| {
                filter.as_ref().is_none_or(|filter| filter == value)
            };
            let name = record.entry.name.as_ref();
            let by_name = query.actor.is_some() && name == query.actor.as_ref();
            let fits = (is(&query.actor, &record.entry.actor) || by_name)
                && is(&query.action, &record.entry.action)
                && (query.from_ns..=query.to_ns).contains(&record.entry.at_ns);
            count += usize::from(fits);
            if fits && record.number < query.before {
                if records.len() == query.limit {
                    records.pop_back();
                }
                records.push_front(record);
            }
        }
        Ok((records.into(), count))
    }
}
