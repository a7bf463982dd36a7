//! Prometheus metrics of single nodes, and the dashboard that shows them.

use std::collections::BTreeSet;

use groundwave_gateway::fleet::SetGatewayClock;
use groundwave_web_gateway::services::node_metrics;
use serde_json::{Value, json};

use super::{Bench, beat};
use crate::support::root;

/// Names of the metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    types.map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

fn two_nodes() -> (Bench, String) {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    for number in [7, 8] {
        let (_, token, _) = bench.node(number);
        let mut heartbeat = beat(number, 1);
        heartbeat["metrics"] = json!({
            "mesh.signal_dbm": -61.5, "mesh.tx_mbps": 1.5, "mesh.rx_mbps": 2.5,
            "mesh.neighbor_count": 3, "i2c.lm75.temperature_c": 21.5,
        });
        bench.call(&token, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
    }
    (bench, viewer)
}

#[test]
fn nodes_are_labelled_and_their_series_bounded() {
    let (bench, viewer) = two_nodes();
    bench.get("", "/v1/metrics/nodes").problem(401);
    let answer = bench.get(&viewer, "/v1/metrics/nodes");
    answer.is(200);
    let text = String::from_utf8(answer.body).unwrap();
    let signal = text.lines().find(|line| {
        line.starts_with("groundwave_node_mesh_signal_dbm{node_id=")
            && line.contains("node=\"node-7\"")
    });
    assert!(signal.unwrap().ends_with("} -61.5"), "{text}");
    assert!(text.contains("\ngroundwave_nodes_left_out 0\n"), "{text}");
    // Each name is declared once.
    let declared = text.matches("# TYPE ").count();
    assert_eq!(names(&text).len(), declared);

    let view = bench.world.view();
    let now_ms = bench.gateway.world.wall_ns() / 1_000_000;
    let of_one = node_metrics::text(&view, now_ms, 9);
    assert!(of_one.contains("groundwave_nodes_left_out 1"), "{of_one}");
    let series = of_one.lines().filter(|line| line.contains("node_id=")).count();
    assert_eq!(series, 9);
    let none = node_metrics::text(&view, now_ms, 8);
    assert!(none.contains("groundwave_nodes_left_out 2"), "{none}");
    // Old readings are no news; liveness is.
    let later = node_metrics::text(&view, now_ms + 600_000, 100);
    assert!(!later.contains("signal_dbm") && later.contains("groundwave_node_up{"), "{later}");
}

#[test]
fn missed_heartbeats_are_those_since_the_last_one() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    let (_, token, _) = bench.node(7);
    let missed = || {
        let text = String::from_utf8(bench.get(&viewer, "/v1/metrics/nodes").body).unwrap();
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with("groundwave_node_missed_heartbeats{"));
        line.unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    let clock = |ahead_ns: u64| {
        let now_ns = bench.gateway.world.now_ns() + ahead_ns;
        let answer = bench.gateway.world.submit(SetGatewayClock { now_ns });
        bench.runtime.block_on(answer).unwrap();
    };
    let heartbeat = |seq| bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(7, seq)).is(200);
    heartbeat(1);
    assert_eq!(missed(), "0");
    // Twelve periods of silence.
    clock(62_000_000_000);
    let silent: u64 = missed().parse().unwrap();
    assert!(silent >= 2, "{silent}");
    clock(0);
    heartbeat(2);
    assert_eq!(missed(), "0");
}

#[test]
fn the_dashboard_shows_metrics_that_exist() {
    let (bench, viewer) = two_nodes();
    let totals = bench.get("", "/metrics").body;
    let nodes = bench.get(&viewer, "/v1/metrics/nodes").body;
    let text = String::from_utf8([totals, nodes].concat()).unwrap();
    let file = std::fs::read_to_string(root().join("examples/grafana/groundwave.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&file).unwrap();
    let mut panel_count = 0;
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().unwrap() {
            let expr = target["expr"].as_str().unwrap();
            let words = expr.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
            for word in words.filter(|word| word.starts_with("groundwave_") && !word.ends_with('_'))
            {
                let is_there = text.lines().any(|line| {
                    let name = line.split(['{', ' ']).next().unwrap();
                    name == word
                });
                assert!(is_there, "{word} is shown and does not exist");
                panel_count += 1;
            }
        }
    }
    assert!(panel_count >= 12, "{panel_count}");
}
