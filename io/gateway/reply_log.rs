//! Log of requests that are carried out once: what was begun, and the sealed replies, as lines of JSON.
//!
//! A line is on disk before its request is carried out, so that neither a crash nor a restart carries
//! it out twice. The log is written anew without the lines that are over when it has grown.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use uuid::Uuid;

/// Growth after which the log is written anew, bytes.
const GROWTH_BYTES: u64 = 8 << 20;

/// State of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ReplyState {
    /// Begun; the outcome is unknown while there is no later line.
    Begun,
    /// Carried out.
    Done {
        /// Reply, sealed; absent where it is too long.
        reply: Option<String>,
    },
    /// Not carried out: it may be begun again.
    Free,
}

/// A request with a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyRecord {
    /// Account of the caller.
    pub account: Uuid,
    /// Path and query.
    pub uri: String,
    /// Key.
    pub key: String,
    /// SHA-256 of the body, hexadecimal.
    pub body_sha256: String,
    /// Time of the begin, ns since the Unix epoch.
    pub at_ns: u64,
    /// State.
    #[serde(flatten)]
    pub state: ReplyState,
}

#[derive(Debug)]
struct End {
    file: File,
    bytes: u64,
    /// Length after the log was last written anew, bytes.
    base_bytes: u64,
    /// The last line was cut off: the next one begins with its end.
    is_torn: bool,
}

/// The log.
#[derive(Debug)]
pub struct ReplyLog {
    path: PathBuf,
    end: Mutex<End>,
    /// Records at the start, until they are taken.
    records: Mutex<Vec<ReplyRecord>>,
    /// Number of lines that held other text than records when it was opened.
    pub damaged_lines: usize,
}

fn append_to(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600).open(path)
}

impl ReplyLog {
    /// Opens the log, or creates it; a line cut off by a crash is ignored, damaged ones are counted.
    ///
    /// # Errors
    /// Of the file system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = append_to(path)?;
        let bytes = std::fs::read(path)?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        let (records, others): (Vec<_>, Vec<_>) = lines
            .filter(|line| !line.is_empty())
            .map(serde_json::from_slice::<ReplyRecord>)
            .partition(Result::is_ok);
        // A line cut off by a crash ends too early; one is left before each later record.
        let is_damaged = |err: &serde_json::Error| !err.is_eof();
        let damaged_lines = others.into_iter().filter_map(Result::err).filter(is_damaged).count();
        let records = records.into_iter().flatten().collect();
        let end = End { file, bytes: bytes.len() as u64, base_bytes: 0, is_torn };
        let path = path.to_owned();
        Ok(Self { path, end: Mutex::new(end), records: Mutex::new(records), damaged_lines })
    }

    /// Records of earlier runs, in the order in which they were written; once.
    #[must_use]
    pub fn take_records(&self) -> Vec<ReplyRecord> {
        std::mem::take(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Appends a record; one that begins a request is on disk when this returns.
    ///
    /// # Errors
    /// Of the file system.
    pub fn append(&self, record: &ReplyRecord) -> io::Result<()> {
        let line = serde_json::to_string(record).map_err(io::Error::other)?;
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = if end.is_torn { "\n" } else { "" };
        let text = format!("{begin}{line}\n");
        end.is_torn = true;
        end.file.write_all(text.as_bytes())?;
        end.is_torn = false;
        end.bytes += text.len() as u64;
        match record.state {
            ReplyState::Begun => end.file.sync_data(),
            ReplyState::Done { .. } | ReplyState::Free => Ok(()),
        }
    }

    /// `true` when the log has grown so much that it is to be written anew.
    #[must_use]
    pub fn has_grown(&self) -> bool {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.bytes > end.base_bytes + GROWTH_BYTES
    }

    /// Writes the log anew with these records alone.
    ///
    /// # Errors
    /// Of the file system; the log is as it was.
    pub fn rewrite(&self, records: &[ReplyRecord]) -> io::Result<()> {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = NamedTempFile::with_prefix_in(".replies", folder)?;
        let mut bytes = 0;
        for record in records {
            let mut line = serde_json::to_vec(record).map_err(io::Error::other)?;
            line.push(b'\n');
            file.write_all(&line)?;
            bytes += line.len() as u64;
        }
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|err| err.error)?;
        *end = End { file: append_to(&self.path)?, bytes, base_bytes: bytes, is_torn: false };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(key: &str, state: ReplyState) -> ReplyRecord {
        ReplyRecord {
            account: Uuid::from_u128(7),
            uri: "/v1/admin/users".to_owned(),
            key: key.to_owned(),
            body_sha256: "0".repeat(64),
            at_ns: 1,
            state,
        }
    }

    #[test]
    fn records_survive_a_restart_and_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.jsonl");
        let log = ReplyLog::open(&path).unwrap();
        let end = ReplyState::Done { reply: Some("sealed".to_owned()) };
        let records =
            [record("a", ReplyState::Begun), record("a", end), record("b", ReplyState::Begun)];
        records.iter().for_each(|record| log.append(record).unwrap());
        let mut file = append_to(&path).unwrap();
        file.write_all(b"{\"account\":").unwrap();
        let log = ReplyLog::open(&path).unwrap();
        assert_eq!(log.take_records(), records);
        assert!(log.take_records().is_empty());
        log.append(&record("c", ReplyState::Free)).unwrap();
        let log = ReplyLog::open(&path).unwrap();
        assert_eq!(log.take_records().last(), Some(&record("c", ReplyState::Free)));
        assert_eq!(log.damaged_lines, 0);
        append_to(&path).unwrap().write_all(b"garbage\n{}\n").unwrap();
        assert_eq!(ReplyLog::open(&path).unwrap().damaged_lines, 2);
        log.rewrite(&records[2..]).unwrap();
        log.append(&record("d", ReplyState::Begun)).unwrap();
        let log = ReplyLog::open(&path).unwrap();
        assert_eq!(log.take_records(), [records[2].clone(), record("d", ReplyState::Begun)]);
    }
}
