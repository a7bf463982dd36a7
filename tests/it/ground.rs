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
    stdout(&groundwave(folder, &calibrate));
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
