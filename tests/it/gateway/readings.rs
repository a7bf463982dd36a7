//! Readings: in heartbeats, in batches, late; folded, over a restart.

use std::time::Duration;

use groundwave_files::wall::wall_ns;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::{Bench, beat};

fn time(ms: u64) -> String {
    groundwave_http::time::rfc3339(ms * 1_000_000)
}

#[test]
fn late_readings_have_their_own_times() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(61);
    let viewer = bench.login("viewer");
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(61, 1)).is(200);
    let now_ms = wall_ns() / 1_000_000;
    let sample = |ago_s: u64, value: f64| json!({ "ts": time(now_ms - ago_s * 1_000), "metric": "sys.load1", "value": value });
    let batch = json!({ "samples": [
        sample(1_800, 1.0), sample(1_795, 3.0), sample(600, 5.0), sample(0, 7.0),
        { "ts": time(now_ms), "metric": "rm.rf", "value": 1 },
        { "ts": time(now_ms + 120_000), "metric": "sys.load1", "value": 1 },
        { "ts": "yesterday", "metric": "sys.load1", "value": 1 },
        { "ts": time(now_ms).replace('Z', "-0000"), "metric": "sys.load1", "value": 1 },
        { "ts": time(now_ms), "metric": "gps.fix_mode", "value": 1 },
        { "ts": time(now_ms - 8 * 24 * 3_600_000), "metric": "sys.load1", "value": 1 },
    ] });
    let path = format!("/v1/nodes/{id}/telemetry");
    let document = bench.call(&token, "POST", &path, &batch).is(202);
    let codes: Vec<_> = document["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["code"].as_str().unwrap())
        .collect();
    assert_eq!(
        (&document["accepted"], codes),
        (&json!(4), vec!["metric", "ts-ahead", "ts-format", "ts-format", "value", "ts-old"])
    );
    let values = |query: &str| -> Vec<f64> {
        let document = bench.get(&viewer, &format!("{path}?metric=sys.load1&{query}")).is(200);
        let points = document["series"][0]["points"].as_array().unwrap();
        points.iter().map(|point| point[1].as_f64().unwrap()).collect()
    };
    assert_eq!(values(""), [1.0, 3.0, 5.0, 7.0]);
    assert_eq!(values(&format!("to={}", time(now_ms - 1_000_000))), [1.0, 3.0]);
    assert_eq!(values("step_s=3600&agg=max").iter().copied().fold(0.0, f64::max), 7.0);
    // The same again is the same.
    bench.call(&token, "POST", &path, &json!({ "samples": [sample(1_800, 1.0)] })).is(202);
    assert_eq!(values(""), [1.0, 3.0, 5.0, 7.0]);
    let latest = bench.get(&viewer, &format!("{path}/latest?prefix=sys.")).is(200);
    assert_eq!(latest["sys.load1"]["value"], 7.0);
    let all =
        bench.get(&viewer, "/v1/telemetry/latest?metric=sys.load1&metric=mesh.tx_mbps").is(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
    bench.get(&viewer, "/v1/telemetry/latest").problem(422);
}

#[test]
fn series_without_named_metrics_are_those_of_all() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(65);
    let ts = time(wall_ns() / 1_000_000);
    let sample = |number: usize| json!({ "ts": ts, "metric": format!("i2c.probe.value_{number}"), "value": number });
    let samples: Vec<_> = (0..70).map(sample).collect();
    let path = format!("/v1/nodes/{id}/telemetry");
    let document = bench.call(&token, "POST", &path, &json!({ "samples": samples })).is(202);
    assert_eq!(document["accepted"], 70);
    let document = bench.get(&bench.login("viewer"), &path).is(200);
    let names = document["series"].as_array().unwrap().iter().map(|one| &one["metric"]);
    let of_probe = names.filter(|name| name.as_str().unwrap().starts_with("i2c.probe."));
    assert_eq!(of_probe.count(), 70);
}

