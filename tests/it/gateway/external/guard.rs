//! Forbidden targets and the place of secrets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groundwave_engine::Id;
use groundwave_gateway::config::{Expected, Put};
use groundwave_gateway::external::ExternalSystem;
use groundwave_web_gateway::external::poll::poll;
use groundwave_web_gateway::services::external::state::Due;
use serde_json::{Value, json};

use super::{SYSTEMS, Server, bench, create, system};
use crate::gateway::Bench;

/// An imported endpoint that is called periodically: its path and id.
fn imported(bench: &Bench, admin: &str, path: &str) -> (String, uuid::Uuid) {
    let document = include_str!("../../../fixtures/openapi/relay_30.yaml");
    let body = json!({ "document": document, "include": ["listRelays"] });
    let import = format!("{path}/import-oas");
    bench.call(admin, "POST", &import, &body).is(200);
    let listed = bench.get(admin, &format!("{path}/endpoints")).is(200);
    let id = listed["items"][0]["endpoint_id"].as_str().unwrap();
    let endpoint = format!("{path}/endpoints/{id}");
    let change = json!({ "poll": { "every_s": 5, "json_pointer": "/0", "metric": "first" } });
    bench.call(admin, "PATCH", &endpoint, &change).is(200);
    (endpoint, id.parse().unwrap())
}

/// Path and id of a system as an earlier start left it that had other flags.
fn stored(bench: &Bench, admin: &str, name: &str, base_url: &str) -> (String, uuid::Uuid) {
    let body = json!({ "name": name, "preset": "http", "base_url": "http://10.41.0.9/" });
    let (path, creation) = create(bench, admin, &body);
    let id = creation["system_id"].as_str().unwrap().parse().unwrap();
    let view = bench.world.view();
    let mut object = view.config.external_systems.get(Id::new(id)).unwrap().object.clone();
    object.base_url = base_url.to_owned();
    let command = Put::<ExternalSystem> { id: Id::new(id), object, expected: Expected::Any };
    bench.runtime.block_on(bench.gateway.world.submit(command)).unwrap();
    (path, id)
}

#[test]
fn forbidden_targets_are_refused_everywhere() {
    // No flag: this machine is forbidden, and its server is never connected.
    let bench = Bench::new();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let port = bench.runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                counted.fetch_add(1, Ordering::SeqCst);
            }
        });
        port
    });
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "metadata.google.internal",
    ];
    for (number, host) in hosts.iter().enumerate() {
        let base_url = format!("http://{host}:{port}");
        let body = json!({ "name": "Refused", "preset": "http", "base_url": base_url });
        let answer = bench.call(&admin, "POST", SYSTEMS, &body);
        assert_eq!(answer.problem(422), "target-forbidden", "{host}");
        let (path, id) = stored(&bench, &admin, &format!("S{number}"), &base_url);
        // It can be edited, and moved to an address that is allowed only.
        let mut body =
            json!({ "name": format!("T{number}"), "preset": "http", "base_url": base_url });
        bench.call(&admin, "PUT", &path, &body).is(200);
        body["base_url"] = format!("http://127.0.0.2:{port}").into();
        let answer = bench.call(&admin, "PUT", &path, &body);
        assert_eq!(answer.problem(422), "target-forbidden", "{host}");
        bench.runtime.block_on(poll(&bench.gateway, Due { system: id, endpoint: None }));
        let polled = bench.get(&admin, &path).is(200);
        let why = polled["last_error"].as_str().unwrap_or_default().to_owned();
        assert!(polled["state"] == "down" && why.contains("forbidden target"), "{host}: {polled}");
        let url = json!({ "url": format!("http://{host}:{port}/openapi.json") });
        let answer = bench.call(&admin, "POST", &format!("{path}/import-oas"), &url);
        assert_eq!(answer.problem(422), "target-forbidden", "{host}");
        if number < 6 {
            let answer = bench.call(&operator, "POST", &format!("{path}/test"), &Value::Null);
            assert_eq!(answer.problem(422), "target-forbidden", "{host}");
        }
        let (endpoint, endpoint_id) = imported(&bench, &admin, &path);
        let answer = bench.call(&operator, "POST", &format!("{endpoint}/invoke"), &json!({}));
        assert_eq!(answer.problem(422), "target-forbidden", "{host}");
        let due = Due { system: id, endpoint: Some(endpoint_id) };
        bench.runtime.block_on(poll(&bench.gateway, due));
        let polled = bench.get(&admin, &path).is(200);
        let why = polled["last_error"].as_str().unwrap();
        assert!(why.contains("forbidden target"), "{host}: {why}");
    }
    for (preset, scheme) in [("ping", "icmp"), ("meshtastic_mqtt", "mqtt")] {
        let body = json!({
            "name": "Other scheme",
            "preset": preset,
            "base_url": format!("{scheme}://127.0.0.1:{port}"),
        });
        let answer = bench.call(&admin, "POST", &format!("{SYSTEMS}/test"), &body);
        assert_eq!(answer.problem(422), "target-forbidden", "{preset}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn credentials_are_nowhere_in_clear() {
    let bench = bench();
    let server = Server::start(&bench);
    let admin = bench.login("admin");
    let (path, _) = create(&bench, &admin, &system(server.address));
    for path in [SYSTEMS, &path, &format!("{path}/metrics"), "/v1/admin/audit"] {
        let answer = bench.get(&admin, path);
        assert!(!String::from_utf8_lossy(&answer.body).contains("canary"), "{path}");
    }
    let folder = bench.close();
    let mut files = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            files += 1;
            let bytes = std::fs::read(&path).unwrap();
            let is_present = bytes.windows(12).any(|part| part == b"canary-token");
            assert!(!is_present, "{} holds the token", path.display());
        }
    }
    assert!(files >= 3, "{files} files");
}
