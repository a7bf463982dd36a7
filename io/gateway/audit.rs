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
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundwave_engine::FaultKind;
use groundwave_files::rotated::{Bounds, RotatedFile};
use thiserror::Error;

use super::audit_chain::{AuditReport, Chain, with_mac};
use super::audit_entry::{AuditEntry, AuditRecord};

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
    /// Entries that found no space, the oldest first.
    waiting: VecDeque<AuditEntry>,
    /// Failure of the last write or look for space.
    failure: Option<FaultKind>,
}

/// The audit log. Lines survive a crash of the program at once, one of the machine within seconds.
pub struct Audit {
    path: PathBuf,
    key: [u8; 32],
    report: AuditReport,
    /// Locked file, so that one process at a time writes to the log.
    _lock: File,
    end: Mutex<End>,
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
        let audit = Self {
            path: path.to_owned(),
            key: *key,
            report,
            _lock: lock,
            end: Mutex::new(End { file, number, digest, waiting: VecDeque::new(), failure: None }),
        };
        if let Some((entry, follows)) = segment {
            let mut end = audit.end();
            audit.append(&mut end, entry, Some(follows)).map_err(&failed)?;
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
        let mut end = self.end();
        if end.waiting.len() < WAITING_MAX {
            end.waiting.push_back(entry);
        } else {
            let (action, actor) = (&entry.action, &entry.actor);
            tracing::error!(%action, %actor, "an audit entry is lost: too many wait for the disk");
        }
        self.write_waiting(&mut end)
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
            while let Some(entry) = end.waiting.front() {
                let entry = entry.clone();
                self.append(end, entry, None)?;
                end.waiting.pop_front();
            }
            end.file.reserve(SPACE_BYTES)
        };
        let written = write();
        end.failure = written.as_ref().err().map(FaultKind::of);
        written
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
                && (query.from_ns..=query.to_ns).contains(&record.entry.at_ns)
                && record.number < query.before;
            if fits {
                if records.len() == query.limit {
                    records.pop_back();
                }
                records.push_front(record);
            }
        }
        Ok(records.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(actor: &str, at_ns: u64) -> AuditEntry {
        AuditEntry {
            at_ns,
            actor: actor.to_owned(),
            kind: "user".to_owned(),
            action: "nodes_delete".to_owned(),
            target: "/v1/nodes/1".to_owned(),
            outcome: 204,
            source_ip: "127.0.0.1".to_owned(),
            request_id: "r".to_owned(),
            repeated: 0,
            name: None,
            token: None,
        }
    }

    const KEY: [u8; 32] = [7; 32];

    fn filled(path: &Path) -> String {
        let audit = Audit::open(path, &KEY).unwrap();
        for at_ns in 0..5 {
            let actor = if at_ns % 2 == 0 { "ada" } else { "bob" };
            audit.add(entry(actor, at_ns)).unwrap();
        }
        std::fs::read_to_string(path).unwrap()
    }

    /// Damaged lines, first and last.
    fn damage(path: &Path) -> Vec<(usize, usize)> {
        let report = Audit::verify(path, &KEY).unwrap();
        let damage = report.damage.iter();
        damage.map(|one| (one.first_line, one.last_line)).collect()
    }

    #[test]
    fn a_torn_line_is_taken_away_and_records_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let text = filled(&path);
        std::fs::write(&path, format!("{text}{{\"number\":6,\"at")).unwrap();
        let audit = Audit::open(&path, &KEY).unwrap();
        assert_eq!(audit.len(), 5);
        assert!(audit.report().is_intact() && audit.report().torn_bytes == 15);
        assert!(matches!(Audit::open(&path, &KEY), Err(AuditError::InUse { .. })));
        let mut login = entry("anonymous", 8);
        login.name = Some("ada".to_owned());
        audit.add(login).unwrap();
        audit.add(entry("ada", 9)).unwrap();
        let query = AuditQuery {
            actor: Some("ada".to_owned()),
            to_ns: u64::MAX,
            before: u64::MAX,
            limit: 3,
            ..AuditQuery::default()
        };
        let records = audit.find(&query).unwrap();
        let records: Vec<_> = records.iter().map(|record| record.number).collect();
        assert_eq!(records, [7, 6, 5]);
        drop(audit);
        assert_eq!(damage(&path), []);
    }

    #[test]
    fn after_damage_it_goes_on_in_a_new_segment() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let text = filled(&path);
        let without = text.lines().enumerate().filter(|(at, _)| *at != 2);
        let without: Vec<_> = without.map(|(_, line)| line).collect();
        let without = without.join("\n") + "\n";
        let garbled = [text.as_bytes(), &[0xff, 0xfe, b'\n']].concat();
        for (damaged, lines) in [
            (text.replacen("bob", "eve", 1).into_bytes(), (2, 5)),
            (without.into_bytes(), (3, 4)),
            (garbled, (6, 6)),
        ] {
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(damage(&path), [lines]);
            let audit = Audit::open(&path, &KEY).unwrap();
            assert!(!audit.report().is_intact());
            audit.add(entry("ada", 20)).unwrap();
            drop(audit);
            let report = Audit::verify(&path, &KEY).unwrap();
            assert!(report.is_intact() && damage(&path) == [lines]);
            // The segment vouches for what was there: more damage before it shows.
            let text = std::fs::read(&path).unwrap();
            let bent: Vec<u8> = [b"x", &text[1..]].concat();
            std::fs::write(&path, bent).unwrap();
            assert!(!Audit::verify(&path, &KEY).unwrap().is_intact());
        }
    }

    #[test]
    fn a_chain_computed_anew_without_the_key_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        drop(filled(&path));
        let own = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let forged = Audit::open(&path, &[8; 32]).unwrap();
        for at_ns in 0..5 {
            forged.add(entry("eve", at_ns)).unwrap();
        }
        drop(forged);
        assert_eq!(damage(&path), [(1, 5)]);
        // Neither do lines without a keyed digest follow one that has it.
        let tail: String = own
            .lines()
            .map(|line| line.split(",\"mac\"").next().unwrap().to_owned() + "}\n")
            .skip(4)
            .collect();
        let head: String = own.lines().take(4).map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, head + &tail).unwrap();
        assert_eq!(damage(&path), [(5, 5)]);
    }

    #[test]
    fn the_chain_goes_on_over_rotated_files_and_the_oldest_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let bounds = Bounds { file_bytes: 2_000, older_files: 2 };
        for at_ns in 0..100 {
            let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
            audit.add(entry("ada", at_ns)).unwrap();
        }
        let files = RotatedFile::files(&path);
        let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
        assert!(files.len() == 3 && bytes <= 6_000, "{bytes} bytes");
        let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
        assert_eq!(audit.len(), 100);
        let query =
            AuditQuery { to_ns: u64::MAX, before: u64::MAX, limit: 100, ..AuditQuery::default() };
        let records = audit.find(&query).unwrap();
        let numbers: Vec<_> = records.iter().rev().map(|record| record.number).collect();
        assert!(numbers.len() > 10 && numbers[0] > 1);
        assert_eq!(numbers, (numbers[0]..=100).collect::<Vec<_>>());
        drop(audit);
        assert_eq!(damage(&path), []);
        // A file that is gone from the middle is noticed.
        std::fs::remove_file(&files[1]).unwrap();
        std::fs::rename(&files[0], &files[1]).unwrap();
        assert_eq!(damage(&path).len(), 1);
        // The segment after damage holds when the files before it are gone.
        for at_ns in 100..200 {
            let audit = Audit::open_within(&path, &KEY, bounds).unwrap();
            audit.add(entry("ada", at_ns)).unwrap();
        }
        assert!(Audit::verify(&path, &KEY).unwrap().is_intact());
    }
}
