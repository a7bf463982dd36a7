//! Studies: many runs of one scenario, their tables, and the way back to a single run.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::support::{command, groundwave, refusal, stdout};

const SCENARIO: &str = "
    [scenario]
    title = 'moving pair'
    duration_s = 20
    [terrain]
    flat_msl_m = 0
    [[node]]
    name = 'mast'
    lat_deg = 57.7
    lon_deg = 11.9
    height_agl_m = 10
    radio = 'wifi_2g4_mesh'
    [[node]]
    name = 'walker'
    lat_deg = 57.701
    lon_deg = 11.901
    height_agl_m = 2
    radio = 'wifi_2g4_mesh'
    [[motion]]
    node = 'walker'
    wander = { speed_min_m_s = 5, speed_max_m_s = 30, area = { south_deg = 57.69, north_deg = 57.73, west_deg = 11.88, east_deg = 11.93 } }
    [[flow]]
    name = 'call'
    source = 'walker'
    target = 'mast'
    rate_bps = 1e9
    [study]
    seeds = 3
    vary = { 'node.mast.height_agl_m' = [4, 30] }
";

/// Folder with the scenario.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pair.toml"), SCENARIO).unwrap();
    folder
}

fn study(folder: &Path, name: &str, more: &[&str]) -> std::process::Output {
    let (scenario, out) = (folder.join("pair.toml"), folder.join(name));
    let args = ["study", scenario.to_str().unwrap(), "-o", out.to_str().unwrap()];
    groundwave(&[&args[..], more].concat())
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn study_in_parts_has_the_bytes_of_one_at_once_and_runs_that_run_again() {
    let folder = folder();
    let text = stdout(&study(folder.path(), "whole", &[]));
    assert!(text.contains("3 runs each"), "{text}");
    let runs = read(folder.path(), "whole/runs.csv");
    let rows: Vec<Vec<&str>> = runs.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 7, "{runs}");
    assert_eq!(rows[0][..3], ["run", "node.mast.height_agl_m", "seed"]);
    assert_eq!(rows[6][..3], ["5", "30", "3"]);
    // Seeds and values change the outcome.
    let digests: std::collections::BTreeSet<_> =
        rows[1..].iter().map(|row| row[row.len() - 1]).collect();
    assert_eq!(digests.len(), 6, "{runs}");

    let first = stdout(&study(folder.path(), "parts", &["--shard", "1/2"]));
    assert!(first.contains("3 of 6 runs"), "{first}");
    // As a kill leaves it.
    fs::remove_file(folder.path().join("parts/cells/000002.json")).unwrap();
    stdout(&study(folder.path(), "parts", &["--threads", "1"]));
    for name in ["runs.csv", "summary.csv", "summary.svg", "study.json"] {
        let [whole, parts] =
            ["whole", "parts"].map(|of| read(folder.path(), &format!("{of}/{name}")));
        assert!(whole == parts, "{name}");
    }

    let scenario = folder.path().join("pair.toml");
    let settings = ["--seed", "3", "--set", "node.mast.height_agl_m=30", "--json"];
    let run = groundwave(&[&["run", scenario.to_str().unwrap()], &settings[..]].concat());
    let document: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap();
    assert_eq!(document["digest"], rows[6][rows[6].len() - 1]);
    assert_eq!(document["seed"], 3);
}

#[test]
fn killed_study_goes_on_and_ends_with_the_bytes_of_one_that_was_not() {
    const FINISHED_MIN: usize = 7;
    let folder = folder();
    let vary = ["--vary", "node.mast.height_agl_m=2,5,10,20,40", "--seeds", "20"];
    stdout(&study(folder.path(), "whole", &vary));

    let (scenario, out) = (folder.path().join("pair.toml"), folder.path().join("killed"));
    let args = ["study", scenario.to_str().unwrap(), "-o", out.to_str().unwrap()];
    let mut child = command(&[&args[..], &vary].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let finished = || {
        let files = fs::read_dir(out.join("cells")).into_iter().flatten().flatten();
        files.filter(|file| file.path().extension().is_some_and(|end| end == "json")).count()
    };
    while finished() < FINISHED_MIN && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL: nothing of the process runs any more.
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "killed before its end");
    assert!((FINISHED_MIN..100).contains(&finished()), "{}", finished());
    assert!(!out.join("runs.csv").exists());

    let text = stdout(&study(folder.path(), "killed", &vary));
    assert!(text.contains("20 runs each"), "{text}");
    let rows = read(folder.path(), "killed/runs.csv").lines().count();
    assert_eq!(rows, 101);
    for name in ["runs.csv", "summary.csv", "summary.svg", "study.json"] {
        let [whole, killed] =
            ["whole", "killed"].map(|of| read(folder.path(), &format!("{of}/{name}")));
        assert!(whole == killed, "{name}");
    }
}

