//! Leases: changes that end by themselves, whatever becomes of who asked for them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use groundwave_impair::Extensions;
use groundwave_kernel::Fake;
use groundwave_needs::needs;
use serde_json::{Value, json};

use super::{Bench, INTERFACES};
use crate::support::{command, refusal, stdout};

fn start(socket: &Path, args: &[&str]) -> Child {
    let mut client = command(&["impair", "--socket"]);
    client.arg(socket).args(args).stdout(Stdio::null());
    client.stderr(Stdio::null()).spawn().unwrap()
}

fn output_of(socket: &Path, args: &[&str]) -> String {
    stdout(&command(&["impair", "--socket"]).arg(socket).args(args).output().unwrap())
}

fn signal(child: &Child, signal: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([signal, &pid]).status();
    assert!(sent.unwrap().success());
}

fn state(bench: &Bench, direction: &str) -> Value {
    bench.call("GET", &format!("/v1/impairments/{direction}"), &Value::Null).json()
}

fn impairment(bench: &Bench, direction: &str) -> Value {
    state(bench, direction)["impairment"].clone()
}

fn loss(pct: f64) -> Value {
    json!({ "model": "bernoulli", "pct": pct })
}

fn leases(bench: &Bench) -> Vec<Value> {
    let answer = bench.call("GET", "/v1/leases", &Value::Null);
    assert_eq!(answer.status, 200);
    answer.json().as_array().unwrap().clone()
}

/// Waits until `is_so` holds.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} does not come about");
}

/// A lease over HTTP; its number.
fn begin(bench: &Bench, duration_ms: u64, changes: &Value) -> u64 {
    let body = json!({ "duration": duration_ms * 1_000_000, "changes": changes });
    let answer = bench.call("POST", "/v1/leases", &body);
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["id"].as_u64().unwrap()
}

fn cancel(bench: &Bench, id: u64) {
    let answer = bench.call("DELETE", &format!("/v1/leases/{id}"), &Value::Null);
    assert_eq!(answer.status, 200, "{}", answer.json());
}

#[test]
fn overlapping_runs_leave_what_was_before_the_first() {
    let bench = Bench::new();
    let socket = bench.listen();
    output_of(&socket, &["set", "port1", "--loss", "1%"]);
    let mut first = start(&socket, &["set", "port1", "--loss", "100%", "--for", "2s"]);
    until("the first lease", || impairment(&bench, "port1")["loss"] == loss(100.0));
    let mut second = start(&socket, &["set", "port1", "--loss", "50%", "--for", "4s"]);
    until("the second lease", || impairment(&bench, "port1")["loss"] == loss(50.0));
    assert!(first.wait().unwrap().success());
    assert_eq!(impairment(&bench, "port1")["loss"], loss(50.0), "the second goes on");
    assert!(second.wait().unwrap().success());
    assert_eq!(impairment(&bench, "port1"), json!({ "loss": loss(1.0) }));
    assert_eq!(leases(&bench), [] as [Value; 0]);
}

#[test]
fn a_killed_or_hung_up_client_leaves_nothing_for_ever() {
    for kill in ["-KILL", "-HUP"] {
        let bench = Bench::new();
        let socket = bench.listen();
        let mut client = start(&socket, &["set", "both", "--loss", "100%", "--for", "2s"]);
        until("the lease", || impairment(&bench, "port2")["loss"] == loss(100.0));
        signal(&client, kill);
        assert!(!client.wait().unwrap().success());
        assert_eq!(leases(&bench).len(), 1, "{kill}: the daemon holds it");
        until("the end", || {
            impairment(&bench, "port1") == json!({}) && impairment(&bench, "port2") == json!({})
        });
        assert_eq!(leases(&bench), [] as [Value; 0]);
    }
}

#[test]
fn an_interrupted_client_ends_its_lease() {
    let bench = Bench::new();
    let socket = bench.listen();
    let mut client = start(&socket, &["set", "port1", "--loss", "100%", "--for", "1h"]);
    until("the lease", || impairment(&bench, "port1")["loss"] == loss(100.0));
    signal(&client, "-INT");
    assert!(client.wait().unwrap().success());
    assert_eq!(impairment(&bench, "port1"), json!({}));
}

