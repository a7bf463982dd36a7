//! Several clients of one daemon, ports that fail beside others, and what survives a restart of the daemon.

use std::path::Path;
use std::process::{Output, Stdio};

use axum::body::Body;
use axum::http::{Request, header};
use groundwave_impair::Extensions;
use groundwave_kernel::Fake;
use serde_json::{Value, json};

use super::{Bench, INTERFACES};
use crate::support::{command, eventually, refusal, stdout};

fn impair(socket: &Path, args: &[&str]) -> Output {
    command(&["impair", "--socket"]).arg(socket).args(args).output().unwrap()
}

fn output_of(socket: &Path, args: &[&str]) -> String {
    stdout(&impair(socket, args))
}

fn impairment(bench: &Bench, direction: &str) -> Value {
    let path = format!("/v1/impairments/{direction}");
    bench.call("GET", &path, &Value::Null).json()["impairment"].clone()
}

/// Names of the rules in force on port1, in order.
fn rules(bench: &Bench) -> Vec<String> {
    let state = impairment(bench, "port1");
    let rules = state["rules"].as_array().into_iter().flatten();
    rules.map(|rule| rule["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn changes_at_the_same_time_are_all_in_force() {
    let bench = Bench::new();
    let socket = bench.listen();
    let mut changes: Vec<Vec<String>> = (1..=6)
        .map(|number| {
            let text = format!("set|port1|--match|dscp {number}|--rule|r{number}|--loss|{number}%");
            text.split('|').map(str::to_owned).collect()
        })
        .collect();
    for words in ["--loss 1%", "--delay 5ms", "--rate 5mbit"] {
        let text = format!("set port1 --keep {words}");
        changes.push(text.split(' ').map(str::to_owned).collect());
    }
    let clients = changes.iter().map(|words| {
        let mut client = command(&["impair", "--socket"]);
        client.arg(&socket).args(words).stdout(Stdio::null()).spawn().unwrap()
    });
    let clients: Vec<_> = clients.collect();
    for mut client in clients {
        assert!(client.wait().unwrap().success());
    }
    let state = impairment(&bench, "port1");
    let mut names = rules(&bench);
    names.sort();
    assert_eq!(names, ["r1", "r2", "r3", "r4", "r5", "r6", "ssh-from", "ssh-to"]);
    assert_eq!(state["loss"]["pct"], 1.0, "{state}");
    assert_eq!(
        (&state["latency"]["duration"], &state["rate"]["bps"]),
        (&json!(5_000_000), &json!(5_000_000))
    );
}

#[test]
fn a_parameter_that_is_not_described_changes_nothing() {
    let bench = Bench::new();
    let path = "/v1/impairments/port1";
    let lossy = json!({ "loss": { "model": "bernoulli", "pct": 1.0 } });
    assert_eq!(bench.call("PUT", path, &lossy).status, 200);
    let refused = bench.call("DELETE", &format!("{path}?rule=a"), &Value::Null);
    assert_eq!(refused.status, 400, "{}", refused.json());
    assert_eq!(impairment(&bench, "port1"), lossy);
}

#[test]
fn a_change_of_another_revision_is_refused() {
    let bench = Bench::new();
    let path = "/v1/impairments/port1";
    let put = |revision: &str, pct: f64| {
        let body = json!({ "loss": { "model": "bernoulli", "pct": pct } });
        let request = Request::builder()
            .method("PUT")
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::IF_MATCH, revision);
        bench.send(request.body(Body::from(body.to_string())).unwrap())
    };
    let first = bench.call("GET", path, &Value::Null);
    let revision = first.headers[header::ETAG].to_str().unwrap().to_owned();
    let again = bench.call("GET", path, &Value::Null);
    assert_eq!(again.headers[header::ETAG], revision, "one state, one revision");
    let changed = put(&revision, 1.0);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.headers[header::ETAG], revision);
    let refused = put(&revision, 2.0);
    assert_eq!(refused.status, 412, "{}", refused.json());
    assert_eq!(impairment(&bench, "port1")["loss"]["pct"], 1.0);
    assert_eq!(put("*", 3.0).status, 200);
    let present = put("*", 4.0).headers[header::ETAG].to_str().unwrap().to_owned();
    assert_eq!(put(&format!("W/{present}"), 5.0).status, 412);
    assert_eq!(put(&format!("\"x\", {present}"), 5.0).status, 200);
}

