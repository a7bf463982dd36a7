//! Logs and the terrain they were recorded on: tiles and geoid are identified by their digests.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::support::{command, refusal, stdout};

/// Runs the program without any terrain but that of its arguments.
fn groundwave(folder: &Path, words: &[&str]) -> Output {
    let mut program = command(words);
    program.env("GROUNDWAVE_DATA", folder.join("none"));
    program.env_remove("PLAN_SRTM_DIR").env_remove("PLAN_GEOID");
    program.output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder with the tile N57E011, a slope of `rise_m` from its northern to its southern row.
fn tiles(folder: &Path, name: &str, rise_m: i16) -> PathBuf {
    const SIDE: i16 = 1201;
    let tiles = folder.join(name);
    std::fs::create_dir(&tiles).unwrap();
    let row = |row: i16| {
        let height_m = i32::from(rise_m) * i32::from(row) / i32::from(SIDE);
        i16::try_from(height_m).unwrap().to_be_bytes().repeat(SIDE as usize)
    };
    let bytes: Vec<u8> = (0..SIDE).flat_map(row).collect();
    std::fs::write(tiles.join("N57E011.hgt"), bytes).unwrap();
    tiles
}

const SCENARIO: &str = "[scenario]\ntitle = \"two\"\nstep_s = 1\nduration_s = 5\n\
    [terrain]\ntiles = [\"N57E011\"]\n\
    [[node]]\nname = \"a\"\nlat_deg = 57.3\nlon_deg = 11.3\nheight_agl_m = 5\nradio = \"wifi_5g_mesh\"\n\
    [[node]]\nname = \"b\"\nlat_deg = 57.32\nlon_deg = 11.3\nheight_agl_m = 5\nradio = \"wifi_5g_mesh\"\n";

#[test]
fn replay_over_another_tile_gives_an_error_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let scenario = folder.join("two.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let here = tiles(folder, "tiles-of-the-recording", 900);
    let log = folder.join("two.gwlog");
    let record = ["record", text(&scenario), "-o", text(&log), "--srtm-dir", text(&here)];
    stdout(&groundwave(folder, &record));
    let bytes = std::fs::read(&log).unwrap();
    let path = b"tiles-of-the-recording";
    assert!(!bytes.windows(path.len()).any(|part| part == path));
    let replay = |tiles: Option<&Path>| {
        let mut words = vec!["replay", text(&log), "--check"];
        words.extend(tiles.into_iter().flat_map(|tiles| ["--srtm-dir", text(tiles)]));
        groundwave(folder, &words)
    };
    let moved = folder.join("moved");
    std::fs::rename(&here, &moved).unwrap();
    stdout(&replay(Some(&moved)));
    let empty = folder.join("empty");
    std::fs::create_dir(&empty).unwrap();
    for without in [Some(empty.as_path()), None] {
        let error = refusal(&replay(without));
        assert!(
            error.contains("terrain tile N57E011 is missing") && error.contains("--srtm-dir"),
            "{error}"
        );
    }
    let error = refusal(&replay(Some(&tiles(folder, "steeper", 1_900))));
    assert!(error.contains("terrain tile N57E011 is another one"), "{error}");
}

#[test]
fn a_recording_converted_with_a_geoid_and_no_tiles_replays_and_calibrates() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let geoid = folder.join("WW15MGH.DAC");
    // Undulations that fall to the east, so that the heights of two ends differ.
    let post = |post: i32| i16::try_from(post % 1440 * 5 - 3000).unwrap().to_be_bytes();
    let posts: Vec<u8> = (0..721 * 1440).flat_map(post).collect();
    std::fs::write(&geoid, posts).unwrap();
    let [table, mapping] = crate::measured::levels(folder, 6.0);
    let log = folder.join("survey.gwlog");
    let convert = ["convert", &table, text(&log), "--mapping", &mapping, "--geoid", text(&geoid)];
    stdout(&groundwave(folder, &convert));
    let replay = ["--json", "replay", text(&log), "--check", "--geoid", text(&geoid)];
    let replayed = stdout(&groundwave(folder, &replay));
    let replayed: Value = serde_json::from_str(&replayed).unwrap();
    assert!(replayed["marks_compared"].as_u64() > Some(0));
    let profile = folder.join("profile.toml");
    let calibrate = ["calibrate", text(&log), "-o", text(&profile), "--geoid", text(&geoid)];
    let output = groundwave(folder, &calibrate);
    let error = String::from_utf8_lossy(&output.stderr);
    // The offsets rest on assumed ground.
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("no terrain data under any of 12 measured directions"), "{error}");
    assert!(profile.exists());
    let error = refusal(&groundwave(folder, &["replay", text(&log), "--check"]));
    assert!(error.contains("geoid is missing") && error.contains("--geoid"), "{error}");
}