#[test]
fn a_change_of_a_colleague_stays_when_the_lease_ends() {
    let bench = Bench::new();
    let socket = bench.listen();
    output_of(&socket, &["set", "port1", "--loss", "1%"]);
    let lease = ["set", "port1", "--keep", "--loss", "100%", "--for", "1h", "--detach"];
    output_of(&socket, &lease);
    output_of(&socket, &["set", "port1", "--keep", "--delay", "5ms"]);
    let latency = json!({ "kind": "constant", "duration": 5_000_000 });
    let between = state(&bench, "port1");
    assert_eq!(between["impairment"], json!({ "latency": latency, "loss": loss(100.0) }));
    assert_eq!(between["base"], json!({ "latency": latency, "loss": loss(1.0) }));
    assert_eq!(between["leases"], json!([1]));
    // A program that reads, changes a field and writes, as pages do, does not make the lease's field last.
    let mut read = between["impairment"].clone();
    read["corruption"] = json!({ "pct": 2.0 });
    let answer = bench.call("PUT", "/v1/impairments/port1", &read);
    assert_eq!((answer.status.as_u16(), &answer.json()["impairment"]), (200, &read));
    // And a change of the leased field itself is in force when the lease has ended.
    output_of(&socket, &["set", "port1", "--keep", "--loss", "3%"]);
    assert_eq!(impairment(&bench, "port1")["loss"], loss(100.0));
    output_of(&socket, &["leases", "cancel", "1"]);
    let after = json!({ "latency": latency, "loss": loss(3.0), "corruption": { "pct": 2.0 } });
    assert_eq!(impairment(&bench, "port1"), after);
    let state = state(&bench, "port1");
    assert!(state.get("base").is_none() && state.get("leases").is_none(), "{state}");
}

#[test]
fn leases_in_any_order_of_begin_and_end_return_to_what_lies_beneath() {
    let bench = Bench::new();
    let change = |pct: f64, latency_ns: Option<u64>| {
        let mut impairment = json!({ "loss": loss(pct) });
        let mut fields = vec!["loss"];
        if let Some(duration) = latency_ns {
            impairment["latency"] = json!({ "kind": "constant", "duration": duration });
            fields.push("latency");
        }
        json!({ "port1": { "impairment": impairment, "fields": fields } })
    };
    let base = json!({ "rate": { "bps": 2_000_000, "burst_bytes": 4_000 } });
    assert_eq!(bench.call("PUT", "/v1/impairments/port1", &base).status, 200);
    let ids = [
        begin(&bench, 3_600_000, &change(10.0, Some(1_000_000))),
        begin(&bench, 3_600_000, &change(20.0, None)),
        begin(&bench, 3_600_000, &change(30.0, Some(3_000_000))),
    ];
    let now = || {
        let state = impairment(&bench, "port1");
        let latency = state["latency"]["duration"].as_u64();
        assert_eq!(state["rate"], base["rate"]);
        (state["loss"]["pct"].as_f64(), latency)
    };
    assert_eq!(now(), (Some(30.0), Some(3_000_000)));
    cancel(&bench, ids[1]);
    assert_eq!(now(), (Some(30.0), Some(3_000_000)));
    cancel(&bench, ids[2]);
    assert_eq!(now(), (Some(10.0), Some(1_000_000)));
    cancel(&bench, ids[0]);
    assert_eq!(impairment(&bench, "port1"), base);
    let answer = bench.call("DELETE", &format!("/v1/leases/{}", ids[0]), &Value::Null);
    assert_eq!((answer.status.as_u16(), &answer.json()["status"]), (404, &json!(404)));
}

