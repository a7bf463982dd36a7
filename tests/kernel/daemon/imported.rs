//! Rules of `tc` as a request of the daemon: from the kernel and from a listing, and in force as that request.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Daemon, PROGRAM};
use crate::bed::{Bed, arms};
use crate::wire::{NEAR, tool};

arms! {
    DAEMON,
    rules_of_tc_are_an_equal_request: vm;
}

/// Document of `impair import`, with a listing on standard input.
fn import(words: &[&str], listing: Option<&str>) -> Value {
    let mut child = Command::new(PROGRAM)
        .args(["impair", "import", "--json"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(listing.unwrap_or_default().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{words:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Sets rules by `tc`; the document, the same from the kernel and from a listing.
fn imported(rules: &[&str]) -> Value {
    for rule in rules {
        tool("tc", &format!("qdisc add dev {NEAR} {rule}"));
    }
    let of_kernel = import(&[NEAR], None);
    let listing = tool("tc", &format!("-j qdisc show dev {NEAR}"));
    let of_listing = import(&["--tc", "-"], Some(&listing));
    assert_eq!(of_listing["omissions"], of_kernel["omissions"], "{listing}");
    // `tc` prints six digits of a share and whole microseconds of a queue.
    assert_eq!(of_listing["impairment"], of_kernel["impairment"], "{listing}");
    tool("tc", &format!("qdisc del dev {NEAR} root"));
    of_kernel
}

fn rules_of_tc_are_an_equal_request(_: &mut Bed) {
    let all = imported(&[
        "root handle 1: netem limit 5000 delay 50ms loss random 1% duplicate 0.5% reorder 25% 50% gap 5 corrupt 0.1%",
        "parent 1:1 handle 10: tbf rate 8mbit burst 20000 latency 100ms",
        "parent 10:1 handle 20: pfifo limit 500",
    ]);
    assert_eq!(all["omissions"], json!([]));
    let request = all["impairment"].clone();
    assert_eq!(request["latency"], json!({"kind": "constant", "duration": 50_000_000}));
    assert_eq!(request["reordering"], json!({"pct": 25.0, "gap": 5, "correlation": 0.5}));
    assert_eq!(request["queue"], json!({"limit": {"unit": "packets", "value": 500}}));
    assert_eq!(request["rate"]["bps"], 8_000_000);
    let loss = imported(&[
        "root handle 1: tbf rate 1mbit burst 5000 latency 400ms",
        "parent 1:1 handle 2: netem delay 20ms 5ms loss gemodel 1% 25% 100% 0% limit 50 rate 10mbit",
    ]);
    let model = json!({"model": "gilbert-elliott", "p": 0.01, "r": 0.25, "one_minus_h": 0.0, "one_minus_k": 1.0});
    assert_eq!(loss["impairment"]["loss"], model);
    let omissions = loss["omissions"].to_string();
    for words in ["the order of both", "beside that of tbf", "distribution", "limit of 50 packets"]
    {
        assert!(omissions.contains(words), "{words}: {omissions}");
    }
    assert_eq!(imported(&["root handle 3: htb"])["impairment"], json!({}));
    // The daemon has it in force as it was.
    let mut daemon = Daemon::start(&[]);
    daemon.set("port1", &request);
    let in_force = import(&[NEAR], None);
    assert_eq!(in_force["impairment"], request);
    daemon.stop();
}
