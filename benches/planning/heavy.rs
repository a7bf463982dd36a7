//! Light requests beside clients that ask for long analyses without pause, each from an address of
//! its own.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use axum::http::Method;
use groundwave_http::client::Client;
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Load, make, measure};

/// Clients that ask for long analyses.
const GREEDY: u8 = 16;
/// Nodes of the deployment that they analyse: 45,000 pairs.
const NODES: u32 = 300;

/// A deployment and its nodes.
#[derive(Clone)]
struct Plan {
    deployment: String,
    nodes: Vec<String>,
}

async fn plan(server: &str, count: u32) -> Plan {
    let mut client = Client::tcp(server).await.unwrap();
    let named = json!({ "name": "large" });
    let deployment = make(&mut client, "/api/v1/deployments", named).await;
    let path = format!("/api/v1/deployments/{deployment}/nodes");
    let mut nodes = Vec::new();
    for number in 0..count {
        let (row, column) = (f64::from(number / 20), f64::from(number % 20));
        let node = json!({ "name": "n", "lat": 57.0 + 0.01 * row, "lon": 11.0 + 0.02 * column });
        nodes.push(make(&mut client, &path, node).await);
    }
    Plan { deployment, nodes }
}

/// A connection from `127.0.0.LAST`.
async fn connect(server: &str, last: u8) -> Client {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    let stream = socket.connect(server.parse().unwrap()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    Client::over(server.to_owned(), stream).await.unwrap()
}

/// Moves a node and asks for analyses of all nodes, until `over`. Returns the answers.
async fn greedy(server: String, last: u8, plan: Plan, over: CancellationToken) -> u32 {
    let mut client = connect(&server, last).await;
    let (first, end) = (&plan.nodes[0], &plan.nodes[plan.nodes.len() - 1]);
    let moved = format!("/api/v1/nodes/{}/position", plan.nodes[usize::from(last)]);
    let links = format!("/api/v1/deployments/{}/links?usable=true", plan.deployment);
    let route = json!({ "src_node_id": first, "dst_node_id": end, "metric": "hops" });
    let asked: [(Method, &str, Option<Value>); 3] = [
        (
            Method::POST,
            "/api/v1/mesh/recommend-protocol",
            Some(json!({ "deployment_id": plan.deployment })),
        ),
        (Method::GET, &links, None),
        (Method::POST, "/api/v1/mesh/route", Some(route)),
    ];
    let mut answers = 0;
    for (method, path, body) in asked.iter().cycle() {
        if over.is_cancelled() {
            break;
        }
        let lat = 57.0 + 1e-5 * f64::from(answers + 1) + 0.01 * f64::from(last / 20);
        let lon = 11.0 + 0.02 * f64::from(last % 20);
        let place = json!({ "lat": lat, "lon": lon });
        client.ask(Method::PUT, &moved, Some(&place)).await.unwrap();
        let (status, told) = client.ask(method.clone(), path, body.as_ref()).await.unwrap();
        assert!(status.is_success(), "{path}: {}", String::from_utf8_lossy(&told));
        answers += 1;
    }
    answers
}

/// Time until the answer to one long analysis of a client that asks for one at a time, s.
async fn modest(server: &str, plan: &Plan) -> f64 {
    let mut client = connect(server, 200).await;
    let path = format!("/api/v1/deployments/{}/links?usable=true", plan.deployment);
    let asked = Instant::now();
    let (status, _) = client.ask(Method::GET, &path, None).await.unwrap();
    assert!(status.is_success());
    asked.elapsed().as_secs_f64()
}

/// Measures the light requests alone and beside the greedy clients, and prints them.
pub async fn run(server: &str, light: &[Load]) {
    let large = plan(server, NODES).await;
    let other = plan(server, NODES / 2).await;
    let mut alone = Vec::new();
    for load in light {
        alone.push(measure(server, load).await);
    }
    let single_s = modest(server, &other).await;
    let over = CancellationToken::new();
    let clients: Vec<JoinHandle<u32>> = (0..GREEDY)
        .map(|number| {
            let asking = greedy(server.to_owned(), number + 2, large.clone(), over.clone());
            tokio::spawn(asking)
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    println!("beside {GREEDY} clients that ask for analyses of {NODES} nodes:");
    for (load, alone) in light.iter().zip(alone) {
        let beside = measure(server, load).await;
        println!(
            "{:32} alone p50 {:.2}, p99 {:.2} ms; beside them p50 {:.2}, p99 {:.2} ms, {:.0} per s",
            load.name, alone.p50_ms, alone.p99_ms, beside.p50_ms, beside.p99_ms, beside.per_s
        );
    }
    let fresh = plan(server, NODES / 2).await;
    let waited_s = modest(server, &fresh).await;
    over.cancel();
    let mut answers = 0;
    for client in clients {
        answers += client.await.unwrap();
    }
    println!(
        "an analysis of {} nodes by one more client: alone {single_s:.2} s, beside them \
         {waited_s:.2} s; the others had {answers} answers",
        NODES / 2
    );
}