#[test]
fn a_lease_that_the_kernel_refuses_changes_nothing() {
    let bench = Bench::new();
    let base = json!({ "loss": loss(1.0) });
    assert_eq!(bench.call("PUT", "/v1/impairments/port2", &base).status, 200);
    let two_state = json!({ "loss": { "model": "gilbert-elliott", "p": 0.1, "r": 0.5,
        "one_minus_h": 0.0, "one_minus_k": 1.0 } });
    let changes = json!({ "port1": { "impairment": base }, "port2": { "impairment": two_state } });
    let body = json!({ "duration": 5_000_000_000_u64, "changes": changes });
    assert_eq!(bench.call("POST", "/v1/leases", &body).status, 422);
    assert_eq!(leases(&bench), [] as [Value; 0]);
    assert_eq!((impairment(&bench, "port1"), impairment(&bench, "port2")), (json!({}), base));
    for (duration, changes) in [
        (0, json!({ "port1": { "impairment": {} } })),
        (u64::MAX, json!({ "port1": { "impairment": {} } })),
        (5_000_000_000, json!({ "port1": { "impairment": { "loss": loss(101.0) } } })),
    ] {
        let body = json!({ "duration": duration, "changes": changes });
        let answer = bench.call("POST", "/v1/leases", &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.json());
    }
}

#[test]
fn an_invalid_state_beneath_leases_of_every_field_is_refused() {
    let bench = Bench::new();
    let whole = json!({ "port1": { "impairment": {} } });
    let id = begin(&bench, 60_000, &whole);
    let before = state(&bench, "port1");
    let invalid = json!({ "duplication": { "pct": 1.0, "correlation": 1e308 } });
    for path in ["/v1/impairments/port1", "/v1/impairments/port1?beneath=true"] {
        let answer = bench.call("PUT", path, &invalid);
        assert_eq!(answer.status, 400, "{:?}", answer.json());
    }
    assert_eq!(state(&bench, "port1")["base"], before["base"]);
    cancel(&bench, id);
}

#[test]
fn leases_are_listed_and_cancelled_and_clear_ends_them() {
    let bench = Bench::new();
    let socket = bench.listen();
    assert_eq!(output_of(&socket, &["leases"]), "no lease\n");
    let set = [
        "set",
        "port1",
        "--keep",
        "--loss",
        "9%",
        "--for",
        "1h",
        "--detach",
        "--owner",
        "rehearsal",
    ];
    output_of(&socket, &set);
    output_of(&socket, &["set", "both", "--delay", "5ms", "--for", "1h", "--detach"]);
    let listed = output_of(&socket, &["leases"]);
    assert!(listed.contains("rehearsal") && listed.contains("loss 9%"), "{listed}");
    let uid = nix::unistd::getuid().to_string();
    assert!(listed.contains(&format!("uid {uid}, pid ")), "{listed}");
    let documents: Value =
        serde_json::from_str(&output_of(&socket, &["leases", "--json"])).unwrap();
    assert_eq!(documents[0]["owner"]["name"], "rehearsal");
    assert_eq!(documents[0]["changes"]["port1"]["fields"], json!(["loss"]));
    let (starts, ends) = (&documents[1]["starts_at_wall"], &documents[1]["ends_at_wall"]);
    assert_eq!(ends.as_u64().unwrap() - starts.as_u64().unwrap(), 3_600_000_000_000);
    let unknown =
        command(&["impair", "--socket"]).arg(&socket).args(["leases", "cancel", "7"]).output();
    let error = refusal(&unknown.unwrap());
    assert!(error.contains("found 7, allowed 1, 2"), "{error}");
    // Everything of a direction goes at once with `clear`; the other direction keeps its lease.
    output_of(&socket, &["clear", "port1"]);
    assert_eq!(impairment(&bench, "port1"), json!({}));
    let remainder = leases(&bench);
    assert_eq!((remainder.len(), &remainder[0]["id"]), (1, &json!(2)));
    assert!(remainder[0]["changes"].get("port1").is_none());
    output_of(&socket, &["leases", "cancel", "2"]);
    assert_eq!(impairment(&bench, "port2"), json!({}));
}

fn timeline(folder: &Path) -> PathBuf {
    let file = folder.join("ride.csv");
    std::fs::write(&file, "at,direction,delay,loss\n0s,port1,10ms,\n60s,port1,20ms,\n").unwrap();
    file
}

