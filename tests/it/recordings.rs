//! Recordings: looked at, checked, cut, compared, replayed at a pace, and changed.

use std::path::{Path, PathBuf};

use groundwave_engine::log::{Entry, Journal};
use groundwave_store::journal_file;
use groundwave_store::journal_file::FileJournal;
use serde_json::Value;

use crate::support::{self, groundwave, stdout};

fn scenario(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    folder.join(name).display().to_string()
}

/// A recording of the scenario in which everything that can break breaks.
fn recorded(folder: &Path) -> PathBuf {
    let log = folder.join("run.gwlog");
    let path = log.to_str().unwrap();
    stdout(&groundwave(&["run", &scenario("failover.toml"), "--record", path]));
    log
}

fn json(words: &[&str]) -> Value {
    serde_json::from_str(&stdout(&groundwave(words))).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn sound_log_gives_a_short_summary() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let stat = json(&["log", "stat", text(&log), "--json"]);
    assert_eq!(stat["format"], 3);
    assert_eq!((&stat["closed"], &stat["torn_bytes"]), (&Value::from(true), &Value::from(0)));
    assert_eq!(stat["duration_s"], 120.0);
    assert_eq!(stat["commands"]["node.add"], 5);
    let sound = json(&["log", "verify", text(&log), "--json"]);
    let all: u64 = stat["commands"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!((&sound["commands"], &sound["marks"]), (&Value::from(all), &Value::from(1)));
    let some = stdout(&groundwave(&["log", "cat", text(&log), "--from", "30", "--to", "60"]));
    let ticks: Vec<u64> =
        some.lines().map(|line| line.split_whitespace().next().unwrap().parse().unwrap()).collect();
    assert!(!ticks.is_empty() && ticks.iter().all(|tick| (61..=121).contains(tick)), "{some}");
}

#[test]
fn damage_is_located_and_what_came_before_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let mut bytes = std::fs::read(&log).unwrap();
    let whole = bytes.len();
    bytes[whole / 2] ^= 4;
    let bent = folder.path().join("bent.gwlog");
    std::fs::write(&bent, &bytes).unwrap();
    let refused = support::refusal(&groundwave(&["log", "verify", text(&bent)]));
    assert!(refused.contains("damaged at byte") && refused.contains("are intact"), "{refused}");
    let sound = folder.path().join("sound.gwlog");
    let cut = json(&["log", "cut", text(&bent), "-o", text(&sound), "--json"]);
    assert!(cut["entries"].as_u64() > Some(0) && cut["damage"].is_string(), "{cut}");
    let report = json(&["log", "verify", text(&sound), "--json"]);
    assert_eq!(report["commands"], cut["entries"]);
    json(&["replay", text(&sound), "--json"]);
    // An existing file is never written over.
    let refused = support::refusal(&groundwave(&["log", "cut", text(&log), "-o", text(&sound)]));
    assert!(refused.contains("exists"), "{refused}");
}

#[test]
fn logs_are_compared_entry_by_entry() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let short = folder.path().join("short.gwlog");
    json(&["log", "cut", text(&log), "-o", text(&short), "--to", "60", "--json"]);
    let same = json(&["log", "diff", text(&log), text(&log), "--json"]);
    assert_eq!(same["equal"], true);
    let output = groundwave(&["log", "diff", text(&log), text(&short), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let parted: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(parted["equal"], false);
    // The part ends with a mark of its end.
    assert!(parted["left"]["tick"].as_u64() > Some(120), "{parted}");
    let end = parted["right"]["tick"].as_u64();
    assert_eq!(json(&["replay", text(&short), "--json"])["ticks"].as_u64(), end);
}

#[test]
fn packed_logs_are_logs() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let packed = folder.path().join("run.gwlog.gz");
    let file = std::fs::File::create(&packed).unwrap();
    let mut writer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    std::io::Write::write_all(&mut writer, &std::fs::read(&log).unwrap()).unwrap();
    writer.finish().unwrap();
    let own = json(&["replay", text(&log), "--json"]);
    assert_eq!(json(&["replay", text(&packed), "--json"])["digest"], own["digest"]);
    let entries = |path: &Path| json(&["log", "verify", text(path), "--json"]);
    assert_eq!(entries(&packed), entries(&log));
    let table = folder.path().join("run.csv");
    json(&["convert", text(&packed), text(&table), "--json"]);
    assert!(std::fs::read_to_string(&table).unwrap().starts_with("at_s,from,to"));
}

