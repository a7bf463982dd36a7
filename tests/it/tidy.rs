//! Rules for the code base: layers, sizes, promises of the README.

use std::path::{Path, PathBuf};

use crate::support::root;

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{folder} has sources");
    files
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn models_and_pictures_touch_neither_files_nor_clocks() {
    for folder in ["engine/values", "systems", "io/raster/scene", "web/plot", "web/text"] {
        for (path, text) in sources(folder) {
            let name = relative(&path);
            // Tests may read fixtures, wherever they stand.
            if name.contains("test") || name.ends_with("vectors.rs") {
                continue;
            }
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let code: String =
                code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            for word in ["std::fs", "std::net", "std::time::"] {
                assert!(!code.contains(word), "{name} names {word}");
            }
        }
    }
}

#[test]
fn files_are_small_and_begin_with_a_description() {
    for floor in ["engine", "systems", "io", "web", "tests", "benches"] {
        for (path, text) in sources(floor) {
            let (name, lines) = (relative(&path), text.lines().count());
            assert!(lines <= 500, "{name} has {lines} lines; a file has at most 500");
            let named = text.starts_with("//!") || name.contains("test");
            assert!(named, "{name} does not begin with what it is");
        }
    }
}

#[test]
fn every_limit_of_the_engine_is_used_and_reasoned() {
    let limits = std::fs::read_to_string(root().join("engine/limits.rs")).unwrap();
    let floors = ["engine", "systems", "io", "web"];
    let all: String =
        floors.iter().flat_map(|floor| sources(floor)).map(|(_, text)| text).collect();
    for line in limits.lines().filter_map(|line| line.strip_prefix("pub const ")) {
        let name = line.split(':').next().unwrap();
        assert!(all.matches(name).count() > 1, "{name} bounds nothing");
    }
}

#[test]
fn the_readme_names_commands_that_exist() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    let mut checked = 0;
    for target in readme.split('`').filter_map(|text| text.strip_prefix("make ")) {
        let rule = format!("\n{target}:");
        assert!(
            makefile.contains(&rule),
            "the README has `make {target}`, the Makefile has no {target}"
        );
        checked += 1;
    }
    assert!(checked >= 2, "the README names its two commands");
    for file in
        readme.split(['`', '(', ')', ' ', '\n']).filter(|word| word.starts_with("scenarios/"))
    {
        let file = file.trim_end_matches([',', '.', ':']);
        assert!(root().join(file).exists(), "the README names {file}, which is not there");
    }
}

#[test]
fn the_map_of_the_house_is_true() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(map.lines().count() <= 280, "the map fits a few screens");
    assert!(map.matches("Architecture Invariant").count() >= 5);
    let mut checked = 0;
    for word in map.split('`') {
        let looks_like_a_path = ["engine/", "systems/", "io/", "web/", "tests/", "benches/"]
            .iter()
            .any(|floor| word.starts_with(floor));
        if looks_like_a_path && !word.contains([' ', '*', '{']) {
            assert!(root().join(word).exists(), "ARCHITECTURE.md names {word}, which is not there");
            checked += 1;
        }
    }
    assert!(checked >= 20, "the map names its modules");
}
