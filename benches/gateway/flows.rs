//! Flows that fire at once beside the heartbeats, one of them to a receiver that hangs.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::Method;
use groundwave_http::client::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Flows that fire.
pub const FLOWS: u64 = 100;
/// Time between two firings.
const PERIOD: Duration = Duration::from_secs(1);

/// Flows at a server, their receivers, and the path that fires them all.
pub struct Flows {
    fire: String,
    accepted: Arc<AtomicU64>,
    /// Accepts connections and never answers.
    _hanging: TcpListener,
}

fn step(id: &str, role: &str, kind: &str, params: &Value) -> Value {
    json!({ "step_id": id, "type": role, "kind": kind, "params": params })
}

fn flow(name: &str, steps: [Value; 2]) -> Value {
    json!({
        "name": name, "mode": "parallel", "max_concurrency": 1000, "steps": steps,
        "edges": [{ "from": "go", "to": "act" }],
    })
}

async fn post(client: &mut Client, token: &str, path: &str, body: &Value) -> Value {
    let body = body.to_string().into_bytes();
    let answer = client.call(Method::POST, path, Some(token), body).await.expect("an answer");
    let told = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(answer.status.is_success(), "{path}: {told}");
    serde_json::from_str(&told).expect("JSON")
}

/// True once the head and the body that it announces are there.
fn is_complete(heard: &[u8]) -> bool {
    let text = String::from_utf8_lossy(heard).to_lowercase();
    let Some((head, _)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head
        .split_once("content-length: ")
        .and_then(|(_, rest)| rest.lines().next()?.trim().parse().ok());
    heard.len() >= head.len() + 4 + length.unwrap_or(0)
}

async fn accept(mut stream: TcpStream, accepted: Arc<AtomicU64>) {
    let mut heard = Vec::new();
    while !is_complete(&heard) {
        match stream.read_buf(&mut heard).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
    let answer = "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        accepted.fetch_add(1, Ordering::Relaxed);
    }
}

impl Flows {
    /// Creates the flows: one that is fired by hand opens an alert, the others answer it.
    pub async fn create(address: &str, token: &str) -> Self {
        let receiver = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let hanging = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let local = |listener: &TcpListener| listener.local_addr().expect("an address");
        let (target, dead): (SocketAddr, SocketAddr) = (local(&receiver), local(&hanging));
        let accepted = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = receiver.accept().await {
                tokio::spawn(accept(stream, Arc::clone(&counted)));
            }
        });
        let mut client = Client::tcp(address).await.expect("a server");
        let alert = json!({ "message": "now", "key": "{{/execution/execution_id}}" });
        let starter =
            [step("go", "trigger", "manual", &json!({})), step("act", "action", "alert", &alert)];
        let made = post(&mut client, token, "/v1/flows", &flow("starter", starter)).await;
        for number in 0..FLOWS {
            let target = if number == 0 { dead } else { target };
            let events = json!({ "events": ["alert"] });
            let steps = [
                step("go", "trigger", "node_event", &events),
                step(
                    "act",
                    "action",
                    "webhook_out",
                    &json!({ "url": format!("http://{target}/") }),
                ),
            ];
            let flow = flow(&format!("flow {number}"), steps);
            post(&mut client, token, "/v1/flows", &flow).await;
        }
        Self {
            fire: format!("/v1/flows/{}/trigger", made["flow_id"].as_str().expect("an id")),
            accepted,
            _hanging: hanging,
        }
    }

    /// Fires all flows so many times, once a second: the notices that were expected and those that
    /// arrived.
    pub async fn fire(&self, address: &str, token: &str, times: u64) -> (u64, u64) {
        let mut client = Client::tcp(address).await.expect("a server");
        for _ in 0..times {
            tokio::time::sleep(PERIOD).await;
            post(&mut client, token, &self.fire, &json!({})).await;
        }
        tokio::time::sleep(2 * PERIOD).await;
        let expected = (FLOWS - 1) * times;
        (expected, self.accepted.swap(0, Ordering::Relaxed))
    }
}