#[test]
fn a_replay_that_differs_names_the_tick_and_the_thing() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let mut all = journal_file::open(&log).unwrap();
    let other = folder.path().join("other.gwlog");
    let mut out = FileJournal::create(&other, all.header()).unwrap();
    let mut dropped = 0;
    while let Some(entry) = all.next_entry().unwrap() {
        let heals = matches!(&entry, Entry::Command(record) if record.name == "node.restore");
        dropped += u32::from(heals);
        if !heals {
            out.append(&entry).unwrap();
        }
    }
    out.commit().unwrap();
    drop(out);
    assert!(dropped > 0);
    let refused = support::refusal(&groundwave(&["replay", "--check", text(&other)]));
    assert!(refused.contains("tick 241: node south differs"), "{refused}");
    // Without the mark there is nothing to check against.
    let cut = folder.path().join("cut.gwlog");
    json(&["log", "cut", text(&log), "-o", text(&cut), "--to", "60", "--json"]);
    let refused = support::refusal(&groundwave(&["replay", "--check", text(&cut)]));
    assert!(refused.contains("no digest"), "{refused}");
    stdout(&groundwave(&["replay", text(&cut)]));
    stdout(&groundwave(&["replay", "--check", text(&log)]));
}

#[test]
fn a_replay_shows_the_mesh_step_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let words = [
        "replay",
        text(&log),
        "--speed",
        "1000x",
        "--from",
        "10",
        "--to",
        "50",
        "--step",
        "5",
        "--json",
    ];
    let out = stdout(&groundwave(&words));
    let mut lines = serde_json::Deserializer::from_str(&out).into_iter::<Value>();
    let samples: Vec<Value> = lines.by_ref().take(9).map(Result::unwrap).collect();
    let times: Vec<f64> = samples.iter().map(|line| line["at_s"].as_f64().unwrap()).collect();
    assert_eq!(times, [10.0, 15.0, 20.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0]);
    assert_eq!(lines.next().unwrap().unwrap()["ticks"], 101);
    for (option, value) in [("--speed", "fast"), ("--step", "0"), ("--from", "-1")] {
        let words = ["replay", text(&log), &format!("{option}={value}")];
        support::refusal(&groundwave(&words));
    }
}

