//! Links that are bound to what is there already.

use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::bed::{Testbed, until};
use super::guest;
use crate::wire::{ip, tool};

guest!(
    "testbed::bound":
    an_interface_and_a_daemons_port_follow_their_link,
    obstacles_that_go_and_daemons_that_return_are_noticed,
);

/// An impairment daemon that ends with this.
pub struct Daemon(pub Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SOCKET: &str = "/run/bound.sock";

/// Creates the interfaces of a machine.
fn lay() {
    ip("link add lab1 type veth peer name far1\nlink add lab2 type veth peer name far2\n\
        link add lab3 type veth peer name far3\nlink set lab1 up\nlink set lab2 up\n");
}

/// A daemon of `lab3` and `lab2` that listens.
fn launch() -> Daemon {
    let daemon = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .args(["impaird", "--socket", SOCKET, "--interfaces", "lab3", "lab2"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("the daemon listens", || std::os::unix::net::UnixStream::connect(SOCKET).is_ok());
    Daemon(daemon)
}

/// The binding of a link to an interface and to a port of the daemon.
fn bind() -> String {
    format!(
        "routing = \"none\"\nbind = [{{ from = \"save\", to = \"nolvik\", interface = \"lab1\" }}, \
         {{ from = \"nolvik\", to = \"save\", daemon = \"{SOCKET}\", port = \"port2\" }}]"
    )
}

/// Another program has the root of a bound interface until later, and the daemon of a bound port is killed.
fn obstacles_that_go_and_daemons_that_return_are_noticed() {
    lay();
    tool("tc", "qdisc add dev lab1 root handle 7: pfifo limit 9");
    let daemon = launch();
    let testbed = Testbed::up("returned", &[("routing = \"babel\"", &bind())]);
    let link = |from: &str, to: &str| Testbed::link(&testbed.status(), from, to);
    let failure =
        |from: &str, to: &str| link(from, to)["failure"].as_str().unwrap_or_default().to_owned();
    until("the obstacle is reported", || failure("save", "nolvik").contains("pfifo"));
    println!("obstacle: {}", failure("save", "nolvik"));
    let blocked = link("save", "nolvik");
    assert!(blocked["failed_since"].is_string(), "{blocked}");
    assert_eq!(blocked["reading"]["values"].get("rate_bps"), None, "{blocked}");
    let foreign = tool("tc", "qdisc show dev lab1");
    assert!(foreign.contains("pfifo 7: root"), "it is left: {foreign}");
    tool("tc", "qdisc del dev lab1 root");
    until("the interface is shaped", || failure("save", "nolvik").is_empty());
    follows(&testbed, true);
    assert_eq!(link("save", "nolvik").get("failed_since"), None);
    // The daemon is away while the link changes.
    drop(daemon);
    testbed.output_of(&["radio", "nolvik", "--tx-power-dbm", "17"]);
    until("the absence is reported", || failure("nolvik", "save").contains(SOCKET));
    let daemon = launch();
    until("the port of the new daemon is shaped", || failure("nolvik", "save").is_empty());
    follows(&testbed, true);
    until("the port is read", || {
        let (read, predicted) = {
            let link = link("nolvik", "save");
            (link["reading"]["values"]["rate_bps"].as_u64(), link["predicted"]["rate_bps"].as_u64())
        };
        read.unwrap_or_default().abs_diff(predicted.unwrap()) <= 8
    });
    // A daemon that is gone for good keeps its port, and is forgotten on request alone.
    drop(daemon);
    let (is_done, text) = testbed.outcome(&["down"]);
    assert!(!is_done && text.contains("port2 of") && text.contains("--forget-ports"), "{text}");
    let (is_done, text) = testbed.outcome(&["down"]);
    assert!(!is_done && text.contains("port2 of"), "{text}");
    let (is_done, text) = testbed.outcome(&["down", "--forget-ports"]);
    assert!(is_done && text.contains("left as they are"), "{text}");
    let text = testbed.output_of(&["down"]);
    assert!(text.contains("no testbed"), "{text}");
    ip("link del lab1\nlink del lab2\nlink del lab3\n");
}

fn an_interface_and_a_daemons_port_follow_their_link() {
    lay();
    let _daemon = launch();
    // Both have a state of the daemon before the testbed.
    tool("tc", "qdisc add dev lab1 root handle 6757: netem limit 1000 delay 3ms");
    let set = impair(&["set", "port2", "--delay", "7ms", "--loss", "2%"]);
    assert!(set.contains("7ms"), "{set}");
    let bind = bind();
    let testbed = Testbed::up("bound", &[("routing = \"babel\"", &bind)]);
    follows(&testbed, true);
    // Their link gets no wire.
    let there = tool("ip", "netns exec gw.bound.save ip -br link");
    assert!(there.contains("to-ytterby") && !there.contains("to-nolvik"), "{there}");
    // The others are measured.
    let (is_done, text) = testbed.outcome(&["report", "--ping", "--count", "2"]);
    assert!(
        !is_done && text.contains("not measured: ") && text.contains("save > nolvik: "),
        "{text}"
    );
    let status = testbed.status();
    let measured =
        status["links"].as_array().unwrap().iter().filter(|link| link["measured"].is_object());
    assert!(measured.count() >= 4, "{status}");
    testbed.output_of(&["radio", "save", "--tx-power-dbm", "17"]);
    follows(&testbed, true);
    // Another program deletes what the interface has, and another client changes the daemon's port.
    tool("tc", "qdisc del dev lab1 root");
    until("the interface is repaired", || {
        let link = Testbed::link(&testbed.status(), "save", "nolvik");
        link["repaired"]["repairs_total"] == 1
    });
    follows(&testbed, true);
    impair(&["set", "port2", "--delay", "1ms"]);
    until("the daemon's port is repaired", || {
        let link = Testbed::link(&testbed.status(), "nolvik", "save");
        link["repaired"]["repairs_total"] == 1
    });
    follows(&testbed, true);
    // A lease of another client lies over the shape: reported until it ends, and no repair.
    impair(&["set", "port2", "--keep", "--loss", "99%", "--for", "60s", "--detach"]);
    let link = || Testbed::link(&testbed.status(), "nolvik", "save");
    let failure = || link()["failure"].as_str().unwrap_or_default().to_owned();
    until("the lease is reported", || failure().contains("by lease 1 of another client"));
    impair(&["leases", "cancel", "1"]);
    until("the end of the lease is noticed", || failure().is_empty());
    assert_eq!(link()["repaired"]["repairs_total"], 1, "{}", link());
    follows(&testbed, true);
    testbed.output_of(&["fail", "save"]);
    follows(&testbed, false);
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display().to_string();
    testbed.output_of(&["down", "--keep-log", &path]);
    restored();
    // Also after a controller that was killed while nothing passed.
    let testbed = Testbed::up("bound", &[("routing = \"babel\"", &bind)]);
    follows(&testbed, true);
    testbed.output_of(&["fail", "save"]);
    follows(&testbed, false);
    kill(Pid::from_raw(testbed.controller()), Signal::SIGKILL).unwrap();
    testbed.output_of(&["down"]);
    restored();
    ip("link del lab1\nlink del lab2\nlink del lab3\n");
}

/// Output of the client of the daemon, which must succeed.
fn impair(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .args(["impair", "--socket", SOCKET])
        .args(words)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "impair {words:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Both ports are as before the testbed.
fn restored() {
    let qdiscs = tool("tc", "-j qdisc show dev lab1");
    let qdiscs: Vec<Value> = serde_json::from_str(&qdiscs).unwrap();
    assert_eq!(qdiscs.len(), 1, "{qdiscs:?}");
    assert_eq!(qdiscs[0]["options"]["delay"]["delay"], 0.003, "{qdiscs:?}");
    let port: Value = serde_json::from_str(&impair(&["show", "port2", "--json"])).unwrap();
    let before = serde_json::json!({
        "latency": { "kind": "constant", "duration": 7_000_000 },
        "loss": { "model": "bernoulli", "pct": 2.0 },
    });
    assert_eq!(port["impairment"], before, "{port}");
}

/// Both hold what the world has for their direction.
fn follows(testbed: &Testbed, up: bool) {
    until("both are in force", || {
        let status = testbed.status();
        [("save", "nolvik"), ("nolvik", "save")].iter().all(|(from, to)| {
            let link = Testbed::link(&status, from, to);
            assert_eq!(link.get("failure"), None, "{link}");
            link["generation"] == link["observed_generation"]
        })
    });
    let status = testbed.status();
    for (from, to, interface) in [("save", "nolvik", "lab1"), ("nolvik", "save", "lab2")] {
        let predicted = Testbed::link(&status, from, to)["predicted"].clone();
        assert_eq!(predicted["up"], up);
        let qdiscs = tool("tc", &format!("-j qdisc show dev {interface}"));
        let qdiscs: Vec<Value> = serde_json::from_str(&qdiscs).unwrap();
        let of = |kind: &str| {
            qdiscs.iter().find(|qdisc| qdisc["kind"] == kind).unwrap()["options"].clone()
        };
        let rate = of("tbf")["rate"].as_u64().unwrap() * 8;
        assert!(
            rate.abs_diff(predicted["rate_bps"].as_u64().unwrap()) <= 8,
            "{interface}: {qdiscs:?}"
        );
        let loss = of("netem")["loss-random"]["loss"].as_f64().unwrap_or(0.0);
        let expected = predicted["loss_prob"].as_f64().unwrap();
        assert!((loss - expected).abs() < 1e-4, "{interface}: {loss} for {expected}");
        println!("{interface} follows {from} > {to}: {rate} bit/s, {:.2} % lost", loss * 100.0);
    }
}
