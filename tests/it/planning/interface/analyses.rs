//! Links, ground, relays, routes and advice, by the lines of the document.

use serde_json::{Value, json};

use super::{Bench, NOBODY, case, deployment, node, prove};

/// The first relay of a chain; null without one.
fn first_relay(chain: &Value) -> &Value {
    const NONE: &Value = &Value::Null;
    let hops = chain["hops"].as_array().unwrap();
    hops.iter().find(|hop| hop["role"] == "relay").unwrap_or(NONE)
}

#[test]
fn analyses_of_links_and_ground() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let a = node(&bench, &within, "a", 57.0, 11.0);
    let b = node(&bench, &within, "b", 57.0, 11.1);
    let link = |samples: Value| {
        let mut body = json!({ "tx_node_id": a, "rx_node_id": b });
        if !samples.is_null() {
            body["samples"] = samples;
        }
        body
    };
    let profile = |samples: i64| {
        let (from, to) = (json!({ "lat": 57, "lon": 11 }), json!({ "lat": 57, "lon": 11.1 }));
        json!({ "from": from, "to": to, "samples": samples })
    };
    fn samples(v: &Value) -> usize {
        let list = if v["profile"].is_null() { v } else { &v["profile"] };
        list["samples"].as_array().unwrap().len()
    }
    let analyze = "/api/v1/links/analyze";
    let ground = "/api/v1/terrain/profile";
    let cases = vec![
        case(
            "links/analyze | samples default 256; sampled terrain profile and full LinkResult",
            "POST",
            analyze,
            link(Value::Null),
            200,
            |v| {
                samples(v) == 256
                    && v["result"]["verdict"].is_string()
                    && v["result"]["losses"]["free_space_loss_db"].as_f64().unwrap() > 100.0
            },
        ),
        case("links/analyze | clamped to [8, 4096]", "POST", analyze, link(json!(-5)), 200, |v| {
            samples(v) == 8
        }),
        case(
            "links/analyze | clamped to [8, 4096]",
            "POST",
            analyze,
            link(json!(1_000_000)),
            200,
            |v| samples(v) == 4096,
        ),
        case(
            "terrain/profile | total distance, forward azimuth, per sample lat, lon, distance, \
             MSL elevation, HAE elevation; clamped to [2, 4096]",
            "POST",
            ground,
            profile(1),
            200,
            |v| {
                let last = &v["samples"][1];
                samples(v) == 2
                    && (v["total_distance_m"].as_f64().unwrap() - 6077.0).abs() < 10.0
                    && (v["forward_azimuth_deg"].as_f64().unwrap() - 90.0).abs() < 0.1
                    && last["lon"] == 11.1
                    && last["elevation_msl_m"] == 0.0
                    && last["elevation_hae_m"].is_null()
                    && last["distance_m"].as_f64() == v["total_distance_m"].as_f64()
            },
        ),
        case("terrain/profile | clamped to [2, 4096]", "POST", ground, profile(5000), 200, |v| {
            samples(v) == 4096
        }),
        case(
            "404 | Resource not found",
            "POST",
            analyze,
            json!({ "tx_node_id": a, "rx_node_id": NOBODY }),
            404,
            |v| v["detail"].as_str().unwrap().contains(NOBODY),
        ),
        case(
            "400 | Bad request",
            "POST",
            analyze,
            json!({ "tx_node_id": a, "rx_node_id": a }),
            400,
            |v| v["status"] == 400,
        ),
    ];
    prove(&bench, cases);
}

