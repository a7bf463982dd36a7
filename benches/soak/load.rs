//! Load of the server: heartbeats, readings, plans, analyses. Acknowledged writes are noted, and
//! looked for after each restart.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::Method;
use groundwave_engine::Seed;
use groundwave_files::wall::wall_ns;
use groundwave_http::client::Client;
use groundwave_http::time::{read, rfc3339};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::nodes::heartbeat;
use crate::server::Server;

/// Connections that the nodes share.
const CONNECTIONS: u64 = 12;
/// Time between two heartbeats of a node.
const PERIOD: Duration = Duration::from_secs(10);
/// Time that any answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause before a lost connection is made again.
const PAUSE: Duration = Duration::from_millis(200);
/// Nodes of the plan, most: analyses of meshes grow with their square.
const PLANNED_MAX: usize = 40;
/// Metric of the readings that are uploaded.
const METRIC: &str = "sys.soak";

/// The load and what was acknowledged.
pub struct Load {
    tokens: Vec<String>,
    admin: String,
    planner: String,
    gateway: String,
    /// True once the load must end.
    pub stop: AtomicBool,
    /// Sequence number of the last acknowledged heartbeat of each node.
    sequences: Vec<AtomicU64>,
    /// Time of the last acknowledged reading of a node, ns since the Unix epoch.
    readings: Mutex<BTreeMap<u64, u64>>,
    /// Nodes of the plan that were acknowledged.
    plan: Mutex<Vec<Uuid>>,
    /// Acknowledged heartbeats.
    pub heartbeats: AtomicU64,
    /// Acknowledged uploads.
    pub uploads: AtomicU64,
    /// Answers that refuse.
    pub refused: AtomicU64,
    /// Answers of the planner.
    pub planned: AtomicU64,
    /// Coverages that were computed.
    pub coverages: AtomicU64,
    /// Connections lost.
    pub broken: AtomicU64,
}

/// Id of a node of the gateway.
fn node_id(number: u64) -> Uuid {
    Uuid::from_u128((2 << 64) + u128::from(number))
}

/// A connection that is made again when it is lost.
struct Line<'a> {
    load: &'a Load,
    address: &'a str,
    token: Option<&'a str>,
    client: Option<Client>,
}

impl<'a> Line<'a> {
    fn new(load: &'a Load, address: &'a str) -> Self {
        Self { load, address, token: None, client: None }
    }

    /// The answer to a request; `None` where the connection is lost.
    async fn ask(&mut self, method: Method, path: &str, body: &Value) -> Option<(u16, Value)> {
        let bytes = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        self.send(method, path, bytes).await
    }

    async fn send(&mut self, method: Method, path: &str, body: Vec<u8>) -> Option<(u16, Value)> {
        if self.client.is_none() {
            self.client = Client::tcp(self.address).await.ok();
        }
        let Some(client) = &mut self.client else {
            tokio::time::sleep(PAUSE).await;
            return None;
        };
        let answer = client.call(method, path, self.token, body);
        match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(heard)) => {
                let status = heard.status.as_u16();
                if status == 429 || status >= 500 {
                    self.load.refused.fetch_add(1, Ordering::Relaxed);
                }
                Some((status, serde_json::from_slice(&heard.body).unwrap_or(Value::Null)))
            }
            _ => {
                self.load.broken.fetch_add(1, Ordering::Relaxed);
                self.client = None;
                tokio::time::sleep(PAUSE).await;
                None
            }
        }
    }
}

impl Load {
    /// The load of a server: nodes by their tokens, an administrator by hers.
    pub fn new(tokens: Vec<String>, admin: String, server: &Server) -> Self {
        let [planner, gateway] = server.addresses();
        Self {
            sequences: tokens.iter().map(|_| AtomicU64::new(0)).collect(),
            tokens,
            admin,
            planner,
            gateway,
            stop: AtomicBool::new(false),
            readings: Mutex::default(),
            plan: Mutex::default(),
            heartbeats: AtomicU64::new(0),
            uploads: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            planned: AtomicU64::new(0),
            coverages: AtomicU64::new(0),
            broken: AtomicU64::new(0),
        }
    }

