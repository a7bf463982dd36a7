//! The vocabulary of CONTRIBUTING.md in docs, messages, pages and names.
//!
//! `vocabulary.txt` lists the findings that an area may still have: `AREA KIND COUNT`. The numbers may
//! only shrink; what is not listed has none. `BLESS_VOCABULARY=1` writes the list anew.

mod docs;
mod lines;
mod names;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use self::lines::{Line, lines};
use crate::support::root;

/// A kind of finding and its check.
type Kind = (&'static str, fn(&Line<'_>) -> bool);

/// All kinds by the words of `vocabulary.txt`.
const KINDS: [Kind; 6] = [
    ("words", docs::is_refused),
    ("negations", docs::negates_a_noun),
    ("speech", docs::lets_software_speak),
    ("bounds", docs::begins_with_superlative),
    ("bindings", names::binds_participle),
    ("tests", names::is_test_named_by_speech),
];

/// Areas and kinds with their findings: path, line number and line.
type Findings = BTreeMap<(String, &'static str), Vec<String>>;

/// Adds the sources and pages below `folder`.
fn files(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let excluded =
                ["target", "out", "fixtures", "snapshots", "node_modules", "dist", "test-results"];
            if !name.starts_with('.') && !excluded.contains(&name) {
                files(&path, paths);
            }
        } else if name.ends_with(".rs") || name.ends_with(".md") {
            paths.push(path);
        }
    }
}

/// The area of a path: two levels of the sources, one of everything else.
fn area(relative: &Path) -> String {
    let parts: Vec<_> = relative.iter().map(|part| part.to_str().unwrap()).collect();
    match parts.as_slice() {
        [_] => ".".to_owned(),
        [first @ ("systems" | "io" | "web"), second, _, ..] => format!("{first}/{second}"),
        [first, ..] => (*first).to_owned(),
        [] => unreachable!("a file has a name"),
    }
}

/// Kinds of findings in a text, with their lines.
fn findings<'a>(text: &'a str, is_rust: bool) -> impl Iterator<Item = (&'static str, Line<'a>)> {
    lines(text, is_rust).flat_map(|line| {
        KINDS
            .into_iter()
            .filter(move |(_, matches)| matches(&line))
            .map(move |(kind, _)| (kind, line))
    })
}

/// Findings of the repository, apart from the rules themselves.
fn all() -> Findings {
    let mut paths = Vec::new();
    files(root(), &mut paths);
    paths.sort();
    let mut all = Findings::new();
    for path in paths {
        let relative = path.strip_prefix(root()).unwrap();
        let is_rule = relative.starts_with("tests/it/vocabulary")
            || relative == Path::new("tests/it/vocabulary.rs")
            || relative == Path::new("CONTRIBUTING.md");
        if is_rule {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        for (kind, line) in findings(&text, is_rust) {
            let place = format!("{}:{}: {}", relative.display(), line.number, line.text);
            all.entry((area(relative), kind)).or_default().push(place);
        }
    }
    all
}

#[test]
fn findings_within_allowances_pass() {
    let all = all();
    let list = root().join("tests/it/vocabulary.txt");
    if std::env::var_os("BLESS_VOCABULARY").is_some() {
        let counts = all.iter();
        let text = counts.map(|((area, kind), places)| format!("{area} {kind} {}\n", places.len()));
        std::fs::write(&list, text.collect::<String>()).unwrap();
    }
    let text = std::fs::read_to_string(list).unwrap();
    let allowances: BTreeMap<&str, usize> = text
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(key, count)| (key, count.parse().unwrap()))
        .collect();
    for ((area, kind), places) in &all {
        let key = format!("{area} {kind}");
        let allowed = allowances.get(key.as_str()).copied().unwrap_or(0);
        assert!(
            places.len() <= allowed,
            "invalid {kind} of {area}: found {}, allowed {allowed} (see CONTRIBUTING.md):\n{}",
            places.len(),
            places.join("\n")
        );
    }
}

#[test]
fn text_with_each_kind_gives_its_findings() {
    let text = r#"//! Whether it holds.

/// The noise floor, dBm.
/// What it is, in the door.
fn f() { g("a wish", "a washer") }
/// Gain, dBi.
///
/// How it is measured.
/// Longest name, bytes; the server knows it.
fn h() {
    let (mut told, b) = g();
    if let Some(found) = told {}
    let Refusal { found, .. } = b;
    let foundry = found;
    g("x is no node", "there is no node", "it is no longer there");
}
/// Most nodes.
#[test]
#[needs("tool")]
fn a_node_says_so() {}
fn a_helper_says_so() {}
"#;
    let places: Vec<_> = findings(text, true).map(|(kind, line)| (line.number, kind)).collect();
    let expected = [
        (1, "words"),
        (4, "words"),
        (5, "words"),
        (8, "words"),
        (9, "speech"),
        (11, "bindings"),
        (12, "bindings"),
        (15, "negations"),
        (17, "bounds"),
        (20, "tests"),
    ];
    assert_eq!(places, expected);
    let page: Vec<_> = findings("The doors\nIt knows.\n", false).collect();
    assert_eq!(page.len(), 1);
}