#[test]
fn a_change_shows_what_it_makes_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let changes = folder.path().join("changes.toml");
    let page = folder.path().join("report.html");
    let remove =
        "[[change]]\nat_s = 5\nremove = \"north\"\n[[change]]\nat_s = 6\nfail = \"south\"\n";
    std::fs::write(&changes, remove).unwrap();
    let words = ["replay", text(&log), "--with", text(&changes), "--report", text(&page), "--json"];
    let fork = json(&words);
    let pair = |key: &str| {
        let pair = fork[key].as_array().unwrap();
        [pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap()]
    };
    let [before, after] = pair("reachable_share");
    assert!(after < before, "{fork}");
    let [before, after] = pair("outage_s");
    assert!(after > before + 60.0, "{fork}");
    assert_eq!(fork["changes"].as_array().unwrap().len(), 2);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.ends_with("</body></html>\n") && html.matches("<svg").count() == 2);
    for outside in ["http://", "https://", "<script", "src="] {
        let is_outside = html.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!is_outside, "{outside} in the page");
    }
    // A mast raised changes nothing that was not asked, and the world of a change without effect
    // is the recorded one.
    let same = "[[change]]\nat_s = 5\nnode = \"north\"\nheight_agl_m = 10\n";
    std::fs::write(&changes, same).unwrap();
    let fork = json(&["replay", text(&log), "--with", text(&changes), "--json"]);
    assert_eq!(
        (&fork["links_changed"], &fork["outage_s"][0]),
        (&Value::from(0), &fork["outage_s"][1])
    );
    std::fs::write(&changes, "[[change]]\nat_s = 5\nfail = \"nobody\"\n").unwrap();
    let refused = support::refusal(&groundwave(&["replay", text(&log), "--with", text(&changes)]));
    assert!(refused.contains("unknown node: found \"nobody\""), "{refused}");
    std::fs::write(&changes, "[[change]]\nat_s = 500\nfail = \"north\"\n").unwrap();
    let refused = support::refusal(&groundwave(&["replay", text(&log), "--with", text(&changes)]));
    assert!(refused.contains("later than the end"), "{refused}");
}

/// Tracks of so many walkers, half a minute each.
fn walkers(count: usize) -> String {
    let walker = |number: usize| {
        let point = |second: usize| {
            let lat_deg = 57.7 + number as f64 * 1e-3 + second as f64 * 1e-5;
            format!(
                "<trkpt lat=\"{lat_deg:.5}\" lon=\"11.9\"><ele>120</ele><time>2024-05-01T10:00:{second:02}Z</time></trkpt>"
            )
        };
        format!("<trk><name>w{number}</name><trkseg>{}{}</trkseg></trk>", point(0), point(30))
    };
    format!("<gpx>{}</gpx>", (0..count).map(walker).collect::<String>())
}

