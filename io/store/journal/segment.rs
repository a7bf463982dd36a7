//! A segment of the journal: a file of fixed length whose records are written through
//! ([`crate::files::through`]).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use groundwave_files::positioned::write_all_at;

use super::record::{BLOCK_BYTES_MIN, Record, record_bytes};
use crate::files::through::{Aligned, BLOCK_BYTES_MAX, fill, open_blocks};
use crate::files::{Change, Files};

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
    files: Files,
    file: File,
    /// Length of the file, bytes.
    bytes: u64,
    block: usize,
    /// Offset of the next record, bytes.
    end: u64,
}

/// Valid records of a segment from its front on, and what lies behind them.
pub(super) struct Found {
    /// Records with consecutive numbers.
    pub records: Vec<Record>,
    /// Offset behind the last of them, bytes.
    pub end: u64,
    /// Offset and number of the latest record behind a gap. It is damage when nothing else has the
    /// records between: a record is written only after the one before it is on disk.
    pub beyond: Option<(u64, u64)>,
}

impl Segment {
    /// Opens a segment with space for `bytes` at least; creates it when there is none.
    pub fn open(path: &Path, files: &Files, bytes: u64) -> io::Result<Self> {
        let mut found = path.metadata().map_or(0, |metadata| metadata.len());
        if found < bytes {
            fill(path, files, found, bytes)?;
            found = bytes;
        }
        let (file, block) = open_blocks(path)?;
        Ok(Self {
            path: path.to_owned(),
            files: files.clone(),
            file,
            bytes: found - found % BLOCK_BYTES_MAX as u64,
            block,
            end: 0,
        })
    }

    /// Makes the segment longer, keeping its content.
    pub fn grow(&mut self, bytes: u64) -> io::Result<()> {
        if bytes > self.bytes {
            fill(&self.path, &self.files, self.bytes, bytes)?;
            self.bytes = bytes;
        }
        Ok(())
    }

    /// Length of the segment, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of payload that the next record may have at least.
    pub fn space_bytes(&self) -> u64 {
        (self.bytes - self.end).saturating_sub(BLOCK_BYTES_MAX as u64)
    }

    /// Sets where the next record goes.
    pub fn set_end(&mut self, end: u64) {
        self.end = end.next_multiple_of(self.block as u64);
    }

    /// True when a record with such a payload fits.
    pub fn fits(&self, payload: usize) -> bool {
        self.end + record_bytes(payload, self.block) as u64 <= self.bytes
    }

    /// Writes a record that fits; it is on disk when this returns. After an error the record before it
    /// is still the last one.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        let length = record_bytes(record.payload.len(), self.block);
        let mut buffer = Aligned::zeros(length);
        record.write(buffer.bytes());
        write_all_at(&self.file, buffer.bytes(), self.end)?;
        let written = Change::WrittenThrough(self.end, buffer.bytes());
        self.files.note(&self.path, &written);
        self.end += length as u64;
        Ok(())
    }
}

/// Records of `store` in a segment, which need not exist.
pub(super) fn scan(path: &Path, store: u64) -> io::Result<Found> {
    let bytes = match std::fs::read(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let mut found = Found { records: Vec::new(), end: 0, beyond: None };
    let mut at = 0;
    while let Some((record, length)) = Record::read(&bytes[at..]) {
        let last = found.records.last().map(|last: &Record| last.sequence);
        if record.store != store || last.is_some_and(|last| record.sequence != last + 1) {
            break;
        }
        found.records.push(record);
        at += length;
    }
    found.end = at as u64;
    while at < bytes.len() {
        if let Some((record, _)) = Record::read(&bytes[at..])
            && record.store == store
            && found.beyond.is_none_or(|(_, latest)| record.sequence > latest)
        {
            found.beyond = Some((at as u64, record.sequence));
        }
        at += BLOCK_BYTES_MIN;
    }
    Ok(found)
}
