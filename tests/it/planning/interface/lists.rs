//! Templates and presets, by the lines of the document.

use groundwave_model::radio::path_loss::Model;
use serde_json::{Value, json};

use super::{Bench, case, deployment, prove};

#[test]
fn templates_and_presets() {
    let bench = Bench::flat();
    let list = |path: &str| bench.call("GET", path, &Value::Null).json();
    assert_eq!(list("/api/v1/templates").as_array().unwrap().len(), 1);
    let id = bench.make("/api/v1/templates", &json!({ "name": "Mast", "height_agl_m": 40 }));
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
            "a missing template differs from a missing deployment",
            "POST",
            format!("/api/v1/deployments/{within}/nodes"),
            json!({ "name": "t", "lat": 1.0, "lon": 2.0, "template_id": id }),
            404,
            |v| v["detail"].as_str().unwrap().starts_with("no template"),
        ),
        case(
            "a deployment that was just created takes a node",
            "POST",
            format!("/api/v1/deployments/{within}/nodes"),
            json!({ "name": "t", "lat": 1.0, "lon": 2.0 }),
            201,
            |v| v["name"] == "t",
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
            "devices have a list of their own",
            "GET",
            "/api/v1/presets/devices",
            Value::Null,
            200,
            |v| {
                let ids =
                    |key: &str| v[key].as_array().unwrap().iter().map(|one| one["id"].clone());
                ids("radios").len() == 11
                    && ids("radios").any(|id| id == "rak4631_eu")
                    && ids("antennas").len() == 3
            },
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
        case(
            "GET presets/environment | every climate, noise and surroundings, with heights",
            "GET",
            "/api/v1/presets/environment",
            Value::Null,
            200,
            |v| {
                let count = |key: &str| v[key].as_array().unwrap().len();
                let dense = v["clutter"].as_array().unwrap().iter();
                let mut dense = dense.filter(|one| one["id"] == "dense_urban");
                [count("climates"), count("man_made_noise"), count("clutter")] == [7, 4, 6]
                    && dense.all(|one| one["representative_height_m"] == 20.0)
                    && v["vegetation"]["depth_m"] == 100.0
                    && v["multipath"]["terrain_roughness_m"] == 20.0
            },
        ),
        case(
            "GET presets/formats | what import, replay and export take",
            "GET",
            "/api/v1/presets/formats",
            Value::Null,
            200,
            |v| {
                let formats = v.as_array().unwrap();
                let that = |key: &str| -> Vec<&str> {
                    let chosen = formats.iter().filter(|one| one[key] == true);
                    chosen.map(|one| one["name"].as_str().unwrap()).collect()
                };
                that("exports") == ["geojson", "kml", "kmz", "csv", "scenario"]
                    && that("imports").contains(&"meshviewer")
                    && that("records").contains(&"nmea")
                    && !that("records").contains(&"geojson")
            },
        ),
        case(
            "GET presets/models | every model that an environment takes, the default first",
            "GET",
            "/api/v1/presets/models",
            Value::Null,
            200,
            |v| {
                let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
                let models = v.as_array().unwrap();
                let ids: Vec<_> = models.iter().map(|one| text(one, "id")).collect();
                let names: Vec<_> = Model::ALL.iter().map(ToString::to_string).collect();
                ids == names
                    && ids[0] == Model::default().to_string()
                    && models
                        .iter()
                        .all(|one| !text(one, "name").is_empty() && !text(one, "source").is_empty())
            },
        ),
    ];
    prove(&bench, cases);
}

#[test]
fn device_brings_its_antenna_to_a_node_that_has_one() {
    let bench = Bench::flat();
    let within = deployment(&bench);
    let new = json!({ "name": "t", "lat": 1.0, "lon": 2.0, "radio": { "preset": "lora_868_eu" } });
    let node = bench.make(&format!("/api/v1/deployments/{within}/nodes"), &new);
    let gain_dbi = |radio: Value| {
        let path = format!("/api/v1/nodes/{node}");
        let answer = bench.call("PATCH", &path, &json!({ "radio": radio }));
        answer.json()["radio"]["antenna"]["gain_dbi"].as_f64().unwrap()
    };
    assert_eq!(gain_dbi(json!({ "preset": "litebeam_5ac" })), 23.0);
    // A radio with a socket leaves the antenna in place, one that is named counts more than the device's.
    assert_eq!(gain_dbi(json!({ "preset": "heltec_v3_eu" })), 23.0);
    let other = json!({ "preset": "litebeam_5ac", "antenna": { "preset": "omni_5" } });
    assert_eq!(gain_dbi(other), 5.0);
}
