//! The interface document, line by line: each case quotes the line it proves.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, Bench};

/// A line of the document, a request, the status it asks for, and what must hold of the answer.
struct Case {
    line: &'static str,
    method: &'static str,
    path: String,
    body: Value,
    status: u16,
    holds: fn(&Value) -> bool,
}

fn case(
    line: &'static str,
    method: &'static str,
    path: impl Into<String>,
    body: Value,
    status: u16,
    holds: fn(&Value) -> bool,
) -> Case {
    Case {
        line,
        method,
        path: path.into(),
        body,
        status,
        holds,
    }
}

fn prove(bench: &Bench, cases: Vec<Case>) {
    for case in cases {
        let Answer {
            status,
            headers,
            body,
        } = bench.call(case.method, &case.path, &case.body);
        let what = format!("{} {} ({})", case.method, case.path, case.line);
        let text = String::from_utf8_lossy(&body);
        assert_eq!(status.as_u16(), case.status, "{what}: {text}");
        let found = serde_json::from_slice(&body).unwrap_or(Value::Null);
        assert!((case.holds)(&found), "{what}: {text}");
        if status.is_client_error() {
            let media = headers["content-type"].to_str().unwrap();
            assert_eq!(media, "application/problem+json", "{what}");
            assert_eq!(found["status"], status.as_u16(), "{what}");
            for field in ["type", "title", "detail"] {
                assert!(found[field].is_string(), "{what}: {field}");
            }
        }
    }
}

const NOBODY: &str = "018f0000-0000-7000-8000-000000000000";

fn deployment(bench: &Bench) -> String {
    bench.make("/api/v1/deployments", &json!({ "name": "Ridge" }))
}

fn node(bench: &Bench, within: &str, name: &str, lat: f64, lon: f64) -> String {
    let path = format!("/api/v1/deployments/{within}/nodes");
    bench.make(&path, &json!({ "name": name, "lat": lat, "lon": lon }))
}

#[test]
fn health() {
    let bench = Bench::flat();
    prove(
        &bench,
        vec![
            case(
                "GET /healthz | liveness: status, service name, version; 0.1.0 in this release",
                "GET",
                "/healthz",
                Value::Null,
                200,
                |v| v["status"] == "ok" && v["service"] == "groundwave" && v["version"] == "0.1.0",
            ),
            case(
                "GET /readyz | ready once the store is reachable and the terrain provider responds",
                "GET",
                "/readyz",
                Value::Null,
                200,
                |v| v["status"] == "ready" && v["terrain"].is_string(),
            ),
        ],
    );
}

