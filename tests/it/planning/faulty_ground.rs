//! Every analysis over ground with spikes, voids and steps, with nodes at the edges of what is allowed: an
//! answer or a problem with the value, never an error of the server.

use std::sync::Arc;

use groundwave_terrain::TerrainStack;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Bench;

/// Posts along one side of a tile.
const SIDE: usize = 1201;

/// The tile N57E011: hills with a wall, spikes, pits, voids and values beyond the Earth.
fn bench() -> (tempfile::TempDir, Bench) {
    let post = |at: usize| -> i16 {
        let (row, column) = (at / SIDE, at % SIDE);
        match (row * 31 + column * 17) % 4_999 {
            0 => 8_900,
            1 => -11_000,
            2 => 32_767,
            3..9 => i16::MIN,
            _ if column > 900 => 4_000,
            _ => (300.0 + 290.0 * (row as f64 / 23.0).sin() * (column as f64 / 41.0).cos()) as i16,
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..SIDE * SIDE).flat_map(|at| post(at).to_be_bytes()).collect();
    std::fs::write(folder.path().join("N57E011.hgt"), bytes).unwrap();
    let terrain = TerrainStack::open(Some(folder.path()), None).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    (folder, bench)
}

/// A value of a range or one of its ends.
fn edge(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![3 => low..=high, 1 => Just(low), 1 => Just(high)]
}

fn position() -> impl Strategy<Value = [f64; 2]> {
    let edges = [
        [90.0, 0.0],
        [-90.0, 12.0],
        [89.999_9, -180.0],
        [57.5, 11.5],
        [57.0, 11.0],
        [58.0, 12.0],
        [0.0, 180.0],
        [0.0, -180.0],
        [-57.5, -168.5],
    ];
    prop_oneof![
        5 => (57.3..57.7, 11.3..11.9).prop_map(|(lat, lon)| [lat, lon]),
        2 => prop::sample::select(edges.to_vec()),
        1 => (-90.0..=90.0, -180.0..=180.0).prop_map(|(lat, lon)| [lat, lon]),
    ]
}

fn node() -> impl Strategy<Value = Value> {
    let radio = prop::option::of((edge(10.0, 1e5), edge(-50.0, 80.0), edge(0.0, 40.0)));
    (position(), edge(0.0, 20_000.0), radio).prop_map(|([lat, lon], height_agl_m, radio)| {
        let mut node = json!({ "lat": lat, "lon": lon, "height_agl_m": height_agl_m });
        if let Some((frequency_mhz, tx_power_dbm, noise_figure_db)) = radio {
            node["radio"] = json!({
                "frequency_mhz": frequency_mhz, "tx_power_dbm": tx_power_dbm, "noise_figure_db": noise_figure_db,
            });
        }
        node
    })
}

/// Asserts that the server has an answer or names what is invalid, and returns it.
fn call(bench: &Bench, method: &str, path: &str, body: &Value) -> Result<Value, TestCaseError> {
    let answer = bench.call(method, path, body);
    let document = answer.json();
    let status = answer.status;
    prop_assert!(
        status.is_success() || status.is_client_error(),
        "{path}: {status} {document} of {body}"
    );
    prop_assert!(
        status.is_success() || document["detail"].is_string(),
        "{path}: {status} {document}"
    );
    Ok(document)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn analyses_over_faulty_ground_are_answers_or_problems(
        nodes in prop::collection::vec(node(), 3),
        at in position(),
        rate_bps in edge(1.0, 1e9),
        rain_rate_mm_h in edge(0.0, 300.0),
        radius_km in edge(0.1, 30.0),
    ) {
        let (_folder, bench) = bench();
        let environment = json!({ "rain_rate_mm_h": rain_rate_mm_h });
        let within = json!({ "name": "d", "environment": environment });
        let deployment = call(&bench, "POST", "/api/v1/deployments", &within)?;
        let path = format!("/api/v1/deployments/{}", deployment["id"].as_str().unwrap());
        let mut ids = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let mut node = node.clone();
            node["name"] = json!(format!("n{number}"));
            ids.push(bench.make(&format!("{path}/nodes"), &node));
        }
        let [lat, lon] = at;
        let place = json!({ "lat": lat, "lon": lon, "height_agl_m": 10.0 });
        let ends = json!({ "tx_node_id": ids[0], "rx_node_id": ids[1] });
        call(&bench, "GET", &format!("{path}/links"), &Value::Null)?;
        call(&bench, "POST", &format!("{path}/links/preview"), &place)?;
        call(&bench, "POST", &format!("{path}/scan"), &place)?;
        call(&bench, "POST", "/api/v1/links/analyze", &ends)?;
        let mut relay = ends.clone();
        for strategy in ["greedy", "optimal"] {
            relay["target_data_rate_bps"] = json!(rate_bps);
            relay["strategy"] = json!(strategy);
            call(&bench, "POST", "/api/v1/relay/plan", &relay)?;
        }
        let route = json!({ "src_node_id": ids[0], "dst_node_id": ids[2], "target_data_rate_bps": rate_bps });
        call(&bench, "POST", "/api/v1/mesh/route", &route)?;
        let deployment_id = json!({ "deployment_id": deployment["id"] });
        call(&bench, "POST", "/api/v1/mesh/recommend-protocol", &deployment_id)?;
        let from = &nodes[0];
        let profile = json!({ "from": { "lat": from["lat"], "lon": from["lon"] }, "to": { "lat": lat, "lon": lon } });
        call(&bench, "POST", "/api/v1/terrain/profile", &profile)?;
        call(&bench, "GET", &format!("/api/v1/terrain/elevation?lat={lat}&lon={lon}"), &Value::Null)?;
        let [south, west] = [lat.min(89.9) - 0.05, lon.min(179.9) - 0.05].map(|deg: f64| deg.max(-90.0));
        let bounds = json!({ "south": south, "west": west, "north": south + 0.1, "east": west + 0.1 });
        call(&bench, "POST", &format!("{path}/placement"), &json!({ "bounds": bounds, "count": 2 }))?;
        let setup = json!({ "bounds": bounds, "rx_height_agl_m": 2.0, "cell_arcsec": 60.0 });
        call(&bench, "PUT", &format!("{path}/mesh-coverage"), &setup)?;
        call(&bench, "GET", &format!("{path}/mesh-coverage"), &Value::Null)?;
        let job = json!({
            "source_node_id": ids[0], "radius_km": radius_km, "resolution": 6, "samples": 64, "rx_height_agl_m": 2.0,
        });
        let job = call(&bench, "POST", "/api/v1/coverage", &job)?;
        if let Some(job) = job["job_id"].as_str() {
            let path = format!("/api/v1/coverage/{job}");
            let events = bench.call("GET", &format!("{path}/stream"), &Value::Null).body;
            let events = String::from_utf8(events).unwrap();
            prop_assert!(events.contains("event: done"), "{events}");
            call(&bench, "GET", &path, &Value::Null)?;
        }
    }
}

