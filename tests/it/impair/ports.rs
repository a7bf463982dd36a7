//! Ports beyond the two of the contract.

use groundwave_impair::{Direction, Extensions};
use groundwave_impaird::document;
use groundwave_kernel::Fake;
use serde_json::{Value, json};

use super::{Bench, INTERFACES};
use crate::support::{command, stdout};

const FOUR: [&str; 4] = ["gw-east", "gw-west", "gw-north", "gw-south"];

fn loss(pct: f64) -> Value {
    json!({ "loss": { "model": "bernoulli", "pct": pct } })
}

fn state(bench: &Bench, direction: &str) -> Value {
    let answer = bench.call("GET", &format!("/v1/impairments/{direction}"), &Value::Null);
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()
}

#[test]
fn each_port_has_state_counters_leases_and_rules_of_its_own() {
    let bench = Bench::of(&FOUR);
    for (index, direction) in Direction::first(4).enumerate() {
        let path = format!("/v1/impairments/{direction}");
        let request = loss(f64::from(u32::try_from(index).unwrap()) + 1.0);
        let answer = bench.call("PUT", &path, &request);
        assert_eq!(answer.status, 200, "{}", answer.json());
    }
    for (index, direction) in Direction::first(4).enumerate() {
        let state = state(&bench, direction.name());
        assert_eq!(state["direction"], direction.name());
        assert_eq!(state["impairment"]["loss"]["pct"], index as f64 + 1.0);
        let stats = format!("/v1/impairments/{direction}/stats");
        assert_eq!(bench.call("GET", &stats, &Value::Null).status, 200);
    }
    let lease = json!({ "duration": 60_000_000_000_u64,
        "changes": { "port3": { "impairment": loss(50.0) }, "port1": null } });
    let lease = bench.call("POST", "/v1/leases", &lease);
    assert_eq!(lease.status, 200, "{}", lease.json());
    assert_eq!(lease.json()["changes"].as_object().unwrap().len(), 1);
    let leased = state(&bench, "port3");
    assert_eq!(leased["impairment"]["loss"]["pct"], 50.0);
    assert_eq!(leased["base"]["loss"]["pct"], 3.0);
    let rules = json!({ "rules": [{ "name": "voip", "match": { "protocol": "udp" },
        "impairment": loss(7.0) }] });
    let answer = bench.call("PUT", "/v1/impairments/port4", &rules);
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert_eq!(state(&bench, "port4")["impairment"]["rules"][0]["name"], "voip");
    let id = lease.json()["id"].as_u64().unwrap();
    assert_eq!(bench.call("DELETE", &format!("/v1/leases/{id}"), &Value::Null).status, 200);
    assert_eq!(state(&bench, "port3")["impairment"]["loss"]["pct"], 3.0);
    // The others are as they were.
    assert_eq!(state(&bench, "port1")["impairment"], loss(1.0));
    let ports = bench.call("GET", "/v1/system", &Value::Null).json()["ports"].clone();
    let names: Vec<_> = ports.as_array().unwrap().iter().map(|port| &port["interface"]).collect();
    assert_eq!(names, FOUR);
}

#[test]
fn ports_that_the_daemon_does_not_have_are_refused_with_its_own() {
    let bench = Bench::of(&FOUR[..3]);
    let body = json!({ "duration": 60_000_000_000_u64,
        "changes": { "port4": { "impairment": loss(50.0) } } });
    let answers = [
        bench.call("GET", "/v1/impairments/port4", &Value::Null),
        bench.call("PUT", "/v1/impairments/port4", &loss(1.0)),
        bench.call("DELETE", "/v1/impairments/port4", &Value::Null),
        bench.call("GET", "/v1/impairments/port4/stats", &Value::Null),
        bench.call("POST", "/v1/leases", &body),
    ];
    for answer in answers {
        assert_eq!(answer.status, 400);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        let expected = "invalid direction: found \"port4\", allowed port1, port2, port3";
        assert_eq!(detail, expected);
    }
    assert_eq!(bench.call("GET", "/v1/leases", &Value::Null).json(), json!([]));
}

#[test]
fn document_names_the_ports_of_its_daemon() {
    let names = |count: usize| {
        let document = document(count).json().clone();
        let schemas = &document["components"]["schemas"];
        let names = schemas["Direction"]["oneOf"].as_array().unwrap().iter();
        let names: Vec<_> = names.map(|name| name["const"].as_str().unwrap().to_owned()).collect();
        let changes = schemas["LeaseChanges"]["properties"].as_object().unwrap();
        assert_eq!(
            changes.keys().cloned().collect::<std::collections::BTreeSet<_>>(),
            names.iter().cloned().collect()
        );
        names
    };
    assert_eq!(names(2), ["port1", "port2"]);
    assert_eq!(names(3), ["port1", "port2", "port3"]);
    let bench = Bench::of(&FOUR);
    let served = bench.call("GET", "/api-docs/openapi.json", &Value::Null);
    assert_eq!(served.json(), *document(4).json());
}

