//! A recording played with routing programs in its nodes, and their routes beside those of the engine.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::bed::{Testbed, until};
use super::guest;

guest!("testbed::recording": programs_take_part_in_a_recording);

/// The program; it must succeed.
fn groundwave(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_groundwave")).args(words).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Time of the failure in the recording, s.
const FAILURE_S: f64 = 200.0;

/// Time at which the relay in the south begins to work, s. No frames are lost over either relay, so that a
/// program which may choose between them keeps the first one.
const SOUTH_S: f64 = 90.0;

/// The shipped failover as a log: the relay in the south comes late, that in the north fails for good.
fn recorded(folder: &Path) -> PathBuf {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/failover.toml");
    let shipped = std::fs::read_to_string(shipped).unwrap();
    let (setup, _) = shipped.split_once("[[failure]]").unwrap();
    let scenario = folder.join("failover.toml");
    let setup = setup.replace("duration_s = 120", "duration_s = 300").replace("\"ett\"", "\"etx\"");
    let failures = format!(
        "[[failure]]\nnode = \"south\"\nat_s = 0\nuntil_s = {SOUTH_S}\n\
         [[failure]]\nnode = \"north\"\nat_s = {FAILURE_S}\n"
    );
    std::fs::write(&scenario, format!("{setup}\n{failures}")).unwrap();
    let log = folder.join("failover.gwlog");
    groundwave(&["record", text(&scenario), "-o", text(&log)]);
    log
}

fn programs_take_part_in_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let log = recorded(folder.path());
    let testbed = Testbed::of_file("played", log.clone());
    testbed.output_of(&["up", text(&log), "--routing", "babel", "--detach"]);
    let hop = |status: &Value| {
        let mut nodes = status["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|node| node["name"] == "west").unwrap();
        [&node["next_hops"]["east"], &node["heard"]["east"]["next_hop"]].map(Value::clone)
    };
    until("babeld has the route over the north", || hop(&testbed.status()) == ["north", "north"]);
    let status = testbed.status();
    assert!(status["nodes"].as_array().unwrap().iter().all(|node| node["routing"] == "babel"));
    // The recording goes on: its relay fails, and the program finds the other way.
    until("babeld has the route over the south", || {
        let status = testbed.status();
        status["now_s"].as_f64().unwrap() > FAILURE_S && hop(&status) == ["south", "south"]
    });
    // A controller that was killed goes on with the recording.
    testbed.kill_controller();
    testbed.output_of(&["attach", "--detach"]);
    let played = folder.path().join("played.gwlog");
    std::fs::copy("/run/groundwave/played/world.gwlog", &played).unwrap();
    let table = folder.path().join("routes.csv");
    let compared =
        groundwave(&["--json", "testbed", "compare", text(&played), "--output", text(&table)]);
    let compared: Value = serde_json::from_str(&compared).unwrap();
    println!("{compared}");
    let total = &compared["total"];
    assert!(total["compared"].as_u64() > Some(0), "{compared}");
    assert!(total["same"].as_u64() <= total["compared"].as_u64(), "{compared}");
    assert!(total["same_share"].as_f64() > Some(0.5), "{compared}");
    let table = std::fs::read_to_string(table).unwrap();
    let rows = |end: &str| table.lines().filter(|line| line.ends_with(end)).count();
    assert!(rows(",west,east,north,north,true") > 0, "{table}");
    assert!(rows(",west,east,south,south,true") > 0, "{table}");
}
