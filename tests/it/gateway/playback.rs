//! Timelines of impairments, played by the gateway through a daemon over a modelled kernel.

use serde_json::{Value, json};

use super::Bench;
use super::local_services::{LEASES, PLAYBACK, PORT1, audited, impaired};
use super::process::{admin, start_with};
use crate::impair;
use crate::support::eventually;

/// Waits until the playback is in a state.
fn played(bench: &Bench, state: &str) -> Value {
    let viewer = bench.login("viewer");
    for _ in 0..1_000 {
        let document = bench.get(&viewer, PLAYBACK).is(200);
        if document["state"] == state {
            return document;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the playback is never {state}");
}

#[test]
fn a_timeline_is_played_by_the_gateway_and_the_previous_state_restored() {
    let (bench, daemon) = impaired();
    let (viewer, admin) = (bench.login("viewer"), bench.login("admin"));
    let before = json!({ "rate": { "bps": 8_000_000, "burst_bytes": 16_000 } });
    bench.call(&admin, "PUT", PORT1, &before).is(200);
    let text = "title = \"Storm\"\nlength = \"1000s\"\n[[step]]\nat = \"0s\"\ndirection = \"port1\"\nset = { delay = \"5ms\" }\n\
                [[step]]\nat = \"100s\"\ndirection = \"port1\"\nset = { delay = \"70ms\", loss = \"2%\" }\n";
    let new = json!({ "timeline": text, "name": "storm.toml", "seek_s": 120.0 });
    assert_eq!(bench.call(&viewer, "POST", PLAYBACK, &new).problem(403), "forbidden");
    let playing = bench.call(&admin, "POST", PLAYBACK, &new).is(201);
    assert_eq!(
        (&playing["state"], &playing["title"], &playing["length_s"], &playing["steps"]),
        (&json!("playing"), &json!("Storm"), &json!(1000.0), &json!(2))
    );
    assert_eq!(playing["started_by"], "admin");
    assert!(playing["position_s"].as_f64().is_some_and(|at| (120.0..1000.0).contains(&at)));
    let now = |bench: &Bench| bench.get(&viewer, PORT1).is(200)["impairment"].clone();
    assert_eq!(now(&bench)["latency"]["duration"], 70_000_000);
    assert_eq!(playing["last"][0]["impairment"], now(&bench));
    // Under a lease: a gateway that is killed renews it no longer.
    let leases = || daemon.call("GET", "/v1/leases", &Value::Null).json();
    let lease = leases()[0].clone();
    assert_eq!(lease["owner"]["name"], "gateway, admin: storm.toml", "{lease}");
    assert!(lease["remaining"].as_u64().is_some_and(|ns| ns <= 10_000_000_000), "{lease}");
    let beneath = daemon.call("GET", "/v1/impairments/port1", &Value::Null).json();
    assert_eq!(beneath["base"], before);
    // The direction takes no other change, the other one does.
    for (method, body) in [("PUT", &before), ("DELETE", &Value::Null)] {
        assert_eq!(bench.call(&admin, method, PORT1, body).problem(409), "conflict");
    }
    let brief =
        json!({ "duration": 60_000_000_000_u64, "changes": { "port1": { "impairment": before } } });
    assert_eq!(bench.call(&admin, "POST", LEASES, &brief).problem(409), "conflict");
    let played_lease = format!("{LEASES}/{}", lease["id"]);
    assert_eq!(bench.call(&admin, "DELETE", &played_lease, &Value::Null).problem(409), "conflict");
    let other = "/v1/impairment/ports/port2";
    bench.call(&admin, "PUT", other, &before).is(200);
    assert_eq!(bench.call(&admin, "POST", PLAYBACK, &new).problem(409), "conflict");
    assert_eq!(bench.call(&viewer, "DELETE", PLAYBACK, &Value::Null).status, 403);
    let stopped = bench.call(&admin, "DELETE", PLAYBACK, &Value::Null).is(200);
    assert_eq!((&stopped["state"], &stopped["failure"]), (&json!("stopped"), &Value::Null));
    assert_eq!(now(&bench), before);
    assert_eq!(leases(), json!([]));
    // To its end, fast; the last state is left.
    let fast = json!({ "timeline": text, "seek_s": 0.0, "speed": 1000.0, "leave": true });
    bench.call(&admin, "POST", PLAYBACK, &fast).is(201);
    let ended = played(&bench, "ended");
    assert_eq!((&ended["position_s"], &ended["applied_total"]), (&json!(1000.0), &json!(2)));
    assert_eq!(now(&bench)["loss"]["pct"], 2.0);
    // The daemon refuses a state: an error at once, and nothing is left of it.
    bench.call(&admin, "PUT", PORT1, &before).is(200);
    let refused =
        json!({ "timeline": "[[step]]\nat = \"0s\"\nset = { loss_gemodel = \"0.1 0.2\" }\n" });
    let document = bench.call(&admin, "POST", PLAYBACK, &refused).is(422);
    assert!(document["detail"].as_str().unwrap().contains("gilbert-elliott"), "{document}");
    assert_eq!(played(&bench, "failed")["failure"], document["detail"]);
    assert_eq!(now(&bench), before);
    // A gateway that stops restores as well.
    bench.call(&admin, "POST", PLAYBACK, &new).is(201);
    bench.runtime.block_on(async {
        bench.gateway.stop.cancel();
        bench.gateway.playback.end_with_gateway().await;
    });
    let remainder = daemon.call("GET", "/v1/impairments/port1", &Value::Null).json();
    assert_eq!(remainder["impairment"], before);
    let starts = audited(&bench, "playback_start");
    let statuses: Vec<u64> = starts.iter().rev().map(|row| row.2).collect();
    assert_eq!(statuses, [403, 201, 409, 201, 422, 201]);
}

#[test]
fn a_killed_gateway_leaves_nothing_of_what_it_plays() {
    let daemon = impair::Bench::new();
    let socket = daemon.listen().display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let options = ["--impaird-socket", socket.as_str()];
    let mut server = start_with(folder.path(), "info", std::process::Stdio::piped(), &options);
    let token = admin(&server);
    let before = json!({ "rate": { "bps": 8_000_000, "burst_bytes": 16_000 } });
    assert!(daemon.call("PUT", "/v1/impairments/port1", &before).status.is_success());
    let text = "length = \"1000s\"\n[[step]]\nat = \"0s\"\ndirection = \"port1\"\nset = { delay = \"70ms\" }\n";
    let (status, playing) = server.post(&token, PLAYBACK, &json!({ "timeline": text }));
    assert_eq!(status, 201, "{playing}");
    let now = || {
        let state = daemon.call("GET", "/v1/impairments/port1", &Value::Null);
        state.json()["impairment"].clone()
    };
    assert_eq!(now()["latency"]["duration"], 70_000_000);
    server.kill();
    assert!(eventually(|| now() == before), "{}", now());
    assert_eq!(daemon.call("GET", "/v1/leases", &Value::Null).json(), json!([]));
}

#[test]
fn timelines_and_traces_are_checked_before_they_are_played() {
    let (bench, daemon) = impaired();
    let admin = bench.login("admin");
    let good = "[[step]]\nat = \"0s\"\nset = { delay = \"5ms\" }\n";
    for (new, pointer, expected) in [
        (json!({ "timeline": "[[step]]\nat = \"never\"\n" }), "/timeline", "never"),
        (json!({ "timeline": "at,delay\n0s,fast\n", "name": "x.csv" }), "/timeline", "x.csv:2"),
        (json!({ "timeline": "" }), "/timeline", "no step"),
        (json!({ "timeline": good, "seek_s": 1.0 }), "/seek_s", "allowed 0 to 0"),
        (json!({ "timeline": good, "speed": 0.0 }), "/speed", "0.001 to 1000"),
        (json!({ "timeline": good, "repeat": true }), "/repeat", "length above 0"),
        (json!({ "timeline": "1\n", "window_ms": 9 }), "/window_ms", "10 to 3600000"),
        (json!({ "timeline": good, "directions": vec!["port1"; 33] }), "/directions", "0 to 32"),
        (json!({ "timeline": good, "name": "x".repeat(256) }), "/name", "255"),
        (json!({ "timeline": good, "other": 1 }), "/other", "other"),
    ] {
        let document = bench.call(&admin, "POST", PLAYBACK, &new).is(422);
        assert_eq!(document["errors"][0]["pointer"], pointer, "{document}");
        assert!(document["detail"].as_str().unwrap().contains(expected), "{document}");
    }
    assert_eq!(bench.get(&admin, PLAYBACK).is(200)["state"], "idle");
    // A trace of ten seconds has the rate, the rest is beside it.
    let trace: String = (1..=10_000).step_by(12).map(|ms| format!("{ms}\n")).collect();
    let beside = json!({ "latency": { "kind": "constant", "duration": 9_000_000 } });
    let new = json!({ "timeline": trace, "name": "trace.down", "directions": ["port2"], "beside": beside });
    let playing = bench.call(&admin, "POST", PLAYBACK, &new).is(201);
    assert_eq!(playing["directions"], json!(["port2"]));
    let remainder = daemon.call("GET", "/v1/impairments/port2", &Value::Null).json();
    assert_eq!(remainder["impairment"]["latency"]["duration"], 9_000_000);
    assert!(
        remainder["impairment"]["rate"]["bps"]
            .as_u64()
            .is_some_and(|bps| (500_000..2_000_000).contains(&bps)),
        "{remainder}"
    );
    bench.call(&admin, "DELETE", PLAYBACK, &Value::Null).is(200);
}
