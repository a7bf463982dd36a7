//! Chunks: the units of a log, each with its number and checksums.

use std::io::{self, Read, Write};

use super::LogError;
use crate::limits::LOG_FRAME_BYTES_MAX;

/// First bytes of every log of format 2 and 3.
pub const MAGIC: [u8; 8] = *b"GWAVELO2";
/// Last bytes of a closed log.
pub const TAIL: [u8; 8] = *b"GWAVEIDX";
/// Longest payload: the longest entry that cannot be packed, behind others that waited for it.
pub const CHUNK_BYTES_MAX: usize = 2 * LOG_FRAME_BYTES_MAX;
/// Length of a head, bytes.
pub const HEAD: usize = 28;

/// Kind of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The header, not packed.
    Header,
    /// Entries, at the beginning of a zstd frame.
    Fresh,
    /// Entries, in the zstd frame begun by the last fresh chunk.
    Continued,
    /// Ticks and offsets of the fresh chunks.
    Index,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Header, Self::Fresh, Self::Continued, Self::Index];

    fn code(self) -> u8 {
        self as u8 + 1
    }
}

/// The head of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Kind of the chunk.
    pub kind: Kind,
    /// Sequence number of the chunk in the log, from 0.
    pub number: u32,
    /// Tick of the first entry.
    pub tick: u64,
    /// Length of the payload, bytes.
    pub length: usize,
    crc: u32,
}

/// Writes a chunk; returns its bytes.
pub fn write(
    out: &mut impl Write,
    (kind, number, tick): (Kind, u32, u64),
    payload: &[u8],
) -> io::Result<u64> {
    let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
    let mut head = [0; HEAD];
    head[0] = kind.code();
    head[4..8].copy_from_slice(&number.to_le_bytes());
    head[8..16].copy_from_slice(&tick.to_le_bytes());
    head[16..20].copy_from_slice(&length.to_le_bytes());
    head[20..24].copy_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let crc = crc32fast::hash(&head[..24]);
    head[24..].copy_from_slice(&crc.to_le_bytes());
    out.write_all(&head)?;
    out.write_all(payload)?;
    Ok((HEAD + payload.len()) as u64)
}

/// Result of reading the next item of a log.
#[derive(Debug)]
pub enum Next<T> {
    /// The item.
    Found(T),
    /// End of the log, after so many bytes of an incomplete item.
    Torn(u64),
}

/// Reads a head at `offset`.
pub fn read_head(input: &mut impl Read, offset: u64) -> Result<Next<Head>, LogError> {
    let mut head = [0; HEAD];
    let got = read_up_to(input, &mut head)?;
    if head[..got].iter().all(|byte| *byte == 0) {
        return zeros(input, offset, got as u64);
    }
    if got < HEAD {
        return Ok(Next::Torn(got as u64));
    }
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if crc32fast::hash(&head[..24]) != word(24) {
        return Err(LogError::damage(offset, "the checksum of a chunk's head does not match"));
    }
    let kind = Kind::ALL.into_iter().find(|kind| kind.code() == head[0]);
    let Some(kind) = kind.filter(|_| head[1..4] == [0; 3]) else {
        let what = format!("a chunk of the unknown kind {:?}", &head[..4]);
        return Err(LogError::damage(offset, what));
    };
    let length = word(16) as usize;
    if length > CHUNK_BYTES_MAX {
        let what = format!("a chunk of {length} bytes; at most {CHUNK_BYTES_MAX}");
        return Err(LogError::damage(offset, what));
    }
    Ok(Next::Found(Head {
        kind,
        number: word(4),
        tick: u64::from(word(8)) | u64::from(word(12)) << 32,
        length,
        crc: word(20),
    }))
}

/// Reads the payload behind `head`, which begins at `offset`.
pub fn read_payload(
    input: &mut impl Read,
    head: Head,
    offset: u64,
) -> Result<Next<Vec<u8>>, LogError> {
    let mut payload = vec![0; head.length];
    let got = read_up_to(input, &mut payload)?;
    if got < head.length {
        return Ok(Next::Torn((HEAD + got) as u64));
    }
    if crc32fast::hash(&payload) != head.crc {
        return Err(LogError::damage(offset, "the checksum of a chunk does not match"));
    }
    Ok(Next::Found(payload))
}

/// Accepts nothing but zeros up to the end.
pub fn zeros<T>(input: &mut impl Read, offset: u64, so_far: u64) -> Result<Next<T>, LogError> {
    let mut bytes = so_far;
    let mut chunk = [0; 4096];
    loop {
        let got = read_up_to(input, &mut chunk)?;
        if chunk[..got].iter().any(|byte| *byte != 0) {
            return Err(LogError::damage(offset, "zeros, and something behind them"));
        }
        bytes += got as u64;
        if got == 0 {
            return Ok(Next::Torn(bytes));
        }
    }
}

/// Fills `buffer` as far as the input goes.
pub fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, LogError> {
    let mut filled = 0;
    while filled < buffer.len() {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(LogError::Read(err)),
        }
    }
    Ok(filled)
}
