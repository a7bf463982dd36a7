//! Wrong input: a precise error, exit code 2, nothing lost, never a panic.

use std::path::Path;

use crate::support::{self, command, groundwave, refusal};

fn run_text(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.toml");
    std::fs::write(&path, text).unwrap();
    refusal(&groundwave(&["run", path.to_str().unwrap()]))
}

const GOOD: &str = "[scenario]\ntitle = \"t\"\nduration_s = 2\n\n[[node]]\nname = \"a\"\nlat_deg = 57.7\n\
    lon_deg = 11.9\nheight_agl_m = 10\nradio = \"wifi_5g_mesh\"\nantenna = \"omni_9\"\n";

#[test]
fn the_sentence_the_others_break_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good.toml");
    std::fs::write(&path, format!("{GOOD}[terrain]\nflat_msl_m = 0\n")).unwrap();
    support::stdout(&groundwave(&["run", path.to_str().unwrap()]));
}

#[test]
fn scenario_errors_name_file_line_key_and_what_is_allowed() {
    let broken = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        run_text(&GOOD.replace(from, to))
    };
    let error = broken("radio = \"wifi_5g_mesh\"", "radio = \"wifi_5g_mseh\"");
    assert!(error.contains("wrong.toml:10:9"), "{error}");
    assert!(error.contains("node[0].radio") && error.contains("did you mean"), "{error}");
    let error = broken("lat_deg = 57.7", "lat_deg = nan");
    assert!(error.contains("wrong.toml:7:11") && error.contains("lat_deg"), "{error}");
    let error = broken("lat_deg = 57.7", "lat_deg = 97.7");
    assert!(error.contains("-90") && error.contains("90"), "{error}");
    let error = broken("lon_deg = 11.9", "lon_deg = inf");
    assert!(error.contains("wrong.toml:8:11"), "{error}");
    let error = broken("height_agl_m = 10", "heigth_agl_m = 10");
    assert!(error.contains("heigth_agl_m") && error.contains("height_agl_m"), "{error}");
    let error = broken("duration_s = 2", "duration_s = \"two\"");
    assert!(error.contains("wrong.toml:3") && error.contains("duration_s"), "{error}");
    let error = broken("[scenario]", "[scenario");
    assert!(error.contains("wrong.toml:1"), "{error}");
}

#[test]
fn several_errors_come_at_once() {
    let error = run_text(&GOOD.replace("57.7", "570").replace("omni_9", "omni_99"));
    assert!(error.contains("lat_deg") && error.contains("omni_99"), "{error}");
}

#[test]
fn unknown_or_refused_command_gives_an_error() {
    let unknown = "[[command]]\nat_s = 1\ncommand = \"node.explode\"\nnode = \"a\"\n";
    let error = run_text(&format!("{GOOD}{unknown}"));
    assert!(error.contains("node.explode") && error.contains("node.fail"), "{error}");
    let misspelt = "[[command]]\nat_s = 1\ncommand = \"node.fail\"\nnoode = \"a\"\n";
    let error = run_text(&format!("{GOOD}{misspelt}"));
    assert!(error.contains("noode"), "{error}");
}

#[test]
fn a_hundred_megabytes_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.toml");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(100_000_000).unwrap();
    let error = refusal(&groundwave(&["run", path.to_str().unwrap()]));
    assert!(error.contains("100000000") && error.contains("16777216"), "{error}");
}

#[test]
fn files_that_are_no_scenarios_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("noise.toml");
    std::fs::write(&path, [0xff, 0xfe, 0x00, 0x80]).unwrap();
    refusal(&groundwave(&["run", path.to_str().unwrap()]));
    refusal(&groundwave(&["run", folder.path().to_str().unwrap()]));
    let error = refusal(&groundwave(&["run", "no/such/file.toml"]));
    assert!(error.contains("no/such/file.toml"), "{error}");
    let error = refusal(&groundwave(&["replay", path.to_str().unwrap()]));
    assert!(error.contains("GWAVELOG"), "{error}");
}

/// A tile folder with one file, and the output of a command over its terrain.
fn with_tile(name: &str, bytes: &[u8]) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let tiles = folder.path().to_str().unwrap();
    let scenario = folder.path().join("s.toml");
    let text = format!("{GOOD}[terrain]\ntiles = [\"N57E011\"]\n");
    std::fs::write(&scenario, text).unwrap();
    groundwave(&["run", scenario.to_str().unwrap(), "--srtm-dir", tiles])
}

