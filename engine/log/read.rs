//! Reading a log of any format.

use std::io::{self, Read, Write};

use serde::Deserialize;

use super::chunk::{self, HEAD, Kind, Next, TAIL, read_up_to};
use super::pack::Unpacker;
use super::{Entry, FORMAT, Header, LogError, Writer, frames};

/// Reads a log entry by entry.
pub struct Reader<R> {
    pub(super) input: R,
    header: Header,
    /// Bytes up to the end of the header.
    pub(super) begin: u64,
    /// Bytes up to the end of the last whole chunk or frame.
    pub(super) offset: u64,
    /// Number of the next chunk; `None` in format 1.
    pub(super) number: Option<u32>,
    unpacker: Unpacker,
    /// `true` if the zstd frame that the next chunk continues was read from its beginning.
    pub(super) within: bool,
    /// Entries of the last chunk, and how far they were read.
    pub(super) entries: Vec<u8>,
    pub(super) at: usize,
    /// Tick and offset of the fresh chunks seen.
    index: Vec<(u64, u64)>,
    /// Offset at which the entries end and the index begins, once it was reached.
    closed: Option<(u64, u32)>,
    torn_bytes: u64,
    pub(super) at_end: bool,
    /// `false` where digests and checkpoints are those of worlds that computed otherwise.
    has_results: bool,
}

