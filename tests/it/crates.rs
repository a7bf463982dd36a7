//! The graph of crates: which may use which, and what none of a kind may reach.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::support::root;

/// Crates from the ground up: each uses only crates of lines above its own.
const LAYERS: [&[&str]; 10] = [
    &["http_client", "projection", "propagation", "test_data", "text", "toml_document", "values"],
    &["engine", "files", "model", "protocol", "sensor"],
    &["bindings", "coordinate", "credentials", "http", "impair", "outbound", "raster"],
    &["c", "command", "gpu", "io_impair", "netlink", "page", "simulation", "store", "terrain"],
    &["gateway", "host", "kernel", "plot", "scenario"],
    &["impaird", "io_agent", "planning", "python", "sweep", "telemetry", "testbed"],
    &["agent", "cluster", "io_gateway", "setup"],
    &["web_testbed"],
    &["web_gateway"],
    &[""],
];

/// Packages that a crate does without, whatever it uses: its users need not build them.
const WITHOUT: [(&str, &[&str]); 14] = [
    ("propagation", &["bevy_ecs", "tokio", "rayon", "nix", "serde_json"]),
    ("model", &["bevy_ecs", "tokio", "nix", "groundwave_engine", "groundwave_files"]),
    ("bindings", &["bevy_ecs", "tokio", "nix", "groundwave_engine", "groundwave_files"]),
    ("gpu", &["bevy_ecs", "tokio", "nix", "wgpu"]),
    ("sensor", &["bevy_ecs", "tokio", "nix", "groundwave_engine"]),
    ("coordinate", &["serde", "groundwave-model"]),
    ("protocol", &["bevy_ecs", "tokio", "nix", "groundwave_engine"]),
    ("io_agent", &["bevy_ecs", "redb", "axum", "resvg", "groundwave-model"]),
    ("agent", &["bevy_ecs", "redb", "resvg", "groundwave-model"]),
    ("impaird", &["resvg", "groundwave-model", "groundwave_terrain", "groundwave_gateway"]),
    ("scenario", &["rtnetlink", "netlink-sys", "redb", "axum", "groundwave_gateway"]),
    ("python", &["rtnetlink", "netlink-sys", "axum", "clap"]),
    ("sweep", &["rtnetlink", "netlink-sys", "redb", "axum", "groundwave_gateway"]),
    ("planning", &["rtnetlink", "netlink-sys", "redb", "groundwave_host", "groundwave_gateway"]),
];

/// Crates that others may take from the package registry: they have hyphens in their names there.
const PUBLISHED: [&str; 4] = ["model", "projection", "propagation", "values"];

fn package(name: &str) -> String {
    let separator = if PUBLISHED.contains(&name) { '-' } else { '_' };
    format!("groundwave{separator}{name}").trim_end_matches('_').to_owned()
}

/// Standard output of cargo, which looks nothing up.
fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--locked", "--offline"]).current_dir(root());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Crates of this workspace that each of them uses outside tests.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    let uses = packages.map(|package| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let ordinary = dependencies.filter(|dependency| dependency["kind"].is_null());
        let names = ordinary.map(|dependency| dependency["name"].as_str().unwrap().to_owned());
        let own = names.filter(|name| name.starts_with("groundwave"));
        (package["name"].as_str().unwrap().to_owned(), own.collect())
    });
    uses.collect()
}

#[test]
fn crates_use_only_crates_of_lower_layers() {
    let uses = uses();
    let mut lower = BTreeSet::new();
    for layer in LAYERS {
        for name in layer.iter().map(|name| package(name)) {
            let used = uses.get(&name).unwrap_or_else(|| panic!("{name} is in the workspace"));
            let wrong: Vec<_> = used.difference(&lower).collect();
            assert!(wrong.is_empty(), "{name} uses {wrong:?}, which stand no lower");
        }
        lower.extend(layer.iter().map(|name| package(name)));
    }
    let tests = ["groundwave_fuzz", "groundwave_io_fuzz", "groundwave_needs"];
    let is_outside = |name: &&String| !lower.contains(*name) && !tests.contains(&name.as_str());
    let missing: Vec<_> = uses.keys().filter(is_outside).collect();
    assert!(missing.is_empty(), "{missing:?} are in no layer");
}

#[test]
fn parts_build_without_what_they_do_not_need() {
    for (name, banned) in WITHOUT {
        let name = package(name);
        let tree = cargo(&["tree", "--package", &name, "--edges", "normal", "--prefix", "none"]);
        let reached: BTreeSet<_> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(reached.contains(name.as_str()));
        let wrong: Vec<_> = banned.iter().filter(|banned| reached.contains(**banned)).collect();
        assert!(wrong.is_empty(), "{name} reaches {wrong:?}");
    }
}

#[test]
fn a_published_crate_has_the_form_of_the_registry() {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    let published = metadata["packages"].as_array().unwrap().iter();
    let published: Vec<_> = published.filter(|package| package["publish"].is_null()).collect();
    let names: BTreeSet<_> = published.iter().map(|own| own["name"].as_str().unwrap()).collect();
    let expected = PUBLISHED.map(package);
    assert_eq!(names, expected.iter().map(String::as_str).collect());
    for own in published {
        let name = own["name"].as_str().unwrap();
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(own[key].as_str().is_some_and(|text| !text.is_empty()), "{name} has no {key}");
        }
        for key in ["keywords", "categories"] {
            let count = own[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&count), "{name} has {count} {key}");
        }
        let dependencies = own["dependencies"].as_array().unwrap().iter();
        let ordinary = dependencies.filter(|dependency| dependency["kind"].is_null());
        let own_ones = ordinary.filter(|other| other["path"].is_string());
        let open: Vec<_> = own_ones.filter(|other| other["req"] == "*").collect();
        assert!(open.is_empty(), "{name} uses crates without a version: {open:?}");
        let files = cargo(&["package", "--list", "--allow-dirty", "--package", name]);
        let files: BTreeSet<_> = files.lines().collect();
        assert!(files.contains("README.md") && files.contains("lib.rs"), "{files:?}");
        assert!(!files.contains("clippy.toml"), "{files:?}");
    }
}