#[test]
fn rules_of_overlapping_leases_end_each_at_its_time() {
    let bench = Bench::new();
    let socket = bench.listen();
    let lease = |conditions: &str, name: &str, loss: &str| {
        let words = ["set", "port1", "--match", conditions, "--rule", name, "--loss", loss];
        output_of(&socket, &[&words[..], &["--for", "60s", "--detach"]].concat());
    };
    lease("proto tcp dport 80", "web", "100%");
    lease("proto udp dport 53", "dns", "50%");
    assert_eq!(rules(&bench), ["ssh-to", "ssh-from", "web", "dns"]);
    let list = output_of(&socket, &["leases"]);
    assert!(list.contains("rule web loss 100%"), "{list}");
    assert!(list.contains("excluded ssh-to ssh-from"), "{list}");
    // A rule without a lease, set meanwhile, stays.
    output_of(&socket, &["set", "port1", "--match", "dscp 1", "--rule", "bulk", "--loss", "1%"]);
    assert_eq!(rules(&bench), ["ssh-to", "ssh-from", "bulk", "web", "dns"]);
    output_of(&socket, &["leases", "cancel", "1"]);
    assert_eq!(rules(&bench), ["ssh-to", "ssh-from", "bulk", "dns"]);
    // A client that writes back what it read keeps the rule of the lease out of the state beneath.
    let read = impairment(&bench, "port1");
    assert_eq!(bench.call("PUT", "/v1/impairments/port1", &read).status, 200);
    output_of(&socket, &["leases", "cancel", "2"]);
    assert_eq!(rules(&bench), ["ssh-to", "ssh-from", "bulk"]);
}