#[test]
fn deployments() {
    let bench = Bench::flat();
    let id = deployment(&bench);
    let at = format!("/api/v1/deployments/{id}");
    let ring = json!([[11.0, 57.0], [12.0, 57.0], [12.0, 58.0], [11.0, 57.0]]);
    let region = json!({ "type": "Polygon", "coordinates": [ring] });
    let nobody = format!("/api/v1/deployments/{NOBODY}");
    prove(
        &bench,
        vec![
            case(
                "POST /api/v1/deployments | create; 201; body includes name",
                "POST",
                "/api/v1/deployments",
                json!({ "name": "Valley", "center": { "lat": 57.5, "lon": 11.5 } }),
                201,
                |v| v["name"] == "Valley" && v["center"]["lat"] == 57.5 && v["region"].is_null(),
            ),
            case(
                "GET /api/v1/deployments | list",
                "GET",
                "/api/v1/deployments",
                Value::Null,
                200,
                |v| v.as_array().unwrap().len() == 2 && v[0]["name"] == "Ridge",
            ),
            case(
                "GET /api/v1/deployments/:id | fetch one; Timestamps are RFC 3339 strings",
                "GET",
                at.clone(),
                Value::Null,
                200,
                |v| {
                    v["created_at"].as_str().unwrap().ends_with('Z')
                        && v["created_at"].as_str().unwrap().len() == 24
                        && v["updated_at"].is_string()
                },
            ),
            case(
                "PATCH | update name, center or region",
                "PATCH",
                at.clone(),
                json!({ "region": region, "center": { "lat": 57.0, "lon": 11.0 } }),
                200,
                |v| v["region"]["type"] == "Polygon" && v["name"] == "Ridge",
            ),
            case(
                "PATCH | a null region means unchanged",
                "PATCH",
                at.clone(),
                json!({ "name": "Top", "region": null, "center": null }),
                200,
                |v| {
                    v["region"]["type"] == "Polygon"
                        && v["name"] == "Top"
                        && v["center"]["lat"] == 57.0
                },
            ),
            case(
                "PATCH | to remove the region send clear_region: true",
                "PATCH",
                at.clone(),
                json!({ "clear_region": true }),
                200,
                |v| v["region"].is_null() && v["name"] == "Top",
            ),
            case(
                "404 | Resource not found",
                "PATCH",
                nobody.clone(),
                json!({ "name": "x" }),
                404,
                |v| v["type"] == "about:blank" && v["title"] == "Not Found",
            ),
            case(
                "DELETE /api/v1/deployments/:id | 204",
                "DELETE",
                at.clone(),
                Value::Null,
                204,
                Value::is_null,
            ),
            case(
                "404 | Resource not found",
                "GET",
                at,
                Value::Null,
                404,
                |v| v["status"] == 404,
            ),
            case(
                "404 | Resource not found",
                "DELETE",
                nobody,
                Value::Null,
                404,
                |v| v["status"] == 404,
            ),
        ],
    );
}

#[test]
fn nodes() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let list = format!("/api/v1/deployments/{within}/nodes");
    let id = node(&bench, &within, "a", 57.5, 11.5);
    let at = format!("/api/v1/nodes/{id}");
    let radio = json!({ "preset": "lora_868_eu", "antenna": { "preset": "yagi_12" } });
    let cases = vec![
        case(
            "POST /api/v1/deployments/:id/nodes | create; 201",
            "POST",
            list.clone(),
            json!({
                "name": "b", "role": "sensor", "lat": 57.6, "lon": 11.6, "height_agl_m": 4.5,
                "radio": radio, "pointing": { "azimuth_deg": 90.0, "elevation_deg": 1.0 },
            }),
            201,
            |v| {
                v["role"] == "sensor"
                    && v["height_agl_m"] == 4.5
                    && v["radio"]["frequency_mhz"] == 868.1
                    && v["pointing"]["azimuth_deg"] == 90.0
            },
        ),
        case(
            "GET /api/v1/deployments/:id/nodes | list nodes of a deployment",
            "GET",
            list,
            Value::Null,
            200,
            |v| v.as_array().unwrap().len() == 2 && v[0]["name"] == "a",
        ),
        case(
            "GET /api/v1/nodes/:id | id, deployment reference, name, role, position (lat, lon), \
             height, radio configuration, pointing configuration",
            "GET",
            at.clone(),
            Value::Null,
            200,
            |v| {
                v["deployment_id"].is_string()
                    && v["lat"] == 57.5
                    && v["lon"] == 11.5
                    && v["height_agl_m"] == 10.0
                    && v["radio"]["antenna"]["gain_dbi"].is_number()
                    && v["pointing"].is_null()
            },
        ),
        case(
            "PATCH /api/v1/nodes/:id | update name, role, height, radio or pointing",
            "PATCH",
            at.clone(),
            json!({
                "name": "A", "role": "command", "height_agl_m": 30,
                "radio": { "tx_power_dbm": 17 }, "pointing": { "azimuth_deg": 10.0 },
            }),
            200,
            |v| {
                v["name"] == "A"
                    && v["role"] == "command"
                    && v["height_agl_m"] == 30.0
                    && v["radio"]["tx_power_dbm"] == 17.0
                    && v["radio"]["frequency_mhz"] == 5580.0
                    && v["pointing"]["azimuth_deg"] == 10.0
            },
        ),
        case(
            "PUT /api/v1/nodes/:id/position | body lat, lon, optional height",
            "PUT",
            format!("{at}/position"),
            json!({ "lat": 58.0, "lon": 12.0 }),
            200,
            |v| v["lat"] == 58.0 && v["lon"] == 12.0 && v["height_agl_m"] == 30.0,
        ),
        case(
            "PUT /api/v1/nodes/:id/position | body lat, lon, optional height",
            "PUT",
            format!("{at}/position"),
            json!({ "lat": 58.1, "lon": 12.1, "height_agl_m": 2 }),
            200,
            |v| v["lat"] == 58.1 && v["height_agl_m"] == 2.0 && v["name"] == "A",
        ),
        case(
            "DELETE /api/v1/nodes/:id | 204",
            "DELETE",
            at.clone(),
            Value::Null,
            204,
            Value::is_null,
        ),
        case(
            "404 | Resource not found",
            "GET",
            at,
            Value::Null,
            404,
            |v| v["status"] == 404,
        ),
    ];
    prove(&bench, cases);
}

