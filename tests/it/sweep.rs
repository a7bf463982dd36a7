//! Sweeps: every cell is the link, every path through kills and shards leads to the same bytes.

mod interference;
mod maps;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use groundwave_engine::Seed;
use groundwave_needs::needs;

use crate::support::{self, refusal, stdout};

/// Two masts on flat ground and what listens to them.
pub const FLAT: &str = "[scenario]\ntitle = \"flat sweep\"\nduration_s = 1\n[terrain]\nflat_msl_m = 10\n\
    [[node]]\nname = \"west\"\nlat_deg = 57.7\nlon_deg = 11.90\nheight_agl_m = 20\n\
    radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n\
    [[node]]\nname = \"east\"\nlat_deg = 57.7\nlon_deg = 11.95\nheight_agl_m = 30\n\
    radio = \"wifi_2g4_mesh\"\nantenna = \"omni_5\"\n\
    [coverage]\nradius_km = 4\ncell_arcsec = 9\nchoose = 1\n";

pub fn sweep(scenario: &Path, out: &Path, more: &[&str]) -> std::process::Output {
    let mut arguments =
        vec!["sweep", scenario.to_str().unwrap(), "-o", out.to_str().unwrap(), "--json"];
    arguments.extend(more);
    support::groundwave(&arguments)
}

/// Every file of a finished sweep, by its place.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let place = path.strip_prefix(folder).unwrap().to_owned();
                match std::fs::read(&path) {
                    Ok(bytes) => drop(contents.insert(place, bytes)),
                    // A running sweep renames what it has written.
                    Err(err) => assert_eq!(err.kind(), std::io::ErrorKind::NotFound),
                }
            }
        }
    }
    contents
}

pub fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (place, bytes) in &a {
        assert!(bytes == &b[place], "{} differs", place.display());
    }
}

#[test]
fn shards_in_any_order_and_one_process_leave_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    // Four tiles, so that there is something to share.
    std::fs::write(&scenario, FLAT.replace("cell_arcsec = 9", "cell_arcsec = 1.5")).unwrap();
    let (whole, shared) = (folder.path().join("whole"), folder.path().join("shared"));
    stdout(&sweep(&scenario, &whole, &["--threads", "2"]));
    for shard in ["3/3", "1/3", "2/3"] {
        stdout(&sweep(&scenario, &shared, &["--shard", shard, "--threads", "1"]));
    }
    stdout(&support::groundwave(&["sweep", "merge", shared.to_str().unwrap()]));
    assert_same(&whole, &shared);
}

#[test]
fn a_merge_before_all_shards_are_done_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT.replace("cell_arcsec = 9", "cell_arcsec = 1.5")).unwrap();
    let out = folder.path().join("out");
    stdout(&sweep(&scenario, &out, &["--shard", "1/3"]));
    let error = refusal(&support::groundwave(&["sweep", "merge", out.to_str().unwrap()]));
    assert!(error.contains("units are missing"), "{error}");
}

#[test]
fn a_folder_of_another_sweep_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    stdout(&sweep(&scenario, &out, &[]));
    let before = files(&out);
    std::fs::write(&scenario, FLAT.replace("height_agl_m = 20", "height_agl_m = 21")).unwrap();
    let error = refusal(&sweep(&scenario, &out, &[]));
    assert!(error.contains("another folder"), "{error}");
    let difference = "sites.west.station.height_agl_m is 20.0 there, 21.0 here";
    assert!(error.contains(difference), "{error}");
    assert_eq!(before, files(&out));
}

#[test]
fn a_folder_in_use_by_another_process_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    std::fs::create_dir(&out).unwrap();
    // As a process holds it that writes the same raster.
    let raster = std::fs::File::create(out.join(".margin_db.tif.part")).unwrap();
    raster.lock().unwrap();
    let output = sweep(&scenario, &out, &["--products", "margin"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("margin_db.tif is in use by another process"), "{error}");
    assert!(!error.contains("would block"), "{error}");
}

#[test]
fn a_dry_run_takes_the_folder_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&sweep(&scenario, &out, &["--dry-run"]))).unwrap();
    assert_eq!(json["sites"], 2);
    assert!(!out.exists());
}

