//! Writing a log.

use std::io::{self, Write};

use super::chunk::{self, CHUNK_BYTES_MAX, Kind, MAGIC, TAIL};
use super::pack::Packer;
use super::{Entry, FORMAT_CHECKPOINTS, Header};
use crate::limits::LOG_FRAME_BYTES_MAX;

/// Entries that wait for no commit become a chunk when they have so many bytes.
const CHUNK_BYTES: usize = 64 << 10;
/// A zstd frame ends after so many bytes of entries: what a reader who jumps has to unpack in vain.
const SPAN_BYTES: usize = 1 << 20;

/// Writes a log to its end, or to wherever it is interrupted.
pub struct Writer<W: Write> {
    out: W,
    offset: u64,
    /// Number of the next chunk.
    number: u32,
    packer: Option<Packer>,
    /// Bytes of entries in the frame so far.
    span_bytes: usize,
    /// Entries of the next chunk, and the tick of the first of them.
    waiting: Vec<u8>,
    tick: u64,
    /// Tick and offset of each fresh chunk.
    index: Vec<(u64, u64)>,
    /// Format of the header.
    format: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a log.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn begin(mut out: W, header: &Header) -> io::Result<Self> {
        out.write_all(&MAGIC)?;
        let payload = rmp_serde::to_vec_named(header).map_err(io::Error::other)?;
        let bytes = chunk::write(&mut out, (Kind::Header, 0, 0), &payload)?;
        out.flush()?;
        let at = (MAGIC.len() as u64 + bytes, 1);
        Ok(Self::resume(out, at, Vec::new(), header.format))
    }

    /// Goes on at an offset with the chunk of this number; fresh chunks so far are in `index`.
    pub(super) fn resume(
        out: W,
        (offset, number): (u64, u32),
        index: Vec<(u64, u64)>,
        format: u32,
    ) -> Self {
        Self {
            out,
            offset,
            number,
            packer: None,
            span_bytes: 0,
            waiting: Vec::new(),
            tick: 0,
            index,
            format,
        }
    }

    /// Adds an entry to those of the next chunk. A log that goes on in a format without checkpoints
    /// gets none: they are a shortcut, not part of what happened.
    ///
    /// # Errors
    /// When the entry exceeds [`LOG_FRAME_BYTES_MAX`] or `out` fails.
    pub fn append(&mut self, entry: &Entry) -> io::Result<()> {
        if let Entry::Checkpoint(part) = entry {
            if self.format < FORMAT_CHECKPOINTS {
                return Ok(());
            }
            if part.number == 0 {
                // It begins a frame, so that it can be read without what came before.
                self.put()?;
                self.packer = None;
            }
        }
        let body = rmp_serde::to_vec_named(entry).map_err(io::Error::other)?;
        if body.len() > LOG_FRAME_BYTES_MAX {
            let what =
                format!("a log entry of {} bytes; at most {LOG_FRAME_BYTES_MAX}", body.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        if self.waiting.is_empty() {
            self.tick = entry.tick();
        }
        let length = u32::try_from(body.len()).expect("the limit is below 4 GiB");
        self.waiting.extend_from_slice(&length.to_le_bytes());
        self.waiting.extend_from_slice(&body);
        if self.waiting.len() >= CHUNK_BYTES {
            self.put()?;
        }
        Ok(())
    }

    /// Hands over everything appended so far.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.put()?;
        self.out.flush()
    }

    fn put(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if self.span_bytes >= SPAN_BYTES {
            self.packer = None;
        }
        let (kind, mut packer) = match self.packer.take() {
            Some(packer) => (Kind::Continued, packer),
            None => {
                self.span_bytes = 0;
                self.index.push((self.tick, self.offset));
                (Kind::Fresh, Packer::fresh()?)
            }
        };
        let packed = packer.pack(&self.waiting)?;
        self.offset += chunk::write(&mut self.out, (kind, self.number, self.tick), &packed)?;
        self.number += 1;
        self.span_bytes += self.waiting.len();
        self.waiting.clear();
        self.packer = Some(packer);
        Ok(())
    }

    /// Closes the log with its index. What is appended later would be damage.
    ///
    /// # Errors
    /// When `out` fails; then the log is complete but for the index.
    pub fn close(&mut self) -> io::Result<()> {
        self.put()?;
        let words = self.index.iter().flat_map(|(tick, at)| [*tick, *at]);
        let payload: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
        if payload.len() <= CHUNK_BYTES_MAX {
            chunk::write(&mut self.out, (Kind::Index, self.number, self.tick), &payload)?;
            self.out.write_all(&self.offset.to_le_bytes())?;
            self.out.write_all(&TAIL)?;
        }
        self.out.flush()
    }

    /// Sink of the log.
    pub fn get_ref(&self) -> &W {
        &self.out
    }
}