/// A site in a void has no ground, as one off every tile.
#[test]
fn a_sweep_of_a_site_in_a_void_names_the_site_and_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = tiles(folder, "tiles", 100);
    let file = tiles.join("N57E011.hgt");
    let mut bytes = std::fs::read(&file).unwrap();
    let half = bytes.len() / 4 * 2;
    for post in bytes[half..].as_chunks_mut::<2>().0 {
        *post = i16::MIN.to_be_bytes();
    }
    std::fs::write(&file, bytes).unwrap();
    let scenario = folder.join("two.toml");
    let coverage = "[coverage]\nradius_km = 1\ncell_arcsec = 6\n";
    std::fs::write(&scenario, format!("{SCENARIO}{coverage}")).unwrap();
    let out = folder.join("out");
    let sweep = ["sweep", text(&scenario), "-o", text(&out), "--srtm-dir", text(&tiles)];
    let output = groundwave(folder, &sweep);
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    let parts = ["no terrain data under 2 of 2 sites (a, b)", "gdal_fillnodata"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
}

/// Heights across a void are interpolated, and no tile is missing.
#[test]
fn a_run_over_a_void_names_the_void_and_its_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = tiles(folder, "tiles", 100);
    let file = tiles.join("N57E011.hgt");
    let mut bytes = std::fs::read(&file).unwrap();
    // Rows at 57.31 N, between the nodes.
    for row in 823..833 {
        for post in bytes[row * 2_402..(row + 1) * 2_402].as_chunks_mut::<2>().0 {
            *post = i16::MIN.to_be_bytes();
        }
    }
    std::fs::write(&file, bytes).unwrap();
    let scenario = folder.join("two.toml");
    std::fs::write(&scenario, SCENARIO).unwrap();
    let output = groundwave(folder, &["run", text(&scenario), "--srtm-dir", text(&tiles)]);
    let output_text =
        String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{output_text}");
    assert!(output_text.contains("voids of the tiles under 1 of 1 links"), "{output_text}");
    assert!(
        output_text.contains("gdal_fillnodata") && !output_text.contains("fetch tiles"),
        "{output_text}"
    );
}

/// The ground of a scenario comes before the environment and configuration files, and after the command line.
#[test]
fn a_scenario_comes_before_the_variable_and_after_the_option() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = tiles(folder, "tiles", 900);
    let flat = SCENARIO.replace("tiles = [\"N57E011\"]", "flat_msl_m = 20");
    let bare = SCENARIO.replace("[terrain]\ntiles = [\"N57E011\"]\n", "");
    let config = folder.join("config.toml");
    std::fs::write(&config, format!("srtm-dir = {:?}\n", text(&tiles))).unwrap();
    let margin_db = |scenario: &str, more: &[&str], variable: Option<(&str, &Path)>| {
        let file = folder.join("two.toml");
        std::fs::write(&file, scenario).unwrap();
        let words = [&["--json", "link", "a", "b", "--scenario", text(&file)], more].concat();
        let mut program = command(&words);
        program.env("GROUNDWAVE_DATA", folder.join("none"));
        program.env_remove("PLAN_SRTM_DIR").env_remove("PLAN_GEOID").envs(variable);
        let output = program.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        document["forward"]["margin"]["link_margin_db"].as_f64().unwrap()
    };
    let sources = [("PLAN_SRTM_DIR", tiles.as_path()), ("GROUNDWAVE_CONFIG", config.as_path())];
    let level_db = margin_db(&flat, &[], None);
    let sloping_db = margin_db(&flat, &["--srtm-dir", text(&tiles)], None);
    assert!((level_db - sloping_db).abs() > 1e-4, "{level_db} and {sloping_db}");
    for variable in sources {
        assert_eq!(margin_db(&flat, &[], Some(variable)), level_db, "{variable:?}");
        assert_eq!(margin_db(&bare, &[], Some(variable)), sloping_db, "{variable:?}");
    }
}

/// An antenna that looks at another node does so over the ground between them.
#[test]
fn antennas_look_at_the_other_node_over_the_terrain() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let tiles = tiles(folder, "tiles", 8_000);
    let scenario = |pointing: [&str; 2]| {
        let [from, to] = pointing.map(|at| format!("antenna = \"dish_30\"\n{at}"));
        let (head, last) = SCENARIO.rsplit_once("[[node]]").unwrap();
        format!("{head}{from}[[node]]{last}{to}")
    };
    let margin_db = |pointing: [&str; 2]| {
        let file = folder.join("two.toml");
        std::fs::write(&file, scenario(pointing)).unwrap();
        let words =
            ["--json", "link", "a", "b", "--scenario", text(&file), "--srtm-dir", text(&tiles)];
        let document: Value = serde_json::from_str(&stdout(&groundwave(folder, &words))).unwrap();
        document["forward"]["margin"]["link_margin_db"].as_f64().unwrap()
    };
    // Without a pointing a dish looks at the other end.
    let free_db = margin_db(["", ""]);
    let aimed_db = margin_db(["pointing = { at = \"b\" }\n", "pointing = { at = \"a\" }\n"]);
    let level_db = margin_db([
        "pointing = { at = \"b\", elevation_deg = 0 }\n",
        "pointing = { at = \"a\", elevation_deg = 0 }\n",
    ]);
    assert!((free_db - aimed_db).abs() < 0.1, "{free_db} and {aimed_db}");
    assert!(level_db < aimed_db - 5.0, "{level_db} and {aimed_db}");
}