#[test]
fn sites_too_far_apart_for_one_raster_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    let far = FLAT.replace("lat_deg = 57.7\nlon_deg = 11.95", "lat_deg = 47.7\nlon_deg = 11.95");
    std::fs::write(&scenario, far.replace("cell_arcsec = 9", "cell_arcsec = 0.03")).unwrap();
    let error = refusal(&sweep(&scenario, &folder.path().join("out"), &[]));
    assert!(error.contains("east") && error.contains("west"), "{error}");
    assert!(error.contains("1113 km apart"), "{error}");
}

#[test]
fn a_wrong_node_gives_one_error() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    for (from, to, why) in [
        ("name = \"west\"", "name = \"west mast\"", "west mast"),
        ("cell_arcsec = 9", "cell_arcsec = 9\nsites = [\"west\", \"wets\"]", "wets"),
        ("radio = \"wifi_2g4_mesh\"", "radio = \"wifi\"", "wifi"),
    ] {
        std::fs::write(&scenario, FLAT.replace(from, to).replace("choose = 1\n", "")).unwrap();
        let error = refusal(&sweep(&scenario, &folder.path().join("out"), &[]));
        let json: serde_json::Value = serde_json::from_str(&error).unwrap();
        let error = json["error"]["message"].as_str().unwrap();
        let errors: Vec<&str> = error.lines().filter(|line| line.contains("flat.toml:")).collect();
        let count = FLAT.matches(from).count();
        assert!(errors.len() == count && errors[0].contains(why), "{error}");
    }
}

#[test]
fn an_interrupted_sweep_ends_with_code_130() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    // Work for minutes.
    std::fs::write(&scenario, FLAT.replace("cell_arcsec = 9", "cell_arcsec = 0.3")).unwrap();
    let out = folder.path().join("out");
    let arguments = ["sweep", scenario.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let mut child =
        support::command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // A unit is there: signals are handled.
    let has_unit = || {
        let places = if out.exists() { files(&out) } else { BTreeMap::new() };
        places.keys().any(|place| place.extension().is_some_and(|ending| ending == "unit"))
    };
    assert!(support::eventually(has_unit));
    let process = nix::unistd::Pid::from_raw(child.id() as i32);
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130), "{status}");
}

#[needs(terrain)]
#[test]
fn a_killed_sweep_goes_on_and_comes_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(support::scenario_path("coverage_gothenburg.toml")).unwrap();
    let scenario = folder.path().join("s.toml");
    // Units of a tenth of a second and more, so that a kill falls into the work.
    let text = text.replace("cell_arcsec = 6", "cell_arcsec = 4");
    std::fs::write(&scenario, text).unwrap();
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    stdout(&sweep(&scenario, &whole, &[]));
    let mut chance = Seed(5).stream("sweep.kill", 0, 0);
    let units = |folder: &Path| {
        let all = if folder.exists() { files(folder) } else { BTreeMap::new() };
        all.keys().filter(|place| place.extension().is_some_and(|e| e == "unit")).count()
    };
    let all = units(&whole);
    assert!(all >= 4, "{all} units");
    let mut kills_in_work = 0;
    for _ in 0..6 {
        let arguments = ["sweep", scenario.to_str().unwrap(), "-o", killed.to_str().unwrap()];
        let mut child = support::command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let before = units(&killed);
        for _ in 0..2000 {
            if units(&killed) > before || child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(chance.bits() % 20));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = units(&killed);
        assert!(after >= before, "finished units stay");
        kills_in_work += usize::from(after < all);
    }
    assert!(kills_in_work > 0, "no kill fell into the work");
    let actual = units(&killed);
    let again = stdout(&sweep(&scenario, &killed, &["--shard", "1/1"]));
    let json: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        json["found"].as_u64().unwrap() as usize,
        actual,
        "finished units are not computed again"
    );
    stdout(&support::groundwave(&["sweep", "merge", killed.to_str().unwrap()]));
    assert_same(&whole, &killed);
}

