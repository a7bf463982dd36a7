//! The planning server under load, beside a handler that does nothing, in one run: same runtime,
//! same client, same connections.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench measures the time of this machine and reports it"
)]

#[path = "planning/heavy.rs"]
mod heavy;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::Method;
use axum::routing::get;
use groundwave_files::wall::MachineClock;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::client::Client;
use groundwave_model::terrain::Terrain;
use groundwave_page::Frontend;
use groundwave_planning::{Planner, ReplayWorld, built_in, router};
use groundwave_store::RedbStore;
use groundwave_terrain::TerrainStack;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Duration of each load. A longer one would create more deployments than the limit, 100,000.
const LASTS: Duration = Duration::from_secs(3);

/// A request that every client repeats.
#[derive(Clone)]
struct Load {
    name: &'static str,
    clients: usize,
    method: Method,
    path: String,
    body: Option<Value>,
}

struct Measured {
    per_s: f64,
    p50_ms: f64,
    p99_ms: f64,
}

async fn measure(address: &str, load: &Load) -> Measured {
    let begin = Instant::now();
    let client = |load: Load, address: String| async move {
        let mut client = Client::tcp(&address).await.unwrap();
        let mut took = Vec::new();
        while begin.elapsed() < LASTS {
            let asked = Instant::now();
            let answer = client.ask(load.method.clone(), &load.path, load.body.as_ref()).await;
            let (status, body) = answer.unwrap();
            assert!(status.is_success(), "{}: {}", load.name, String::from_utf8_lossy(&body));
            took.push(asked.elapsed().as_secs_f64());
        }
        took
    };
    let clients: Vec<_> =
        (0..load.clients).map(|_| tokio::spawn(client(load.clone(), address.to_owned()))).collect();
    let mut took = Vec::new();
    for client in clients {
        took.extend(client.await.unwrap());
    }
    let lasted = begin.elapsed().as_secs_f64();
    took.sort_by(f64::total_cmp);
    let quantile = |q: f64| took[((took.len() - 1) as f64 * q) as usize] * 1e3;
    Measured { per_s: took.len() as f64 / lasted, p50_ms: quantile(0.5), p99_ms: quantile(0.99) }
}

fn resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn terrain() -> Arc<dyn Terrain> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(".data");
    let tiles = Some(folder.join("srtm")).filter(|path| path.exists());
    let geoid = Some(folder.join("geoid/WW15MGH.DAC")).filter(|path| path.exists());
    if tiles.is_none() {
        println!("no tiles in .data: links are judged over flat ground");
    }
    Arc::new(TerrainStack::open(tiles.as_deref(), geoid.as_deref()).unwrap())
}

async fn make(client: &mut Client, path: &str, body: Value) -> String {
    let (status, made) = client.ask(Method::POST, path, Some(&body)).await.unwrap();
    assert!(status.is_success());
    let made: Value = serde_json::from_slice(&made).unwrap();
    made["id"].as_str().unwrap().to_owned()
}

async fn listen(router: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}

async fn run(planner: Planner) {
    let server = listen(router(planner)).await;
    let nothing = listen(axum::Router::new().route("/", get(|| async { "nothing" }))).await;
    let mut client = Client::tcp(&server).await.unwrap();
    let d = make(&mut client, "/api/v1/deployments", json!({ "name": "d" })).await;
    let nodes = format!("/api/v1/deployments/{d}/nodes");
    let a = json!({ "name": "a", "lat": 57.70, "lon": 11.90, "height_agl_m": 20 });
    let b = json!({ "name": "b", "lat": 57.75, "lon": 11.98, "height_agl_m": 20 });
    let (a, b) = (make(&mut client, &nodes, a).await, make(&mut client, &nodes, b).await);

    let load = |name, clients, method, path: &str, body| Load {
        name,
        clients,
        method,
        path: path.to_owned(),
        body,
    };
    let no_op = load("no-op handler", 64, Method::GET, "/", None);
    let link = |samples: u32| json!({ "tx_node_id": a, "rx_node_id": b, "samples": samples });
    let one = |name, method, path: &str, body| load(name, 1, method, path, body);
    let light = [
        one("fetch a node, 1 client", Method::GET, &format!("/api/v1/nodes/{a}"), None),
        one("analyse a link, 32 samples", Method::POST, "/api/v1/links/analyze", Some(link(32))),
        one(
            "move a node, on disk",
            Method::PUT,
            &format!("/api/v1/nodes/{b}/position"),
            Some(json!({ "lat": 57.75, "lon": 11.98 })),
        ),
    ];
    let loads = [
        load("fetch a node", 64, Method::GET, &format!("/api/v1/nodes/{a}"), None),
        load("fetch a deployment", 64, Method::GET, &format!("/api/v1/deployments/{d}"), None),
        load(
            "analyse a link, 256 samples",
            16,
            Method::POST,
            "/api/v1/links/analyze",
            Some(link(256)),
        ),
        load(
            "create a deployment, on disk",
            64,
            Method::POST,
            "/api/v1/deployments",
            Some(json!({ "name": "load" })),
        ),
        load(
            "create a node, on disk",
            64,
            Method::POST,
            &nodes,
            Some(json!({ "name": "load", "lat": 1.0, "lon": 2.0 })),
        ),
    ];
    println!("{:32} {:>10} {:>8} {:>9} {:>9}", "", "per s", "ratio", "p50 ms", "p99 ms");
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    for load in loads.iter().filter(|load| load.name.contains(&wanted)) {
        // The no-op before every load, so that both see the same machine.
        let zero = measure(&nothing, &no_op).await;
        let found = measure(&server, load).await;
        println!(
            "{:32} {:>10.0} {:>8} {:>9.2} {:>9.2}",
            no_op.name, zero.per_s, "", zero.p50_ms, zero.p99_ms
        );
        println!(
            "{:32} {:>10.0} {:>8.2} {:>9.2} {:>9.2}   {:.0} MiB",
            load.name,
            found.per_s,
            found.per_s / zero.per_s,
            found.p50_ms,
            found.p99_ms,
            resident_mib()
        );
    }
    if "heavy".contains(&wanted) {
        heavy::run(&server, &light).await;
    }
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store = RedbStore::open(&folder.path().join("plan.db")).unwrap();
    let terrain = terrain();
    let mut engine = world(Arc::clone(&terrain)).build::<Snapshot>(0, 1_000_000).unwrap();
    engine.keep(store).unwrap();
    engine.handle().submit(built_in()).unwrap();
    let handle = engine.handle_of();
    let running = engine.spawn_on_demand(MachineClock::start()).unwrap();
    let planner = Planner::new(
        handle,
        terrain,
        Arc::new(|| Ok("reachable".to_owned())),
        Arc::new(|_| Err("not here".to_owned())),
        ReplayWorld::new::<Snapshot>(world),
        Arc::new(|_| Err("no logs here".to_owned())),
        Frontend::BUILT_IN,
        CancellationToken::new(),
    );
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(planner));
    let (_, ended) = running.stop();
    ended.unwrap();
}
