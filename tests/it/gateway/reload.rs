//! Agents that read their files again, and that start again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse as _;
use groundwave_credentials::PrivateKey;

use super::Bench;
use super::agents::AgentProcess;

#[test]
fn hangup_with_another_key_registers_anew_and_broken_files_change_nothing() {
    let bench = Bench::new();
    let agent = AgentProcess::start(&bench, 41, &[]);
    agent.wait_for(&bench, |node| node["state"] == "online");
    let file = agent.folder.path().join("node.key");
    let earlier = std::fs::read_to_string(&file).unwrap();

    // The process stays, and so does its registration.
    agent.hang_up();
    agent.wait_for_line("the registration stays");
    std::fs::write(&file, "not a key").unwrap();
    agent.hang_up();
    agent.wait_for_line("the present one stays");
    agent.wait_for(&bench, |node| node["state"] == "online");

    let key = PrivateKey::generate().unwrap();
    assert_ne!(key.to_text(), earlier.trim());
    std::fs::write(&file, key.to_text()).unwrap();
    agent.hang_up();
    agent.wait_for_line("registration begins anew");
    // A node is known by its hardware address: its new key waits for an admin.
    let path = "/v1/admin/registrations?state=pending";
    let admin = bench.login("admin");
    let mut pending = serde_json::Value::Null;
    for _ in 0..600 {
        pending = bench.get(&admin, path).is(200);
        if !pending["items"].as_array().unwrap().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(pending["items"][0]["same_mac_node_id"], agent.node.as_str(), "{pending}");
}

#[test]
fn heartbeats_of_an_agent_that_starts_again_are_later_ones() {
    let mut bench = Bench::new();
    let conflicts = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&conflicts);
    bench.router = bench.router.clone().layer(from_fn(move |request: Request, next: Next| {
        let count = Arc::clone(&count);
        async move {
            let response = next.run(request).await;
            let is_conflict = response.status() == StatusCode::CONFLICT;
            count.fetch_add(usize::from(is_conflict), Ordering::Relaxed);
            response
        }
    }));
    let mut agent = AgentProcess::start(&bench, 42, &[]);
    agent.wait_for(&bench, |node| node["state"] == "online");
    agent.restart(&bench, &[]);
    let path = format!("/v1/nodes/{}", agent.node);
    let before = bench.get(&bench.login("viewer"), &path).is(200)["last_seen"].clone();
    agent.wait_for(&bench, |node| node["last_seen"] != before);
    assert_eq!(conflicts.load(Ordering::Relaxed), 0);
}

#[test]
fn heartbeats_that_are_not_taken_are_in_the_log_of_the_agent() {
    let mut bench = Bench::new();
    bench.router = bench.router.clone().layer(from_fn(|request: Request, next: Next| async move {
        match request.uri().path().ends_with("/heartbeat") {
            true => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            false => next.run(request).await,
        }
    }));
    let agent = AgentProcess::start(&bench, 43, &[]);
    agent.wait_for_line("WARN");
    agent.wait_for_line("heartbeat: /v1/nodes/heartbeat: 503");
}
