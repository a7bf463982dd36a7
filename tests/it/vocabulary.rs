//! The vocabulary of CONTRIBUTING.md: metaphors and riddles in docs, messages and pages are refused.
//!
//! `vocabulary.txt` lists how many a folder may still have. The numbers may only shrink; a folder that
//! is not listed has none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::root;

/// Words that are refused in docs, string literals and pages. `floor` is allowed in `noise floor`.
const REFUSED: [&str; 28] = [
    "house",
    "houses",
    "room",
    "rooms",
    "door",
    "doors",
    "floor",
    "floors",
    "beat",
    "beats",
    "deed",
    "deeds",
    "stranger",
    "strangers",
    "wish",
    "wishes",
    "wished",
    "plant",
    "plants",
    "sighting",
    "sightings",
    "chore",
    "chores",
    "happening",
    "happenings",
    "voice",
    "pulse",
    "aloud",
];

/// Phrases that are refused in the same places.
const PHRASES: [&str; 4] = ["is no sound", "stands twice", "how-manieth", "is told of"];

/// Words that a doc comment may not begin with: a doc is a noun phrase, or says what is done.
const BEGINNINGS: [&str; 12] = [
    "What",
    "Who",
    "Whom",
    "Whose",
    "Whether",
    "How",
    "Its",
    "Nobody",
    "Somebody",
    "Everybody",
    "Whoever",
    "Whatever",
];

/// Folders that are read, and their extensions.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let left_out =
                ["target", "out", "fixtures", "snapshots", "node_modules", "dist", "test-results"];
            if !name.starts_with('.') && !left_out.contains(&name) {
                files(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Refused words and phrases in a text.
fn refused(text: &str) -> usize {
    let text = text.to_lowercase().replace("noise floor", "");
    let words = text
        .split(|letter: char| !letter.is_alphabetic())
        .filter(|word| REFUSED.contains(word))
        .count();
    words + PHRASES.iter().filter(|phrase| text.contains(*phrase)).count()
}

/// The string literals that begin and end in a line.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Findings in a file: line number and line.
fn findings(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    let mut found = Vec::new();
    let mut begun = false;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let doc = trimmed.strip_prefix("///").or(trimmed.strip_prefix("//!"));
        let bad = match doc {
            _ if !is_rust => refused(line) > 0,
            Some(doc) => {
                let first = doc.split_whitespace().next().unwrap_or_default();
                let riddle = !begun && BEGINNINGS.contains(&first);
                begun = !doc.trim().is_empty();
                riddle || refused(doc) > 0
            }
            None => {
                begun = false;
                // Names on the wire stay as logs and stores have them.
                !trimmed.starts_with("#[serde(")
                    && literals(trimmed).any(|literal| refused(literal) > 0)
            }
        };
        if bad {
            found.push((at + 1, trimmed.to_owned()));
        }
    }
    found
}

/// The folder a file counts for: two levels of the sources, one of everything else.
fn area(path: &Path) -> String {
    let relative = path.strip_prefix(root()).unwrap();
    let parts: Vec<_> = relative.iter().map(|part| part.to_str().unwrap()).collect();
    match parts.as_slice() {
        [_] => ".".to_owned(),
        [first @ ("systems" | "io" | "web"), second, _, ..] => format!("{first}/{second}"),
        [first, ..] => (*first).to_owned(),
        [] => unreachable!("a file has a name"),
    }
}

#[test]
fn refused_words_do_not_spread() {
    let mut paths = Vec::new();
    files(root(), &mut paths);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in paths {
        // The list itself, and the page that explains it.
        if path.ends_with("tests/it/vocabulary.rs") || path.ends_with("CONTRIBUTING.md") {
            continue;
        }
        for (line, text) in findings(&path) {
            let shown = path.strip_prefix(root()).unwrap().display();
            found.entry(area(&path)).or_default().push(format!("{shown}:{line}: {text}"));
        }
    }
    let list = root().join("tests/it/vocabulary.txt");
    if std::env::var_os("BLESS").is_some() {
        let lines = found.iter().map(|(area, lines)| format!("{area} {}\n", lines.len()));
        std::fs::write(&list, lines.collect::<String>()).unwrap();
    }
    let allowed = std::fs::read_to_string(list).unwrap();
    let allowed: BTreeMap<&str, usize> = allowed
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(area, count)| (area, count.parse().unwrap()))
        .collect();
    for (area, lines) in &found {
        let allowed = allowed.get(area.as_str()).copied().unwrap_or(0);
        assert!(
            lines.len() <= allowed,
            "{area}: {} lines, allowed {allowed} (see CONTRIBUTING.md):\n{}",
            lines.len(),
            lines.join("\n")
        );
    }
}

#[test]
fn findings_are_words_phrases_and_beginnings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.rs");
    let text = "//! Whether it holds.\n\n/// The noise floor, dBm.\n/// What it is, in the door.\n\
                fn f() { g(\"a wish\", \"a washer\") }\n/// Gain, dBi.\n///\n/// How it is measured.\n";
    std::fs::write(&path, text).unwrap();
    let lines: Vec<usize> = findings(&path).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 4, 5, 8]);
}