#[test]
fn relays_routes_and_advice() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let a = node(&bench, &within, "a", 57.0, 11.0);
    node(&bench, &within, "b", 57.0, 11.02);
    let c = node(&bench, &within, "c", 57.0, 11.04);
    let far = node(&bench, &within, "far", 10.0, 11.0);
    let elsewhere = deployment(&bench);
    let other = node(&bench, &elsewhere, "other", 57.0, 11.0);
    let route = |src: &str, dst: &str, extra: Value| {
        let mut body = json!({ "src_node_id": src, "dst_node_id": dst });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let relay = |rate: f64, hops: i64, strategy: &str| {
        json!({
            "tx_node_id": a, "rx_node_id": c, "target_data_rate_bps": rate,
            "relay_height_agl_m": 12, "max_hops": hops, "strategy": strategy,
        })
    };
    let with_margin = |margin_db: f64| {
        let mut body = relay(1e6, 4, "greedy");
        body["margin_db"] = json!(margin_db);
        body
    };
    let (mesh, plan) = ("/api/v1/mesh/route", "/api/v1/relay/plan");
    let advise = "/api/v1/mesh/recommend-protocol";
    let cases = vec![
        case(
            "mesh/route | path, per-segment results with PER and ETX, summary; metric default ett",
            "POST",
            mesh,
            route(&a, &c, json!({})),
            200,
            |v| {
                let segment = &v["segments"][0];
                v["summary"]["metric"] == "ett"
                    && v["pairs_left_out"] == 0
                    && v["path"].as_array().unwrap().len()
                        == v["segments"].as_array().unwrap().len() + 1
                    && segment["per"].is_number()
                    && segment["etx"].as_f64().unwrap() >= 1.0
                    && v["summary"]["bottleneck_rate_bps"].is_number()
                    && v["summary"]["single_radio_throughput_bps"].as_f64()
                        <= v["summary"]["multi_radio_throughput_bps"].as_f64()
            },
        ),
        case(
            "mesh/route | metric one of ett, etx, bottleneck, hops",
            "POST",
            mesh,
            route(&a, &c, json!({ "metric": "hops" })),
            200,
            |v| v["path"].as_array().unwrap().len() == 2,
        ),
        case(
            "mesh/route | if no path meets the target, best effort with meets_target: false",
            "POST",
            mesh,
            route(&a, &c, json!({ "target_data_rate_bps": 1e12 })),
            200,
            |v| v["meets_target"] == false && !v["path"].as_array().unwrap().is_empty(),
        ),
        case(
            "mesh/route | edges below the target are excluded",
            "POST",
            mesh,
            route(&a, &c, json!({ "target_data_rate_bps": 1e6, "metric": "bottleneck" })),
            200,
            |v| {
                let segments = v["segments"].as_array().unwrap();
                v["meets_target"] == true
                    && segments.iter().all(|s| s["data_rate_bps"].as_f64().unwrap() >= 1e6)
            },
        ),
        case(
            "mesh/route | nothing connects the two",
            "POST",
            mesh,
            route(&a, &far, json!({})),
            200,
            |v| v["path"] == json!([]) && v["no_path"]["src_side_nodes"] == 3,
        ),
        case(
            "400 | Bad request: Dijkstra runs over one deployment",
            "POST",
            mesh,
            route(&a, &other, json!({})),
            400,
            |v| v["detail"].as_str().unwrap().contains("two deployments"),
        ),
        case(
            "400 | Bad request: a link lies in the environment of one deployment",
            "POST",
            "/api/v1/links/analyze",
            json!({ "tx_node_id": a, "rx_node_id": other }),
            400,
            |v| v["detail"].as_str().unwrap().contains("two deployments"),
        ),
        case(
            "400 | Bad request: relays lie in the environment of one deployment",
            "POST",
            plan,
            json!({
                "tx_node_id": a, "rx_node_id": other, "target_data_rate_bps": 1e6,
                "relay_height_agl_m": 10.0, "max_hops": 2,
            }),
            400,
            |v| v["detail"].as_str().unwrap().contains("two deployments"),
        ),
        case(
            "relay/plan | hop chain, per-segment link results, bottleneck rate, relay radio and \
             pointing configuration",
            "POST",
            plan,
            relay(1e6, 4, "greedy"),
            200,
            |v| {
                let hops = v["hops"].as_array().unwrap();
                v["meets_target"] == true
                    && v["margin_db"] == 0.0
                    && v["segments"][0]["link_margin_db"].is_number()
                    && hops[0]["role"] == "transmitter"
                    && hops[hops.len() - 1]["role"] == "receiver"
                    && v["segments"][0]["result"]["verdict"].is_string()
                    && v["segments"][0]["profile"]["samples"].is_array()
                    && v["bottleneck_rate_bps"].as_f64().unwrap() >= 1e6
                    && v["relay_radio"]["frequency_mhz"] == 5580.0
                    && v["relay_pointing"] == first_relay(v)["to_next"]
            },
        ),
        case("relay/plan | strategy optimal", "POST", plan, relay(1e6, 4, "optimal"), 200, |v| {
            let least_db = v["segments"].as_array().unwrap().iter();
            let mut least_db = least_db.map(|s| s["link_margin_db"].as_f64().unwrap());
            v["meets_target"] == true
                && v["strategy"] == "optimal"
                && v["margin_db"] == 10.0
                && least_db.all(|margin_db| margin_db >= 10.0)
        }),
        case("400 | margin", "POST", plan, with_margin(61.0), 400, |v| {
            v["detail"].as_str().unwrap().contains("margin_db")
        }),
        case(
            "relay/plan | until max_hops is exceeded",
            "POST",
            plan,
            relay(1e12, 2, "greedy"),
            200,
            |v| {
                v["meets_target"] == false
                    && v["shortfall"]["reason"].is_string()
                    && v["relay_pointing"] == first_relay(v)["to_next"]
            },
        ),
        case("400 | Bad request", "POST", plan, relay(-1.0, 2, "greedy"), 400, |v| {
            v["detail"].as_str().unwrap().contains("target_data_rate_bps")
        }),
        case(
            "mesh/recommend-protocol | ranked; score, overhead class, convergence class, reasons, \
             tradeoffs; BATMAN-adv, Babel, OLSRv2, HWMP/802.11s, AODV, static",
            "POST",
            advise,
            json!({ "deployment_id": within }),
            200,
            |v| {
                let ranked = v["protocols"].as_array().unwrap();
                let scores: Vec<_> = ranked.iter().map(|p| p["score"].as_f64().unwrap()).collect();
                ranked.len() >= 6
                    && scores.is_sorted_by(|a, b| a >= b)
                    && ranked.iter().all(|p| {
                        p["overhead_class"].is_string()
                            && p["convergence_class"].is_string()
                            && p["reasons"].is_array()
                            && p["tradeoffs"].is_array()
                    })
                    && v["sampling"]["pairs"] == 6
            },
        ),
        case(
            "404 | Resource not found",
            "POST",
            advise,
            json!({ "deployment_id": NOBODY }),
            404,
            |v| v["status"] == 404,
        ),
    ];
    prove(&bench, cases);
}
