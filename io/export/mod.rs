//! A recording in the formats of others: what the world came to, tick by tick or in the end.
//!
//! | kind | holds |
//! |---|---|
//! | EEL | places and path losses of both directions, whenever they changed |
//! | CSV | a row for each direction and time: predicted and measured |
//! | Parquet | the same rows, typed |
//! | NetJSON | the mesh in the end, costs as ETX |
//! | CORE | nodes and links in the end, as scenario XML |
//!
//! An [`Exporter`] is fed every snapshot of a replay in order, so that a day needs no more memory than
//! a tick.

mod core;
mod eel;
mod netjson;
mod rows;
mod table;
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
    /// The same table as Apache Parquet.
    Parquet,
    /// A NetJSON NetworkGraph.
    NetJson,
    /// A scenario of CORE.
    Core,
}

/// What kinds there are, for people.
pub const KINDS: &str = ".eel, .csv, .parquet, .json (NetJSON), .xml (CORE)";

impl Kind {
    /// By the extension of a file's name.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "eel" => Some(Self::Eel),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "json" => Some(Self::NetJson),
            "xml" => Some(Self::Core),
            _ => None,
        }
    }
}

/// Where a document goes.
enum Out<W: Write + Send> {
    Text(W),
    Table(Box<table::Table<W>>),
}

/// Writes a recording while it is replayed.
pub struct Exporter<W: Write + Send> {
    kind: Kind,
    out: Out<W>,
    eel: eel::State,
    rows: rows::State,
    /// Lines or things written.
    count: u64,
}

impl<W: Write + Send> Exporter<W> {
    /// Begins a document.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn begin(kind: Kind, mut out: W) -> io::Result<Self> {
        if kind == Kind::Csv {
            rows::heads(&mut out)?;
        }
        let out = match kind {
            Kind::Parquet => Out::Table(Box::new(table::Table::begin(out)?)),
            _ => Out::Text(out),
        };
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
        self.count += match (&mut self.out, self.kind) {
            (Out::Text(out), Kind::Eel) => self.eel.note(now, out)?,
            (Out::Text(out), Kind::Csv) => {
                let rows = self.rows.changed(now);
                rows.iter().try_for_each(|row| row.write(out))?;
                rows.len() as u64
            }
            (Out::Table(table), _) => {
                let rows = self.rows.changed(now);
                let count = rows.len() as u64;
                table.take(rows)?;
                count
            }
            (Out::Text(_), _) => 0,
        };
        Ok(())
    }

    /// Ends the document with the last snapshot; tells how many lines or things were written.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn finish(self, last: &Snapshot) -> io::Result<u64> {
        let mut out = match self.out {
            Out::Table(table) => return table.end().map(|()| self.count),
            Out::Text(out) => out,
        };
        let more = match self.kind {
            Kind::NetJson => netjson::write(last, &mut out)?,
            Kind::Core => core::write(last, &mut out)?,
            Kind::Eel | Kind::Csv | Kind::Parquet => 0,
        };
        out.flush()?;
        Ok(self.count + more)
    }
}
