//! `docs/reliability.md`: every test that it names exists.

use std::path::Path;

use crate::support::root;

/// Folders of each kind of test.
fn folders(kind: &str) -> &'static [&'static str] {
    match kind {
        "engine" => &["engine"],
        "systems" => &["systems"],
        "io" => &["io"],
        "web" => &["web"],
        "it" => &["tests/it"],
        "kernel" => &["tests/kernel"],
        _ => &[],
    }
}

/// True if a module or a function of this name is below `folder`.
fn has(folder: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).any(|path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if path.is_dir() {
            return stem == Some(name) || has(&path, name);
        }
        if path.extension().is_none_or(|extension| extension != "rs") {
            return false;
        }
        let tests = format!("{name}_tests");
        if stem == Some(name) || stem == Some(&tests) {
            return true;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        text.contains(&format!("fn {name}(")) || text.contains(&format!("guest!({name}"))
    })
}

#[test]
fn every_test_of_the_table_exists() {
    let text = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let mut named = 0;
    let mut missing = Vec::new();
    for row in rows {
        let Some(tests) = row.trim_end_matches(['|', ' ']).rsplit('|').next() else {
            continue;
        };
        for test in tests.split('`').skip(1).step_by(2) {
            let Some((kind, path)) = test.split_once(": ") else {
                // A make target.
                continue;
            };
            named += 1;
            let is_present = path
                .split("::")
                .filter(|name| *name != "tests")
                .all(|name| folders(kind).iter().any(|at| has(&root().join(at), name)));
            if !is_present {
                missing.push(test.to_owned());
            }
        }
    }
    assert!(named > 20, "{named} tests are named");
    assert_eq!(missing, Vec::<String>::new());
}
