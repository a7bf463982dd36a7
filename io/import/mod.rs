//! Recordings of others: what was measured where and when becomes commands, and these a log like any
//! other, to be replayed, reported on and calibrated with.
//!
//! | kind | from |
//! |---|---|
//! | EEL | EMANE event logs: `pathloss` and `location` |
//! | table | CSV of levels or telemetry, with a [mapping] that says what its columns are; gzip as well |
//! | batman-adv | `batctl oj` and `nj`: TQ of BATMAN IV, throughput of BATMAN V |
//! | OLSRd | jsoninfo `links` and `topology`, of both generations |
//! | respondd | `neighbours` of nodes, and the links of meshviewer and hopglass |
//! | NetJSON | NetworkGraph, the cost of a link taken as ETX |
//! | Mahimahi | packet-delivery traces: the rate of one link in windows of a second |
//! | ns-2 | motion as `setdest` and BonnMotion write it |
//! | GPX | tracks |
//!
//! Readers are tolerant and loud: what is not used is counted, by kind, with where it was first.

mod eel;
mod lower;
mod mesh;
mod motion;
mod snapshots;
mod table;
#[cfg(test)]
mod tests;

/// How a table of levels is read, as a TOML file.
pub mod mapping;

use std::collections::BTreeMap;

use groundwave_systems::measure::Measured;
use groundwave_systems::radio::Station;
use groundwave_systems::site::NODES_MAX;
use groundwave_systems::terrain::GeoPoint;
use thiserror::Error;

pub use crate::tracks::Dropped;
pub use lower::Lowered;
pub use motion::{trace, tracks};
pub use snapshots::{SnapshotKind, read as read_snapshots};
pub use table::read as read_table;

/// Longest file read, bytes: ten days of a hundred links once a minute are 100 MB.
pub const BYTES_MAX: usize = 1 << 30;

/// Most events of one recording, so that a wrong mapping cannot fill the memory.
pub const EVENTS_MAX: usize = 20_000_000;

/// Why a recording was not read.
#[derive(Debug, Error)]
pub enum ImportError {
    /// It is too long.
    #[error("{found} {what}; allowed: up to {most}")]
    Long {
        /// How many there are.
        found: usize,
        /// Of what.
        what: &'static str,
        /// How many may be.
        most: usize,
    },
    /// It holds nothing that can be used.
    #[error("nothing was measured in it, and nobody moves; allowed: at least one of both ({what})")]
    Empty {
        /// What there was instead.
        what: String,
    },
    /// It is not what it seems.
    #[error("{place}: {what}")]
    Syntax {
        /// Where.
        place: String,
        /// Why.
        what: String,
    },
}

/// Who stands where, as far as a recording tells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Spot {
    /// What it is called.
    pub name: String,
    /// Where it stands at the beginning.
    pub position: Option<GeoPoint>,
    /// What stands there.
    pub station: Option<Station>,
}

/// What happens at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What {
    /// A node is somewhere.
    Move(u32, GeoPoint),
    /// A node sets out for somewhere, m/s; 0 stops it.
    GoTo(u32, GeoPoint, f64),
    /// Something was measured from a node to another.
    Observe(u32, u32, Measured),
}

/// A recording.
#[derive(Debug, Default)]
pub struct Recording {
    /// What it is called.
    pub title: String,
    /// Time its clock counts from, s since the Unix epoch, where it is told.
    pub begin_unix_s: Option<f64>,
    /// Simulated time between two ticks, s.
    pub step_s: f64,
    /// Longest link the model looks for, m.
    pub range_m: Option<f64>,
    /// Nodes in the order they were met.
    pub nodes: Vec<Spot>,
    /// What happens when, s since the beginning; in the order of time once it is finished.
    pub events: Vec<(f64, What)>,
    /// What was not used.
    pub dropped: Vec<Dropped>,
    numbers: BTreeMap<String, u32>,
    told: BTreeMap<String, (usize, usize)>,
}

impl Recording {
    /// An empty one.
    #[must_use]
    pub fn new(title: &str, step_s: f64) -> Self {
        Self {
            title: title.to_owned(),
            step_s,
            ..Self::default()
        }
    }

    fn drop(&mut self, what: &str, line: usize) {
        self.told.entry(what.to_owned()).or_insert((0, line)).0 += 1;
    }

    /// The number of a node; `None`, and told, where there are too many or its name is none.
    fn node(&mut self, name: &str, line: usize) -> Option<u32> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let clean: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
        if clean.trim().is_empty() {
            self.drop("a node without a name", line);
            return None;
        }
        if self.nodes.len() >= NODES_MAX {
            self.drop("one node too many", line);
            return None;
        }
        let number = u32::try_from(self.nodes.len()).ok()?;
        self.nodes.push(Spot {
            name: clean,
            ..Spot::default()
        });
        self.numbers.insert(name.to_owned(), number);
        Some(number)
    }

    /// Takes in a measurement, if it can have been made.
    fn observe(&mut self, at_s: f64, ends: (&str, &str), values: Measured, line: usize) {
        if ends.0 == ends.1 {
            return self.drop("a link from a node to itself", line);
        }
        if let Err(refusal) = values.validate() {
            let what = refusal.to_string();
            let what: String = what.chars().take(80).collect();
            let kind = what.split(" is ").next().unwrap_or(&what);
            return self.drop(&format!("{kind} out of range, or no value"), line);
        }
        let (Some(from), Some(to)) = (self.node(ends.0, line), self.node(ends.1, line)) else {
            return;
        };
        self.event(at_s, What::Observe(from, to, values), line);
    }

    fn event(&mut self, at_s: f64, what: What, line: usize) {
        if !at_s.is_finite() {
            return self.drop("no such time", line);
        }
        if self.events.len() >= EVENTS_MAX {
            return self.drop("one event too many", line);
        }
        self.events.push((at_s, what));
    }

    /// Puts events in order, counted from the first.
    ///
    /// # Errors
    /// [`ImportError::Empty`] when there is nothing.
    fn finish(mut self) -> Result<Self, ImportError> {
        let told = std::mem::take(&mut self.told).into_iter();
        self.dropped
            .extend(told.map(|(what, (count, first_line))| Dropped {
                what,
                count,
                first_line,
            }));
        if self.events.is_empty() {
            let told = self.dropped.iter();
            let told: Vec<_> = told
                .map(|one| format!("{} x {}", one.count, one.what))
                .collect();
            let what = told.join("; ");
            return Err(ImportError::Empty { what });
        }
        // A stable sort: what was said first at a time comes first.
        self.events.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(self)
    }

    /// How many measurements it holds.
    #[must_use]
    pub fn measurements(&self) -> usize {
        let observed = |event: &&(f64, What)| matches!(event.1, What::Observe(..));
        self.events.iter().filter(observed).count()
    }
}

/// Reads an event log of EMANE.
///
/// # Errors
/// See [`ImportError`].
pub fn read_eel(title: &str, bytes: &[u8]) -> Result<Recording, ImportError> {
    let mut recording = Recording::new(title, 1.0);
    eel::read(bytes, &mut recording);
    recording.finish()
}

/// Reads motion of ns-2 around `origin`.
///
/// # Errors
/// See [`ImportError`].
pub fn read_ns2(title: &str, text: &str, origin: GeoPoint) -> Result<Recording, ImportError> {
    let mut recording = Recording::new(title, 1.0);
    motion::ns2(text, origin, &mut recording);
    recording.finish()
}
