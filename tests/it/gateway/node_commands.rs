//! Node commands: carried out by agent processes, expired, permitted by the owner of a machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse as _;
use groundwave_needs::needs;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::agents::{AgentProcess, wait_for};
use super::{Bench, beat};
use crate::support::{command, launcher};

/// A gateway that wants heartbeats every half second.
fn bench() -> Bench {
    Bench::with(Settings { heartbeat: Duration::from_millis(500), ..Settings::default() })
}

#[needs(namespaces)]
#[test]
fn a_machine_restarts_only_if_its_owner_permitted_it() {
    let bench = bench();
    let operator = bench.login("operator");
    let reboot = json!({ "kind": "reboot" });
    let permits = AgentProcess::start_with_init(&bench, 31, &["--allow-reboot"]);
    let other = AgentProcess::start(&bench, 32, &[]);
    for agent in [&permits, &other] {
        agent.wait_for(&bench, |node| node["state"] == "online");
    }
    let path = |agent: &AgentProcess| format!("/v1/nodes/{}/commands", agent.node);
    let document = bench.call(&operator, "POST", &path(&other), &reboot).is(422);
    assert!(document["detail"].as_str().unwrap().contains("renew_token"), "{document}");
    bench.call(&operator, "POST", &path(&permits), &reboot).is(202);
    let document =
        wait_for(&bench, &path(&permits), |document| document["items"][0]["state"] == "done");
    assert_eq!(document["items"][0]["kind"], "reboot");
    let file = permits.folder.path().join("restarted");
    let restarted = (0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        file.exists()
    });
    assert!(restarted, "process 1 was not asked");
    assert!(!other.folder.path().join("restarted").exists());
}

#[needs(namespaces)]
#[test]
fn a_machine_without_an_init_permits_no_restart() {
    // Process 1 of the namespace is the agent itself, which has no handler yet.
    let folder = super::admission::machine(33);
    let program = command(&["agent", "--no-tunnel", "--fixture", ".", "--key", "node.key"]);
    let refused = launcher("unshare")
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(program.get_program())
        .args(program.get_args())
        .arg("--allow-reboot")
        .current_dir(folder.path())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("invalid --allow-reboot: process 1"), "{error}");
}

#[test]
fn a_command_that_nobody_fetched_in_time_has_expired() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(34);
    let operator = bench.login("operator");
    let path = format!("/v1/nodes/{id}/commands");
    let join = json!({ "supported_commands": ["echo"] });
    bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
    let brief = json!({ "kind": "echo", "expires_s": 1 });
    let command = bench.call(&operator, "POST", &path, &brief).is(202);
    assert_eq!(command["state"], "queued");
    // The node sends nothing.
    wait_for(&bench, &path, |listing| listing["items"][0]["state"] == "expired");
    let ack = bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(34, 1)).is(200);
    assert_eq!(ack["commands"], json!([]));
    let result = format!("{path}/{}/result", command["command_id"].as_str().unwrap());
    bench.call(&token, "POST", &result, &json!({ "state": "done" })).problem(409);
    // As many as are kept; then a new one displaces the oldest finished one, never an open one.
    let order = json!({ "kind": "echo" });
    for _ in 0..64 {
        bench.call(&operator, "POST", &path, &order).is(202);
    }
    bench.call(&operator, "POST", &path, &order).problem(409);
}

#[test]
fn a_result_that_finds_no_space_is_reported_again() {
    let mut bench = bench();
    let refusals = Arc::new(AtomicUsize::new(3));
    let own = Arc::clone(&refusals);
    // The disk of the gateway is full for a while.
    bench.router = bench.router.clone().layer(from_fn(move |request: Request, next: Next| {
        let is_result = request.uri().path().ends_with("/result");
        let decrease = |count: usize| count.checked_sub(1);
        let is_refused =
            is_result && own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, decrease).is_ok();
        async move {
            match is_refused {
                true => StatusCode::INSUFFICIENT_STORAGE.into_response(),
                false => next.run(request).await,
            }
        }
    }));
    let agent = AgentProcess::start(&bench, 35, &[]);
    agent.wait_for(&bench, |node| node["state"] == "online");
    let path = format!("/v1/nodes/{}/commands", agent.node);
    let order = json!({ "kind": "echo", "args": { "word": "hill" } });
    bench.call(&bench.login("operator"), "POST", &path, &order).is(202);
    let is_over = |listing: &Value| {
        let state = &listing["items"][0]["state"];
        *state != "queued" && *state != "sent"
    };
    let listing = wait_for(&bench, &path, is_over);
    assert_eq!(listing["items"][0]["state"], "done", "{listing}");
    assert_eq!(listing["items"][0]["result"], "word=hill", "{listing}");
    assert_eq!(refusals.load(Ordering::Relaxed), 0);
}
