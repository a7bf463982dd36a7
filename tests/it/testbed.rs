//! The controller of a testbed over HTTP, without a network: what it serves, what it refuses, how it
//! keeps time.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use groundwave_engine::{Running, Throttle};
use groundwave_files::wall::MachineClock;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::serve::serve_to;
use groundwave_impaird::Peer;
use groundwave_model::radio::Role;
use groundwave_model::terrain::{Flat, GeoPoint, NoTerrain, Terrain};
use groundwave_simulation::site::{AddNode, NodeId};
use groundwave_simulation::testbed::{
    BeginTestbed, Means, MediumAccess, Protocol, Settings, Wiring,
};
use groundwave_web_testbed::{Controller, document, router};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::outline;

/// A paused testbed of two nodes a kilometre apart.
pub struct Bench {
    router: Router,
    stop: CancellationToken,
    world: Option<Running<Snapshot>>,
}

pub fn bench() -> Bench {
    over(Arc::new(Flat::default()))
}

fn over(terrain: Arc<dyn Terrain>) -> Bench {
    let mut engine = world(terrain).build::<Snapshot>(1, 1_000_000_000).unwrap();
    let handle = engine.handle();
    let settings = Settings {
        name: "bench".to_owned(),
        network: [10, 77],
        routing: Protocol::Static,
        wiring: Wiring::Link,
        names: [].into(),
        routing_of: [].into(),
        mac: MediumAccess::default(),
        bindings: Vec::new(),
        scenario: None,
    };
    handle.submit(BeginTestbed(settings)).unwrap();
    for (name, lon) in [("west", 11.0), ("east", 11.016)] {
        let add = AddNode {
            node: NodeId::named(name),
            name: name.to_owned(),
            role: Role::Relay,
            position: GeoPoint::new(57.0, lon).unwrap(),
            station: groundwave_model::sample::station(),
            deployment: None,
        };
        handle.submit(add).unwrap();
    }
    engine.tick(None).unwrap();
    let (throttle, stop) = (Throttle::default(), CancellationToken::new());
    throttle.set(0.0);
    let running = engine.spawn_throttled(MachineClock::start(), throttle.clone()).unwrap();
    let controller = Controller::new(handle, throttle, stop.clone()).on_kernel(Some(Means::Rate));
    Bench { router: router(controller), stop, world: Some(running) }
}

impl Bench {
    /// Serves on a Unix socket, from within a runtime.
    pub fn listen(&self, path: &Path) {
        let listener = UnixListener::bind(path).unwrap();
        let (router, stop) = (self.router.clone(), self.stop.clone());
        tokio::spawn(async move { serve_to::<_, Peer>(listener, router, stop).await });
    }

    async fn ask(&self, method: &str, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let request =
            Request::builder().method(method).uri(path).header("content-type", "application/json");
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        let answer = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let status = answer.status();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// The testbed after something that must succeed.
    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let (status, testbed) = self.ask(method, path, body).await;
        assert_eq!(status, StatusCode::OK, "{path}: {testbed}");
        testbed
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(world) = self.world.take() {
            let (_, ended) = world.stop();
            ended.unwrap();
        }
    }
}

