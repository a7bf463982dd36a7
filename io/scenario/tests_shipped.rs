//! The scenarios that come with the program, and the schema beside them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::decode::{LISTS, TABLES};
use super::{Scenario, json_schema, load};

/// Folder of the shipped scenarios.
fn folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios")).to_path_buf()
}

/// The shipped scenarios by file name.
fn shipped() -> Vec<(String, Scenario)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let load = |path: PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, load(&path).unwrap_or_else(|errors| panic!("{errors}")))
    };
    files.into_iter().map(load).collect()
}

#[test]
fn every_real_tile_loads_and_differs_from_the_others() {
    let all = shipped();
    assert!(all.len() >= 11);
    let titles: BTreeSet<&str> = all.iter().map(|(_, scenario)| scenario.title.as_str()).collect();
    assert_eq!(titles.len(), all.len());
    let nodes =
        |name: &str| all.iter().find(|(file, _)| file == name).map(|(_, s)| s.node_names.len());
    assert_eq!(nodes("two_nodes.toml"), Some(2));
    assert_eq!(nodes("gothenburg.toml"), Some(12));
    assert_eq!(nodes("manet50.toml"), Some(50));
    assert_eq!(nodes("thousand.toml"), Some(1_000));
    assert_eq!(nodes("ns2_platoon.toml"), Some(10));
    let rasters = |name: &str| {
        let coverage = all.iter().find(|(file, _)| file == name)?.1.coverage.as_ref()?;
        Some((coverage.sites.len(), coverage.vary.combinations()))
    };
    assert_eq!(rasters("coverage_gothenburg.toml"), Some((6, 1)));
    assert_eq!(rasters("coverage_grid.toml"), Some((1, 24)));
    assert_eq!(rasters("gothenburg.toml"), None);
}

#[test]
fn the_readme_lists_every_scenario_and_section() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for (name, _) in shipped() {
        assert!(readme.contains(&name), "{name}");
    }
    for name in TABLES {
        assert!(readme.contains(&format!("`[{name}]`")), "{name}");
    }
    for name in LISTS {
        assert!(readme.contains(&format!("`[[{name}]]`")), "{name}");
    }
}

#[test]
fn the_committed_schema_is_current() {
    let path = folder().join("schema.json");
    let fresh = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == fresh, "scenarios/schema.json is out of date: run the tests with BLESS=1");
}

#[test]
fn schema_has_the_sections_of_the_reader() {
    let schema = json_schema();
    let properties = schema["properties"].as_object().unwrap();
    let sections: BTreeSet<&str> = TABLES.iter().chain(&LISTS).copied().collect();
    assert_eq!(properties.keys().map(String::as_str).collect::<BTreeSet<_>>(), sections);
    for name in LISTS {
        assert_eq!(properties[name]["type"], "array", "{name}");
    }
    assert_eq!(schema["required"], serde_json::json!(["scenario"]));
}

/// Samples of a three-arcsecond tile that are above the sea.
#[groundwave_needs::needs(terrain)]
#[test]
fn masts_stand_on_land() {
    let path = groundwave_test_data::fetched("srtm/N57E011.hgt");
    let tile = std::fs::read(path).unwrap();
    let height_m = |lat: f64, lon: f64| {
        let (row, column) = ((58.0 - lat) * 1_200.0, (lon - 11.0) * 1_200.0);
        let at = 2 * (row.round() as usize * 1_201 + column.round() as usize);
        i16::from_be_bytes([tile[at], tile[at + 1]])
    };
    for (name, scenario) in shipped() {
        if matches!(scenario.terrain, super::Terrain::Flat { .. }) {
            continue;
        }
        let places =
            scenario.records.iter().filter(|record| record.name == "node.add").map(|record| {
                let position = &record.body["position"];
                (
                    record.body["node"].as_str().unwrap(),
                    position["lat_deg"].as_f64().unwrap(),
                    position["lon_deg"].as_f64().unwrap(),
                )
            });
        let points = scenario.coverage.iter().flat_map(|coverage| &coverage.points);
        let places = places.chain(points.map(|point| {
            let position = point.position;
            (point.name.as_str(), position.lat_deg(), position.lon_deg())
        }));
        let (mut all, mut wet) = (0, Vec::new());
        for (node, lat, lon) in places {
            all += 1;
            if height_m(lat, lon) <= 0 {
                wet.push(node);
            }
        }
        // Nodes written by hand stand on land; a generated rectangle may clip a lake or the river.
        assert!(wet.len() * 50 <= all, "{name}: {wet:?} of {all}");
        assert!(all > 100 || wet.is_empty(), "{name}: {wet:?}");
    }
}
