//! Land cover through the program: links, recordings, sweeps, and what they refuse.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::support::{command, refusal, root, stdout};

/// Runs the program without any terrain but that of its arguments.
fn groundwave(folder: &Path, words: &[&str]) -> Output {
    let mut program = command(words);
    program.env("GROUNDWAVE_DATA", folder.join("none")).current_dir(folder);
    program.output().unwrap()
}

/// Land cover of the examples with another height of its buildings.
fn copy(folder: &Path, name: &str, buildings_m: u32) -> PathBuf {
    let (from, to) = (root().join("examples/land-cover"), folder.join(name));
    fs::create_dir(&to).unwrap();
    fs::copy(from.join("gothenburg.tif"), to.join("gothenburg.tif")).unwrap();
    let classes = fs::read_to_string(from.join("classes.toml")).unwrap();
    let classes =
        classes.replace("suburban\" }", &format!("suburban\", height_m = {buildings_m} }}"));
    fs::write(to.join("classes.toml"), classes).unwrap();
    to
}

const FROM: &str = "57.72,11.95,40";
const TO: &str = "57.86,11.98,4";

fn link(folder: &Path, more: &[&str]) -> Value {
    let args = ["link", FROM, TO, "--radio", "lora_868_eu", "--flat-earth", "--json"];
    let output = groundwave(folder, &[&args[..], more].concat());
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn link_over_land_cover_is_one_of_p1812_with_its_surroundings() {
    let folder = tempfile::tempdir().unwrap();
    let cover = copy(folder.path(), "cover", 10);
    let cover = cover.to_str().unwrap();
    let bare = link(folder.path(), &[]);
    let covered = link(folder.path(), &["--land-cover", cover]);
    assert_eq!(
        (&bare["forward"]["model"], &bare["land_cover_ends"]),
        (&"itm".into(), &Value::Null)
    );
    assert_eq!(covered["forward"]["model"], "p1812");
    assert_eq!(covered["land_cover_ends"], serde_json::json!(["suburban", "suburban"]));
    assert_eq!(covered["land_cover"][0]["name"], "gothenburg.tif");
    let basis = |document: &Value| document["forward"]["prediction"]["basis"].clone();
    assert_eq!([basis(&bare), basis(&covered)], ["surroundings_unknown", "terrain"]);
    let left_out = |document: &Value| document["assumptions"]["left_out"].to_string();
    assert!(left_out(&bare).contains("clutter") && !left_out(&covered).contains("clutter"));
    // Buildings that are higher cost more; a model without clutter along paths has it at the ends.
    let higher = copy(folder.path(), "higher", 20);
    let higher = link(folder.path(), &["--land-cover", higher.to_str().unwrap()]);
    let loss_db =
        |document: &Value| document["forward"]["losses"]["total_path_loss_db"].as_f64().unwrap();
    assert!(
        loss_db(&higher) > loss_db(&covered) + 1.0,
        "{} {}",
        loss_db(&higher),
        loss_db(&covered)
    );
    let itm = link(folder.path(), &["--land-cover", cover, "--model", "itm"]);
    assert_eq!(itm["forward"]["model"], "itm");
    assert!(itm["forward"]["losses"]["clutter_rx_db"].as_f64().unwrap() > 5.0);
    assert_eq!(covered["forward"]["losses"]["clutter_rx_db"], 0.0);
}

#[test]
fn profile_has_buildings_and_trees_in_table_and_picture() {
    let folder = tempfile::tempdir().unwrap();
    let cover = copy(folder.path(), "cover", 10);
    let picture = folder.path().join("path.svg");
    let args = ["profile", FROM, TO, "--flat-earth", "--land-cover", cover.to_str().unwrap()];
    let args = [&args[..], &["--plot", picture.to_str().unwrap(), "--json"]].concat();
    let document: Value = serde_json::from_str(&stdout(&groundwave(folder.path(), &args))).unwrap();
    let samples = document["samples"].as_array().unwrap();
    let heights: Vec<f64> =
        samples.iter().map(|sample| sample["clutter_agl_m"].as_f64().unwrap()).collect();
    assert!(heights.contains(&10.0) && heights.contains(&0.0), "{heights:?}");
    let svg = fs::read_to_string(picture).unwrap();
    assert!(svg.contains("class=\"clutter\"") && svg.contains("buildings and trees"));
}

fn scenario(folder: &Path, cover: &str) -> String {
    let text = format!(
        "[scenario]\ntitle = 'pair'\nduration_s = 3\n[terrain]\nflat_msl_m = 0\nland_cover = '{cover}'\n\
         [[node]]\nname = 'a'\nlat_deg = 57.72\nlon_deg = 11.95\nheight_agl_m = 4\nradio = 'lora_868_eu'\n\
         [[node]]\nname = 'b'\nlat_deg = 57.86\nlon_deg = 11.98\nheight_agl_m = 4\nradio = 'lora_868_eu'\n\
         [coverage]\nradius_km = 2\ncell_arcsec = 6\nsites = ['a']\nreceiver = {{ height_agl_m = 1.5, radio = 'lora_868_eu' }}\n"
    );
    let path = folder.join(format!("{cover}.toml"));
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn log_with_land_cover_replays_over_the_same_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    copy(path, "cover", 10);
    copy(path, "other", 20);
    let scenario = scenario(path, "cover");
    let record = groundwave(path, &["record", &scenario, "-o", "run.gwlog", "--json"]);
    let document: Value = serde_json::from_str(&stdout(&record)).unwrap();
    assert_eq!(document["links"][0]["budget"]["model"], "p1812");
    let error = refusal(&groundwave(path, &["replay", "run.gwlog", "--check"]));
    assert!(error.contains("has land cover") && error.contains("--land-cover"), "{error}");
    let replay =
        |cover: &str| groundwave(path, &["replay", "run.gwlog", "--check", "--land-cover", cover]);
    stdout(&replay("cover"));
    let error = refusal(&replay("other"));
    assert!(error.contains("land cover gothenburg.tif (classes.toml)"), "{error}");
}

#[test]
fn sweep_is_bound_to_its_land_cover() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    copy(path, "cover", 10);
    copy(path, "higher", 20);
    let scenario = scenario(path, "cover");
    let sweep = |out: &str, more: &[&str]| {
        let args = ["sweep", &scenario, "-o", out, "--products", "margin", "--json"];
        groundwave(path, &[&args[..], more].concat())
    };
    let summary: Value = serde_json::from_str(&stdout(&sweep("one", &[]))).unwrap();
    stdout(&sweep("one", &[]));
    let higher: Value =
        serde_json::from_str(&stdout(&sweep("two", &["--land-cover", "higher"]))).unwrap();
    assert_ne!(summary.to_string(), higher.to_string());
    let raster = path.join("cover/gothenburg.tif");
    let mut bytes = fs::read(&raster).unwrap();
    bytes.push(0);
    fs::write(&raster, bytes).unwrap();
    let error = refusal(&sweep("one", &[]));
    assert!(error.contains("one"), "{error}");
}

