//! Light requests beside long analyses of many clients.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode, header};
use groundwave_model::terrain::{Flat, GeoPoint, Terrain, TerrainSource, TerrainUse};
use serde_json::{Value, json};

use super::Bench;

/// Clients that ask for a long analysis.
const CLIENTS: u8 = 16;

/// Flat ground whose heights north of 50 degrees are not known before the gate opens.
#[derive(Default)]
struct Gated {
    flat: Flat,
    /// Readers that came to the gate, and the gate: open or not.
    gate: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Gated {
    fn pass(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.0 += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(gate, |(_, open)| !*open).unwrap());
    }

    fn await_reader(&self) {
        let gate = self.gate.lock().unwrap();
        drop(self.changed.wait_while(gate, |(readers, _)| *readers == 0));
    }

    fn open(&self) {
        self.gate.lock().unwrap().1 = true;
        self.changed.notify_all();
    }

    /// Opens the gate after a minute: a request that waits for it ends, and the test fails.
    fn open_at_last(&self) {
        let gate = self.gate.lock().unwrap();
        let minute = Duration::from_secs(60);
        let waited = self.changed.wait_timeout_while(gate, minute, |(_, open)| !*open);
        drop(waited);
        self.open();
    }
}

/// Opens the gate on drop: a failed test ends.
struct Opener<'a>(&'a Gated);

impl Drop for Opener<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

impl Terrain for Gated {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        if lat_deg.iter().any(|lat| *lat > 50.0) {
            self.pass();
        }
        self.flat.sample(lat_deg, lon_deg, elevation_msl_m)
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.flat.undulation_m(at)
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.flat.resolution_arcsec(at)
    }

    fn describe(&self) -> TerrainSource {
        self.flat.describe()
    }

    fn files(&self) -> BTreeMap<String, String> {
        self.flat.files()
    }
}

/// A deployment with `count` nodes at this latitude.
fn plan(bench: &Bench, lat: f64, count: u32) -> (String, Vec<String>) {
    let deployment = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{deployment}/nodes");
    let node =
        |number: u32| json!({ "name": "n", "lat": lat, "lon": 11.0 + 0.01 * f64::from(number) });
    let nodes = (0..count).map(|number| bench.make(&path, &node(number))).collect();
    (deployment, nodes)
}

#[test]
fn light_requests_are_answered_while_long_analyses_wait() {
    let terrain = Arc::new(Gated::default());
    let bench = Bench::over(terrain.clone());
    let (large, _) = plan(&bench, 57.0, 20);
    let (_, light) = plan(&bench, 10.0, 2);
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (bench, answered, large) = (&bench, &answered, &large);
        for client in 1..=CLIENTS {
            scope.spawn(move || {
                let peer = SocketAddr::from((Ipv4Addr::new(192, 0, 2, client), 40_000));
                let request = Request::post("/api/v1/mesh/recommend-protocol")
                    .header(header::CONTENT_TYPE, "application/json")
                    .extension(ConnectInfo(peer))
                    .body(Body::from(json!({ "deployment_id": large }).to_string()));
                let answer = bench.send(request.unwrap());
                answered.fetch_add(1, Ordering::SeqCst);
                assert_eq!(answer.status, StatusCode::OK, "{}", answer.json());
            });
        }
        let gated = &*terrain;
        scope.spawn(|| gated.open_at_last());
        let _opener = Opener(gated);
        gated.await_reader();
        let path = format!("/api/v1/nodes/{}", light[0]);
        let link = json!({ "tx_node_id": light[0], "rx_node_id": light[1], "samples": 32 });
        let place = json!({ "lat": 10.0, "lon": 10.99 });
        let export = format!("/api/v1/deployments/{large}/export?format=geojson");
        let requests = [
            ("GET", path.as_str(), &Value::Null),
            ("POST", "/api/v1/links/analyze", &link),
            ("PUT", &format!("{path}/position"), &place),
            ("GET", &export, &Value::Null),
            ("GET", "/readyz", &Value::Null),
        ];
        for (method, path, body) in requests {
            let answer = bench.call(method, path, body);
            assert_eq!(answer.status, StatusCode::OK, "{method} {path}");
            assert_eq!(answered.load(Ordering::SeqCst), 0, "{method} {path}");
        }
    });
    assert_eq!(answered.into_inner(), usize::from(CLIENTS));
}