#[test]
fn leases_of_nothing_and_of_contradictions_are_refused() {
    let bench = Bench::new();
    let loss = json!({ "loss": { "model": "bernoulli", "pct": 5.0 } });
    let rule = json!({ "rules": [{ "name": "a", "match": { "dscp": 1 }, "exclude": true }] });
    for (changes, message) in [
        (json!({}), "invalid changes: found none"),
        (json!({ "port1": null }), "invalid changes: found none"),
        (json!({ "port1": { "impairment": loss, "fields": [] } }), "invalid fields: found none"),
        (
            json!({ "port1": { "impairment": loss, "fields": ["loss", "loss"] } }),
            "invalid fields: found loss twice",
        ),
        (
            json!({ "port1": { "impairment": loss, "fields": ["latency"] } }),
            "invalid impairment: found loss, allowed the fields of `fields`",
        ),
        (
            json!({ "port1": { "impairment": loss, "fields": ["loss"], "rules": ["a"] } }),
            "invalid rules: found names",
        ),
        (
            json!({ "port1": { "impairment": rule, "fields": ["rules"], "rules": ["b"] } }),
            "invalid impairment.rules: found \"a\"",
        ),
    ] {
        let body = json!({ "duration": 60_000_000_000_u64, "changes": changes });
        let answer = bench.call("POST", "/v1/leases", &body);
        assert_eq!(answer.status, 400, "{changes}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(message), "{changes}: {detail}");
    }
    let leases = bench.call("GET", "/v1/leases", &Value::Null).json();
    assert_eq!((leases, impairment(&bench, "port1")), (json!([]), json!({})));
}

#[test]
fn a_port_that_is_gone_keeps_no_other_from_its_command() {
    let bench = Bench::new();
    let socket = bench.listen();
    bench.kernel.remove_interface(INTERFACES[1]);
    let set = impair(&socket, &["set", "both", "--loss", "4%"]);
    let (output, error) =
        (String::from_utf8_lossy(&set.stdout), String::from_utf8_lossy(&set.stderr));
    assert_eq!(set.status.code(), Some(1), "{error}");
    assert!(output.contains("port1") && output.contains("4%"), "{output}");
    assert!(error.contains("port2: ") && error.contains("gw-west"), "{error}");
    let watched = output_of(&socket, &["watch", "--every", "5ms", "--count", "2", "--json"]);
    let rows: Vec<Value> =
        watched.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 4, "{watched}");
    for row in rows {
        let is_gone = row["problem"].as_str().is_some_and(|what| what.contains("gw-west"));
        assert_eq!(is_gone, row["direction"] == "port2", "{row}");
    }
    for command in ["show", "clear"] {
        let output = impair(&socket, &[command]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("port1"), "{command}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("port2: "), "{command}");
    }
    assert_eq!(impairment(&bench, "port1"), json!({}), "cleared");
}

#[test]
fn a_rule_that_no_packet_reaches_gives_a_warning() {
    let bench = Bench::new();
    let socket = bench.listen();
    let shadowed = "rules[2].match: no packet reaches the rule \"mine\"";
    let words = ["set", "port1", "--match", "proto tcp dport 22", "--rule", "mine", "--loss", "1%"];
    let text = output_of(&socket, &words);
    assert!(text.contains(shadowed) && text.contains("the rule \"ssh-to\" before it"), "{text}");
    output_of(&socket, &["clear", "port1"]);
    let text = output_of(&socket, &[&words[..], &["--impair-ssh"]].concat());
    assert!(!text.contains("no packet reaches"), "{text}");
}

#[test]
fn a_distribution_survives_a_restart_of_the_daemon() {
    let kernel = Fake::new(&INTERFACES);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("impair.sock.leases");
    let resumed = || Bench::resumed(kernel.clone(), Extensions::default(), Some(&file));
    let normal = json!({ "kind": "stochastic", "mean": 50_000_000, "jitter": 10_000_000,
        "distribution": { "kind": "normal" } });
    let rule =
        json!([{ "name": "voip", "match": { "dscp": 46 }, "impairment": { "latency": normal } }]);
    let whole = json!({ "latency": normal, "rules": rule });
    let bench = resumed();
    assert_eq!(bench.call("PUT", "/v1/impairments/port1", &whole).status, 200);
    drop(bench);
    let bench = resumed();
    assert_eq!(impairment(&bench, "port1"), whole);
    // It lies beneath a lease, and comes back after it.
    let socket = bench.listen();
    let lease = ["set", "port1", "--keep", "--loss", "100%", "--for", "60s", "--detach"];
    output_of(&socket, &lease);
    assert_eq!(impairment(&bench, "port1")["latency"], normal);
    output_of(&socket, &["leases", "cancel", "1"]);
    assert_eq!(impairment(&bench, "port1"), whole);
    // Another jitter is another request.
    output_of(&socket, &["set", "port1", "--delay", "50ms", "--jitter", "11ms"]);
    drop(bench);
    let bench = resumed();
    assert_eq!(
        impairment(&bench, "port1")["latency"]["distribution"],
        json!({ "kind": "uniform" })
    );
}

#[test]
fn a_player_goes_on_when_the_daemon_begins_anew() {
    let kernel = Fake::new(&INTERFACES);
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("impair.sock");
    let file = folder.path().join("impair.sock.leases");
    let resumed = || {
        let bench = Bench::resumed(kernel.clone(), Extensions::default(), Some(&file));
        bench.listen_at(&socket);
        bench
    };
    let timeline = folder.path().join("ride.csv");
    std::fs::write(&timeline, "at,direction,delay\n0s,port1,10ms\n4s,port1,20ms\n6s,port1,30ms\n")
        .unwrap();
    let bench = resumed();
    let mut player = command(&["impair", "--socket"])
        .arg(&socket)
        .args(["play", "--leave"])
        .arg(&timeline)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let delay_ns = |bench: &Bench| impairment(bench, "port1")["latency"]["duration"].as_u64();
    assert!(eventually(|| delay_ns(&bench) == Some(10_000_000)), "the first step");
    drop(bench);
    std::fs::remove_file(&socket).unwrap();
    let bench = resumed();
    assert!(player.wait().unwrap().success(), "it plays to its end");
    assert_eq!(delay_ns(&bench), Some(30_000_000));
    assert_eq!(bench.call("GET", "/v1/leases", &Value::Null).json(), json!([]));
}

#[test]
fn options_beside_a_timeline_that_has_no_use_for_them_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content, options, message) in [
        (
            "a.csv",
            "at,direction,delay\n0s,port1,5ms\n",
            ["--delay", "9ms"],
            "invalid --delay: found beside",
        ),
        ("a.toml", "[[step]]\nat = \"0s\"\n", ["--loss", "9%"], "allowed beside a trace"),
        ("a.down", "1\n2\n500\n", ["--rate", "5mbit"], "allowed without a trace"),
        ("b.csv", "0,1.5\n1,2.5\n", ["--rate", "5mbit"], "allowed without a trace"),
    ] {
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        let words = ["impair", "play", file.to_str().unwrap(), options[0], options[1], "--dry-run"];
        let error = refusal(&command(&words).output().unwrap());
        assert!(error.contains(message), "{name}: {error}");
    }
}
