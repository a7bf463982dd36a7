//! Report of a reader: what was dropped, completed or read in another way than it was written.

use std::fmt;

use serde::Serialize;

use super::error::{Location, quoted};
use super::limits::NOTES_MAX;

/// A kind of drop or completion, counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Reason, as a lowercase fragment.
    pub what: String,
    /// Number of occurrences.
    pub count: usize,
    /// Location of the first one.
    pub first: Location,
}

/// Everything that was dropped, completed or read in another way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The notes in the order of their first occurrence, at most [`NOTES_MAX`].
    pub notes: Vec<Note>,
    /// Occurrences of further kinds.
    pub more: usize,
}

impl Report {
    /// `true` if nothing was dropped or completed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.more == 0
    }

    /// Counts `what`, found at `location` when it is new.
    pub(super) fn add(&mut self, what: &str, location: impl FnOnce() -> Location) {
        self.add_many(what, 1, location);
    }

    /// Counts `what` several times; none is not noted.
    pub fn add_many(&mut self, what: &str, count: usize, location: impl FnOnce() -> Location) {
        if count == 0 {
            return;
        }
        if let Some(note) = self.notes.iter_mut().find(|note| note.what == what) {
            note.count += count;
        } else if self.notes.len() < NOTES_MAX {
            self.notes.push(Note { what: what.to_owned(), count, first: location() });
        } else {
            self.more += count;
        }
    }

    /// Takes back one occurrence of `what`, which is no longer so.
    pub(super) fn take_back(&mut self, what: &str) {
        let Some(index) = self.notes.iter().position(|note| note.what == what) else { return };
        self.notes[index].count -= 1;
        if self.notes[index].count == 0 {
            self.notes.remove(index);
        }
    }

    /// Counts a part of `kind` with an unknown name, which is dropped.
    pub(super) fn dropped(&mut self, kind: &str, name: &str, location: impl FnOnce() -> Location) {
        self.add(&format!("{kind} {} is not used: dropped", quoted(name)), location);
    }
}

impl fmt::Display for Report {
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

impl Report {
    /// The notes in brackets behind what an error is about: counts and reasons; empty without notes.
    #[must_use]
    pub fn summary(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("{} x {}", note.count, note.what));
        match self.notes.is_empty() {
            true => String::new(),
            false => format!(" ({})", notes.collect::<Vec<_>>().join("; ")),
        }
    }
}
