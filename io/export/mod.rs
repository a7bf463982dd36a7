//! A recording in the formats of others: what the world came to, tick by tick or in the end.
//!
//! | kind | holds |
//! |---|---|
//! | EEL | places and path losses of both directions, whenever they changed |
//! | CSV | a row for each direction and time: predicted and measured |
//! | NetJSON | the mesh in the end, costs as ETX |
//! | CORE | nodes and links in the end, as scenario XML |
//!
//! An [`Exporter`] is fed every snapshot of a replay in order, so that a day needs no more memory than
//! a tick.

mod core;
mod eel;
mod netjson;
mod rows;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use groundwave_systems::Snapshot;

pub use rows::{COLUMNS, Row};

/// What a recording is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An event log of EMANE.
    Eel,
    /// A table of directions over time.
    Csv,
    /// A NetJSON NetworkGraph.
    NetJson,
    /// A scenario of CORE.
    Core,
}

/// What kinds there are, for people.
pub const KINDS: &str = ".eel, .csv, .json (NetJSON), .xml (CORE)";

impl Kind {
    /// By the extension of a file's name.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "eel" => Some(Self::Eel),
            "csv" => Some(Self::Csv),
            "json" => Some(Self::NetJson),
            "xml" => Some(Self::Core),
            _ => None,
        }
    }
}

/// Writes a recording while it is replayed.
pub struct Exporter<W: Write> {
    kind: Kind,
    out: W,
    eel: eel::State,
    rows: rows::State,
    /// Lines or things written.
    count: u64,
}

impl<W: Write> Exporter<W> {
    /// Begins a document.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn begin(kind: Kind, mut out: W) -> io::Result<Self> {
        if kind == Kind::Csv {
            rows::heads(&mut out)?;
        }
        Ok(Self {
            kind,
            out,
            eel: eel::State::default(),
            rows: rows::State::default(),
            count: 0,
        })
    }

    /// Takes in the next snapshot.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn note(&mut self, now: &Snapshot) -> io::Result<()> {
        self.count += match self.kind {
            Kind::Eel => self.eel.note(now, &mut self.out)?,
            Kind::Csv => {
                let (rows, out) = (self.rows.changed(now), &mut self.out);
                rows.iter().try_for_each(|row| row.write(out))?;
                rows.len() as u64
            }
            Kind::NetJson | Kind::Core => 0,
        };
        Ok(())
    }

    /// Ends the document with the last snapshot; tells how many lines or things were written.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn finish(mut self, last: &Snapshot) -> io::Result<u64> {
        self.count += match self.kind {
            Kind::NetJson => netjson::write(last, &mut self.out)?,
            Kind::Core => core::write(last, &mut self.out)?,
            Kind::Eel | Kind::Csv => 0,
        };
        self.out.flush()?;
        Ok(self.count)
    }
}
