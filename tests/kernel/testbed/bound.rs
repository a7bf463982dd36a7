//! Links that are bound to what is there already.

use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::bed::{Testbed, until};
use super::guest;
use crate::wire::{ip, tool};

guest!(an_interface_and_a_daemons_port_follow_their_link);

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

fn an_interface_and_a_daemons_port_follow_their_link() {
    ip(
        "link add lab1 type veth peer name far1\nlink add lab2 type veth peer name far2\n\
        link add lab3 type veth peer name far3\nlink set lab1 up\nlink set lab2 up\n",
    );
    let daemon = Command::new(env!("CARGO_BIN_EXE_groundwave"))
        .args([
            "impaird",
            "--socket",
            SOCKET,
            "--interfaces",
            "lab3",
            "lab2",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _daemon = Daemon(daemon);
    until("the daemon listens", || {
        std::path::Path::new(SOCKET).exists()
    });
    let bind = format!(
        "routing = \"none\"\nbind = [{{ from = \"save\", to = \"nolvik\", interface = \"lab1\" }}, \
         {{ from = \"nolvik\", to = \"save\", daemon = \"{SOCKET}\", port = \"port2\" }}]"
    );
    let testbed = Testbed::up("bound", &[("routing = \"babel\"", &bind)]);
    follows(&testbed, true);
    // Their link gets no wire.
    let there = tool("ip", "netns exec gw.bound.save ip -br link");
    assert!(
        there.contains("to-ytterby") && !there.contains("to-nolvik"),
        "{there}"
    );
    testbed.said(&["radio", "save", "--tx-power-dbm", "17"]);
    follows(&testbed, true);
    testbed.said(&["fail", "save"]);
    follows(&testbed, false);
    let log = tempfile::NamedTempFile::new().unwrap();
    let path = log.path().display().to_string();
    testbed.said(&["down", "--keep-log", &path]);
    ip("link del lab1\nlink del lab2\nlink del lab3\n");
}

/// Both hold what the world says of their direction.
fn follows(testbed: &Testbed, up: bool) {
    until("both are in force", || {
        let status = testbed.status();
        [("save", "nolvik"), ("nolvik", "save")]
            .iter()
            .all(|(from, to)| {
                let link = Testbed::link(&status, from, to);
                assert_eq!(link.get("failure"), None, "{link}");
                link["generation"] == link["observed_generation"]
            })
    });
    let status = testbed.status();
    for (from, to, interface) in [("save", "nolvik", "lab1"), ("nolvik", "save", "lab2")] {
        let predicted = Testbed::link(&status, from, to)["predicted"].clone();
        assert_eq!(predicted["up"], up);
        let shown = tool("tc", &format!("-j qdisc show dev {interface}"));
        let shown: Vec<Value> = serde_json::from_str(&shown).unwrap();
        let of = |kind: &str| {
            shown.iter().find(|qdisc| qdisc["kind"] == kind).unwrap()["options"].clone()
        };
        let rate = of("tbf")["rate"].as_u64().unwrap() * 8;
        assert!(
            rate.abs_diff(predicted["rate_bps"].as_u64().unwrap()) <= 8,
            "{interface}: {shown:?}"
        );
        let loss = of("netem")["loss-random"]["loss"].as_f64().unwrap_or(0.0);
        let wanted = predicted["loss_prob"].as_f64().unwrap();
        assert!(
            (loss - wanted).abs() < 1e-4,
            "{interface}: {loss} for {wanted}"
        );
        println!(
            "{interface} follows {from} > {to}: {rate} bit/s, {:.2} % lost",
            loss * 100.0
        );
    }
}
