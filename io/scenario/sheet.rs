//! TOML files that are no scenarios, read with the same care: a configuration, a time line.
//!
//! What is wrong is told with file, line, key and what would be allowed.

use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Report, ScenarioErrors};
use super::key::{KeyPath, Segment};
use super::source::Source;
use super::{decode, read, tree};

/// The text of a small file: UTF-8, a plain file, of bounded size.
///
/// # Errors
/// Why it cannot be read, naming it.
pub fn text(path: &Path) -> Result<String, ScenarioErrors> {
    let name = path.display().to_string();
    read::text(path).map_err(|fault| ScenarioErrors::whole_file(&name, fault.what, fault.allowed))
}

/// A file whose keys and types are sound. Its meaning is checked by the reader, who reports what
/// is wrong with [`Sheet::wrong`] and asks [`Sheet::finish`] in the end.
pub struct Sheet<'a> {
    source: Source<'a>,
    root: DeTable<'a>,
    report: Report,
}

impl<'a> Sheet<'a> {
    /// Reads `text` as one `T`; `name` is what errors call the file.
    ///
    /// # Errors
    /// Syntax errors, unknown keys, wrong types and missing values.
    pub fn read<T: DeserializeOwned>(
        name: &'a str,
        text: &'a str,
    ) -> Result<(T, Self), ScenarioErrors> {
        let mut report = Report::default();
        let root = tree::parse(text, &mut report);
        let mut sheet = Self {
            source: Source::new(name, text),
            root,
            report,
        };
        sheet.check()?;
        tree::refuse_unusable(&sheet.root, &mut sheet.report);
        sheet.check()?;
        let whole = Spanned::new(0..text.len(), DeValue::Table(sheet.root.clone()));
        let found = decode::item(&whole, &KeyPath::default(), &mut sheet.report);
        sheet.check()?;
        match found {
            Some(found) => Ok((found, sheet)),
            None => unreachable!("what cannot be read is reported"),
        }
    }

    /// Reports the value at `path`, written like `step[2].rate`.
    pub fn wrong(&mut self, path: &str, what: impl Into<String>, allowed: impl Into<String>) {
        self.report.at(&parsed(path), what, allowed);
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// All that was reported.
    pub fn finish(mut self) -> Result<(), ScenarioErrors> {
        self.check()
    }

    fn check(&mut self) -> Result<(), ScenarioErrors> {
        std::mem::take(&mut self.report)
            .finish(&self.source, |path| tree::span_of(&self.root, path))
            .map_or(Ok(()), Err)
    }
}

/// `step[2].rate` as a path.
fn parsed(path: &str) -> KeyPath {
    let mut found = KeyPath::default();
    for part in path.split('.') {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        found = found.owned_key(key);
        let indices = indices
            .split(['[', ']'])
            .filter_map(|text| text.parse().ok());
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
        Sheet::read(text_name(), text)
            .map(|(page, _)| page)
            .map_err(|errors| errors.to_string())
    }

    fn text_name() -> &'static str {
        "page.toml"
    }

    #[test]
    fn a_sound_file_is_read_and_its_meaning_told_by_line() {
        let text = "title = \"t\"\n[[step]]\nrate = 1\n[[step]]\nrate = 2\n";
        let (page, mut sheet) = Sheet::read::<Page>(text_name(), text).unwrap();
        assert_eq!((page.title.as_str(), page.step[1].rate), ("t", 2));
        sheet.wrong("step[1].rate", "2 is too much", "0 to 1");
        let told = sheet.finish().unwrap_err().to_string();
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