#[needs(terrain)]
#[test]
fn unknown_ground_is_never_covered() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let text = std::fs::read_to_string(support::scenario_path("coverage_gothenburg.toml")).unwrap();
    let scenario = folder.path().join("s.toml");
    // So wide that the circles reach beyond the tile.
    let text = text.replace("radius_km = 10", "radius_km = 20");
    std::fs::write(&scenario, text.replace("cell_arcsec = 6", "cell_arcsec = 12")).unwrap();
    let output = sweep(&scenario, &out, &[]);
    let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(json["not_computed"], "cells further than 20 km from every site");
    let variant = &json["variants"][0];
    let area = |key: &str| variant["area_km2"][key].as_f64().unwrap();
    assert!(area("no_data") > 100.0);
    let parts = ["excellent", "good", "marginal", "poor", "no_link"].map(area);
    assert!((parts.iter().sum::<f64>() - area("answered")).abs() < 1e-6);
    assert!((area("covered") + area("gap") - area("answered")).abs() < 1e-6);
    let points = variant["points"].as_array().unwrap();
    let karna = points.iter().find(|point| point["name"] == "karna").unwrap();
    assert!(karna["best_server"].is_string());
    // The promise of the greedy choice, and its bound.
    let choice = &variant["choice"];
    let covered = choice["sites"].as_array().unwrap().last().unwrap()["covered"].as_f64().unwrap();
    assert!(covered <= choice["upper_bound"].as_f64().unwrap() + 1e-9);
    for file in
        ["best_server.tif", "margin_db.tif", "margin.png", "contact_sheet.png", "summary.json"]
    {
        assert!(out.join(file).exists(), "{file}");
    }
}

#[needs(terrain)]
#[test]
fn the_shipped_sweep_lies_on_its_tile() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let scenario = support::scenario_path("coverage_gothenburg.toml");
    let output = stdout(&sweep(&scenario, &out, &["--products", "margin"]));
    let json: serde_json::Value = serde_json::from_str(&output).unwrap();
    let variant = &json["variants"][0];
    assert_eq!(variant["area_km2"]["no_data"], 0.0);
    assert_eq!(variant["area_km2"]["covered_over_unknown_ground"], 0.0);
    // The head of the scenario.
    let built: Vec<&str> = variant["choice"]["sites"]
        .as_array()
        .unwrap()
        .iter()
        .map(|site| site["name"].as_str().unwrap())
        .collect();
    assert_eq!(built, ["styrso", "torslanda", "karna"]);
    let points = variant["points"].as_array().unwrap();
    let centre = points.iter().find(|point| point["name"] == "brunnsparken");
    assert_eq!(centre.unwrap()["no_answer"], "beyond_radius");
}

#[test]
fn parameter_grids_sweep_every_combination() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("grid.toml");
    let vary = "[coverage.vary]\nheight_agl_m = [10, 40]\ntx_power_dbm = [10, 20]\n";
    std::fs::write(&scenario, format!("{FLAT}{vary}")).unwrap();
    let out = folder.path().join("out");
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&sweep(&scenario, &out, &[]))).unwrap();
    let variants = json["variants"].as_array().unwrap();
    let covered = |name: &str| {
        let variant = variants.iter().find(|variant| variant["name"] == name).unwrap();
        variant["area_km2"]["covered"].as_f64().unwrap()
    };
    assert_eq!(variants.len(), 4);
    assert!(covered("h40_p20") >= covered("h40_p10"));
    assert!(covered("h40_p20") > covered("h10_p10"));
    assert!(out.join("h10_p20/margin_db.tif").exists());
}

#[test]
fn products_are_chosen_by_name_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let out = folder.path().join("out");
    let products = |out: &Path| -> Vec<String> {
        let places = files(out).into_keys().filter(|place| !place.starts_with("units"));
        places.map(|place| place.to_string_lossy().into_owned()).collect()
    };
    stdout(&sweep(&scenario, &out, &["--products", "power,kmz"]));
    let few = products(&out);
    let expected = [
        "coverage.kmz",
        "manifest.json",
        "rx_power.pgw",
        "rx_power.png",
        "rx_power.prj",
        "rx_power_dbm.qml",
        "rx_power_dbm.tif",
        "summary.json",
    ];
    assert_eq!(few, expected);
    let refused = refusal(&sweep(&scenario, &out, &["--products", "margin,colour"]));
    for part in ["colour", "best_server", "outlines", "cells"] {
        assert!(refused.contains(part), "{refused}");
    }
    // The rest, out of the units that are there.
    let output = support::groundwave(&["sweep", "merge", out.to_str().unwrap(), "--cells"]);
    stdout(&output);
    let all = products(&out);
    for file in ["margin_db.tif", "sites/001_east.tif", "cells.csv", "contours.geojson"] {
        assert!(all.iter().any(|products| products == file), "{file} of {all:?}");
    }
}