/// Two nodes on the western half of the tile N57E011, one beyond its wide void, and the deployment.
fn across_a_void() -> (tempfile::TempDir, Bench, String, [String; 3]) {
    let post = |at: usize| if (500..700).contains(&(at % SIDE)) { i16::MIN } else { 60 };
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..SIDE * SIDE).flat_map(|at| post(at).to_be_bytes()).collect();
    std::fs::write(folder.path().join("N57E011.hgt"), bytes).unwrap();
    let terrain = TerrainStack::open(Some(folder.path()), None).unwrap();
    let bench = Bench::over(Arc::new(terrain));
    let deployment = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{deployment}");
    let ids = [("west", 11.38), ("middle", 11.40), ("east", 11.62)].map(|(name, lon)| {
        let radio = json!({ "preset": "ptp_5g8", "antenna": { "preset": "dish_30" } });
        let node =
            json!({ "name": name, "lat": 57.5, "lon": lon, "height_agl_m": 60, "radio": radio });
        bench.make(&format!("{path}/nodes"), &node)
    });
    (folder, bench, deployment, ids)
}

#[test]
fn answers_of_the_planner_have_no_verdict_over_unknown_ground() {
    let (_folder, bench, deployment, [west, middle, east]) = across_a_void();
    let path = format!("/api/v1/deployments/{deployment}");
    let post = |path: &str, body: Value| bench.call("POST", path, &body).json();

    let links = bench.call("GET", &format!("{path}/links"), &Value::Null).json();
    assert_eq!((&links["ground"], &links["unknown_ground_links"]), (&json!("unknown"), &json!(2)));
    for link in links["links"].as_array().unwrap() {
        let is_unknown = link["ground"] == "unknown";
        for direction in ["forward", "reverse"] {
            assert_eq!(link[direction]["verdict"] == "no_link", is_unknown, "{link}");
        }
    }
    let usable = bench.call("GET", &format!("{path}/links?usable=true"), &Value::Null).json();
    assert_eq!(usable["links"].as_array().unwrap().len(), 1);
    assert_eq!((&usable["ground"], &usable["unknown_ground_links"]), (&json!("known"), &json!(0)));

    let scan = post(&format!("{path}/scan"), json!({ "node_id": west, "lat": 57.5, "lon": 11.38 }));
    let candidates = scan["candidates"].as_array().unwrap();
    assert_eq!(
        (&candidates[0]["node_id"], &candidates[0]["ground"]),
        (&json!(middle), &json!("known"))
    );
    assert_ne!(candidates[0]["verdict"], "no_link");
    assert_eq!(
        (&candidates[1]["node_id"], &candidates[1]["verdict"]),
        (&json!(east), &json!("no_link"))
    );
    assert_eq!(scan["unknown_ground_links"], 1);

    let ends = json!({ "tx_node_id": west, "rx_node_id": east, "target_data_rate_bps": 1.0 });
    for strategy in ["greedy", "optimal"] {
        let mut request = ends.clone();
        request["strategy"] = json!(strategy);
        let chain = post("/api/v1/relay/plan", request);
        assert_eq!((&chain["meets_target"], &chain["ground"]), (&json!(false), &json!("unknown")));
        assert_eq!(chain["shortfall"]["reason"], "unknown_ground", "{chain}");
        let segment = &chain["segments"][0];
        assert_eq!((&segment["closes"], &segment["ground"]), (&json!(false), &json!("unknown")));
    }

    let route =
        |to: &str| post("/api/v1/mesh/route", json!({ "src_node_id": west, "dst_node_id": to }));
    let (near, far) = (route(&middle), route(&east));
    assert_eq!((&near["meets_target"], &near["ground"]), (&json!(true), &json!("known")));
    assert_eq!((&far["meets_target"], &far["ground"]), (&json!(false), &json!("unknown")));
    assert_eq!(far["summary"]["meets_target"], false);
    assert!(far["unknown_ground_links"].as_u64().unwrap() > 0, "{far}");

    let advice = post("/api/v1/mesh/recommend-protocol", json!({ "deployment_id": deployment }));
    assert_eq!(
        (&advice["ground"], &advice["unknown_ground_links"]),
        (&json!("unknown"), &json!(2))
    );
    assert_eq!(
        (&advice["links"]["usable"], &advice["connectivity"]["links"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(advice["links"]["verdicts"]["no_link"], 2);

    // A site beyond the void has no link with the nodes before it.
    bench.call("DELETE", &format!("/api/v1/nodes/{east}"), &Value::Null);
    let bounds = json!({ "south": 57.45, "west": 11.6, "north": 57.55, "east": 11.7 });
    let site = json!([{ "lat": 57.5, "lon": 11.65 }]);
    let mut body = json!({ "bounds": bounds, "candidates": site, "height_agl_m": 60 });
    body["radio"] = json!({ "preset": "ptp_5g8", "antenna": { "preset": "dish_30" } });
    body["require_link"] = json!(true);
    let advice = post(&format!("{path}/placement"), body);
    assert_eq!(
        (&advice["candidates"], &advice["without_link"]),
        (&json!(0), &json!(1)),
        "{advice}"
    );
}
