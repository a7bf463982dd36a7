//! Errors of a TOML document with place and allowed values.

use std::fmt;
use std::ops::Range;

use super::key::KeyPath;
use super::limits::ERRORS_MAX;
use super::source::Source;

/// One error of a TOML document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlError {
    /// The file, as the user called it.
    pub file: String,
    /// Line, from 1; 0 when the error is about the file as a whole.
    pub line: usize,
    /// Column in characters, from 1; 0 when the error is about the file as a whole.
    pub column: usize,
    /// Key path such as `node[3].radio` (positions count from zero); empty for syntax errors.
    pub key: String,
    /// Error found, as a lowercase fragment.
    pub what: String,
    /// Allowed values; empty if the fragment states them.
    pub allowed: String,
    /// The source line with carets under the location; empty when there is none.
    pub excerpt: String,
}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)?;
        if !self.allowed.is_empty() {
            write!(f, "; allowed: {}", self.allowed)?;
        }
        if !self.excerpt.is_empty() {
            write!(f, "\n{}", self.excerpt)?;
        }
        Ok(())
    }
}

impl std::error::Error for TomlError {}

/// Errors of a TOML document in file order: 1 to [`ERRORS_MAX`], and the number of further ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomlErrors {
    /// The errors shown.
    pub errors: Vec<TomlError>,
    /// Errors found beyond those shown.
    pub more: usize,
}

impl fmt::Display for TomlErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, error) in self.errors.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for TomlErrors {}

impl TomlErrors {
    /// A single error about a file as a whole.
    pub fn whole_file(file: &str, what: String, allowed: String) -> Self {
        let error = TomlError {
            file: printable(file),
            line: 0,
            column: 0,
            key: String::new(),
            what: printable(&what),
            allowed,
            excerpt: String::new(),
        };
        Self { errors: vec![error], more: 0 }
    }
}

/// An error before its line is looked up.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub path: KeyPath,
    /// Bytes to point at; `None` asks the tree for the deepest part of `path` that exists.
    pub span: Option<Range<usize>>,
    pub what: String,
    pub allowed: String,
    /// Set when the error lies in another file: its error, complete.
    pub elsewhere: Option<TomlError>,
}

/// Collects findings: the first [`ERRORS_MAX`] are kept, the others counted.
#[derive(Debug, Default)]
pub struct Report {
    pub(crate) findings: Vec<Finding>,
    more: usize,
}

impl Report {
    /// Adds an error at a key path.
    pub fn at(&mut self, path: &KeyPath, what: impl Into<String>, allowed: impl Into<String>) {
        self.push(|| Finding {
            path: path.clone(),
            span: None,
            what: what.into(),
            allowed: allowed.into(),
            elsewhere: None,
        });
    }

    /// Adds a finding, which is only made if it is kept: at most [`ERRORS_MAX`] are.
    pub fn push(&mut self, finding: impl FnOnce() -> Finding) {
        if self.findings.len() < ERRORS_MAX {
            self.findings.push(finding());
        } else {
            self.more += 1;
        }
    }

    /// `true` if further findings are only counted.
    pub fn is_full(&self) -> bool {
        self.findings.len() >= ERRORS_MAX
    }

    /// `true` if a finding is at `path` or below it.
    pub fn names(&self, path: &KeyPath) -> bool {
        let mut paths = self.findings.iter().map(|finding| &finding.path.segments);
        paths.any(|segments| segments.starts_with(&path.segments))
    }

    /// Errors added so far.
    pub fn count(&self) -> usize {
        self.findings.len() + self.more
    }

    /// Looks up lines and sorts by them; `None` when nothing is wrong.
    pub fn finish(
        self,
        source: &Source<'_>,
        span_of: impl Fn(&KeyPath) -> Range<usize>,
    ) -> Option<TomlErrors> {
        if self.findings.is_empty() {
            return None;
        }
        let mut errors: Vec<TomlError> = self
            .findings
            .into_iter()
            .map(|finding| {
                let span = finding.span.clone().unwrap_or_else(|| span_of(&finding.path));
                finding.elsewhere.clone().unwrap_or_else(|| finding.located(source, &span))
            })
            .collect();
        errors.sort_by_key(|error| (error.file != source.name, error.line, error.column));
        Some(TomlErrors { errors, more: self.more })
    }
}

impl Finding {
    /// The finding as an error with its line, column and source line.
    pub fn located(self, source: &Source<'_>, span: &Range<usize>) -> TomlError {
        let (line, column) = source.position(span.start);
        TomlError {
            file: printable(source.name),
            line,
            column,
            key: self.path.to_string(),
            what: printable(&self.what),
            allowed: printable(&self.allowed),
            excerpt: source.excerpt(span),
        }
    }
}

/// The text with control characters escaped: what a file says must not drive a terminal.
fn printable(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}