    /// Starts all of it; the tasks end once `stop` is true.
    pub fn begin(self: &Arc<Self>, runtime: &Runtime) -> Vec<JoinHandle<()>> {
        let mut tasks = Vec::new();
        for hand in 0..CONNECTIONS {
            let load = Arc::clone(self);
            tasks.push(runtime.spawn(async move { load.nodes(hand).await }));
        }
        let load = Arc::clone(self);
        tasks.push(runtime.spawn(async move { load.plan().await }));
        let load = Arc::clone(self);
        tasks.push(runtime.spawn(async move { load.watch().await }));
        tasks
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Acquire)
    }

    /// Heartbeats of a share of the nodes, and an upload of one of them in each round.
    async fn nodes(&self, hand: u64) {
        let all = self.tokens.len() as u64;
        let mut line = Line::new(self, &self.gateway);
        let mine: Vec<u64> = (hand..all).step_by(CONNECTIONS as usize).collect();
        let pause = PERIOD / u32::try_from(mine.len().max(1)).expect("a share of the nodes");
        let mut sequence = 0;
        while self.goes_on() {
            sequence += 1;
            for &number in &mine {
                line.token = Some(&self.tokens[number as usize]);
                let body = heartbeat(number, all, sequence);
                let answer = line.send(Method::POST, "/v1/nodes/heartbeat", body).await;
                if answer.is_some_and(|(status, _)| status < 300) {
                    self.sequences[number as usize].store(sequence, Ordering::Release);
                    self.heartbeats.fetch_add(1, Ordering::Relaxed);
                }
                tokio::time::sleep(pause).await;
                if !self.goes_on() {
                    return;
                }
            }
            let number = mine[sequence as usize % mine.len()];
            line.token = Some(&self.tokens[number as usize]);
            let at_ns = wall_ns() / 1_000_000 * 1_000_000;
            let sample =
                json!({ "ts": rfc3339(at_ns), "metric": METRIC, "value": sequence as f64 });
            let path = format!("/v1/nodes/{}/telemetry", node_id(number));
            let body = json!({ "samples": [sample] });
            if let Some((status, told)) = line.ask(Method::POST, &path, &body).await
                && status < 300
            {
                assert!(told["rejected"].as_array().is_none_or(Vec::is_empty), "{told}");
                let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
                readings.insert(number, at_ns);
                self.uploads.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// A plan that grows and is analysed.
    async fn plan(&self) {
        let mut line = Line::new(self, &self.planner);
        let mut chance = Seed(15).stream("soak.plan", 0, 0);
        let deployment = loop {
            let body = json!({ "name": "soak" });
            if let Some((201, made)) = line.ask(Method::POST, "/api/v1/deployments", &body).await {
                break made["id"].as_str().expect("an id").to_owned();
            }
        };
        let nodes = format!("/api/v1/deployments/{deployment}/nodes");
        while self.goes_on() {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let known = self.planned_nodes();
            if known.len() < PLANNED_MAX {
                let [lat, lon] = [chance.between(57.6, 57.8), chance.between(11.8, 12.1)];
                let body = json!({ "name": format!("n{}", known.len()), "lat": lat, "lon": lon });
                if let Some((201, made)) = line.ask(Method::POST, &nodes, &body).await {
                    let id = made["id"].as_str().and_then(|id| id.parse().ok()).expect("an id");
                    self.plan.lock().unwrap_or_else(PoisonError::into_inner).push(id);
                }
                continue;
            }
            let mut any = || known[chance.bits() as usize % known.len()];
            let (a, b) = (any(), any());
            if a == b {
                continue;
            }
            let link = json!({ "tx_node_id": a, "rx_node_id": b });
            let route = json!({ "src_node_id": a, "dst_node_id": b });
            let cover = json!({ "source_node_id": a, "radius_km": 5.0, "resolution": 24 });
            let asked = match chance.bits() % 8 {
                0 => self.cover(&mut line, &cover).await,
                1 => line.ask(Method::POST, "/api/v1/relay/plan", &link).await,
                2 | 3 => line.ask(Method::POST, "/api/v1/mesh/route", &route).await,
                _ => line.ask(Method::POST, "/api/v1/links/analyze", &link).await,
            };
            self.planned.fetch_add(u64::from(asked.is_some()), Ordering::Relaxed);
        }
    }

    /// A coverage, until it is computed.
    async fn cover(&self, line: &mut Line<'_>, asked: &Value) -> Option<(u16, Value)> {
        let (status, accepted) = line.ask(Method::POST, "/api/v1/coverage", asked).await?;
        let id = accepted["job_id"].as_str().unwrap_or_default().to_owned();
        while status < 300 && self.goes_on() {
            let path = format!("/api/v1/coverage/{id}");
            let (status, found) = line.ask(Method::GET, &path, &Value::Null).await?;
            // Jobs live in memory: a kill ends them.
            if status != 200 || found["status"] == "failed" {
                break;
            }
            if found["status"] == "done" {
                self.coverages.fetch_add(1, Ordering::Relaxed);
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Some((status, accepted))
    }

    /// An operator who looks at the mesh.
    async fn watch(&self) {
        let mut line = Line::new(self, &self.gateway);
        line.token = Some(&self.admin);
        while self.goes_on() {
            for path in ["/v1/mesh/topology", "/v1/nodes?limit=100", "/metrics"] {
                line.ask(Method::GET, path, &Value::Null).await;
                tokio::time::sleep(Duration::from_millis(700)).await;
            }
        }
    }

    fn planned_nodes(&self) -> Vec<Uuid> {
        let plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.clone()
    }

    /// Everything acknowledged that the server no longer has.
    pub async fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let all = self.tokens.len() as u64;
        let mut line = Line::new(self, &self.gateway);
        for number in 0..all {
            let sequence = self.sequences[number as usize].load(Ordering::Acquire);
            if sequence == 0 {
                continue;
            }
            // The same again is an old one, and refused, if the last was kept.
            line.token = Some(&self.tokens[number as usize]);
            let body = heartbeat(number, all, sequence);
            let path = "/v1/nodes/heartbeat";
            let status = loop {
                match line.send(Method::POST, path, body.clone()).await {
                    Some((429 | 500.., _)) | None => tokio::time::sleep(PAUSE).await,
                    Some((status, _)) => break status,
                }
            };
            if status != 409 {
                missing.push(format!("heartbeat {sequence} of node {number}: {status}"));
            }
        }
        line.token = Some(&self.admin);
        let readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (number, at_ns) in readings {
            let path = format!("/v1/nodes/{}/telemetry/latest?prefix=sys.soak", node_id(number));
            let found = line.ask(Method::GET, &path, &Value::Null).await;
            let kept = found.and_then(|(_, found)| {
                let at = read("ts", found[METRIC]["ts"].as_str()?).ok()?;
                Some(at.as_nanosecond())
            });
            if kept.is_none_or(|kept_ns| kept_ns < i128::from(at_ns)) {
                let at = rfc3339(at_ns);
                missing.push(format!("reading of node {number} at {at}: {kept:?}"));
            }
        }
        let mut line = Line::new(self, &self.planner);
        for id in self.planned_nodes() {
            let path = format!("/api/v1/nodes/{id}");
            let found = line.ask(Method::GET, &path, &Value::Null).await;
            let status = found.map(|(status, _)| status);
            if status != Some(200) {
                missing.push(format!("planned node {id}: {status:?}"));
            }
        }
        missing
    }
}
