//! The command log: what happened, in order, enough to make it happen again.
//!
//! A file is the eight bytes `GWAVELOG`, then frames: length (`u32` LE), CRC-32 of the payload
//! (`u32` LE), payload (named msgpack). The first frame is the [`Header`]; each other one is an
//! [`Entry`].
//!
//! **Torn tail.** A process that dies while writing leaves an incomplete last frame, or, after a
//! power cut, zeros where the file had grown. Readers drop such a tail and say how many bytes it
//! had. Every other damage is an error that names its offset: a log that lies is worse than none.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::LOG_FRAME_BYTES_MAX;

/// First bytes of every log.
pub const MAGIC: [u8; 8] = *b"GWAVELOG";

/// Version of the frame contents this engine writes.
pub const FORMAT: u32 = 1;

/// What a replay must know before the first command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Seed of all randomness.
    pub seed: u64,
    /// Length of a step in nanoseconds.
    pub step_ns: u64,
    /// What else the outcome depends on, for example the terrain's name and digest.
    pub inputs: BTreeMap<String, String>,
}

/// One command, as it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The tick it was applied in; never falls.
    pub tick: u64,
    /// Wall clock of that tick in nanoseconds since the Unix epoch.
    pub wall_ns: u64,
    /// [`Recorded::NAME`](crate::Recorded::NAME).
    pub name: String,
    /// The command as named msgpack.
    #[serde(with = "bytes")]
    pub body: Vec<u8>,
}

/// What the world looked like at the end of a tick, so that a replay can prove itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The tick that had just ended.
    pub tick: u64,
    /// Digest of the snapshot, in hexadecimal.
    pub digest: String,
}

/// One frame after the header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A command.
    Command(Record),
    /// A digest.
    Mark(Mark),
}