#[test]
fn deleting_a_deployment_cascades_to_its_nodes() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let ids: Vec<_> = (0..5)
        .map(|i| node(&bench, &within, &format!("n{i}"), 57.0, 11.0))
        .collect();
    let gone = bench.call(
        "DELETE",
        &format!("/api/v1/deployments/{within}"),
        &Value::Null,
    );
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    for id in ids {
        let answer = bench.call("GET", &format!("/api/v1/nodes/{id}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
}

#[test]
fn templates_and_presets() {
    let bench = Bench::flat();
    let list = |path: &str| bench.call("GET", path, &Value::Null).json();
    assert_eq!(list("/api/v1/templates").as_array().unwrap().len(), 1);
    let id = bench.make(
        "/api/v1/templates",
        &json!({ "name": "Mast", "height_agl_m": 40 }),
    );
    let within = deployment(&bench);
    let cases = vec![
        case(
            "POST /api/v1/templates | a duplicate name gives 409",
            "POST",
            "/api/v1/templates",
            json!({ "name": "Mast" }),
            409,
            |v| v["detail"].as_str().unwrap().contains("Mast"),
        ),
        case(
            "a node may start from a template",
            "POST",
            format!("/api/v1/deployments/{within}/nodes"),
            json!({ "name": "t", "lat": 1.0, "lon": 2.0, "template_id": id }),
            201,
            |v| v["height_agl_m"] == 40.0,
        ),
        case(
            "DELETE /api/v1/templates/:id | delete",
            "DELETE",
            format!("/api/v1/templates/{id}"),
            Value::Null,
            204,
            Value::is_null,
        ),
        case(
            "404 | Resource not found",
            "DELETE",
            format!("/api/v1/templates/{id}"),
            Value::Null,
            404,
            |v| v["status"] == 404,
        ),
        case(
            "GET presets/radios | eight presets",
            "GET",
            "/api/v1/presets/radios",
            Value::Null,
            200,
            |v| v.as_array().unwrap().len() == 8,
        ),
        case(
            "GET presets/antennas | nine presets",
            "GET",
            "/api/v1/presets/antennas",
            Value::Null,
            200,
            |v| v.as_array().unwrap().len() == 9,
        ),
        case(
            "GET presets/roles | five presets, each with a display color",
            "GET",
            "/api/v1/presets/roles",
            Value::Null,
            200,
            |v| {
                let ids: Vec<_> = v.as_array().unwrap().iter().map(|r| &r["id"]).collect();
                ids == ["command", "relay", "team", "sensor", "asset"]
                    && v[0]["color"].as_str().unwrap().starts_with('#')
            },
        ),
        case(
            "GET presets/modulations | BPSK 1/2 up to 256QAM 5/6",
            "GET",
            "/api/v1/presets/modulations",
            Value::Null,
            200,
            |v| v[0]["bits_per_symbol"] == 1 && v[9]["bits_per_symbol"] == 8,
        ),
    ];
    prove(&bench, cases);
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
        let (from, to) = (
            json!({ "lat": 57, "lon": 11 }),
            json!({ "lat": 57, "lon": 11.1 }),
        );
        json!({ "from": from, "to": to, "samples": samples })
    };
    fn samples(v: &Value) -> usize {
        let list = if v["profile"].is_null() {
            v
        } else {
            &v["profile"]
        };
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
                    && v["result"]["losses"]["free_space_loss_db"]
                        .as_f64()
                        .unwrap()
                        > 100.0
            },
        ),
        case(
            "links/analyze | clamped to [8, 4096]",
            "POST",
            analyze,
            link(json!(-5)),
            200,
            |v| samples(v) == 8,
        ),
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
                    && last["elevation_hae_m"] == 0.0
                    && last["distance_m"].as_f64() == v["total_distance_m"].as_f64()
            },
        ),
        case(
            "terrain/profile | clamped to [2, 4096]",
            "POST",
            ground,
            profile(5000),
            200,
            |v| samples(v) == 4096,
        ),
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
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        body
    };
    let relay = |rate: f64, hops: i64, strategy: &str| {
        json!({
            "tx_node_id": a, "rx_node_id": c, "target_data_rate_bps": rate,
            "relay_height_agl_m": 12, "max_hops": hops, "strategy": strategy,
        })
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
            route(
                &a,
                &c,
                json!({ "target_data_rate_bps": 1e6, "metric": "bottleneck" }),
            ),
            200,
            |v| {
                let segments = v["segments"].as_array().unwrap();
                v["meets_target"] == true
                    && segments
                        .iter()
                        .all(|s| s["data_rate_bps"].as_f64().unwrap() >= 1e6)
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
            "relay/plan | hop chain, per-segment link results, bottleneck rate, relay radio and \
             pointing configuration",
            "POST",
            plan,
            relay(1e6, 4, "greedy"),
            200,
            |v| {
                let hops = v["hops"].as_array().unwrap();
                v["meets_target"] == true
                    && hops[0]["role"] == "transmitter"
                    && hops[hops.len() - 1]["role"] == "receiver"
                    && v["segments"][0]["result"]["verdict"].is_string()
                    && v["segments"][0]["profile"]["samples"].is_array()
                    && v["bottleneck_rate_bps"].as_f64().unwrap() >= 1e6
                    && v["relay_radio"]["frequency_mhz"] == 5580.0
                    && v.as_object().unwrap().contains_key("relay_pointing")
            },
        ),
        case(
            "relay/plan | strategy optimal",
            "POST",
            plan,
            relay(1e6, 4, "optimal"),
            200,
            |v| v["meets_target"] == true && v["strategy"] == "optimal",
        ),
        case(
            "relay/plan | until max_hops is exceeded",
            "POST",
            plan,
            relay(1e12, 2, "greedy"),
            200,
            |v| v["meets_target"] == false && v["shortfall"]["reason"].is_string(),
        ),
        case(
            "400 | Bad request",
            "POST",
            plan,
            relay(-1.0, 2, "greedy"),
            400,
            |v| {
                v["detail"]
                    .as_str()
                    .unwrap()
                    .contains("target_data_rate_bps")
            },
        ),
        case(
            "mesh/recommend-protocol | ranked; score, overhead class, convergence class, reasons, \
             tradeoffs; BATMAN-adv, Babel, OLSRv2, HWMP/802.11s, AODV, static",
            "POST",
            advise,
            json!({ "deployment_id": within }),
            200,
            |v| {
                let ranked = v["protocols"].as_array().unwrap();
                let scores: Vec<_> = ranked
                    .iter()
                    .map(|p| p["score"].as_f64().unwrap())
                    .collect();
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
