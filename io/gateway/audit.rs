//! Audit log: append-only lines, each with the digest of the line before it, so that a line changed or
//! removed later is detected. The file is rotated within a bound; the chain goes on from file to file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::hex::hex;
use crate::rotated::{Bounds, RotatedFile};

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
    /// A line does not follow from the one before it.
    #[error("audit {path}: line {line} does not follow from the one before it")]
    Broken {
        /// Path.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
    },
}

/// An audited operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Time, ns since the Unix epoch.
    pub at_ns: u64,
    /// Username, or `anonymous`.
    pub actor: String,
    /// Type of the actor: `user`, `node` or `none`.
    pub kind: String,
    /// Operation id.
    pub action: String,
    /// Path of the request.
    pub target: String,
    /// HTTP status.
    pub outcome: u16,
    /// Source address.
    pub source_ip: String,
    /// Request id.
    pub request_id: String,
    /// Further requests like this one, from the same source and with the same outcome, that have no
    /// line of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
}

/// True for a count that is left out of a line.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Number, from 1.
    pub number: u64,
    /// Audited operation.
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// SHA-256 of the line before it, hexadecimal.
    pub follows: String,
}

/// Filter of audit records.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Actor.
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

struct End {
    file: RotatedFile,
    number: u64,
    digest: String,
}

/// The audit log. Lines survive a crash of the program at once, one of the machine within seconds.
pub struct Audit {
    path: PathBuf,
    end: Mutex<End>,
}

fn digest(line: &str) -> String {
    hex(&Sha256::digest(line))
}

impl Audit {
    /// Opens the log, or creates it, and checks it. A last line cut off by a crash is removed. Where
    /// older files were removed, the chain begins at the first line that is kept.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn open(path: &Path) -> Result<Self, AuditError> {
        Self::open_within(path, Bounds::USUAL)
    }

    /// As [`Self::open`], with bounds of its own.
    ///
    /// # Errors
    /// [`AuditError`].
    pub fn open_within(path: &Path, bounds: Bounds) -> Result<Self, AuditError> {
        let failed = |path: &Path, err| AuditError::File {
            path: path.to_owned(),
            err,
        };
        let mut file = RotatedFile::open(path, bounds).map_err(|err| failed(path, err))?;
        let files = RotatedFile::files(path);
        let (mut number, mut before) = (0, digest(""));
        for (age, held) in files
            .iter()
            .enumerate()
            .map(|(place, held)| (files.len() - 1 - place, held))
        {
            let is_anchor = age + 1 == files.len() && age > 0;
            let checked = check(held, number, before, is_anchor)?;
            if age == 0 {
                file.cut(checked.whole_bytes)
                    .map_err(|err| failed(held, err))?;
            }
            (number, before) = (checked.number, checked.digest);
        }
        Ok(Self {
            path: path.to_owned(),
            end: Mutex::new(End {
                file,
                number,
                digest: before,
            }),
        })
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, entry: AuditEntry) -> io::Result<()> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let record = AuditRecord {
            number: end.number + 1,
            entry,
            follows: end.digest.clone(),
        };
        let line = serde_json::to_string(&record).map_err(io::Error::other)?;
        end.file.write_all(format!("{line}\n").as_bytes())?;
        end.number += 1;
        end.digest = digest(&line);
        Ok(())
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .number
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
        let failed = |err| AuditError::File {
            path: self.path.clone(),
            err,
        };
        let mut found = std::collections::VecDeque::new();
        let files: Result<Vec<_>, _> = {
            // Not while the files are numbered anew.
            let _end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
            RotatedFile::files(&self.path)
                .iter()
                .map(File::open)
                .collect()
        };
        let lines = files.map_err(failed)?.into_iter().map(BufReader::new);
        for line in lines.flat_map(BufRead::lines) {
            let Ok(record) = serde_json::from_str::<AuditRecord>(&line.map_err(failed)?) else {
                continue;
            };
            let is = |wanted: &Option<String>, held: &String| {
                wanted.as_ref().is_none_or(|wanted| wanted == held)
            };
            let fits = is(&query.actor, &record.entry.actor)
                && is(&query.action, &record.entry.action)
                && (query.from_ns..=query.to_ns).contains(&record.entry.at_ns)
                && record.number < query.before;
            if fits {
                if found.len() == query.limit {
                    found.pop_back();
                }
                found.push_front(record);
            }
        }
        Ok(found.into())
    }
}