#[test]
fn rasters_are_rounded_unless_they_are_to_be_exact() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    std::fs::write(&scenario, FLAT).unwrap();
    let run = |name: &str, more: &[&str]| {
        let out = folder.path().join(name);
        stdout(&sweep(&scenario, &out, &[&["--products", "margin,cells"], more].concat()));
        files(&out)
    };
    let (usual, exact, zstd, lerc) = (
        run("usual", &[]),
        run("exact", &["--exact-rasters"]),
        run("zstd", &["--compression", "zstd"]),
        run("lerc", &["--compression", "lerc"]),
    );
    let expected = |files: &BTreeMap<PathBuf, Vec<u8>>| {
        let raster = String::from_utf8_lossy(&files[Path::new("margin_db.tif")]).into_owned();
        raster.contains("rounded to multiples of 2^-7")
    };
    assert!(expected(&usual) && expected(&zstd) && expected(&lerc) && !expected(&exact));
    for (place, bytes) in &usual {
        let is_raster = place.extension().is_some_and(|ending| ending == "tif");
        for other in [&exact, &zstd, &lerc] {
            assert_eq!(*bytes == other[place], !is_raster, "{place:?}");
        }
    }
}

/// A receiver of another band decodes no mast: nothing is covered, and the masts are named.
#[test]
fn masts_that_the_receiver_cannot_decode_cover_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("s.toml");
    let area = |receiver: &str, out: &str| {
        std::fs::write(&scenario, format!("{FLAT}{receiver}")).unwrap();
        let output = sweep(&scenario, &folder.path().join(out), &["--products", "probability"]);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let json: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        (json, errors)
    };
    let (own, errors) = area("", "own");
    let figure = |json: &serde_json::Value, key: &str| json["variants"][0][key].as_f64().unwrap();
    assert!(figure(&own, "covered_percent") > 0.0 && !errors.contains("cannot decode"));
    assert_eq!(own.get("undecodable_sites"), None);
    let parts = &own["variants"][0]["area_km2"];
    let likely_km2: f64 =
        ["excellent", "good", "marginal"].map(|key| parts[key].as_f64().unwrap()).iter().sum();
    let share = 100.0 * likely_km2 / parts["answered"].as_f64().unwrap();
    assert!((figure(&own, "likely_percent") - share).abs() < 1e-9);
    let (other, errors) = area("[coverage.receiver]\nradio = \"lora_868_eu\"\n", "other");
    assert_eq!(figure(&other, "covered_percent"), 0.0);
    assert_eq!(figure(&other, "likely_percent"), 0.0);
    assert_eq!(other["undecodable_sites"], serde_json::json!(["west", "east"]));
    assert!(errors.contains("cannot decode west, east"), "{errors}");
    let (out, products) =
        (folder.path().join("all"), "margin,sites,site_maps,kmz,outlines,sheet,cells");
    stdout(&sweep(&scenario, &out, &["--products", products]));
    assert!(out.join("sites/000_west.tif").is_file());
}

#[test]
fn scenarios_that_cannot_be_swept_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let error = refusal(&sweep(&support::scenario_path("two_nodes.toml"), &out, &[]));
    assert!(error.contains("[coverage]"), "{error}");
    let scenario = folder.path().join("s.toml");
    std::fs::write(&scenario, FLAT.replace("omni_5", "dish_24")).unwrap();
    let error = refusal(&sweep(&scenario, &out, &[]));
    assert!(error.contains("pointing"), "{error}");
    std::fs::write(&scenario, FLAT.replace("cell_arcsec = 9", "cell_arcsec = 0")).unwrap();
    let error = refusal(&sweep(&scenario, &out, &[]));
    assert!(error.contains("cell_arcsec"), "{error}");
    std::fs::write(&scenario, FLAT).unwrap();
    refusal(&sweep(&scenario, &out, &["--shard", "4/3"]));
    assert!(!out.exists(), "a refused sweep leaves no folder");
}

