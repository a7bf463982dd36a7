//! kill -9 at random moments: what was acknowledged is there, and the log opens.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use groundwave_engine::log::Entry;
use groundwave_engine::{Seed, Store};
use groundwave_store::RedbStore;
use groundwave_store::journal_file;

use crate::support;

/// A scenario whose every tick adds a node and moves another, for long enough to be killed in.
fn busy_scenario() -> String {
    let mut text = String::from(
        "[scenario]\ntitle = \"busy\"\nstep_s = 1.0\nduration_s = 4000\n[terrain]\nflat_msl_m = 0\n\
         [mesh]\nlink_range_max_m = 300\n",
    );
    let node = |i: u32, text: &mut String| {
        let lat_deg = 57.0 + f64::from(i) * 0.002;
        *text += &format!(
            "[[command]]\nat_s = {i}\ncommand = \"node.add\"\nnode = \"n{i}\"\nname = \"n{i}\"\n\
             role = \"relay\"\nposition = {{ lat_deg = {lat_deg:.4}, lon_deg = 11.0 }}\n\
             station = {{ height_agl_m = 5, radio = {{ frequency_mhz = 5580.0, bandwidth_hz = 20e6, \
             tx_power_dbm = 20, noise_figure_db = 6, waveform = {{ kind = \"ofdm\" }} }}, antenna = \
             {{ gain_dbi = 5, azimuth_beamwidth_deg = 360, elevation_beamwidth_deg = 30, \
             front_to_back_db = 20, polarization = \"vertical\" }} }}\n"
        );
    };
    for i in 0..3000 {
        node(i, &mut text);
        if i > 0 {
            text += &format!(
                "[[command]]\nat_s = {i}\ncommand = \"node.move\"\nnode = \"n{}\"\n\
                 position = {{ lat_deg = 56.0, lon_deg = 11.5 }}\n",
                i - 1
            );
        }
    }
    text
}

#[test]
fn twenty_kills_lose_no_acknowledged_command() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("busy.toml");
    std::fs::write(&scenario, busy_scenario()).unwrap();
    let mut chance = Seed(20).stream("kill", 0, 0);
    let mut killed_while_running = 0;
    for round in 0..20 {
        let log = folder.path().join(format!("{round}.gwlog"));
        let store = folder.path().join(format!("{round}.redb"));
        let arguments = [
            "run",
            scenario.to_str().unwrap(),
            "--events",
            "--record",
            log.to_str().unwrap(),
            "--store",
            store.to_str().unwrap(),
        ];
        let mut child = support::command(&arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // Some acknowledgements first, so that the kill falls into work and not into start-up.
        let enough = (chance.bits() % 40) as usize;
        let mut acknowledged: Vec<String> =
            lines.by_ref().take(1 + enough).map(Result::unwrap).collect();
        std::thread::sleep(Duration::from_micros(chance.bits() % 3000));
        child.kill().unwrap();
        if !child.wait().unwrap().success() {
            killed_while_running += 1;
        }
        acknowledged.extend(lines.map_while(Result::ok));
        check(round, &acknowledged, &log, &store);
    }
    assert!(killed_while_running >= 15, "only {killed_while_running} kills fell into the run");
}

/// Compares the output of the process with the content of the disk.
fn check(round: usize, acknowledged: &[String], log: &std::path::Path, store: &std::path::Path) {
    let mut last_tick = 0;
    let mut commands = 0;
    for line in acknowledged {
        // The last line may be cut; a whole one is a promise.
        let Ok(line) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let (Some(tick), Some(count)) = (line["tick"].as_u64(), line["commands"].as_u64()) else {
            continue;
        };
        last_tick = last_tick.max(tick);
        commands += count;
    }
    assert!(commands > 0, "round {round} acknowledged nothing");
    let mut reader = journal_file::open(log).unwrap();
    let (mut logged, mut added) = (0, 0);
    while let Some(entry) = reader.next_entry().unwrap() {
        if let Entry::Command(record) = entry
            && record.tick <= last_tick
        {
            logged += 1;
            added += u64::from(record.name == "node.add");
        }
    }
    assert_eq!(logged, commands, "round {round}: commands in the log up to tick {last_tick}");
    let mut opened = RedbStore::open(store).unwrap();
    let rows = opened.load().unwrap().len() as u64;
    assert!(rows >= added, "round {round}: {rows} nodes in the store, {added} acknowledged");
    assert!(opened.last_tick().unwrap() >= last_tick, "round {round}");
    drop(opened);
    // The log can be continued where it broke off, and replayed.
    let (_, _, torn_bytes) = journal_file::FileJournal::append_to(log).unwrap();
    let replayed = support::groundwave(&["replay", log.to_str().unwrap(), "--json"]);
    let replayed: serde_json::Value = serde_json::from_str(&support::stdout(&replayed)).unwrap();
    assert!(replayed["commands"].as_u64().unwrap() >= commands, "torn {torn_bytes}");
}

#[test]
fn sigterm_ends_the_tick_and_the_log_well() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = folder.path().join("busy.toml");
    std::fs::write(&scenario, busy_scenario()).unwrap();
    let log = folder.path().join("run.gwlog");
    let arguments = [
        "run",
        scenario.to_str().unwrap(),
        "--realtime",
        "--events",
        "--record",
        log.to_str().unwrap(),
    ];
    let mut child = support::command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rest.iter().any(|line| line.contains("stopped before its end")), "{rest:?}");
    let output = support::groundwave(&["replay", log.to_str().unwrap()]);
    assert!(support::stdout(&output).contains("its digest equals that of the log"));
}

#[test]
fn an_interrupted_conversion_leaves_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let fix = |time: &str, lat: f64| {
        format!("<trkpt lat=\"{lat}\" lon=\"11.9\"><time>2026-05-01T{time}Z</time></trkpt>")
    };
    let fixes = fix("00:00:00", 57.7) + &fix("23:00:00", 57.9);
    let gpx = format!("<gpx version=\"1.1\"><trk><trkseg>{fixes}</trkseg></trk></gpx>");
    std::fs::write(at("walk.gpx"), gpx).unwrap();
    std::fs::write(at("walk.gwlog"), "of before").unwrap();
    let [from, to] = ["walk.gpx", "walk.gwlog"].map(|name| at(name).to_str().unwrap().to_owned());
    let arguments = ["convert", &from, &to, "--force", "--flat-earth"];
    let mut child = support::command(&arguments).stderr(Stdio::null()).spawn().unwrap();
    while !at("walk.gwlog.part").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it is converting");
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    let signal = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(signal.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!at("walk.gwlog.part").exists());
    assert_eq!(std::fs::read_to_string(&to).unwrap(), "of before");
}