#[test]
fn a_killed_player_leaves_nothing_and_others_nest_beside_it() {
    let bench = Bench::new();
    let socket = bench.listen();
    output_of(&socket, &["set", "port1", "--loss", "1%"]);
    let file = timeline(bench.folder.path());
    let mut player = start(&socket, &["play", file.to_str().unwrap()]);
    let latency = json!({ "kind": "constant", "duration": 10_000_000 });
    until("the player", || impairment(&bench, "port1") == json!({ "latency": latency }));
    let beside = ["set", "port1", "--keep", "--loss", "100%", "--for", "500ms"];
    output_of(&socket, &beside);
    assert_eq!(impairment(&bench, "port1"), json!({ "latency": latency }), "it plays on");
    signal(&player, "-KILL");
    player.wait().unwrap();
    until("the state before it", || impairment(&bench, "port1") == json!({ "loss": loss(1.0) }));
    assert_eq!(leases(&bench), [] as [Value; 0]);
}

#[test]
fn leases_hold_over_a_restart_of_the_daemon_and_end_at_their_time() {
    let kernel = Fake::new(&INTERFACES);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("impair.sock.leases");
    let bench = Bench::resumed(kernel.clone(), Extensions::default(), Some(&file));
    let base = json!({ "loss": loss(1.0) });
    assert_eq!(bench.call("PUT", "/v1/impairments/port1", &base).status, 200);
    let of = |pct: f64| json!({ "impairment": { "loss": loss(pct) }, "fields": ["loss"] });
    begin(&bench, 300, &json!({ "port1": of(50.0), "port2": of(60.0) }));
    let long = begin(&bench, 3_600_000, &json!({ "port2": of(70.0) }));
    assert_eq!(impairment(&bench, "port2")["loss"], loss(70.0));
    drop(bench);
    // It ends while there is no daemon.
    std::thread::sleep(Duration::from_millis(400));
    let bench = Bench::resumed(kernel.clone(), Extensions::default(), Some(&file));
    assert_eq!(impairment(&bench, "port1"), base);
    assert_eq!(impairment(&bench, "port2")["loss"], loss(70.0));
    let remainder = leases(&bench);
    assert_eq!((remainder.len(), &remainder[0]["id"]), (1, &json!(long)));
    cancel(&bench, long);
    assert_eq!(impairment(&bench, "port2"), json!({}));
    let next = begin(&bench, 3_600_000, &json!({ "port2": of(80.0) }));
    assert!(next > long, "numbers are not used again");
    drop(bench);
    let bench = Bench::resumed(kernel, Extensions::default(), Some(&file));
    assert_eq!(leases(&bench)[0]["id"], next);
    assert_eq!(impairment(&bench, "port2")["loss"], loss(80.0));
}

/// The program on real interfaces: a lease of a rate, a kill of the daemon, its restart.
#[needs(namespaces, tbf)]
#[test]
fn the_program_ends_a_lease_after_its_own_restart() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"
set -e
ip link add port1 type veth peer name peer1
ip link add port2 type veth peer name peer2
for port in port1 port2; do ip link set $port up; done
daemon() {
    "$0" impaird --interfaces port1 port2 --socket "$PWD/s" 2>>log &
    daemon=$!
    for try in $(seq 500); do "$0" impair --socket "$PWD/s" system >/dev/null 2>&1 && return; sleep 0.02; done
    cat log; exit 1
}
impair() { "$1" impair --socket "$PWD/s" "${@:2}"; }
daemon
impair "$0" set port1 --rate 8mbit >/dev/null
impair "$0" set port1 --rate 1mbit --for 3s --detach >/dev/null
tc qdisc show dev port1 | grep -o 'rate [0-9A-Za-z]*'
kill -9 $daemon; wait $daemon || true
tc qdisc show dev port1 | grep -o 'rate [0-9A-Za-z]*'
sleep 3
daemon
tc qdisc show dev port1 | grep -o 'rate [0-9A-Za-z]*'
impair "$0" leases
kill $daemon; wait $daemon
"#;
    let program = command(&[]).get_program().to_owned();
    let output = Command::new("unshare")
        .args(["-n", "bash", "-c", script])
        .arg(program)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
    assert_eq!(text, "rate 1Mbit\nrate 1Mbit\nrate 8Mbit\nno lease\n", "{log}");
}