#[test]
fn date_limits_and_hint_go_from_tracks_to_scenario_and_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (many, log) = (file("many.gpx"), file("many.gwlog"));
    std::fs::write(&many, walkers(20)).unwrap();
    let convert = |to: &Path, more: &[&str]| {
        let words = [&["convert", text(&many), text(to), "--force"], more].concat();
        let output = groundwave(&words);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(convert(&log, &[]).contains("20 nodes move: with --update-distance 10"));
    let limits = ["--update-distance", "10", "--range", "5000", "--probe", "dsss_1"];
    assert!(!convert(&log, &limits).contains("nodes move"));
    let cat = stdout(&groundwave(&["log", "cat", text(&log), "--to", "1", "--json"]));
    for part in ["5000", "update_distance_m", "dsss_1"] {
        assert!(cat.contains(part), "{part}: {cat}");
    }
    assert_eq!(
        json(&["log", "stat", text(&log), "--json"])["inputs"]["begin_unix_s"],
        "1714557600"
    );

    let toml = file("many.toml");
    convert(&toml, &limits);
    let scenario = std::fs::read_to_string(&toml).unwrap();
    for part in ["begin = \"2024-05-01T10:00:00Z\"", "update_distance_m = 10", "height_msl_m = 120"]
    {
        assert!(scenario.contains(part), "{part}: {scenario}");
    }
    let run = file("run.gwlog");
    let output = groundwave(&["run", text(&toml), "--record", text(&run)]);
    let warnings = String::from_utf8(output.stderr).unwrap();
    assert!(warnings.contains("where the ground is unknown"), "{warnings}");
    assert!(!warnings.contains("nodes move"), "{warnings}");
    assert_eq!(
        json(&["log", "stat", text(&run), "--json"])["inputs"]["begin_unix_s"],
        "1714557600"
    );
    // The hint comes with the check already.
    convert(&toml, &[]);
    let checked = groundwave(&["validate", text(&toml)]);
    assert!(String::from_utf8_lossy(&checked.stderr).contains("update_distance_m = 10"));

    std::fs::write(&toml, scenario.replace("2024-05-01T10:00:00Z", "noon")).unwrap();
    let refused = support::refusal(&groundwave(&["validate", text(&toml)]));
    assert!(refused.contains("begin") && refused.contains("RFC 3339"), "{refused}");
    for words in [["--range", "0"], ["--update-distance", "-1"], ["--probe", "1Mbps"]] {
        let output =
            groundwave(&[&["convert", text(&many), text(&log), "--force"], &words[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}

#[test]
fn recorded_link_qualities_stand_beside_probes_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (table, plan, log) = (file("links.txt"), file("plan.csv"), file("links.gwlog"));
    let links = "Table: Links\nLocal IP\tRemote IP\tHyst.\tLQ\tNLQ\tCost\n10.0.0.1\t10.0.0.2\t0.0\t0.9\t0.8\t1.4\n";
    std::fs::write(&table, links).unwrap();
    std::fs::write(&plan, "name,lat,lon\n10.0.0.1,57.70,11.90\n10.0.0.2,57.71,11.90\n").unwrap();
    let words = ["convert", text(&table), text(&log), "--places", text(&plan)];
    stdout(&groundwave(&words));
    let replayed = json(&["replay", text(&log), "--probe", "ofdm_6", "--json"]);
    let delivery = &replayed["comparison"]["delivery"];
    assert_eq!(delivery["directions"], 2, "{replayed}");
    assert!((delivery["measured_percent"].as_f64().unwrap() - 85.0).abs() < 0.1, "{delivery}");
    let model = delivery["model_percent"].as_f64().unwrap();
    assert!((0.0..=100.0).contains(&model), "{delivery}");
    let table = stdout(&groundwave(&["replay", text(&log), "--probe", "ofdm_6"]));
    assert!(table.contains("by the model %"), "{table}");
    let without = json(&["replay", text(&log), "--measured", "--json"]);
    assert!(without["comparison"]["delivery"].is_null(), "{without}");
    let page = file("page.html");
    groundwave(&["replay", text(&log), "--probe", "ofdm_6", "--report", text(&page)]);
    assert!(std::fs::read_to_string(&page).unwrap().contains("by the model %"));
}

#[test]
fn report_has_links_that_were_never_up() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let (path, log, page) = (file("far.toml"), file("far.gwlog"), file("far.html"));
    let node = |name: &str, lat_deg: f64| {
        format!(
            "[[node]]\nname = \"{name}\"\nlat_deg = {lat_deg}\nlon_deg = 11.9\nheight_agl_m = 2\nradio = \"wifi_2g4_mesh\"\n"
        )
    };
    let head = "[scenario]\ntitle = \"far\"\nduration_s = 3\n[terrain]\nflat_msl_m = 0\n";
    std::fs::write(
        &path,
        head.to_owned() + &node("a", 57.7) + &node("b", 57.701) + &node("c", 57.74),
    )
    .unwrap();
    let run = stdout(&groundwave(&["run", text(&path), "--record", text(&log)]));
    stdout(&groundwave(&["replay", text(&log), "--report", text(&page)]));
    let page = std::fs::read_to_string(&page).unwrap();
    // Run and report have the same interval beside the same link.
    let (_, rows) = run.split_once("90 % dBm").expect("a column");
    let (_, interval) = rows.split_once(" %").expect("a probability");
    let interval = interval.lines().next().expect("an interval").trim();
    assert!(interval.contains(" to -"), "{run}");
    assert!(run.contains("rests on: surroundings unknown"), "{run}");
    assert!(run.lines().all(|line| line.chars().count() <= 100), "{run}");
    assert!(page.contains("90 % of links like this") && page.contains(interval), "{interval}");
    assert!(page.contains("rests on") && page.contains("surroundings unknown"));
    let (_, never) = page.split_once("Links that were never up").expect("a section of its own");
    assert!(never.contains("a – c") || never.contains(">c<"), "{never}");
}
