//! A segment of the journal: a file of fixed length, filled with zeros once, so that a record changes
//! its own blocks and nothing else of the file system.
//!
//! Where the file system has it, records bypass the page cache (`O_DIRECT`) in blocks of 512 bytes, or
//! of 4,096 on disks that have no smaller ones; elsewhere they are written through it (`O_DSYNC`) in
//! blocks of 4,096.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::record::{BLOCK_BYTES_MIN, Record, record_bytes};

/// Largest block, bytes: that of a page.
const BLOCK_BYTES_MAX: usize = 4096;

/// A buffer that begins at a page, as `O_DIRECT` requires.
struct Aligned {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    fn zeros(length: usize) -> Self {
        let bytes = vec![0; length + BLOCK_BYTES_MAX];
        let from = bytes.as_ptr().align_offset(BLOCK_BYTES_MAX);
        Self {
            bytes,
            from,
            length,
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }
}

/// An open segment.
#[derive(Debug)]
pub(super) struct Segment {
    path: PathBuf,
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
    pub fn open(path: &Path, bytes: u64) -> io::Result<Self> {
        let mut found = path.metadata().map_or(0, |metadata| metadata.len());
        if found < bytes {
            fill(path, found, bytes)?;
            found = bytes;
        }
        let (file, block) = open_for_records(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes: found - found % BLOCK_BYTES_MAX as u64,
            block,
            end: 0,
        })
    }

    /// Makes the segment longer, keeping its content.
    pub fn grow(&mut self, bytes: u64) -> io::Result<()> {
        if bytes > self.bytes {
            fill(&self.path, self.bytes, bytes)?;
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
        self.file.write_all_at(buffer.bytes(), self.end)?;
        self.end += length as u64;
        Ok(())
    }
}

/// Fills a file with zeros from one offset to another and waits until they are on disk; leaves it as
/// it was when that fails.
fn fill(path: &Path, from: u64, to: u64) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).mode(0o600).open(path)?;
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    let mut write = || {
        while at < to {
            let part = (to - at).min(zeros.len() as u64) as usize;
            file.write_all_at(&zeros[..part], at)?;
            at += part as u64;
        }
        file.sync_all()?;
        crate::journal::sync_folder(path)
    };
    let written = write();
    if written.is_err() {
        match from {
            // The error to report is the first one.
            0 => drop(std::fs::remove_file(path)),
            _ => drop(file.set_len(from)),
        }
    }
    written
}

/// The file for records, and its block, bytes.
fn open_for_records(path: &Path) -> io::Result<(File, usize)> {
    let open = |flags: OFlag| {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        options.custom_flags(flags.bits()).open(path)
    };
    if let Ok(file) = open(OFlag::O_DIRECT | OFlag::O_DSYNC) {
        for block in [BLOCK_BYTES_MIN, BLOCK_BYTES_MAX] {
            let mut probe = Aligned::zeros(block);
            if file.read_exact_at(probe.bytes(), 0).is_ok() {
                return Ok((file, block));
            }
        }
    }
    Ok((open(OFlag::O_DSYNC)?, BLOCK_BYTES_MAX))
}

/// Records of `store` in a segment, which need not exist.
pub(super) fn scan(path: &Path, store: u64) -> io::Result<Found> {
    let bytes = match std::fs::read(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read?,
    };
    let mut found = Found {
        records: Vec::new(),
        end: 0,
        beyond: None,
    };
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
            && found
                .beyond
                .is_none_or(|(_, latest)| record.sequence > latest)
        {
            found.beyond = Some((at as u64, record.sequence));
        }
        at += BLOCK_BYTES_MIN;
    }
    Ok(found)
}