#[test]
fn land_cover_that_cannot_be_used_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let link =
        |cover: &str| groundwave(path, &["link", FROM, TO, "--flat-earth", "--land-cover", cover]);
    assert!(refusal(&link("absent")).contains("absent"));
    fs::create_dir(path.join("empty")).unwrap();
    assert!(refusal(&link("empty")).contains("found no .tif file"));
    let broken = copy(path, "broken", 10);
    let bytes = fs::read(broken.join("gothenburg.tif")).unwrap();
    fs::write(broken.join("gothenburg.tif"), &bytes[..bytes.len() / 2]).unwrap();
    let error = refusal(&link("broken"));
    assert!(error.contains("gothenburg.tif"), "{error}");
    fs::remove_file(copy(path, "unnamed", 10).join("classes.toml")).unwrap();
    assert!(refusal(&link("unnamed")).contains("unknown classes"));
}

/// One rule for the model where none is named, whether a scenario or an option names the land cover.
#[test]
fn land_cover_of_an_option_gives_the_model_that_one_of_the_scenario_gives() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    copy(path, "cover", 10);
    let scenario = |name: &str, terrain: &str, environment: &str| {
        let text = format!(
            "[scenario]\ntitle = 'pair'\nduration_s = 3\n[terrain]\nflat_msl_m = 0\n{terrain}\n{environment}\n\
             [[node]]\nname = 'a'\nlat_deg = 57.72\nlon_deg = 11.95\nheight_agl_m = 40\nradio = 'lora_868_eu'\n\
             antenna = 'omni_2_15'\n\
             [[node]]\nname = 'b'\nlat_deg = 57.86\nlon_deg = 11.98\nheight_agl_m = 4\nradio = 'lora_868_eu'\n\
             antenna = 'omni_2_15'\n"
        );
        fs::write(path.join(name), text).unwrap();
    };
    scenario("own.toml", "land_cover = 'cover'", "");
    scenario("bare.toml", "", "");
    scenario("settings.toml", "", "[environment]\nk_factor = 1.3333333333333333");
    scenario("itm.toml", "", "[environment]\nmodel = 'itm'");
    let direction = |file: &str, more: &[&str]| {
        let args = ["--json", "link", "a", "b", "--scenario", file];
        let output = groundwave(path, &[&args[..], more].concat());
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let forward = &document["forward"];
        (forward["model"].clone(), forward["receiver"]["rx_power_dbm"].clone())
    };
    let own = direction("own.toml", &[]);
    assert_eq!(own.0, "p1812");
    for file in ["bare.toml", "settings.toml"] {
        assert_eq!(direction(file, &["--land-cover", "cover"]), own, "{file}");
        assert_eq!(direction(file, &[]).0, "itm");
    }
    assert_eq!(direction("itm.toml", &["--land-cover", "cover"]).0, "itm");
    let digest = |file: &str, more: &[&str]| {
        let args = ["--json", "run", file];
        let report: Value =
            serde_json::from_str(&stdout(&groundwave(path, &[&args[..], more].concat()))).unwrap();
        report["digest"].clone()
    };
    let by_option = digest("bare.toml", &["--land-cover", "cover"]);
    assert_ne!(by_option, digest("bare.toml", &[]));
    assert_eq!(by_option, digest("settings.toml", &["--land-cover", "cover"]));
    // A log names its model, and is continued and replayed with it.
    stdout(&groundwave(path, &["record", "bare.toml", "-o", "run.gwlog", "--land-cover", "cover"]));
    stdout(&groundwave(path, &["replay", "run.gwlog", "--check", "--land-cover", "cover"]));
}
