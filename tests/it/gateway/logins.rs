//! Logins: attempts that are checked, sessions that end, names in the audit log.

use std::net::IpAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use groundwave_gateway::account::AccountRole;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::process::{admin, start};
use super::{Bench, PASSWORD, request};

const LOGIN: &str = "/api/auth/login";

fn wrong(username: &str) -> Value {
    json!({ "username": username, "password": "not this one" })
}

#[test]
fn guesses_at_once_are_checked_no_more_than_guesses_in_turn() {
    let bench = Bench::new();
    let statuses = bench.runtime.block_on(async {
        let one = || {
            let router = bench.router.clone();
            let request = request("", "POST", LOGIN, &wrong("admin"));
            tokio::spawn(async move { router.oneshot(request).await.unwrap().status().as_u16() })
        };
        let sent: Vec<_> = (0..30).map(|_| one()).collect();
        let mut statuses = Vec::new();
        for answer in sent {
            statuses.push(answer.await.unwrap());
        }
        statuses
    });
    let count = |status: u16| statuses.iter().filter(|one| **one == status).count();
    assert!(count(401) <= 5, "{statuses:?}");
    assert_eq!(count(401) + count(429), 30, "{statuses:?}");
}

#[test]
fn a_guesser_locks_out_nobody_elsewhere() {
    let bench = Bench::new();
    let guesser: IpAddr = "192.0.2.66".parse().unwrap();
    for _ in 0..40 {
        bench.send_from(guesser, request("", "POST", LOGIN, &wrong("admin")));
    }
    let right = json!({ "username": "admin", "password": PASSWORD });
    let login = |source: IpAddr| bench.send_from(source, request("", "POST", LOGIN, &right));
    login(guesser).problem(429);
    login("192.0.2.9".parse().unwrap()).is(200);
}

#[test]
fn a_node_logs_in_by_its_id_too() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (id, _, _) = bench.node(51);
    let rotate = format!("/v1/nodes/{id}/rotate-credentials");
    let rotation = bench.call(&admin, "POST", &rotate, &Value::Null).is(200);
    let login = json!({ "username": id, "password": rotation["enrollment_code"] });
    let document = bench.call("", "POST", LOGIN, &login).is(200);
    let token = document["access_token"].as_str().unwrap();
    assert_eq!(bench.get(token, "/api/auth/me").is(200)["node_id"], json!(id));
    let unknown = json!({ "username": uuid::Uuid::nil(), "password": rotation["enrollment_code"] });
    bench.call("", "POST", LOGIN, &unknown).problem(401);
}

/// Starts a stream of events, does `change`, and waits for the end of the stream.
pub fn ends_after(bench: &Bench, token: &str, change: impl FnOnce()) {
    let router = bench.router.clone();
    let stream_request = request(token, "GET", "/v1/events", &Value::Null);
    let opened = bench.runtime.block_on(router.oneshot(stream_request)).unwrap();
    assert_eq!(opened.status().as_u16(), 200);
    change();
    let ended = bench.runtime.block_on(async {
        let mut body = opened.into_body().into_data_stream();
        let all = async { while body.next().await.is_some() {} };
        tokio::time::timeout(Duration::from_secs(30), all).await
    });
    assert!(ended.is_ok(), "the stream goes on");
}

#[test]
fn streams_of_events_end_with_their_token_and_account() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let token = bench.login("viewer");
    ends_after(&bench, &token, || {
        bench.call(&token, "POST", "/api/auth/logout", &Value::Null).is(204);
    });
    let token = bench.login("viewer");
    let users = bench.get(&admin, "/v1/admin/users").is(200);
    let mut users = users["items"].as_array().unwrap().iter();
    let viewer = users.find(|user| user["username"] == "viewer").unwrap();
    let path = format!("/v1/admin/users/{}", viewer["user_id"].as_str().unwrap());
    ends_after(&bench, &token, || {
        let off = json!({ "disabled": true });
        bench.call(&admin, "PATCH", &path, &off).is(200);
    });
    bench.account("other", AccountRole::Viewer);
    let token = bench.login("other");
    ends_after(&bench, &token, || {
        let change =
            json!({ "current_password": PASSWORD, "new_password": "a second pass phrase" });
        bench.call(&token, "POST", "/api/auth/password", &change).is(204);
    });
    // One that expires, without a change of the world.
    let view = bench.world.view();
    let (id, account) = view.accounts.named("operator").unwrap();
    let issued_s = bench.gateway.world.now_s() - 3_598;
    let keys = Arc::clone(&bench.gateway.tokens);
    let issued = keys.issue(id, account, AccountRole::Viewer, uuid::Uuid::nil(), issued_s);
    ends_after(&bench, &issued.unwrap().0, || {});
}

#[test]
fn the_audit_log_has_the_names_of_logins() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    for name in ["mallory", "my secret pass phrase"] {
        bench.call("", "POST", LOGIN, &wrong(name)).problem(401);
    }
    let document = bench.get(&admin, "/v1/admin/audit?action=login").is(200);
    let names = document["items"].as_array().unwrap().iter();
    let names: Vec<_> =
        names.map(|entry| (entry["name"].as_str().unwrap(), entry["outcome"].as_u64())).collect();
    assert_eq!(names, [("(no username)", Some(401)), ("mallory", Some(401)), ("admin", Some(200))]);
    let document = bench.get(&admin, "/v1/admin/audit?actor=mallory").is(200);
    assert_eq!(document["items"].as_array().unwrap().len(), 1);
}

/// A hash takes 19 MiB, and two are made at once; each thread that kept its own would have hundreds.
#[test]
fn logins_in_parallel_leave_the_memory_of_two_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let server = start(folder.path(), "info", Stdio::piped());
    admin(&server);
    let login = json!({ "username": "admin", "password": "a better password" });
    let begin_kib = server.resident_kib();
    let successes: usize = std::thread::scope(|scope| {
        let clients = [(); 8].map(|()| {
            let login = || usize::from(server.post("", "/api/auth/login", &login).0 == 200);
            scope.spawn(move || (0..20).map(|_| login()).sum::<usize>())
        });
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    // Those beyond the queue are refused.
    assert!(successes >= 40, "{successes}");
    let end_kib = server.resident_kib();
    assert!(end_kib < begin_kib + 64 * 1024, "{begin_kib} KiB before, {end_kib} KiB after");
}