/// End of a file whose lines follow from each other.
struct Checked {
    number: u64,
    digest: String,
    /// Bytes of its whole lines.
    whole_bytes: u64,
}

/// Checks the lines of a file, which follow line `number` with this digest; the first line of an
/// `is_anchor` file follows one that is no longer kept.
fn check(
    path: &Path,
    mut number: u64,
    mut before: String,
    mut is_anchor: bool,
) -> Result<Checked, AuditError> {
    let failed = |err| AuditError::File {
        path: path.to_owned(),
        err,
    };
    let mut lines = BufReader::new(File::open(path).map_err(failed)?);
    let (mut line, mut line_number, mut whole_bytes) = (String::new(), 0, 0);
    loop {
        line.clear();
        let count = lines.read_line(&mut line).map_err(failed)?;
        if count == 0 || !line.ends_with('\n') {
            break;
        }
        line_number += 1;
        let text = line.trim_end_matches('\n');
        let record: Option<AuditRecord> = serde_json::from_str(text).ok();
        let follows = |record: &AuditRecord| {
            is_anchor || record.follows == before && record.number == number + 1
        };
        let Some(record) = record.filter(follows) else {
            return Err(AuditError::Broken {
                path: path.to_owned(),
                line: line_number,
            });
        };
        is_anchor = false;
        number = record.number;
        before = digest(text);
        whole_bytes += count as u64;
    }
    Ok(Checked {
        number,
        digest: before,
        whole_bytes,
    })
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
        }
    }

    #[test]
    fn a_changed_line_shows_and_a_torn_one_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let audit = Audit::open(&path).unwrap();
        for at_ns in 0..5 {
            audit
                .add(entry(if at_ns % 2 == 0 { "ada" } else { "bob" }, at_ns))
                .unwrap();
        }
        drop(audit);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{{\"number\":6,\"at")).unwrap();
        let audit = Audit::open(&path).unwrap();
        assert_eq!(audit.len(), 5);
        audit.add(entry("ada", 9)).unwrap();
        let query = AuditQuery {
            actor: Some("ada".to_owned()),
            to_ns: u64::MAX,
            before: u64::MAX,
            limit: 2,
            ..AuditQuery::default()
        };
        let found: Vec<_> = audit
            .find(&query)
            .unwrap()
            .iter()
            .map(|record| record.number)
            .collect();
        assert_eq!(found, [6, 5]);
        drop(audit);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("bob", "eve", 1)).unwrap();
        assert!(matches!(
            Audit::open(&path),
            Err(AuditError::Broken { line: 3, .. })
        ));
        let without: Vec<_> = text
            .lines()
            .enumerate()
            .filter(|(place, _)| *place != 2)
            .map(|(_, line)| line)
            .collect();
        std::fs::write(&path, without.join("\n") + "\n").unwrap();
        assert!(matches!(
            Audit::open(&path),
            Err(AuditError::Broken { line: 3, .. })
        ));
    }
    #[test]
    fn the_chain_goes_on_over_rotated_files_and_the_oldest_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let bounds = Bounds {
            file_bytes: 2_000,
            older_files: 2,
        };
        for at_ns in 0..100 {
            let audit = Audit::open_within(&path, bounds).unwrap();
            audit.add(entry("ada", at_ns)).unwrap();
        }
        let files = RotatedFile::files(&path);
        let bytes: u64 = files
            .iter()
            .map(|file| file.metadata().unwrap().len())
            .sum();
        assert!(files.len() == 3 && bytes <= 6_000, "{bytes} bytes");
        let audit = Audit::open_within(&path, bounds).unwrap();
        assert_eq!(audit.len(), 100);
        let query = AuditQuery {
            to_ns: u64::MAX,
            before: u64::MAX,
            limit: 100,
            ..AuditQuery::default()
        };
        let found = audit.find(&query).unwrap();
        let numbers: Vec<_> = found.iter().rev().map(|record| record.number).collect();
        assert!(numbers.len() > 10 && numbers[0] > 1);
        assert_eq!(numbers, (numbers[0]..=100).collect::<Vec<_>>());
        drop(audit);
        // A file that is gone from the middle is noticed.
        std::fs::remove_file(&files[1]).unwrap();
        std::fs::rename(&files[0], &files[1]).unwrap();
        assert!(matches!(
            Audit::open_within(&path, bounds),
            Err(AuditError::Broken { line: 1, .. })
        ));
    }
}
