//! Health, deployments and nodes, by the lines of the document.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::{Bench, NOBODY, case, deployment, node, prove};

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
            case("404 | Resource not found", "GET", at, Value::Null, 404, |v| v["status"] == 404),
            case("404 | Resource not found", "DELETE", nobody, Value::Null, 404, |v| {
                v["status"] == 404
            }),
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
        case("404 | Resource not found", "GET", at, Value::Null, 404, |v| v["status"] == 404),
    ];
    prove(&bench, cases);
}

#[test]
fn deleting_a_deployment_cascades_to_its_nodes() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let ids: Vec<_> = (0..5).map(|i| node(&bench, &within, &format!("n{i}"), 57.0, 11.0)).collect();
    let deletion = bench.call("DELETE", &format!("/api/v1/deployments/{within}"), &Value::Null);
    assert_eq!(deletion.status, StatusCode::NO_CONTENT);
    for id in ids {
        let answer = bench.call("GET", &format!("/api/v1/nodes/{id}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
    }
}
