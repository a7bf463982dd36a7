//! What a reader dropped, defaulted or took another way than it was written.

use std::fmt;

use serde::Serialize;

use super::error::{Place, quoted};
use super::limits::NOTES_MAX;

/// One thing that happened, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What happened and why.
    pub what: String,
    /// How many times.
    pub count: usize,
    /// Where first.
    pub first: Place,
}

/// Everything a reader did that its user may not expect.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// The notes in the order in which they first applied, at most [`NOTES_MAX`].
    pub notes: Vec<Note>,
    /// How many times something else happened beyond those.
    pub more: usize,
}

impl Notes {
    /// Whether the document was taken as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.more == 0
    }

    /// Counts `what`, which stands at `place` when it is new.
    pub(super) fn add(&mut self, what: &str, place: impl FnOnce() -> Place) {
        self.add_many(what, 1, place);
    }

    /// Counts `what` several times.
    pub(super) fn add_many(&mut self, what: &str, count: usize, place: impl FnOnce() -> Place) {
        if let Some(note) = self.notes.iter_mut().find(|note| note.what == what) {
            note.count += count;
        } else if self.notes.len() < NOTES_MAX {
            self.notes.push(Note {
                what: what.to_owned(),
                count,
                first: place(),
            });
        } else {
            self.more += count;
        }
    }

    /// Counts something `kind` of a name nobody knows, which is dropped.
    pub(super) fn dropped(&mut self, kind: &str, name: &str, place: impl FnOnce() -> Place) {
        self.add(
            &format!("{kind} {} is not used: dropped", quoted(name)),
            place,
        );
    }
}

impl fmt::Display for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, note) in self.notes.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&note.what)?;
            match note.count {
                1 => write!(f, " ({})", note.first)?,
                count => write!(f, " ({count} times, first at {})", note.first)?,
            }
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}