#[test]
fn places_out_of_reach_differ_from_places_without_data() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("flat.toml");
    let place = |name: &str, lat_deg: f64| {
        format!("[[coverage.point]]\nname = \"{name}\"\nlat_deg = {lat_deg}\nlon_deg = 11.92\n")
    };
    let places = place("near", 57.7) + &place("far", 57.9);
    std::fs::write(&scenario, format!("{FLAT}{places}")).unwrap();
    let out = folder.path().join("out");
    let (scenario, out) = (scenario.to_str().unwrap(), out.to_str().unwrap());
    let output = stdout(&support::groundwave(&["sweep", scenario, "-o", out]));
    let line = |name: &str| {
        let mut lines = output.lines();
        lines.find(|line| line.trim_start().starts_with(name)).unwrap()
    };
    assert!(line("far").contains("beyond the radius"), "{output}");
    assert!(!line("near").contains("beyond"), "{output}");
    assert!(!output.contains("no data\n"), "{output}");
}

#[test]
fn sites_on_ground_without_data_end_a_sweep_with_code_3() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("unsaid.toml");
    std::fs::write(&scenario, FLAT.replace("[terrain]\nflat_msl_m = 10\n", "")).unwrap();
    let out = folder.path().join("out");
    let output = sweep(&scenario, &out, &[]);
    let summary: serde_json::Value = serde_json::from_str(&support::blind(&output)).unwrap();
    assert_eq!(summary["variants"][0]["area_km2"]["covered"], 0.0);
    let flat = folder.path().join("flat");
    stdout(&sweep(&scenario, &flat, &["--flat-earth"]));
}

#[needs(terrain)]
#[test]
fn merge_opens_the_tiles_of_the_scenario_and_refuses_others() {
    let folder = tempfile::tempdir().unwrap();
    let tiles = folder.path().join("tiles");
    std::fs::create_dir(&tiles).unwrap();
    let tile = "N57E011.hgt";
    std::fs::copy(support::data().0.join(tile), tiles.join(tile)).unwrap();
    let scenario = folder.path().join("tiled.toml");
    let named = "[terrain]\ntiles = [\"N57E011\"]\ndirectory = \"tiles\"\n";
    let text = FLAT.replace("[terrain]\nflat_msl_m = 10\n", named);
    std::fs::write(&scenario, text.replace("cell_arcsec = 9", "cell_arcsec = 30")).unwrap();
    let out = folder.path().join("out");
    let run = |arguments: &[&str]| {
        let mut command = support::command(arguments);
        // No tiles but those that the scenario names.
        command.env("GROUNDWAVE_DATA", folder.path().join("none"));
        command.output().unwrap()
    };
    let (scenario, out) = (scenario.to_str().unwrap(), out.to_str().unwrap());
    stdout(&run(&["sweep", scenario, "-o", out, "--shard", "1/1"]));
    // A tile far from all sites neither is read nor matters; another one at a site does.
    let (near, far) = (tiles.join(tile), tiles.join("N10E010.hgt"));
    let posts = std::fs::read(&near).unwrap();
    std::fs::write(far, vec![0; posts.len()]).unwrap();
    stdout(&run(&["sweep", "merge", out]));
    std::fs::write(&near, vec![0; posts.len()]).unwrap();
    let other = refusal(&run(&["sweep", "merge", out]));
    assert!(other.contains("terrain differs"), "{other}");
    std::fs::write(&near, posts).unwrap();
    let manifest = std::fs::read(Path::new(out).join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    let named: Vec<_> = manifest["terrain"].as_object().unwrap().keys().collect();
    assert_eq!(named, [tile]);
    std::fs::rename(&tiles, folder.path().join("moved")).unwrap();
    let lost = refusal(&run(&["sweep", "merge", out]));
    assert!(lost.contains("--srtm-dir"), "{lost}");
}
