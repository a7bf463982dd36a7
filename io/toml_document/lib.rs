//! TOML documents: typed reading with errors that name file, line, column, key and allowed values.
//!
//! [`TomlDocument`] reads a whole file as one type: configurations, mappings, profiles. Scenarios
//! use the parts: [`tree`] for syntax, [`decode`] for types, [`error`] for reports.

pub mod decode;
pub mod error;
pub mod file;
pub mod key;
pub mod limits;
pub mod source;
pub mod suggest;
pub mod tree;

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use error::{TomlError, TomlErrors};

use error::Report;
use key::{KeyPath, Segment};
use source::Source;

/// Text of a regular UTF-8 file of at most [`limits::FILE_BYTES_MAX`] bytes.
///
/// # Errors
/// The file name and the reason.
pub fn text(path: &Path) -> Result<String, TomlErrors> {
    let name = path.display().to_string();
    file::text(path).map_err(|fault| TomlErrors::whole_file(&name, fault.what, fault.allowed))
}

/// A document with valid keys and types. The caller checks ranges and references, reports invalid
/// values with [`TomlDocument::invalid`] and calls [`TomlDocument::finish`] at the end.
pub struct TomlDocument<'a> {
    source: Source<'a>,
    root: DeTable<'a>,
    report: Report,
}

impl<'a> TomlDocument<'a> {
    /// Reads `text` as a `T`; `name` is the file name in errors.
    ///
    /// # Errors
    /// Syntax errors, unknown keys, wrong types and missing values.
    pub fn read<T: DeserializeOwned>(
        name: &'a str,
        text: &'a str,
    ) -> Result<(T, Self), TomlErrors> {
        let mut report = Report::default();
        let root = tree::parse(text, &mut report);
        let mut document = Self { source: Source::new(name, text), root, report };
        document.check()?;
        tree::refuse_unusable(&document.root, &mut document.report);
        document.check()?;
        let whole = Spanned::new(0..text.len(), DeValue::Table(document.root.clone()));
        let found = decode::item(&whole, &KeyPath::default(), &mut document.report);
        document.check()?;
        match found {
            Some(found) => Ok((found, document)),
            None => unreachable!("what cannot be read is reported"),
        }
    }

    /// Reports an invalid value at `path`, such as `step[2].rate`.
    pub fn invalid(&mut self, path: &str, what: impl Into<String>, allowed: impl Into<String>) {
        self.report.at(&parsed(path), what, allowed);
    }

    /// Ends the checks.
    ///
    /// # Errors
    /// All reported errors.
    pub fn finish(mut self) -> Result<(), TomlErrors> {
        self.check()
    }

    fn check(&mut self) -> Result<(), TomlErrors> {
        std::mem::take(&mut self.report)
            .finish(&self.source, |path| tree::span_of(&self.root, path))
            .map_or(Ok(()), Err)
    }
}

/// Parses a path such as `step[2].rate`.
fn parsed(path: &str) -> KeyPath {
    let mut found = KeyPath::default();
    for part in path.split('.') {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        found = found.owned_key(key);
        let indices = indices.split(['[', ']']).filter_map(|text| text.parse().ok());
        found.segments.extend(indices.map(Segment::Index));
    }
    found
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Page {
        title: String,
        #[serde(default)]
        step: Vec<Step>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Step {
        rate: u32,
    }

    fn read(text: &str) -> Result<Page, String> {
        TomlDocument::read(text_name(), text)
            .map(|(page, _)| page)
            .map_err(|errors| errors.to_string())
    }

    fn text_name() -> &'static str {
        "page.toml"
    }

    #[test]
    fn a_sound_file_is_read_and_its_meaning_told_by_line() {
        let text = "title = \"t\"\n[[step]]\nrate = 1\n[[step]]\nrate = 2\n";
        let (page, mut document) = TomlDocument::read::<Page>(text_name(), text).unwrap();
        assert_eq!((page.title.as_str(), page.step[1].rate), ("t", 2));
        document.invalid("step[1].rate", "2 is too much", "0 to 1");
        let told = document.finish().unwrap_err().to_string();
        assert!(
            told.starts_with("page.toml:5:8: step[1].rate: 2 is too much; allowed: 0 to 1"),
            "{told}"
        );
    }

    #[test]
    fn keys_and_types_are_told() {
        let told = read("title = \"t\"\ncolour = 1\nstepp = 2\n").unwrap_err();
        for says in [
            "page.toml:2:1: colour: unknown key \"colour\"",
            "page.toml:3:1: stepp: unknown key \"stepp\"",
            "did you mean \"step\"?",
        ] {
            assert!(told.contains(says), "{told} does not say {says}");
        }
        let told = read("title = \"t\"\n[[step]]\nrate = \"x\"\n").unwrap_err();
        assert!(told.starts_with("page.toml:3:8: step[0].rate"), "{told}");
        let told = read("title = ").unwrap_err();
        assert!(told.starts_with("page.toml:1:"), "{told}");
    }
}
