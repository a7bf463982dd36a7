//! A controller that dies: the network goes on, another takes over.

use std::process::Stdio;

use serde_json::{Value, json};

use super::bed::{Testbed, until};
use super::guest;
use crate::wire::tool;

guest!(
    "testbed::crash":
    a_killed_controller_loses_no_packet,
    a_controller_killed_while_it_starts_is_taken_over,
);

fn a_killed_controller_loses_no_packet() {
    survives("crash", &[]);
}

/// Kills the controller of a testbed that pings cross, and lets another take over.
pub fn survives(name: &'static str, changes: &[(&str, &str)]) {
    let mut changes = changes.to_vec();
    changes.push(("routing = \"babel\"", "routing = \"static\""));
    let testbed = Testbed::up(name, &changes);
    let city = testbed.address("ramberget");
    testbed.await_answers("bohus", &city);
    // Something that only the log remembers.
    testbed.output_of(&["radio", "nolvik", "--tx-power-dbm", "19"]);
    testbed.in_force();
    let before = testbed.status();
    let spaces = tool("ip", "netns list");
    let spaces = spaces.lines().filter_map(|line| line.split(' ').next());
    let spaces: Vec<&str> = spaces.collect();
    let disciplines = || -> Vec<Value> {
        let qdiscs = |space| tool("ip", &format!("netns exec {space} tc -j qdisc show"));
        let all = spaces.iter().map(qdiscs);
        all.map(|qdiscs| serde_json::from_str(&qdiscs).unwrap()).collect()
    };
    let there = disciplines();

    let mut ping = testbed.command("bohus", "ping");
    ping.args(["-c", "2000", "-i", "0.01", "-W", "20", "-n", "-q", &city]);
    let ping = ping.stdout(Stdio::piped()).spawn().unwrap();
    testbed.kill_controller();
    assert_eq!(there, disciplines(), "the last state stays");
    let (good, text) = testbed.outcome(&["up", "scenarios/ridge.toml"]);
    assert!(!good && text.contains("attach"), "{text}");
    testbed.output_of(&["attach", "--detach"]);
    assert_eq!(there, disciplines(), "what agrees is not touched");
    let after = testbed.status();
    // The world goes on from the last second of its log, with a message.
    let second = |status: &Value, key: &str| status[key].as_f64().unwrap();
    let (last, from) = (second(&before, "now_s"), second(&after, "taken_over_s"));
    println!("the world went on from {from} s, having been seen at {last} s");
    // A second that nobody wrote down, and the one it happened in.
    assert!(from >= last - 2.0 && from <= second(&after, "now_s"), "{after}");
    assert_eq!(before.get("taken_over_s"), None);
    assert_eq!((&before["kernel"], &after["kernel"]), (&json!("full"), &json!("full")));
    let text = testbed.output_of(&["status"]);
    assert!(text.contains(&format!("taken over at {from:.1} s")), "{text}");
    let pairs = [("nolvik", "save"), ("save", "ytterby")];
    for (from, to) in pairs {
        let shape = |status: &Value| Testbed::link(status, from, to)["predicted"].clone();
        assert_eq!(shape(&before), shape(&after), "{from} > {to}");
    }
    // And it still follows.
    testbed.output_of(&["cut", "nolvik", "save"]);
    until("a cut takes effect", || {
        let link = Testbed::link(&testbed.status(), "nolvik", "save");
        link["predicted"]["up"] == false && link["observed_generation"] == link["generation"]
    });
    let output = ping.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{text}");
    assert!(text.contains("2000 packets transmitted, 2000 received"), "{text}");

    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display().to_string();
    testbed.output_of(&["down", "--keep-log", &path]);
    assert_eq!(tool("ip", "netns list"), "", "nothing is left");
    let replayed = tool(env!("CARGO_BIN_EXE_groundwave"), &format!("replay {path}"));
    assert!(replayed.contains("its digest equals that of the log"), "{replayed}");
    println!("{replayed}");
}

/// Kills controllers after their first namespaces, in the middle and near the end of their start.
fn a_controller_killed_while_it_starts_is_taken_over() {
    for spaces in [1, 3, 6] {
        let changes = [("routing = \"babel\"", "routing = \"static\"")];
        let testbed = Testbed::killed_while_starting("partial", &changes, spaces);
        // A process that is killed while it creates a namespace leaves an empty file.
        let half = std::path::Path::new("/run/netns/gw.partial.lindholmen");
        if !half.exists() {
            std::fs::write(half, "").unwrap();
        }
        let (good, output) = testbed.outcome(&["attach", "--detach"]);
        assert!(good, "killed after {spaces} namespaces: {output}");
        testbed.in_force();
        let city = testbed.address("ramberget");
        let after_s = testbed.await_answers("bohus", &city);
        println!("killed after {spaces} namespaces, taken over: pings pass after {after_s:.1} s");
    }
}
