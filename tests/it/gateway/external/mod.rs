//! External systems against a real HTTP server of this machine, and what the guard refuses.

mod calls;
mod definitions;
mod guard;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use groundwave_outbound::TargetPolicy;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::Bench;

/// Request at the server.
#[derive(Debug, Clone)]
struct ReceivedRequest {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

/// Server with a few pages and a record of its requests.
struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Server {
    fn start(bench: &Bench) -> Self {
        Self::start_at(bench, "127.0.0.1:0")
    }

    fn start_at(bench: &Bench, place: &'static str) -> Self {
        let requests: Arc<Mutex<Vec<ReceivedRequest>>> = Arc::default();
        let recorder = Arc::clone(&requests);
        let pages = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let request = ReceivedRequest { method, uri: uri.clone(), headers, body };
            recorder.lock().unwrap().push(request);
            let document = include_str!("../../../fixtures/openapi/relay_30.yaml");
            async move {
                match uri.path() {
                    "/status" => (StatusCode::OK, r#"{"data":{"load":0.5,"ok":true}}"#.to_owned()),
                    "/metrics" => (StatusCode::OK, "node_load1 0.25\n".to_owned()),
                    "/openapi.yaml" => (StatusCode::OK, document.to_owned()),
                    "/moved" => (StatusCode::FOUND, "elsewhere".to_owned()),
                    "/fault" => (StatusCode::INTERNAL_SERVER_ERROR, "secret stack".to_owned()),
                    "/long" => (StatusCode::OK, "x".repeat(70_000)),
                    path if path.starts_with("/api/v2") => (StatusCode::OK, "[1,2]".to_owned()),
                    _ => (StatusCode::NOT_FOUND, "nothing".to_owned()),
                }
            }
        };
        let address = bench.runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(place).await.unwrap();
            let address = listener.local_addr().unwrap();
            let router = axum::Router::new().fallback(pages);
            let stop = tokio_util::sync::CancellationToken::new();
            tokio::spawn(groundwave_http::serve::serve(listener, router, stop));
            address
        });
        Self { address, requests }
    }

    fn last(&self) -> ReceivedRequest {
        self.requests.lock().unwrap().last().unwrap().clone()
    }
}

/// A gateway that may reach this machine, by its start flag.
fn bench() -> Bench {
    let targets = TargetPolicy {
        allowed: ["127.0.0.1", "::1"].map(|ip| ip.parse().unwrap()).into(),
        ..TargetPolicy::default()
    };
    Bench::with(Settings { targets, ..Settings::default() })
}

const SYSTEMS: &str = "/v1/external-systems";

fn system(address: SocketAddr) -> Value {
    json!({
        "name": "Relay board",
        "preset": "custom",
        "base_url": format!("http://{address}"),
        "auth": { "kind": "bearer", "token": "canary-token" },
        "checks": [
            { "metric": "load", "path": "/status", "json_pointer": "/data/load", "unit": "1" },
            { "metric": "ok", "path": "/status", "json_pointer": "/data/ok" },
            { "metric": "node_load", "path": "/metrics", "sample": "node_load1" },
        ],
    })
}

fn create(bench: &Bench, admin: &str, body: &Value) -> (String, Value) {
    let document = bench.call(admin, "POST", SYSTEMS, body).is(201);
    (format!("{SYSTEMS}/{}", document["system_id"].as_str().unwrap()), document)
}