/// `true` for the beginning of a log of any format.
#[must_use]
pub fn is_log(begin: &[u8]) -> bool {
    let got = begin.len().min(8);
    [chunk::MAGIC, frames::MAGIC].iter().any(|magic| begin[..got] == magic[..got])
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn open(mut input: R) -> Result<Self, LogError> {
        let mut magic = [0; 8];
        let got = read_up_to(&mut input, &mut magic)?;
        let begins = |with: [u8; 8]| magic[..got] == with[..got];
        if !is_log(&magic[..got]) {
            return Err(LogError::Magic);
        }
        if got < magic.len() {
            return Err(LogError::NoHeader);
        }
        let payload = if begins(frames::MAGIC) {
            frames::read(&mut input, 8)?
        } else {
            match chunk::read_head(&mut input, 8)? {
                Next::Torn(_) => return Err(LogError::NoHeader),
                Next::Found(head) if (head.kind, head.number) != (Kind::Header, 0) => {
                    return Err(LogError::damage(8, "the first chunk is not a header"));
                }
                Next::Found(head) => chunk::read_payload(&mut input, head, 8)?,
            }
        };
        let Next::Found(payload) = payload else {
            return Err(LogError::NoHeader);
        };
        let header = header(&payload)?;
        let (head, number) = match begins(chunk::MAGIC) {
            true => (HEAD, Some(1)),
            false => (8, None),
        };
        Ok(Self {
            input,
            header,
            begin: (8 + head + payload.len()) as u64,
            offset: (8 + head + payload.len()) as u64,
            number,
            unpacker: Unpacker::new().map_err(LogError::Read)?,
            within: false,
            entries: Vec::new(),
            at: 0,
            index: Vec::new(),
            closed: None,
            torn_bytes: 0,
            at_end: false,
            has_results: true,
        })
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Leaves the digests and checkpoints aside, but for the state that the log begins with: those of a
    /// program that computed otherwise.
    pub fn leave_results(&mut self) {
        self.has_results = false;
    }

    /// `true` unless digests and checkpoints are left aside.
    pub fn has_results(&self) -> bool {
        self.has_results
    }

    /// Offset after the last whole chunk that was read.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the torn tail that was dropped; 0 until the end was reached.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// `true` if the end was reached and the log was closed.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, LogError> {
        let start = self.offset;
        let body = self.next_body()?;
        body.map(|body| rmp_serde::from_slice(&body))
            .transpose()
            .map_err(|err| LogError::damage(start, err.to_string()))
    }

    /// The bytes of the next entry.
    fn next_body(&mut self) -> Result<Option<Vec<u8>>, LogError> {
        if self.number.is_none() {
            return self.next_frame();
        }
        while self.at == self.entries.len() {
            if self.at_end || !self.next_chunk()? {
                return Ok(None);
            }
        }
        let rest = &self.entries[self.at..];
        let body = rest
            .split_first_chunk::<4>()
            .and_then(|(length, rest)| rest.get(..u32::from_le_bytes(*length) as usize));
        let Some(body) = body.map(<[u8]>::to_vec) else {
            self.at_end = true;
            return Err(LogError::damage(self.offset, "an entry goes beyond its chunk"));
        };
        self.at += 4 + body.len();
        Ok(Some(body))
    }

    fn next_frame(&mut self) -> Result<Option<Vec<u8>>, LogError> {
        if self.at_end {
            return Ok(None);
        }
        match frames::read(&mut self.input, self.offset)? {
            Next::Found(payload) => {
                self.offset += 8 + payload.len() as u64;
                Ok(Some(payload))
            }
            Next::Torn(bytes) => {
                self.torn(bytes);
                Ok(None)
            }
        }
    }

    /// Unpacks the next chunk; false at the end.
    fn next_chunk(&mut self) -> Result<bool, LogError> {
        let offset = self.offset;
        let head = match chunk::read_head(&mut self.input, offset)? {
            Next::Found(head) => head,
            Next::Torn(bytes) => return Ok(self.torn(bytes)),
        };
        if Some(head.number) != self.number {
            let what =
                format!("chunk {} where {} is due", head.number, self.number.unwrap_or_default());
            return Err(LogError::damage(offset, what));
        }
        let payload = match chunk::read_payload(&mut self.input, head, offset)? {
            Next::Found(payload) => payload,
            Next::Torn(bytes) => return Ok(self.torn(bytes)),
        };
        match head.kind {
            Kind::Fresh => {
                self.unpacker.fresh().map_err(LogError::Read)?;
                self.index.push((head.tick, offset));
                self.within = true;
            }
            Kind::Continued if self.within => {}
            Kind::Continued => {
                return Err(LogError::damage(
                    offset,
                    "a chunk goes on with a frame that is not there",
                ));
            }
            Kind::Header => return Err(LogError::damage(offset, "a second header")),
            Kind::Index => return self.tail(offset, head.number, payload.len()),
        }
        self.entries.clear();
        self.at = 0;
        self.unpacker
            .unpack(&payload, &mut self.entries)
            .map_err(|err| LogError::damage(offset, err.to_string()))?;
        self.offset += (HEAD + payload.len()) as u64;
        self.number = Some(head.number.wrapping_add(1));
        Ok(true)
    }

    /// Reads the trailer behind the index, which must end the log.
    fn tail(&mut self, offset: u64, number: u32, length: usize) -> Result<bool, LogError> {
        let mut tail = [0; 17];
        let got = read_up_to(&mut self.input, &mut tail)?;
        let mut expected = offset.to_le_bytes().to_vec();
        expected.extend_from_slice(&TAIL);
        if tail[..got.min(16)] != expected[..got.min(16)] || got > 16 {
            return Err(LogError::damage(offset, "something stands behind the index"));
        }
        if got < 16 {
            return Ok(self.torn((HEAD + length + got) as u64));
        }
        self.closed = Some((offset, number));
        self.at_end = true;
        Ok(false)
    }

    fn torn(&mut self, bytes: u64) -> bool {
        self.at_end = true;
        self.torn_bytes = bytes;
        false
    }
}

impl<R> Reader<R> {
    /// A writer that goes on where this log, read to its end, ended: `out` must be cut off and
    /// placed at the offset that is returned with it. Logs of format 1 are finished.
    ///
    /// # Errors
    /// When the log is of format 1.
    pub fn writer<W: Write>(self, out: impl FnOnce(u64) -> io::Result<W>) -> io::Result<Writer<W>> {
        let Some(number) = self.number else {
            let what = "a log of format 1 cannot be continued; cut it into a new one";
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        };
        let (end, number) = self.closed.unwrap_or((self.offset, number));
        Ok(Writer::resume(out(end)?, (end, number), self.index, self.header.format))
    }
}

fn header(payload: &[u8]) -> Result<Header, LogError> {
    /// The format is looked at first: a later header may have fields this one lacks.
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let damage = |err: rmp_serde::decode::Error| LogError::damage(8, format!("header: {err}"));
    let Format { format } = rmp_serde::from_slice(payload).map_err(damage)?;
    if !(1..=FORMAT).contains(&format) {
        return Err(LogError::Format { found: format });
    }
    rmp_serde::from_slice(payload).map_err(damage)
}
