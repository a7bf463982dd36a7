//! Connections that send nothing, or stop in the middle, beside an honest node.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;
use std::time::Duration;

use axum::http::Method;
use groundwave_files::descriptors::raise_limit;
use groundwave_http::client::Client;
use groundwave_web_gateway::STREAMS_PER_ACCOUNT_MAX;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tower::ServiceExt;

use super::beat;
use super::process::{Process, admin, mast, start_with};
use crate::support::launcher;

/// Connections that are held open.
const HELD: usize = 2_100;
/// Heartbeats beside them, each on a fresh and on a kept connection.
const BEATS: u64 = 20;

async fn connect(source: Ipv4Addr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((source, 0)))?;
    socket.connect(to).await
}

/// A gateway with an admitted node, and the node's token.
fn gateway(folder: &tempfile::TempDir) -> (Process, String, SocketAddr) {
    let fast = ["--heartbeat-s", "0.1"];
    let server = start_with(folder.path(), "info", Stdio::piped(), &fast);
    let (_, token) = mast(&server, &admin(&server), 1);
    let address = server.address.parse().unwrap();
    (server, token, address)
}

/// Connections from `sources` addresses that send `words` and no more.
async fn hold(sources: u8, to: SocketAddr, words: &str) -> Vec<TcpStream> {
    let mut connections = Vec::new();
    for number in 0..HELD {
        let last = (number % usize::from(sources)) as u8 + 1;
        let mut stream = connect(Ipv4Addr::new(127, 0, 0, last), to).await.unwrap();
        // One that was closed for another counts all the same.
        let _ = stream.write_all(words.as_bytes()).await;
        connections.push(stream);
    }
    connections
}

/// Heartbeats of a node at an address of its own; the statuses.
async fn beats(to: SocketAddr, token: &str, first: u64) -> Vec<u16> {
    let node = Ipv4Addr::new(127, 0, 1, 1);
    let open =
        || async { Client::over(to.to_string(), connect(node, to).await.unwrap()).await.unwrap() };
    let mut persistent = open().await;
    let mut statuses = Vec::new();
    for number in 0..BEATS {
        for (is_fresh, seq) in [(false, first + 2 * number), (true, first + 2 * number + 1)] {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let body = beat(1, seq).to_string().into_bytes();
            let mut fresh = open().await;
            let client = if is_fresh { &mut fresh } else { &mut persistent };
            let answer = client.call(Method::POST, "/v1/nodes/heartbeat", Some(token), body).await;
            statuses.push(answer.unwrap().status.as_u16());
        }
    }
    statuses
}

#[test]
fn connections_without_requests_stop_no_heartbeat() {
    let _ = raise_limit();
    let folder = tempfile::tempdir().unwrap();
    let (server, token, address) = gateway(&folder);
    let half = "POST /v1/nodes/heartbeat HTTP/1.1\r\nHost: localhost\r\n";
    let stalled = "POST /api/auth/login HTTP/1.1\r\nHost: localhost\r\n\
                   Content-Type: application/json\r\nContent-Length: 60\r\n\r\n{";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut first = 1;
    for (sources, words) in [(1, ""), (1, half), (32, ""), (32, half), (32, stalled)] {
        let statuses = runtime.block_on(async {
            let _held = hold(sources, address, words).await;
            beats(address, &token, first).await
        });
        let what = format!("{sources} addresses, {words:?}: {statuses:?}");
        assert!(statuses.iter().all(|status| *status == 200), "{what}");
        assert_eq!(statuses.len() as u64, 2 * BEATS);
        first += 2 * BEATS;
    }
    let (status, _) = server.ask("", "GET", "/health", &Value::Null);
    assert_eq!(status, 200);
}

#[test]
fn an_account_has_a_bounded_number_of_streams() {
    let bench = super::Bench::new();
    let (viewer, admin) = (bench.login("viewer"), bench.login("admin"));
    let open = |token: &str| {
        let stream_request = super::request(token, "GET", "/v1/events", &Value::Null);
        let answer = bench.runtime.block_on(bench.router.clone().oneshot(stream_request));
        answer.unwrap()
    };
    let mut streams: Vec<_> = (0..STREAMS_PER_ACCOUNT_MAX).map(|_| open(&viewer)).collect();
    assert!(streams.iter().all(|stream| stream.status() == 200));
    let refused = open(&viewer);
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
    assert_eq!(open(&admin).status(), 200);
    streams.pop();
    assert_eq!(open(&viewer).status(), 200);
}

#[test]
fn a_server_with_few_descriptors_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("plan.db");
    let log = folder.path().join("log");
    let script = "ulimit -n 96; exec \"$0\" serve planning --bind 127.0.0.1:0 --db \"$1\"";
    let mut child = launcher("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_groundwave")])
        .arg(&db)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let address: SocketAddr = loop {
        let text = std::fs::read_to_string(&log).unwrap();
        let line = text.lines().find_map(|line| line.split_once("listening on http://"));
        if let Some((_, rest)) = line {
            break rest.split([',', ' ']).next().unwrap().parse().unwrap();
        }
        assert_eq!(child.try_wait().unwrap(), None, "{text}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let status = runtime.block_on(async {
        let mut idle = Vec::new();
        for number in 0..300 {
            let source = Ipv4Addr::new(127, 0, 0, (number % 32) as u8 + 1);
            idle.push(connect(source, address).await.unwrap());
        }
        let mine = connect(Ipv4Addr::new(127, 0, 1, 1), address).await.unwrap();
        let mut client = Client::over(address.to_string(), mine).await.unwrap();
        let body = json!({ "name": "d" });
        let answer = client.ask(Method::POST, "/api/v1/deployments", Some(&body)).await.unwrap();
        let ready = client.ask(Method::GET, "/readyz", None).await.unwrap();
        (answer.0.as_u16(), ready.0.as_u16())
    });
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(status, (201, 200));
}
