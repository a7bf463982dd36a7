//! Where to build next.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::Bench;

#[test]
fn the_first_site_adds_most_and_links_are_required_on_request() {
    let bench = Bench::flat();
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    let radio = json!({ "tx_power_dbm": 20.0 });
    let node = json!({ "name": "a", "lat": 57.5, "lon": 11.4, "radio": radio });
    let node = bench.make(&format!("{path}/nodes"), &node);
    let ask = |extra: Value| {
        let mut body = json!({
            "bounds": { "south": 57.4, "west": 11.3, "north": 57.6, "east": 11.7 },
            "count": 2, "radio": radio, "rx_height_agl_m": 2.0,
        });
        for (key, value) in extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        bench.call("POST", &format!("{path}/placement"), &body)
    };
    // Almost where the node stands; a little beside it; and far away.
    let points = json!([
        { "lat": 57.5, "lon": 11.4005 }, { "lat": 57.5, "lon": 11.405 }, { "lat": 57.5, "lon": 11.6 },
    ]);
    let answer = ask(json!({ "candidates": points }));
    assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.json());
    let answer = answer.json();
    let sites = answer["sites"].as_array().unwrap();
    assert_eq!((sites[0]["lon"].as_f64(), sites[1]["lon"].as_f64()), (Some(11.6), Some(11.405)));
    let figure = |site: &Value, name: &str| site[name].as_f64().unwrap();
    let covered = answer["covered_area_km2"].as_f64().unwrap();
    assert!(covered > 0.0);
    let sum = covered + figure(&sites[0], "added_area_km2") + figure(&sites[1], "added_area_km2");
    assert!((figure(&sites[1], "covered_area_km2") - sum).abs() < 1e-9);
    let area_km2 = answer["known_area_km2"].as_f64().unwrap();
    assert!((figure(&sites[1], "covered_percent") - 100.0 * sum / area_km2).abs() < 1e-9);
    assert_eq!((&sites[1]["best_node_id"], &sites[1]["links"]), (&json!(node), &json!(1)));
    let linked = ask(json!({ "candidates": points, "require_link": true })).json();
    assert_eq!((&linked["candidates"], &linked["without_link"]), (&json!(2), &json!(1)));
    // A receiver of another band decodes no site.
    let receiver = json!({ "preset": "lora_868_eu" });
    let deaf = ask(json!({ "candidates": points, "receiver": receiver })).json();
    assert_eq!(deaf["covered_area_km2"], 0.0);
    assert!(deaf["sites"].as_array().unwrap().iter().all(|site| site["added_area_km2"] == 0.0));
    // Without points, high ground: one point of each block.
    let high = ask(json!({})).json();
    assert_eq!(high["candidates"], 64);
    assert_eq!(high["sites"].as_array().unwrap().len(), 2);
    for bad in [
        json!({ "count": 0 }),
        json!({ "candidates": [] }),
        json!({ "link_margin_db": -1.0 }),
        json!({ "bounds": { "south": 1.0, "west": 0.0, "north": 0.0, "east": 1.0 } }),
    ] {
        assert_eq!(ask(bad.clone()).status, StatusCode::BAD_REQUEST, "{bad}");
    }
}