#[test]
fn client_shows_changes_and_plays_all_ports() {
    let bench = Bench::of(&FOUR[..3]);
    let socket = bench.listen();
    let output = |args: &[&str]| {
        stdout(&command(&["impair", "--socket"]).arg(&socket).args(args).output().unwrap())
    };
    output(&["set", "port3", "--delay", "30ms"]);
    let table = output(&["show"]);
    assert!(table.lines().next().unwrap().contains("port3"), "{table}");
    assert!(table.contains("30ms"), "{table}");
    assert!(!output(&["show", "both"]).contains("port3"));
    assert!(output(&["system"]).contains("gw-north"));
    let timeline = bench.folder.path().join("line.toml");
    let text = "[[step]]\nat = \"0s\"\nset = { delay = \"5ms\" }\n\
                [[step]]\nat = \"1ms\"\ndirection = \"port3\"\nset = { delay = \"9ms\" }\n";
    std::fs::write(&timeline, text).unwrap();
    output(&["play", timeline.to_str().unwrap(), "--direction", "all", "--leave"]);
    for (direction, delay_ns) in [("port1", 5_000_000), ("port2", 5_000_000), ("port3", 9_000_000)]
    {
        let latency = &state(&bench, direction)["impairment"]["latency"];
        assert_eq!(latency["duration"], delay_ns, "{direction}");
    }
    let cleared = output(&["clear"]);
    assert_eq!(cleared, "port1, port2, port3: no impairment\n");
}

#[test]
fn leases_of_a_port_that_is_gone_are_dropped_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("leases");
    let kernel = Fake::new(&FOUR);
    let first = Bench::on(&FOUR, kernel.clone(), Extensions::default(), Some(&file));
    for direction in ["port1", "port4"] {
        let body = json!({ "duration": 600_000_000_000_u64,
            "changes": { direction: { "impairment": loss(20.0) } } });
        assert_eq!(first.call("POST", "/v1/leases", &body).status, 200);
    }
    drop(first);
    let second = Bench::on(&INTERFACES, kernel, Extensions::default(), Some(&file));
    let leases = second.call("GET", "/v1/leases", &Value::Null).json();
    assert_eq!(leases.as_array().unwrap().len(), 1, "{leases}");
    assert!(leases[0]["changes"]["port1"].is_object(), "{leases}");
    assert_eq!(state(&second, "port1")["impairment"], loss(20.0));
}

#[test]
fn rules_have_their_names_after_a_restart_and_others_have_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    let kernel = Fake::new(&INTERFACES);
    let open = |file| Bench::on(&INTERFACES, kernel.clone(), Extensions::default(), file);
    let first = open(Some(file.as_path()));
    let rules = json!({ "rules": [
        { "name": "ssh-to", "match": { "protocol": "tcp", "destination_ports": "22" }, "exclude": true },
        { "name": "voip", "match": { "protocol": "udp", "destination": "10.1.0.0/16" },
          "impairment": loss(2.0) },
    ] });
    let path = "/v1/impairments/port1";
    assert_eq!(first.call("PUT", path, &rules).status, 200);
    drop(first);
    let second = open(Some(file.as_path()));
    let names = |bench: &Bench| {
        let rules = state(bench, "port1")["impairment"]["rules"].clone();
        let names = rules.as_array().unwrap().iter();
        names.map(|rule| rule["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&second), ["ssh-to", "voip"]);
    assert_eq!(state(&second, "port1")["impairment"], rules);
    let stats = second.call("GET", "/v1/impairments/port1/stats", &Value::Null).json();
    assert!(stats["rules"].to_string().contains("voip"), "{stats}");
    // A refused change keeps the names, also over the next restart.
    let refused = json!({ "loss": { "model": "gilbert-elliott", "p": 0.1, "r": 0.5,
        "one_minus_h": 0.0, "one_minus_k": 1.0 }, "rules": [
        { "name": "other", "match": { "protocol": "icmp" }, "impairment": loss(1.0) }] });
    assert_eq!(second.call("PUT", path, &refused).status, 422);
    drop(second);
    let third = open(Some(file.as_path()));
    assert_eq!(names(&third), ["ssh-to", "voip"]);
    drop(third);
    // Without the file the kernel has numbers only.
    assert_eq!(names(&open(None)), ["rule1", "rule2"]);
}