#[test]
fn broken_tiles_are_refused_with_their_size_and_the_sizes_allowed() {
    let three_seconds = 1201 * 1201 * 2;
    for bytes in [0, 1, 100_000, three_seconds - 2, three_seconds - 1, three_seconds + 1] {
        let error = refusal(&with_tile("N57E011.hgt", &vec![0; bytes]));
        assert!(error.contains("N57E011.hgt"), "{bytes}: {error}");
        assert!(
            error.contains("2884802") && error.contains(&bytes.to_string()),
            "{bytes}: {error}"
        );
    }
    let error = refusal(&with_tile("N57E011.hgt.gz", b"\x1f\x8b\x08 but no gzip"));
    assert!(error.contains("N57E011.hgt.gz"), "{error}");
    let error = refusal(&with_tile("N57E011.zip", b"PK\x03\x04 but no zip"));
    assert!(error.contains("N57E011.zip"), "{error}");
}

#[test]
fn a_renamed_tile_is_not_taken_for_another() {
    let tile = vec![0; 1201 * 1201 * 2];
    let error = refusal(&with_tile("N57E011T42.hgt", &tile));
    assert!(error.contains("N57E011"), "{error}");
    let error = refusal(&with_tile("goteborg.hgt", &tile));
    assert!(error.contains("N57E011"), "{error}");
}

#[test]
fn coordinates_out_of_range_are_refused_with_the_range() {
    for place in ["91,0", "0,181", "nan,0", "inf,5", "1e999,5", "57.7", "57.7,11.9,10,4", "here"] {
        let error = refusal(&groundwave(&["link", place, "57.7,11.9"]));
        assert!(error.contains("allowed"), "{place}: {error}");
        refusal(&groundwave(&["profile", "57.7,11.9", place]));
    }
    let error = refusal(&groundwave(&["link", "57.7,11.9,nan", "57.8,11.9"]));
    assert!(error.contains("height above ground"), "{error}");
    let error = refusal(&groundwave(&["link", "57.7,11.9", "57.8,11.9", "--radio", "walkie"]));
    assert!(error.contains("walkie") && error.contains("wifi_5g_mesh"), "{error}");
    refusal(&groundwave(&["link", "57.7,11.9", "57.8,11.9", "--frequency-mhz", "nan"]));
    refusal(&groundwave(&["link", "57.7,11.9", "57.8,11.9", "--time", "0"]));
    refusal(&groundwave(&["link", "57.7,11.9", "57.8,11.9", "--samples", "7"]));
}

#[test]
fn a_link_to_itself_is_answered_with_a_warning() {
    let output = groundwave(&["link", "57.7,11.9,10", "57.7,11.9,10", "--flat-earth", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&support::stdout(&output)).unwrap();
    let warnings = json["forward"]["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning == "distance_too_short"), "{warnings:?}");
    assert!(json["forward"]["receiver"]["rx_power_dbm"].is_number());
}

#[test]
fn refused_runs_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("wrong.toml");
    std::fs::write(&scenario, GOOD.replace("57.7", "570")).unwrap();
    let log = folder.path().join("run.gwlog");
    let arguments = ["run", scenario.to_str().unwrap(), "--record", log.to_str().unwrap()];
    refusal(&groundwave(&arguments));
    assert!(!log.exists());
}

#[test]
fn a_log_or_store_in_the_way_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("good.toml");
    std::fs::write(&scenario, format!("{GOOD}[terrain]\nflat_msl_m = 0\n")).unwrap();
    let keep = |path: &Path, flag: &str| {
        std::fs::write(path, "two years of work").unwrap();
        let arguments = ["run", scenario.to_str().unwrap(), flag, path.to_str().unwrap()];
        refusal(&groundwave(&arguments));
        assert_eq!(std::fs::read_to_string(path).unwrap(), "two years of work");
    };
    keep(&folder.path().join("thesis.gwlog"), "--record");
    keep(&folder.path().join("thesis.redb"), "--store");
}