fn ups(testbed: &Value) -> usize {
    let links = testbed["links"].as_array().unwrap();
    links.iter().filter(|link| link["predicted"]["up"] == true).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_and_links_are_steered() {
    let bench = bench();
    let begun = bench.call("GET", "/v1/testbed", None).await;
    assert_eq!((ups(&begun), begun["nodes"][0]["address"].clone()), (2, json!("10.77.0.1")));
    assert_eq!(ups(&bench.call("POST", "/v1/nodes/west/fail", None).await), 0);
    assert_eq!(ups(&bench.call("POST", "/v1/nodes/west/repair", None).await), 2);
    let ends = json!({"a": "west", "b": "east"});
    assert_eq!(ups(&bench.call("POST", "/v1/links/cut", Some(ends.clone())).await), 0);
    assert_eq!(ups(&bench.call("POST", "/v1/links/mend", Some(ends)).await), 2);
    let far = json!({"lat_deg": -57.0, "lon_deg": 11.0});
    let moved = bench.call("PUT", "/v1/nodes/east/position", Some(far)).await;
    assert_eq!(ups(&moved), 0);
    let near = json!({"lat_deg": 57.0, "lon_deg": 11.016});
    assert_eq!(ups(&bench.call("PUT", "/v1/nodes/east/position", Some(near)).await), 2);
    let snr = |testbed: &Value| testbed["links"][0]["snr_db"].as_f64().unwrap();
    let before = snr(&bench.call("GET", "/v1/testbed", None).await);
    let weak = json!({"tx_power_dbm": 14.0});
    for node in ["west", "east"] {
        bench.call("PATCH", &format!("/v1/nodes/{node}/station"), Some(weak.clone())).await;
    }
    let after = snr(&bench.call("GET", "/v1/testbed", None).await);
    assert!((before - after - 10.0).abs() < 0.01, "{before} dB, then {after} dB");
}

#[tokio::test(flavor = "multi_thread")]
async fn links_without_terrain_are_marked() {
    let missing = async |bench: Bench| {
        let document = bench.call("GET", "/v1/testbed", None).await;
        let link = document["links"][0].clone();
        (link["predicted"]["up"].clone(), link["missing_samples"].clone())
    };
    assert_eq!(missing(bench()).await, (json!(true), Value::Null));
    let (up, samples) = missing(over(Arc::new(NoTerrain::default()))).await;
    assert_eq!(up, true);
    assert!(samples.as_u64() > Some(0), "{samples}");
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_world_steps_on_request_only() {
    let bench = bench();
    let tick = |testbed: &Value| testbed["tick"].as_u64().unwrap();
    let first = tick(&bench.call("GET", "/v1/testbed", None).await);
    let stepped = bench.call("POST", "/v1/steps", Some(json!({"steps": 10}))).await;
    assert_eq!(tick(&stepped), first + 10);
    // A command takes one step, so that it is applied.
    let failed = bench.call("POST", "/v1/nodes/west/fail", None).await;
    assert_eq!(tick(&failed), first + 11);
    let paced = bench.call("PUT", "/v1/pace", Some(json!({"speed": 1000.0}))).await;
    assert_eq!(paced["speed"], 1000.0);
    let mut now = tick(&paced);
    for _ in 0..9_000 {
        if now > first + 100 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        now = tick(&bench.call("GET", "/v1/testbed", None).await);
    }
    assert!(now > first + 100, "the world runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_world_takes_a_step_for_a_change() {
    let bench = bench();
    // The next step is a million seconds away.
    let slow = bench.call("PUT", "/v1/pace", Some(json!({"speed": 1e-6}))).await;
    let fail = bench.call("POST", "/v1/nodes/west/fail", None);
    let failed = tokio::time::timeout(std::time::Duration::from_secs(60), fail).await.unwrap();
    assert_eq!(failed["tick"].as_u64(), slow["tick"].as_u64().map(|tick| tick + 1));
    bench.call("PUT", "/v1/pace", Some(json!({"speed": 0.0}))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_give_problems() {
    let bench = bench();
    let check = async |method: &str, path: &str, body: Value, status: u16, words: &str| {
        let (actual, problem) = bench.ask(method, path, Some(body)).await;
        assert_eq!(actual.as_u16(), status, "{path}: {problem}");
        assert!(problem["detail"].as_str().unwrap().contains(words), "{problem}");
    };
    check("POST", "/v1/nodes/north/fail", json!({}), 404, "\"north\"").await;
    check("PUT", "/v1/nodes/west/position", json!({"lat_deg": 91.0, "lon_deg": 0.0}), 400, "91")
        .await;
    check("PUT", "/v1/nodes/west/position", json!({"lat_deg": 1.0}), 400, "lon_deg").await;
    check("PATCH", "/v1/nodes/west/station", json!({"tx_power_dbm": 99.0}), 400, "tx_power_dbm")
        .await;
    check("POST", "/v1/links/cut", json!({"a": "west", "b": "west"}), 400, "allowed two nodes")
        .await;
    check("PUT", "/v1/pace", json!({"speed": -1.0}), 400, "0 to 1000").await;
    check("PUT", "/v1/pace?dry_run=1", json!({"speed": 1.0}), 400, "allowed none").await;
    check("POST", "/v1/steps", json!({"steps": 0}), 400, "1 to 100000").await;
    let lies = json!({"from": "west", "to": "east", "measured": {"sent": 1, "received": 2}});
    check("POST", "/v1/probes", lies, 400, "at most the 1 sent").await;
    let report = json!({"from": "west", "to": "east",
        "measured": {"sent": 4, "received": 3, "round_trip_ms": [1.0, 2.0, 3.0]}});
    let testbed = bench.call("POST", "/v1/probes", Some(report)).await;
    let links = testbed["links"].as_array().unwrap();
    let link = links.iter().find(|link| link["from"] == "west").unwrap();
    assert_eq!(link["measured"]["received"], 3);
    // A node out of range of all others has no link.
    let spare = json!({"name": "spare", "lat_deg": 10.0, "lon_deg": 10.0});
    bench.call("POST", "/v1/nodes", Some(spare)).await;
    let set = json!({"from": "spare", "to": "east", "values": {"loss_prob": 0.1}});
    let words = "invalid link of \"spare\": found \"east\", allowed none";
    check("PUT", "/v1/links/values", set, 400, words).await;
    bench.call("POST", "/v1/stop", None).await;
    assert!(bench.stop.is_cancelled());
}

#[test]
fn operations_and_fields_are_unchanged() {
    assert_eq!(document().dangling(), Vec::<String>::new());
    outline::assert_unchanged("testbed", document().json());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kernel_without_netem_is_shown_before_the_first_report() {
    let bench = bench();
    let begun = bench.call("GET", "/v1/testbed", None).await;
    assert_eq!(begun["kernel"], json!("rate"), "{begun}");
}
