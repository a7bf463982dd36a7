//! Errors of documents, with place, value found and values allowed.

use std::fmt;

use groundwave_engine::Refusal;
use groundwave_toml_document::TomlErrors;
use serde::Serialize;
use thiserror::Error;

use super::Format;

/// A location in a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Line, from 1, or number of the document in a series; 0 where it is not known.
    pub line: u64,
    /// Key path or column: `features[3].properties.role`, `Placemark[0].coordinates`, `lat`;
    /// indices count from zero. May be empty.
    pub path: String,
}

impl Location {
    pub(super) fn new(line: u64, path: impl Into<String>) -> Self {
        Self { line, path: printable(&path.into()) }
    }

    /// A path on an unknown line.
    pub(super) fn path(path: impl Into<String>) -> Self {
        Self::new(0, path)
    }

    pub(super) fn line(line: usize) -> Self {
        Self::new(line as u64, "")
    }

    /// The location in a document of several.
    pub(super) fn within(self, name: &str) -> Self {
        let path = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{name}: {}", self.path),
        };
        Self::new(self.line, path)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.path.as_str()) {
            (0, "") => f.write_str("document"),
            (0, path) => f.write_str(path),
            (line, "") => write!(f, "line {line}"),
            (line, path) => write!(f, "line {line}: {path}"),
        }
    }
}

impl FormatError {
    /// `true` if it is one of this column or key.
    pub(super) fn is_at(&self, path: &str) -> bool {
        matches!(self, Self::Invalid { location, .. } if location.path == path)
    }

    /// The error of a document of several.
    pub(super) fn within(self, name: &str) -> Self {
        match self {
            Self::Invalid { format, location, found, allowed } => {
                Self::Invalid { format, location: location.within(name), found, allowed }
            }
            error @ Self::Scenario(_) => error,
        }
    }
}

/// Reason for refusing a document as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FormatError {
    /// An invalid part.
    #[error("{format}: {location}: found {found}, allowed {allowed}")]
    Invalid {
        /// Name of the format it was read or written as; `unknown format` for none.
        format: &'static str,
        /// Where.
        location: Location,
        /// Invalid value found, as a lowercase fragment.
        found: String,
        /// Allowed values.
        allowed: String,
    },
    /// An invalid scenario.
    #[error(transparent)]
    Scenario(#[from] TomlErrors),
}

/// An invalid part of a document, before its location is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Key of the part; may be empty.
    pub(super) key: String,
    pub(super) found: String,
    pub allowed: String,
}

impl Fault {
    pub(super) fn new(
        key: impl Into<String>,
        actual: impl Into<String>,
        allowed: impl Into<String>,
    ) -> Self {
        let (key, actual, allowed) = (key.into(), actual.into(), allowed.into());
        Self { key, found: actual, allowed }
    }

    /// The fault at a location of a document.
    pub(super) fn at(self, format: &Format, location: Location) -> FormatError {
        self.in_format(format.name, location)
    }

    /// The fault of a document of no known format.
    pub(super) fn unidentified(self, location: Location) -> FormatError {
        self.in_format("unknown format", location)
    }

    fn in_format(self, format: &'static str, location: Location) -> FormatError {
        FormatError::Invalid {
            format,
            location,
            found: printable(&self.found),
            allowed: printable(&self.allowed),
        }
    }
}

/// A refusal of the world.
impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { key, found: actual, allowed } => {
                Self::new(key, shortened(&actual), allowed)
            }
            other => Self::new("", other.to_string(), "a plan the world accepts"),
        }
    }
}

/// A quoted text of at most [`SHOWN_CHARS`] characters.
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

/// The text with control characters escaped: content of a document must not drive a terminal.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}
