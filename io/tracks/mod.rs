//! Where things were when, as other programs recorded it: tracks become nodes that move in a
//! scenario.
//!
//! | kind | from |
//! |---|---|
//! | EEL | EMANE event logs: `30.0 nem:4 location gps 40.03,-74.52,3.0` |
//! | GPX | track points with a time (GPX 1.0 and 1.1) |
//!
//! Readers are tolerant and loud: what is not used is counted, by kind, with its first line.

mod eel;
mod gpx;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;

use groundwave_systems::terrain::GeoPoint;
use serde::Serialize;
use thiserror::Error;

use crate::scenario::limits::WAYPOINTS_MAX;

pub use write::scenario;

/// Longest recording read, bytes: a day of a thousand nodes once a second is written in 6 GB, and
/// no scenario holds it.
pub const BYTES_MAX: usize = 256 << 20;
/// Most nodes of one recording; those of a scenario are bounded as well.
const NODES_MAX: usize = 10_000;

/// A place and a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fix {
    /// Time since the recording began, s.
    pub at_s: f64,
    /// Where.
    pub position: GeoPoint,
}

/// What was dropped or taken another way than it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// What, and why.
    pub what: String,
    /// How many times.
    pub count: usize,
    /// Line of the first; 0 where lines mean nothing.
    pub first_line: usize,
}

/// A recording of places.
#[derive(Debug, Default, PartialEq)]
pub struct Tracks {
    /// What it is called.
    pub title: Option<String>,
    /// Places in the order of time, at most [`WAYPOINTS_MAX`] each, by the name of who was there.
    pub nodes: BTreeMap<String, Vec<Fix>>,
    /// What was not used.
    pub dropped: Vec<Dropped>,
}

/// Why a recording was not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TracksError {
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
    /// It holds no place.
    #[error("no place in it; allowed: at least one ({what})")]
    Empty {
        /// What there was instead.
        what: String,
    },
    /// It is not what its name says.
    #[error("line {line}: {what}")]
    Syntax {
        /// Where.
        line: usize,
        /// Why.
        what: String,
    },
}

/// What a recording is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An event log of EMANE.
    Eel,
    /// GPS exchange format.
    Gpx,
}

impl Kind {
    /// By the extension of a file's name.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "eel" => Some(Self::Eel),
            "gpx" => Some(Self::Gpx),
            _ => None,
        }
    }
}

/// Reads a recording.
///
/// # Errors
/// See [`TracksError`].
pub fn read(kind: Kind, bytes: &[u8]) -> Result<Tracks, TracksError> {
    if bytes.len() > BYTES_MAX {
        return Err(TracksError::Long {
            found: bytes.len(),
            what: "bytes",
            most: BYTES_MAX,
        });
    }
    let mut reading = Reading::default();
    match kind {
        Kind::Eel => eel::read(bytes, &mut reading),
        Kind::Gpx => gpx::read(bytes, &mut reading)?,
    }
    reading.finish()
}

/// A recording while it is read; times are those of the document.
#[derive(Debug, Default)]
struct Reading {
    title: Option<String>,
    nodes: BTreeMap<String, Vec<Fix>>,
    dropped: BTreeMap<String, (usize, usize)>,
}

impl Reading {
    fn drop(&mut self, what: &str, line: usize) {
        let entry = self.dropped.entry(what.to_owned()).or_insert((0, line));
        entry.0 += 1;
    }

    fn fix(&mut self, name: &str, at_s: f64, (lat, lon): (f64, f64), line: usize) {
        let Ok(position) = GeoPoint::new(lat, lon) else {
            return self.drop("no such latitude and longitude", line);
        };
        if !at_s.is_finite() {
            return self.drop("no such time", line);
        }
        if !self.nodes.contains_key(name) {
            if self.nodes.len() >= NODES_MAX {
                return self.drop("one node too many", line);
            }
            self.nodes.insert(name.to_owned(), Vec::new());
        }
        if let Some(fixes) = self.nodes.get_mut(name) {
            fixes.push(Fix { at_s, position });
        }
    }

    fn finish(mut self) -> Result<Tracks, TracksError> {
        let times = self.nodes.values().flatten().map(|fix| fix.at_s);
        let begin_s = times.fold(f64::INFINITY, f64::min);
        let mut nodes = BTreeMap::new();
        for (name, mut fixes) in std::mem::take(&mut self.nodes) {
            fixes.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
            for fix in &mut fixes {
                fix.at_s -= begin_s;
            }
            let (all, kept) = (fixes.len(), thinned(fixes));
            if all > kept.len() {
                let what = "a place between others that adds nothing: left out".to_owned();
                self.dropped.entry(what).or_insert((0, 0)).0 += all - kept.len();
            }
            if kept.len() > WAYPOINTS_MAX {
                return Err(TracksError::Long {
                    found: kept.len(),
                    what: "places of one node",
                    most: WAYPOINTS_MAX,
                });
            }
            nodes.insert(name, kept);
        }
        let dropped: Vec<Dropped> = self
            .dropped
            .into_iter()
            .map(|(what, (count, first_line))| Dropped {
                what,
                count,
                first_line,
            })
            .collect();
        if nodes.is_empty() {
            let told = dropped.iter();
            let told: Vec<_> = told
                .map(|found| format!("{} x {}", found.count, found.what))
                .collect();
            let what = told.join("; ");
            return Err(TracksError::Empty { what });
        }
        Ok(Tracks {
            title: self.title,
            nodes,
            dropped,
        })
    }
}

/// Leaves out places at one time and those a node waits at between the same place before and after.
fn thinned(fixes: Vec<Fix>) -> Vec<Fix> {
    let mut kept: Vec<Fix> = Vec::with_capacity(fixes.len());
    for fix in fixes {
        if let [.., before, last] = kept[..]
            && before.position == last.position
            && last.position == fix.position
        {
            kept.pop();
        }
        if kept.last().is_some_and(|last| last.at_s == fix.at_s) {
            // The later word counts.
            kept.pop();
        }
        kept.push(fix);
    }
    kept
}