#[test]
fn a_misspelt_parameter_of_a_series_lets_nothing_pass() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(64);
    let viewer = bench.login("viewer");
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(64, 1)).is(200);
    let sample = json!({ "ups_id": "hut", "ts": time(wall_ns() / 1_000_000), "power_w": 1.0 });
    bench.call(&token, "POST", "/v1/power/ups/samples", &sample).is(202);
    for path in [
        format!("/v1/nodes/{id}/telemetry?metrics=sys.load1"),
        format!("/v1/nodes/{id}/telemetry?metric=sys.load1&aggregation=max"),
        format!("/v1/nodes/{id}/telemetry/latest?metric=sys.load1"),
        "/v1/telemetry/latest?metric=sys.load1&node=x".to_owned(),
        "/v1/power/ups/hut/samples?start=2026-01-01T00:00:00Z".to_owned(),
    ] {
        bench.get(&viewer, &path).problem(400);
    }
    bench.get(&viewer, &format!("/v1/nodes/{id}/telemetry?metric=sys.load1&_=1")).is(200);
}

#[test]
fn packed_batches_are_unpacked_with_care() {
    use std::io::Write;
    let bench = Bench::new();
    let (id, token, _) = bench.node(62);
    let send = |plain: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packer.write_all(plain).unwrap();
        let mut request =
            super::request(&token, "POST", &format!("/v1/nodes/{id}/telemetry"), &Value::Null);
        request.headers_mut().insert("content-type", "application/json".parse().unwrap());
        request.headers_mut().insert("content-encoding", "gzip".parse().unwrap());
        *request.body_mut() = packer.finish().unwrap().into();
        bench.send_from("127.0.0.1".parse().unwrap(), request)
    };
    assert_eq!(send(b"{\"samples\": []}").is(202)["accepted"], 0);
    assert_eq!(send(&vec![b' '; 1 << 20]).problem(413), "payload-too-large");
}

#[test]
fn a_restart_keeps_nodes_readings_and_tokens_and_blames_nobody() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(63);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(63, 1)).is(200);
    let folder = bench.close();
    let bench = Bench::open(folder, Default::default());
    let viewer = bench.login("viewer");
    let node = bench.get(&viewer, &format!("/v1/nodes/{id}")).is(200);
    assert_eq!(node["state"], "stale");
    let events = bench.get(&viewer, &format!("/v1/nodes/{id}/events")).is(200);
    assert_eq!(events["items"][1]["reason"], "the gateway restarted");
    let ack = |seq| bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(63, seq)).is(200);
    assert_eq!(ack(2)["state"], "stale");
    assert_eq!(ack(3)["state"], "online");
    let document =
        bench.get(&viewer, &format!("/v1/nodes/{id}/telemetry?metric=mesh.tx_mbps")).is(200);
    assert_eq!(document["series"][0]["points"].as_array().unwrap().len(), 3);
}

#[test]
fn a_receiver_without_a_fix_leaves_its_node_where_it_was() {
    // As many heartbeats as the test sends are within the limit of their rate.
    let bench =
        Bench::with(Settings { heartbeat: Duration::from_millis(100), ..Settings::default() });
    let (id, token, _) = bench.node(66);
    let viewer = bench.login("viewer");
    let send = |seq: u64, metrics: Value| {
        let mut heartbeat = beat(66, seq);
        heartbeat["metrics"] = metrics;
        bench.call(&token, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
        let node = bench.get(&viewer, &format!("/v1/nodes/{id}")).is(200);
        (node["position"]["lat"].as_f64(), node["position"]["lon"].as_f64())
    };
    assert_eq!(send(1, json!({ "gps.fix_mode": 0 })), (None, None));
    let place = |fix: u8, lat: f64, lon: f64| json!({ "gps.fix_mode": fix, "gps.lat_deg": lat, "gps.lon_deg": lon });
    let there = (Some(57.5), Some(11.5));
    assert_eq!(send(2, place(3, 57.5, 11.5)), there);
    // No receiver is there, as some report before their first fix.
    assert_eq!(send(3, place(3, 0.0, 0.0)), there);
    assert_eq!(send(4, place(0, 58.0, 12.0)), there);
    assert_eq!(send(5, json!({ "gps.fix_mode": 0 })), there);
    assert_eq!(send(6, json!({ "gps.lat_deg": 58.0 })), there);
    assert_eq!(send(7, place(2, 58.5, 12.5)), (Some(58.5), Some(12.5)));
}