#[test]
fn processes_of_one_folder_compute_each_run_once() {
    let folder = folder();
    stdout(&study(folder.path(), "whole", &[]));
    let (scenario, out) = (folder.path().join("pair.toml"), folder.path().join("common"));
    let args = ["study", scenario.to_str().unwrap(), "-o", out.to_str().unwrap(), "--json"];
    let start = || command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let processes = [start(), start()];
    let computed = processes.map(|process| {
        let output = process.wait_with_output().unwrap();
        let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
        document["computed"].as_u64().unwrap()
    });
    assert_eq!(computed.iter().sum::<u64>(), 6, "{computed:?}");
    for name in ["runs.csv", "summary.csv"] {
        let [whole, common] =
            ["whole", "common"].map(|of| read(folder.path(), &format!("{of}/{name}")));
        assert!(whole == common, "{name}");
    }
    let names = fs::read_dir(out.join("cells")).unwrap().flatten().map(|file| file.file_name());
    let leases = names.filter(|name| name.to_string_lossy().contains("lease"));
    assert_eq!(leases.count(), 0);
    // Typed tables beside those of text.
    for name in ["runs.parquet", "summary.parquet"] {
        let [whole, common] =
            ["whole", "common"].map(|of| fs::read(folder.path().join(of).join(name)).unwrap());
        assert!(whole == common && whole.starts_with(b"PAR1"), "{name}");
    }
}

#[test]
fn added_loss_delivers_less_and_the_summary_shows_its_interval() {
    let folder = folder();
    let vary = ["--vary", "environment.other_loss_db=0,40", "--seeds", "5", "--json"];
    let output = study(folder.path(), "out", &vary);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let measure = |combination: usize, name: &str| {
        let measures = document["combinations"][combination]["measures"].as_array().unwrap();
        measures.iter().find(|own| own["name"] == name).unwrap().clone()
    };
    let [usual, lossy] = [0, 1].map(|at| measure(at, "throughput_bps")["mean"].as_f64().unwrap());
    assert!(usual > lossy + 1e6, "{usual} {lossy}");
    let own = measure(0, "throughput_bps");
    let [deviation, half] = ["deviation", "half_width"].map(|key| own[key].as_f64().unwrap());
    // Student's 2.776 for 4 degrees of freedom over the root of 5.
    assert!((half / deviation - 2.776 / 5.0_f64.sqrt()).abs() < 1e-3, "{own}");
    assert_eq!(measure(0, "nodes_operating")["mean"], 2.0);
}

#[test]
fn another_study_and_invalid_values_are_refused_and_change_nothing() {
    let folder = folder();
    stdout(&study(folder.path(), "out", &[]));
    let before = read(folder.path(), "out/runs.csv");
    let error = refusal(&study(folder.path(), "out", &["--seeds", "4"]));
    assert!(error.contains("holds another study"), "{error}");
    assert_eq!(read(folder.path(), "out/runs.csv"), before);
    for (vary, part) in [
        ("node.mats.height_agl_m=1", "found \"mats\", allowed mast, walker"),
        ("node.mast.height_agl_m=-4", "height_agl_m"),
        ("mesh.metrik=ett", "metrik"),
        ("height", "allowed KEY=VALUE"),
    ] {
        let error = refusal(&study(folder.path(), "other", &["--vary", vary]));
        assert!(error.contains(part), "{vary}: {error}");
        let _ = fs::remove_dir_all(folder.path().join("other"));
    }
    let huge = ["--vary", "scenario.step_s=1,2", "--seeds", "100000"];
    let error = refusal(&study(folder.path(), "huge", &huge));
    assert!(error.contains("100000 runs"), "{error}");
}

#[test]
fn failure_at_the_end_is_applied_and_the_end_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("end.toml");
    let failure = "[[failure]]\nnode = 'mast'\nat_s = 20\n";
    fs::write(&path, format!("{SCENARIO}\n{failure}")).unwrap();
    let output = groundwave(&["run", path.to_str().unwrap(), "--json"]);
    let document: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(document["now_ns"], 20_000_000_000_u64);
    let nodes = document["nodes"].as_array().unwrap();
    let mast = nodes.iter().find(|node| node["name"] == "mast").unwrap();
    assert_eq!(mast["operating"], false, "{mast}");
    let text = stdout(&groundwave(&["run", path.to_str().unwrap()]));
    assert!(text.contains("after 20 s (21 ticks"), "{text}");
}

