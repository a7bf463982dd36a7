//! What is wrong with a document, where, and what is allowed instead.

use std::fmt;

use groundwave_engine::Refusal;
use serde::Serialize;
use thiserror::Error;

use super::format::Format;
use crate::toml_document::TomlErrors;

/// A place in a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Line, from 1; 0 when it is not known or the document as a whole is meant.
    pub line: u64,
    /// What stands there: `features[3].properties.role`, `Placemark[0].coordinates`, or the
    /// column of a table; positions count from zero. May be empty.
    pub path: String,
}

impl Place {
    pub(super) fn new(line: u64, path: impl Into<String>) -> Self {
        Self {
            line,
            path: printable(&path.into()),
        }
    }

    /// The place of a path whose line is not known.
    pub(super) fn path(path: impl Into<String>) -> Self {
        Self::new(0, path)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.path.as_str()) {
            (0, "") => f.write_str("document"),
            (0, path) => f.write_str(path),
            (line, "") => write!(f, "line {line}"),
            (line, path) => write!(f, "line {line}: {path}"),
        }
    }
}

/// Why a document was not read. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExchangeError {
    /// Something in it is not allowed.
    #[error("{format}: {place}: {found}; allowed: {allowed}")]
    Invalid {
        /// The format it was read as.
        format: Format,
        /// Where.
        place: Place,
        /// What was found, as a lowercase fragment.
        found: String,
        /// What would be accepted.
        allowed: String,
    },
    /// It is no sound scenario.
    #[error(transparent)]
    Scenario(#[from] TomlErrors),
}

/// What is wrong with a part of a document, before its place is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Which part; may be empty.
    pub(super) key: String,
    pub(super) found: String,
    pub(super) allowed: String,
}

impl Fault {
    pub(super) fn new(
        key: impl Into<String>,
        found: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        let (key, found, allowed) = (key.into(), found.into(), allowed.into());
        Self {
            key,
            found,
            allowed,
        }
    }

    /// The fault in a place of a document.
    pub(super) fn at(self, format: Format, place: Place) -> ExchangeError {
        ExchangeError::Invalid {
            format,
            place,
            found: printable(&self.found),
            allowed: printable(&self.allowed),
        }
    }
}

/// The world's own rule, broken.
impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid {
                key,
                found,
                allowed,
            } => Self::new(key, shortened(&found), allowed),
            other => Self::new("", other.to_string(), "a plan the world accepts"),
        }
    }
}

/// A text in quotes, as long as a message can bear.
pub(super) fn quoted(text: &str) -> String {
    shortened(&format!("{text:?}"))
}

/// Characters of a document shown in a message.
const SHOWN_CHARS: usize = 80;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The text with control characters escaped: what a document says must not drive a terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}
