//! The command log: all commands in the order they were applied, enough for a replay.
//!
//! # Format 3
//!
//! A file is the eight bytes `GWAVELO2`, then chunks. A chunk is a head of 28 bytes (all numbers
//! little-endian) and a payload:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | kind: 1 header, 2 fresh, 3 continued, 4 index |
//! | 3 | zero |
//! | 4 | number of the chunk, from 0 |
//! | 8 | tick of its first entry |
//! | 4 | length of the payload |
//! | 4 | CRC-32 of the payload |
//! | 4 | CRC-32 of the 24 bytes before |
//!
//! The first chunk is the [`Header`] as named msgpack. *Fresh* and *continued* chunks hold entries:
//! length (`u32`) and named msgpack of an [`Entry`] each, packed with zstd. A fresh chunk begins a
//! zstd frame, continued ones go on with it and can only be read after it: so every commit is a
//! chunk of its own, small as it may be, and yet refers to earlier content. The *index*, written
//! when a log is closed, lists the fresh chunks (tick and offset, `u64` each); behind it stand the
//! offset of the index (`u64`) and `GWAVEIDX`. Without it, heads of chunks are walked along.
//!
//! **Torn tail.** A process that dies while writing leaves an incomplete last chunk, or, after a
//! power cut, zeros where the file had grown. Readers drop such a tail and report how many bytes it
//! had. Every other damage, lost, doubled and swapped chunks included, is an error that names its
//! offset, and comes after everything before it was read: a wrong log is worse than none.
//!
//! **Checkpoints.** Now and then the whole state of the world is written between two ticks
//! ([`Checkpoint`]): as parts, entries of their own, the first of which begins a fresh chunk, and a
//! mark behind them. A replay may begin at one instead of at the beginning; the mark behind it
//! proves that it was taken up to the bit. A replay from the beginning skips them.
//!
//! **Versions.** Every format ever written stays readable: format 1, `GWAVELOG`, was frames of
//! length, CRC-32 and an entry, without compression; format 2 is format 3 without checkpoints. New
//! kinds of entries make a new format; readers refuse unknown formats, by number. What a
//! checkpoint holds may change from version to version without a new format: one that a version
//! cannot take is passed over, and the replay begins further back, at the latest with the first
//! command, of which every version promises to make the same.

mod checkpoint;
mod chunk;
mod frames;
mod pack;
mod read;
mod seek;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use checkpoint::{Checkpoint, Part};
pub use read::{Reader, is_log};
pub use write::Writer;

/// Version of the log this engine writes.
pub const FORMAT: u32 = 3;
/// First format with checkpoints.
const FORMAT_CHECKPOINTS: u32 = 3;

/// Parameters of a world that a replay needs before the first command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Seed of all randomness.
    pub seed: u64,
    /// Length of a step in nanoseconds.
    pub step_ns: u64,
    /// Other inputs of the world by name, for example the terrain's name and digest.
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
    #[serde(with = "serde_bytes")]
    pub body: Vec<u8>,
}

/// Digest of the world at the end of a tick, against which a replay is verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The tick that had just ended.
    pub tick: u64,
    /// Digest of the snapshot, in hexadecimal; empty in a mark that states no more than the end of the log.
    pub digest: String,
    /// CRC-32 of each thing in each part of the snapshot, in the part's order, so that a replay
    /// that diverges can name the first thing that differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Parts,
    /// Names and digests of the files that the world has read until then, such as terrain tiles.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Parts by name, causes before effects, with the CRC-32 of each thing in them.
pub type Parts = Vec<(String, Vec<u32>)>;

/// One frame after the header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A command.
    Command(Record),
    /// A digest.
    Mark(Mark),
    /// A part of a checkpoint.
    Checkpoint(Part),
}

impl Entry {
    /// The tick it belongs to.
    #[must_use]
    pub fn tick(&self) -> u64 {
        match self {
            Self::Command(record) => record.tick,
            Self::Mark(mark) => mark.tick,
            Self::Checkpoint(part) => part.tick,
        }
    }
}

/// Errors of reading a log.
#[derive(Debug, Error)]
pub enum LogError {
    /// Reading failed.
    #[error("read log")]
    Read(#[source] io::Error),
    /// The first bytes are not those of a log.
    #[error("not a groundwave log: it begins with neither GWAVELO2 nor GWAVELOG")]
    Magic,
    /// The header is incomplete.
    #[error("the log ends within its header")]
    NoHeader,
    /// It was written in another format.
    #[error("log format {found} is not readable; this version reads formats 1 to {FORMAT}")]
    Format {
        /// The format found.
        found: u32,
    },
    /// A part is damaged, and not by tearing.
    #[error("damaged at byte {offset}: {what}")]
    Damage {
        /// Offset of the damaged part, bytes.
        offset: u64,
        /// Description of the damage.
        what: String,
    },
}

impl LogError {
    fn damage(offset: u64, what: impl Into<String>) -> Self {
        Self::Damage { offset, what: what.into() }
    }
}

/// Sink for the entries of a log. `io` keeps it in a file; tests keep it in memory.
pub trait Journal: Send {
    /// Buffers an entry.
    ///
    /// # Errors
    /// When the entry cannot be written.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;
    /// Makes everything appended so far durable, against the end of this process and a power cut.
    ///
    /// # Errors
    /// When durability cannot be guaranteed.
    fn commit(&mut self) -> io::Result<()>;
    /// Makes sure that the entries of a tick have space; called before commands are applied.
    ///
    /// # Errors
    /// [`io::ErrorKind::StorageFull`] and its like while there is no space; any other ends the world.
    fn space(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A journal that discards entries: for runs that are not replayed.
#[derive(Debug, Default)]
pub struct NullJournal;

impl Journal for NullJournal {
    fn append(&mut self, _: &Entry) -> io::Result<()> {
        Ok(())
    }
    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }
}