#[test]
fn log_of_other_commands_is_not_continued() {
    let folder = folder();
    let path = folder.path().join("pair.toml");
    let log = folder.path().join("pair.gwlog");
    let args = |more: &[&'static str]| {
        let args = ["record", path.to_str().unwrap(), "-o", log.to_str().unwrap()];
        groundwave(&[&args[..], more].concat())
    };
    stdout(&args(&["--until", "5"]));
    let before = fs::read(&log).unwrap();
    fs::write(&path, SCENARIO.replace("rate_bps = 1e9", "rate_bps = 2e9")).unwrap();
    let error = refusal(&args(&["--continue"]));
    assert!(error.contains("other commands"), "{error}");
    assert!(fs::read(&log).unwrap() == before);
    fs::write(&path, SCENARIO).unwrap();
    stdout(&args(&["--continue"]));
}

#[test]
fn invalid_values_are_refused_before_anything_is_written() {
    let folder = folder();
    for (vary, expected) in [
        ("environment.rain_rate_mm_h=0,900", "rain_rate_mm_h"),
        ("node.mast.height_agl_m=4,,30", "allowed KEY=VALUE,VALUE"),
        ("scenario.seed=1,2", "--seeds N"),
    ] {
        let message = refusal(&study(folder.path(), "out", &["--vary", vary]));
        assert!(message.contains(expected), "{vary}: {message}");
        assert!(!folder.path().join("out").exists(), "{vary}");
    }
    let message = refusal(&study(folder.path(), "pair.toml", &[]));
    assert!(message.contains("pair.toml, allowed a folder"), "{message}");
}

#[test]
fn scenario_from_standard_input_is_that_of_the_file() {
    let folder = folder();
    let out = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut child = command(&["study", "-", "-o", &out("piped")])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), SCENARIO.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    stdout(&study(folder.path(), "file", &[]));
    let [piped, file] =
        ["piped", "file"].map(|name| read(folder.path(), &format!("{name}/runs.csv")));
    assert!(piped == file, "{piped}\n{file}");
}

#[test]
fn study_with_other_terrain_or_other_files_is_another_study() {
    let folder = folder();
    let part = ["--shard", "1/2"];
    assert!(study(folder.path(), "out", &part).status.success());
    let ground = folder.path().join("ground");
    fs::create_dir(&ground).unwrap();
    let text = SCENARIO.replace("    [terrain]\n    flat_msl_m = 0\n", "");
    fs::write(folder.path().join("pair.toml"), &text).unwrap();
    let flat = ["--flat-earth"];
    let tiles = ["--flat-earth", "--srtm-dir", ground.to_str().unwrap()];
    assert!(study(folder.path(), "free", &[&part[..], &flat].concat()).status.success());
    let error = refusal(&study(folder.path(), "free", &tiles));
    assert!(error.contains("holds another study"), "{error}");
    let error = refusal(&study(folder.path(), "out", &flat));
    assert!(error.contains("holds another study"), "{error}");

    // Movements of a file that the scenario names.
    let motion = "[[motion]]
        ns2_file = 'walk.scen'
        origin = { lat_deg = 57.7, lon_deg = 11.9 }
        prefix = 'more-'
        station = { height_agl_m = 1.5, radio = 'wifi_2g4_mesh' }\n    [[flow]]";
    let text = SCENARIO.replacen("[[flow]]", motion, 1);
    fs::write(folder.path().join("pair.toml"), text).unwrap();
    let walk = |speed: u32| {
        let text = format!(
            "$node_(0) set X_ 10.0\n$node_(0) set Y_ 10.0\n\
             $ns_ at 1.0 \"$node_(0) setdest 500.0 10.0 {speed}.0\"\n"
        );
        fs::write(folder.path().join("walk.scen"), text).unwrap();
    };
    walk(3);
    assert!(study(folder.path(), "walks", &part).status.success());
    walk(4);
    let error = refusal(&study(folder.path(), "walks", &[]));
    assert!(error.contains("holds another study"), "{error}");
    walk(3);
    assert!(study(folder.path(), "walks", &[]).status.success());
}