/// Why a log cannot be read.
#[derive(Debug, Error)]
pub enum LogError {
    /// The bytes do not come.
    #[error("read log")]
    Read(#[source] io::Error),
    /// It does not begin like a log.
    #[error("not a groundwave log: it does not begin with GWAVELOG")]
    Magic,
    /// It ends before its header does.
    #[error("the log ends within its header")]
    NoHeader,
    /// It was written in another format.
    #[error("log format {found} is not readable; this version reads format {FORMAT}")]
    Format {
        /// The format found.
        found: u32,
    },
    /// A frame is damaged, and not by tearing.
    #[error("damaged at byte {offset}: {what}")]
    Damage {
        /// Where the frame begins.
        offset: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// Where the engine appends entries. `io` keeps it in a file; tests keep it in memory.
pub trait Journal: Send {
    /// Buffers an entry.
    ///
    /// # Errors
    /// When the entry cannot be written.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;
    /// Makes everything appended so far survive the death of this process and of the machine.
    ///
    /// # Errors
    /// When that cannot be promised.
    fn commit(&mut self) -> io::Result<()>;
}

/// A journal that keeps nothing: for runs nobody wants to replay.
#[derive(Debug, Default)]
pub struct Forget;

impl Journal for Forget {
    fn append(&mut self, _: &Entry) -> io::Result<()> {
        Ok(())
    }
    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the magic bytes and `header`.
///
/// # Errors
/// When `out` fails.
pub fn write_header(out: &mut impl Write, header: &Header) -> io::Result<()> {
    out.write_all(&MAGIC)?;
    write_frame(out, header)
}

/// Writes one entry.
///
/// # Errors
/// When `out` fails or the entry exceeds [`LOG_FRAME_BYTES_MAX`].
pub fn write_entry(out: &mut impl Write, entry: &Entry) -> io::Result<()> {
    write_frame(out, entry)
}

fn write_frame(out: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    let payload = rmp_serde::to_vec_named(value).map_err(io::Error::other)?;
    if payload.len() > LOG_FRAME_BYTES_MAX {
        let what = format!(
            "a log frame of {} bytes; at most {LOG_FRAME_BYTES_MAX}",
            payload.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let length = u32::try_from(payload.len()).expect("the frame limit is below 4 GiB");
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&crc32fast::hash(&payload).to_le_bytes())?;
    out.write_all(&payload)
}

/// Reads a log entry by entry.
pub struct Reader<R> {
    input: R,
    header: Header,
    /// Bytes up to the end of the last whole frame.
    offset: u64,
    torn_bytes: u64,
    done: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn open(mut input: R) -> Result<Self, LogError> {
        let mut magic = [0; 8];
        let got = read_up_to(&mut input, &mut magic)?;
        if magic[..got] != MAGIC[..got] {
            return Err(LogError::Magic);
        }
        if got < magic.len() {
            return Err(LogError::NoHeader);
        }
        let header = Header {
            format: 0,
            seed: 0,
            step_ns: 0,
            inputs: BTreeMap::new(),
        };
        let mut reader = Self {
            input,
            header,
            offset: 8,
            torn_bytes: 0,
            done: false,
        };
        let payload = reader.frame()?.ok_or(LogError::NoHeader)?;
        // The format is looked at first: a later header may have fields this one lacks.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let damage = |err: rmp_serde::decode::Error| LogError::Damage {
            offset: 8,
            what: format!("header: {err}"),
        };
        let Format { format } = rmp_serde::from_slice(&payload).map_err(damage)?;
        if format != FORMAT {
            return Err(LogError::Format { found: format });
        }
        reader.header = rmp_serde::from_slice(&payload).map_err(damage)?;
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Offset after the last whole frame: where an appending writer continues.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the torn tail that was dropped; 0 until the end was reached.
    pub fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The next entry, or `None` at the end.
    ///
    /// # Errors
    /// See [`LogError`].
    pub fn next_entry(&mut self) -> Result<Option<Entry>, LogError> {
        let start = self.offset;
        let Some(payload) = self.frame()? else {
            return Ok(None);
        };
        rmp_serde::from_slice(&payload)
            .map(Some)
            .map_err(|err| LogError::Damage {
                offset: start,
                what: err.to_string(),
            })
    }

    fn frame(&mut self) -> Result<Option<Vec<u8>>, LogError> {
        if self.done {
            return Ok(None);
        }
        let mut head = [0; 8];
        let got = read_up_to(&mut self.input, &mut head)?;
        if got < head.len() {
            return Ok(self.torn(got as u64));
        }
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let crc = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let damage = |what: String| LogError::Damage {
            offset: self.offset,
            what,
        };
        if length == 0 {
            return self.zeros(head).map(|()| None);
        }
        if length > LOG_FRAME_BYTES_MAX {
            let what = format!("a frame of {length} bytes; at most {LOG_FRAME_BYTES_MAX}");
            return Err(damage(what));
        }
        let mut payload = vec![0; length];
        let got = read_up_to(&mut self.input, &mut payload)?;
        if got < length {
            return Ok(self.torn(8 + got as u64));
        }
        if crc32fast::hash(&payload) != crc {
            return Err(damage("the checksum does not match".to_owned()));
        }
        self.offset += 8 + length as u64;
        Ok(Some(payload))
    }

    fn torn<T>(&mut self, bytes: u64) -> Option<T> {
        self.done = true;
        self.torn_bytes = bytes;
        None
    }

    /// Accepts nothing but zeros up to the end.
    fn zeros(&mut self, head: [u8; 8]) -> Result<(), LogError> {
        let mut bytes = 8;
        let mut chunk = head.to_vec();
        loop {
            if chunk.iter().any(|&byte| byte != 0) {
                let what = "an empty frame".to_owned();
                return Err(LogError::Damage {
                    offset: self.offset,
                    what,
                });
            }
            chunk.resize(4096, 0);
            let got = read_up_to(&mut self.input, &mut chunk)?;
            chunk.truncate(got);
            bytes += got as u64;
            if got == 0 {
                let _: Option<()> = self.torn(bytes);
                return Ok(());
            }
        }
    }
}

fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, LogError> {
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

/// Bodies as msgpack `bin`, not as arrays of numbers: a third of the size.
mod bytes {
    use serde::{Deserializer, Serializer, de};

    pub fn serialize<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(body)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Vec<u8>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

#[cfg(test)]
mod tests;
