//! The client against a daemon over a modelled kernel: what it prints, what it refuses.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use super::Bench;
use crate::support::{command, eventually, refusal, stdout};

fn impair(socket: &Path, args: &[&str]) -> Output {
    command(&["impair", "--socket"]).arg(socket).args(args).output().unwrap()
}

fn output_of(socket: &Path, args: &[&str]) -> String {
    stdout(&impair(socket, args))
}

fn document(socket: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&output_of(socket, args)).unwrap()
}

/// Output without the warnings about silent behaviour of the kernel.
fn table(socket: &Path, args: &[&str]) -> String {
    let text = output_of(socket, args);
    let lines = text.lines().filter(|line| !line.contains(" warning: "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn states_are_set_shown_kept_and_cleared() {
    let bench = Bench::new();
    let socket = bench.listen();
    let words = ["--delay", "50ms", "--loss", "1%", "--rate", "10mbit", "--queue", "100packets"];
    let set = [&["set", "port1"], &words[..]].concat();
    assert!(output_of(&socket, &set).contains("port1 warning: "), "super-packets count as one");
    insta::assert_snapshot!(table(&socket, &set), @r"
           port1
    delay  50ms
    loss   1%
    rate   10mbit
    queue  100packets
    ");
    insta::assert_snapshot!(
        table(&socket, &["set", "port1", "--keep", "--loss", "none", "--rate", "2mbit"]), @r"
           port1
    delay  50ms
    rate   2mbit
    queue  100packets
    ");
    output_of(&socket, &["set", "port2", "--duplicate", "0.5"]);
    insta::assert_snapshot!(table(&socket, &["show"]), @r"
               port1       port2
    delay      50ms
    rate       2mbit
    queue      100packets
    duplicate              0.5%
    ");
    let state = document(&socket, &["show", "port1", "--json"]);
    assert_eq!(state["impairment"]["rate"], json!({ "bps": 2_000_000, "burst_bytes": 4_000 }));
    let replaced = document(&socket, &["set", "port1", "--loss", "3%", "--json"]);
    let whole = json!({ "loss": { "model": "bernoulli", "pct": 3.0 } });
    assert_eq!(replaced["impairment"], whole, "replaced as a whole");
    assert_eq!(output_of(&socket, &["clear"]), "port1, port2: no impairment\n");
}

#[test]
fn kept_impairments_stay_to_the_last_digit() {
    let bench = Bench::new();
    let socket = bench.listen();
    let mut state = json!({
        "loss": { "model": "bernoulli", "pct": 12.3456789, "correlation": 0.0123456789 },
        "corruption": { "pct": 0.00123456789 },
    });
    assert_eq!(bench.call("PUT", "/v1/impairments/port1", &state).status, 200);
    let before = document(&socket, &["show", "port1", "--json"])["impairment"].clone();
    state = document(&socket, &["set", "port1", "--keep", "--delay", "5ms", "--json"]);
    for field in ["loss", "corruption"] {
        assert_eq!(state["impairment"][field], before[field]);
    }
    assert_eq!(state["impairment"]["latency"]["duration"], 5_000_000);
}

#[test]
fn presets_serve_both_directions() {
    let bench = Bench::new();
    let socket = bench.listen();
    let both = document(&socket, &["set", "both", "--preset", "cable", "--loss", "0.1%", "--json"]);
    let bps = |at: usize| both[at]["impairment"]["rate"]["bps"].as_u64();
    assert_eq!((bps(0), bps(1)), (Some(5_000_000), Some(1_000_000)));
    assert_eq!(both[0]["impairment"]["loss"]["pct"], 0.1);
    let up = document(&socket, &["set", "port1", "--preset", "cable:up", "--json"]);
    assert_eq!(up["impairment"]["rate"]["bps"], 1_000_000);
    let list = stdout(&command(&["impair", "presets"]).output().unwrap());
    for id in ["lte", "5g", "geo-satellite", "leo-satellite", "dsl", "wifi-mesh", "lora-long"] {
        assert!(list.lines().any(|line| line.starts_with(id)), "{id}: {list}");
    }
}

#[test]
fn divergence_is_printed_in_words() {
    let bench = Bench::new();
    let socket = bench.listen();
    let foreign = groundwave_kernel::Qdisc {
        kind: "htb".to_owned(),
        handle: groundwave_kernel::Handle::new(0x8001, 0),
        parent: groundwave_kernel::Handle::ROOT,
        ..Default::default()
    };
    bench.kernel.insert_foreign(super::INTERFACES[1], foreign);
    let text = output_of(&socket, &["clear", "port2"]);
    assert!(text.contains("port2 foreign: "), "{text}");
}

#[test]
fn the_system_is_shown() {
    let bench = Bench::new();
    let socket = bench.listen();
    let text = output_of(&socket, &["system"]);
    for line in [
        "port1      gw-east    leaving  0000:03:00.0",
        "port2      gw-west    leaving  virtual",
        "two-state loss    no",
        "distributions     uniform, normal, pareto",
        "rules             yes",
    ] {
        assert!(text.lines().any(|candidate| candidate == line), "{line}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "no colour into a pipe");
}

#[test]
fn counters_and_rates() {
    let bench = Bench::new();
    let socket = bench.listen();
    output_of(&socket, &["set", "both", "--loss", "1%"]);
    let text = output_of(&socket, &["stats"]);
    assert!(text.starts_with("counter "), "{text}");
    assert!(text.contains("  by a full queue"), "{text}");
    let lines = output_of(&socket, &["watch", "--every", "5ms", "--count", "2", "--json"]);
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row["bits_per_s"] == 0.0 && row["reset"] == false), "{lines}");
    let text = output_of(&socket, &["watch", "port1", "--every", "5ms", "--count", "1"]);
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn invalid_arguments_give_precise_errors() {
    let bench = Bench::new();
    let socket = bench.listen();
    let cases: &[(&[&str], &str)] = &[
        (&["set", "port1"], "nothing to set"),
        (&["set", "port1", "--delay", "50"], "--delay: found \"50\", allowed a number with a unit"),
        (&["set", "port1", "--loss", "101%"], "--loss: found \"101%\""),
        (&["set", "port1", "--rate", "0"], "invalid --rate: found 0, allowed"),
        // Bits a second to people, bytes a second to tc.
        (
            &["set", "port1", "--rate", "10Mbps"],
            "--rate: found \"10Mbps\", allowed 10mbit, or 80mbit where bytes a second are meant",
        ),
        (&["set", "port1", "--distribution", "normal"], "--distribution: found without jitter"),
        (&["set", "port1", "--preset", "ltee"], "did you mean \"lte\"?"),
        (&["set", "port3", "--loss", "1%"], "found \"port3\", allowed port1, port2"),
        (&["set", "port33", "--loss", "1%"], "port32, both, all"),
        (
            &["play", "nowhere.toml", "--dry-run", "--direction", "all"],
            "found all beside --dry-run",
        ),
        (&["set", "port1", "--loss-gemodel", "1% 10%"], "gilbert-elliott"),
        (&["watch", "--every", "1us"], "invalid --every: found 1us"),
        (&["play", "nowhere.toml"], "nowhere.toml: cannot be read"),
    ];
    for (args, expected) in cases {
        let error = refusal(&impair(&socket, args));
        assert!(error.contains(expected), "{error} does not contain {expected}");
    }
    let nobody = impair(Path::new("/nowhere/impair.sock"), &["show"]);
    assert_eq!(nobody.status.code(), Some(1));
    let error = String::from_utf8_lossy(&nobody.stderr);
    assert!(error.contains("is `groundwave impaird` running?"), "{error}");
    bench.kernel.set_denied(true);
    let denied = impair(&socket, &["set", "port1", "--loss", "1%"]);
    assert_eq!(denied.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&denied.stderr).contains("CAP_NET_ADMIN"));
}

fn ride(folder: &Path) -> PathBuf {
    let file = folder.join("ride.csv");
    let text = "at,direction,preset,loss\n0s,both,lte,\n50ms,port1,,3%\n100ms,port1,dsl,\n";
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn time_lines_are_planned_played_and_undone() {
    let bench = Bench::new();
    let socket = bench.listen();
    let file = ride(bench.folder.path());
    let file = file.to_str().unwrap();
    insta::assert_snapshot!(output_of(&socket, &["play", file, "--dry-run", "--speed", "2x"]), @r"
       at  direction  state
      0ns  port1      delay 35ms, rate 12mbit
      0ns  port2      delay 35ms, rate 12mbit
     50ms  port1      loss 3%
    100ms  port1      delay 25ms, rate 1.5mbit
    4 steps in 0.1 s at 2x
    ");
    output_of(&socket, &["set", "port1", "--corrupt", "2%"]);
    let lines = output_of(&socket, &["play", file, "--json"]);
    let steps: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = steps.iter().rfind(|step| step["direction"] == "port1").unwrap();
    assert_eq!(last["impairment"]["rate"]["bps"], 1_500_000);
    let after = document(&socket, &["show", "--json"]);
    assert_eq!(after[0]["impairment"], json!({ "corruption": { "pct": 2.0 } }), "restored");
    assert_eq!(after[1]["impairment"], json!({}), "restored to nothing");
    output_of(&socket, &["play", file, "--leave", "--seek", "100ms"]);
    let remainder = document(&socket, &["show", "--json"]);
    assert_eq!(remainder[0]["impairment"]["rate"]["bps"], 1_500_000);
    assert_eq!(remainder[1]["impairment"]["rate"]["bps"], 12_000_000);
}

#[test]
fn a_stopped_player_restores_what_was() {
    let bench = Bench::new();
    let socket = bench.listen();
    let trace = bench.folder.path().join("cell.down");
    std::fs::write(&trace, "1\n2\n500\n").unwrap();
    let mut player = command(&["impair", "--socket"])
        .arg(&socket)
        .args(["play", "--loop", "--direction", "port2", "--delay", "20ms"])
        .arg(&trace)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let playing = eventually(|| {
        let state = bench.call("GET", "/v1/impairments/port2", &Value::Null).json();
        state["impairment"]["rate"].is_object() && state["impairment"]["latency"].is_object()
    });
    assert!(playing, "the trace is played with the delay beside it");
    let pid = player.id().to_string();
    let signal = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(signal.success() && player.wait().unwrap().success());
    let state = bench.call("GET", "/v1/impairments/port2", &Value::Null).json();
    assert_eq!(state["impairment"], json!({}));
}

#[test]
fn a_state_with_an_end_is_restored() {
    let bench = Bench::new();
    let socket = bench.listen();
    output_of(&socket, &["set", "port1", "--delay", "5ms"]);
    let text = output_of(&socket, &["set", "both", "--loss", "9%", "--for", "1s"]);
    assert!(text.contains("9%"), "{text}");
    let after = document(&socket, &["show", "--json"]);
    let before = json!({ "latency": { "kind": "constant", "duration": 5_000_000 } });
    assert_eq!(after[0]["impairment"], before);
    assert_eq!(after[1]["impairment"], json!({}));
}
