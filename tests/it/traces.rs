//! Spans of requests, as a collector of OpenTelemetry receives them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{Method, StatusCode, header};
use axum::routing::post;
use groundwave_http::client::Client;
use serde_json::json;

use crate::planning::server::Process;
use crate::support::command;

/// Trace and parent of a request, as W3C Trace Context has them.
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID: &str = "00f067aa0ba902b7";

/// Octets of a hexadecimal text.
fn octets(text: &str) -> Vec<u8> {
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn requests_and_their_commands_are_spans_of_one_trace() {
    let folder = tempfile::tempdir().unwrap();
    let exports: Arc<Mutex<Vec<(String, Bytes)>>> = Arc::default();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sink = Arc::clone(&exports);
    let router = Router::new().route(
        "/v1/traces",
        post(async move |headers: axum::http::HeaderMap, body: Bytes| {
            let kind = headers[header::CONTENT_TYPE].to_str().unwrap().to_owned();
            sink.lock().unwrap().push((kind, body));
        }),
    );
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(async move { axum::serve(listener, router).await });
    let mut server = command(&["serve", "planning", "--bind", "127.0.0.1:0", "--db", "plan.db"]);
    server.args(["--otlp-endpoint", &endpoint]).current_dir(folder.path()).env("NO_COLOR", "1");
    let server = Process::of(server);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let body = json!({ "name": "d" }).to_string();
    write!(
        stream,
        "POST /api/v1/deployments?_=a-secret-token HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
         Traceparent: 00-{TRACE_ID}-{PARENT_ID}-01\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    // What waits is exported at the end.
    let log = server.end();
    assert!(!log.contains("not exported"), "{log}");
    let exports = exports.lock().unwrap();
    let body: Vec<u8> = exports.iter().flat_map(|(_, body)| body.to_vec()).collect();
    let count = |part: &[u8]| body.windows(part.len()).filter(|window| *window == part).count();
    assert_eq!(count(&octets(TRACE_ID)), 2, "the request and its command");
    for part in
        ["POST /api/v1/deployments", "deployment.create", "http.response.status_code", "groundwave"]
    {
        assert!(count(part.as_bytes()) > 0, "{part}");
    }
    assert_eq!(count(&octets(PARENT_ID)), 1);
    assert_eq!(count(b"a-secret-token"), 0);
    assert!(exports.iter().all(|(kind, _)| kind == "application/x-protobuf"));
}

#[test]
fn collector_that_is_away_is_logged_once_and_the_server_serves() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut server = command(&["serve", "planning", "--bind", "127.0.0.1:0", "--db", "plan.db"]);
    server.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{free}"));
    server.current_dir(folder.path()).env("NO_COLOR", "1");
    let server = Process::of(server);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let status = runtime.block_on(async {
        let mut client = Client::tcp(&server.address).await.unwrap();
        client.ask(Method::GET, "/api/v1/deployments", None).await.unwrap().0
    });
    assert_eq!(status, StatusCode::OK);
    let log = server.end();
    assert_eq!(log.matches("spans are not exported").count(), 1, "{log}");
}