#[test]
fn arguments_at_fault_give_one_error_with_what_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("good.toml"), format!("{GOOD}[terrain]\nflat_msl_m = 0\n")).unwrap();
    std::fs::write(path("plan.csv"), "name,lat,lon\na,57,11\n").unwrap();
    std::fs::create_dir(path("nothing")).unwrap();
    std::fs::create_dir(path("cache")).unwrap();
    let [good, plan, nothing, absent, below] =
        ["good.toml", "plan.csv", "nothing", "absent/a.toml", "plan.csv/below"].map(path);
    let (here, there) = ("57.7,11.9", "57.71,11.91");
    let cases: [(&[&str], &[&str]); 36] = [
        (&["run", "no/a.toml"], &["invalid scenario: found nothing at no/a.toml", "TOML"]),
        (
            &["link", here, there, "--srtm-dir", "no"],
            &["invalid --srtm-dir: found nothing at no, allowed a folder of .hgt tiles"],
        ),
        (
            &["link", here, there, "--flat-earth", "--land-cover", "no"],
            &["invalid --land-cover: found nothing at no, allowed a folder of GeoTIFF files"],
        ),
        (
            &["link", here, there, "--flat-earth", "--pattern", "no.msi"],
            &["invalid --pattern: found nothing at no.msi, allowed an antenna pattern"],
        ),
        (
            &["link", here, there, "--flat-earth", "--calibration", "no.toml"],
            &["invalid --calibration: found nothing at no.toml"],
        ),
        (&["link", here, "no.qth"], &["invalid site: found nothing at no.qth"]),
        (&["antenna", "no.msi"], &["invalid FILE: found nothing at no.msi"]),
        (&["convert", "no.csv", "a.toml"], &["invalid FROM: found nothing at no.csv"]),
        (&["replay", "no.gwlog"], &["invalid log: found nothing at no.gwlog"]),
        (&["restore", "no.redb"], &["invalid FILE: found nothing at no.redb"]),
        (&["impair", "import", "--tc", "no"], &["invalid --tc: found nothing at no"]),
        (&["link", "a", "b"], &["invalid position", "names of nodes need --scenario FILE"]),
        (&["link", here, there, "--srtm-dir", &plan], &["found a file at", "allowed a folder"]),
        (&["link", "--scenario", &good, "a", "a", "--at", "-1"], &["--at: found -1 s", "0 to 2 s"]),
        (
            &["link", here, there, "--flat-earth", "--rain", "-1"],
            &["invalid --rain: found -1, allowed [0, 300]"],
        ),
        (
            &["profile", here, there, "--flat-earth", "--plot", "x.pdf"],
            &["found x.pdf", "allowed .svg, .png"],
        ),
        (
            &["run", &good, "--until", "-1"],
            &["invalid --until: found -1 s", "the duration of the scenario"],
        ),
        (&["convert", &plan, &absent], &["absent/a.toml", "allowed files in folders"]),
        (&["convert", &nothing, "a.toml"], &["nothing: found a folder without files"]),
        (
            &["convert", &plan, "a.toml", "--step", "-2"],
            &["invalid --step: found -2 s", "allowed 0.001"],
        ),
        (&["sweep", "merge", &absent], &["absent/a.toml/manifest.json", "found nothing at"]),
        (&["terrain", "list", "--terrain-cache", &plan], &["found a file at", "allowed a folder"]),
        (
            &["link", here, there, "--flat-earth", "--pattern", &nothing],
            &["invalid --pattern: found a folder at", "allowed an antenna pattern"],
        ),
        (
            &["link", here, there, "--flat-earth", "--calibration", &nothing],
            &["invalid --calibration: found a folder at"],
        ),
        (&["link", here, there, "--geoid", &nothing], &["invalid --geoid: found a folder at"]),
        (&["antenna", &nothing], &["invalid FILE: found a folder at", "an antenna pattern"]),
        (&["run", &nothing], &["invalid scenario: found a folder at"]),
        (&["run", &good, "--store", &nothing], &["invalid --store: found a folder at"]),
        (&["log", "verify", &nothing], &["invalid log: found a folder at"]),
        (&["restore", &nothing], &["invalid FILE: found a folder at"]),
        (&["sweep", &good, "-o", &plan], &["invalid --out: found a file at", "allowed a folder"]),
        (&["study", &good, "-o", &below], &["invalid --output: found a file at", "a folder"]),
        (&["man", &plan], &["invalid FOLDER: found a file at", "allowed a folder"]),
        (&["terrain", "fetch", "57.6,11.5,57.5,12"], &["found south 57.6 above north 57.5"]),
        (
            &["terrain", "fetch", "57,11", "--radius-km", "-1"],
            &["--radius-km: found -1", "0 to 1000"],
        ),
        (
            &["terrain", "fetch", "N57E011", "--yes", "--url", "ftp://x"],
            &["found \"ftp://x\"", "http://"],
        ),
    ];
    for (words, parts) in cases {
        let cache = path("cache");
        let output = command(words).env("GROUNDWAVE_TERRAIN_CACHE", &cache).output().unwrap();
        let error = refusal(&output);
        for part in parts {
            assert!(error.contains(part), "{words:?}: no {part:?} in {error}");
        }
        assert!(!error.contains("os error"), "{words:?}: {error}");
        assert_eq!(error.matches("error:").count(), 1, "{words:?}: {error}");
    }
}

#[test]
fn folder_without_terrain_is_named_as_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let output = groundwave(&["link", "57.7,11.9", "57.71,11.91", "--srtm-dir", path]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("no .hgt tile or GeoTIFF file that can be used in"), "{error}");
    assert!(error.contains(path) && error.contains("groundwave terrain fetch"), "{error}");
}

/// Help, versions and configurations are results too: one that is not written is a failure of the machine.
#[test]
fn output_to_a_full_disk_gives_an_error() {
    for arguments in [
        &["--help"][..],
        &["link", "--help"],
        &["help", "link"],
        &["--version"],
        &["--print-config"],
        &["presets"],
        &["presets", "--json"],
        &["schema"],
        &["completions", "bash"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        assert!(
            error.contains("write standard output: No space left on device")
                && !error.contains("panicked"),
            "{arguments:?}: {error}"
        );
    }
}
