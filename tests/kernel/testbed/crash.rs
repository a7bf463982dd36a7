//! A controller that dies: the network goes on, another takes over.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::bed::{Testbed, until};
use super::guest;
use crate::wire::tool;

guest!(a_killed_controller_loses_no_packet);

fn a_killed_controller_loses_no_packet() {
    let testbed = Testbed::up("crash", &[("routing = \"babel\"", "routing = \"static\"")]);
    let city = testbed.address("ramberget");
    testbed.await_answers("bohus", &city);
    // Something that only the log remembers.
    testbed.said(&["radio", "nolvik", "--tx-power-dbm", "19"]);
    until("everything is in force", || {
        let status = testbed.status();
        let mut links = status["links"].as_array().unwrap().iter();
        links.all(|link| link["generation"] == link["observed_generation"])
    });
    let before = testbed.status();
    let disciplines = || -> Vec<Value> {
        let nodes = [
            "bohus",
            "ytterby",
            "save",
            "nolvik",
            "ramberget",
            "lindholmen",
        ];
        let shown = |node| {
            tool(
                "ip",
                &format!("netns exec gw.crash.{node} tc -j qdisc show"),
            )
        };
        nodes
            .map(|node| serde_json::from_str(&shown(node)).unwrap())
            .to_vec()
    };
    let there = disciplines();

    let mut ping = testbed.command("bohus", "ping");
    ping.args(["-c", "2000", "-i", "0.01", "-W", "20", "-n", "-q", &city]);
    let ping = ping.stdout(Stdio::piped()).spawn().unwrap();
    kill(Pid::from_raw(testbed.controller()), Signal::SIGKILL).unwrap();
    until("the controller is dead", || {
        !testbed
            .outcome(&["status", "--json"])
            .1
            .contains("\"tick\"")
    });
    assert_eq!(there, disciplines(), "the last state stays");
    let (good, said) = testbed.outcome(&["up", "scenarios/ridge.toml"]);
    assert!(!good && said.contains("attach"), "{said}");
    testbed.said(&["attach", "--detach"]);
    assert_eq!(there, disciplines(), "what agrees is not touched");
    let after = testbed.status();
    let pairs = [("nolvik", "save"), ("save", "ytterby")];
    for (from, to) in pairs {
        let shape = |status: &Value| Testbed::link(status, from, to)["predicted"].clone();
        assert_eq!(shape(&before), shape(&after), "{from} > {to}");
    }
    // And it still follows.
    testbed.said(&["cut", "nolvik", "save"]);
    until("a cut takes effect", || {
        let link = Testbed::link(&testbed.status(), "nolvik", "save");
        link["predicted"]["up"] == false && link["observed_generation"] == link["generation"]
    });
    let output = ping.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    println!("{said}");
    assert!(
        said.contains("2000 packets transmitted, 2000 received"),
        "{said}"
    );

    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display().to_string();
    testbed.said(&["down", "--keep-log", &path]);
    assert_eq!(tool("ip", "netns list"), "", "nothing is left");
    let replayed = tool(env!("CARGO_BIN_EXE_groundwave"), &format!("replay {path}"));
    assert!(replayed.contains("its digest is the log's"), "{replayed}");
    println!("{replayed}");
}
