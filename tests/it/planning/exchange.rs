//! Deployments in and out as documents, over the interface and the command line.

use serde_json::{Value, json};

use super::Bench;
use super::server::Process;
use crate::support::command;

const FORMATS: [&str; 5] = ["geojson", "kml", "kmz", "csv", "scenario"];

fn plan(bench: &Bench) -> String {
    let ring = json!([[11.0, 57.0], [12.0, 57.0], [12.0, 58.0], [11.0, 57.0]]);
    let id = bench.make(
        "/api/v1/deployments",
        &json!({
            "name": "Ås & fjäll", "center": { "lat": 57.1, "lon": 11.2 },
            "region": { "type": "Polygon", "coordinates": [ring] },
            "environment": { "climate": "maritime_temperate_land", "rain_rate_mm_h": 3.5 },
        }),
    );
    let nodes = format!("/api/v1/deployments/{id}/nodes");
    bench.make(&nodes, &json!({ "name": "a", "lat": 57.123_456_789, "lon": 11.1 }));
    bench.make(
        &nodes,
        &json!({
            "name": "mast <2>", "role": "sensor", "lat": -0.1, "lon": 179.9, "height_agl_m": 33.3,
            "radio": { "preset": "lora_868_eu", "tx_power_dbm": 13.7, "antenna": { "preset": "yagi_12" } },
            "pointing": { "azimuth_deg": 12.5, "elevation_deg": -1.25 },
        }),
    );
    id
}

/// Everything of a deployment but its ids and times.
fn essence(bench: &Bench, id: &str) -> Value {
    let mut deployment =
        bench.call("GET", &format!("/api/v1/deployments/{id}"), &Value::Null).json();
    let path = format!("/api/v1/deployments/{id}/nodes");
    let mut nodes = bench.call("GET", &path, &Value::Null).json();
    let strip = |object: &mut Value| {
        for key in ["id", "deployment_id", "created_at", "updated_at"] {
            object.as_object_mut().unwrap().remove(key);
        }
    };
    strip(&mut deployment);
    nodes.as_array_mut().unwrap().iter_mut().for_each(strip);
    nodes.as_array_mut().unwrap().sort_by_key(|node| node["name"].to_string());
    json!({ "deployment": deployment, "nodes": nodes })
}

#[test]
fn a_deployment_round_trips_through_every_format() {
    let bench = Bench::flat();
    let id = plan(&bench);
    let before = essence(&bench, &id);
    for format in FORMATS {
        let path = format!("/api/v1/deployments/{id}/export?format={format}");
        let document = bench.call("GET", &path, &Value::Null);
        assert_eq!(document.status, 200, "{format}");
        let request =
            axum::http::Request::post(format!("/api/v1/deployments/import?format={format}"))
                .header("content-type", document.media())
                .body(axum::body::Body::from(document.body))
                .unwrap();
        let answer = bench.send(request);
        let summary = answer.json();
        assert_eq!(answer.status, 201, "{format}: {summary}");
        assert_eq!((&summary["nodes"], &summary["notes"]), (&json!(2), &json!([])), "{format}");
        let id = summary["deployment"]["id"].as_str().unwrap();
        assert_eq!(essence(&bench, id), before, "{format}");
    }
}

#[test]
fn a_document_that_is_none_is_refused_with_its_place_and_leaves_nothing() {
    let bench = Bench::flat();
    let send = |format: &str, body: &'static str| {
        let path = format!("/api/v1/deployments/import?format={format}");
        let request = axum::http::Request::post(path);
        bench.send(request.body(axum::body::Body::from(body)).unwrap())
    };
    let cases = [
        ("csv", "name,lat,lon\nb,91.0,11.0\n", "line 2"),
        ("geojson", "{\"type\":\"FeatureCollection\"", "geojson"),
        ("kml", "<kml><Placemark>", "kml"),
        ("kmz", "PK", "kmz"),
        ("scenario", "[scenario]\ntitle = 7\n", "title"),
        ("pdf", "", "format"),
    ];
    for (format, body, expected) in cases {
        let answer = send(format, body);
        let document = answer.json();
        assert_eq!(answer.status, 400, "{format}: {document}");
        let detail = document["detail"].as_str().unwrap().to_lowercase();
        assert!(detail.contains(expected), "{format}: {detail}");
    }
    let all = bench.call("GET", "/api/v1/deployments", &Value::Null).json();
    assert_eq!(all, json!([]));
}

#[test]
fn document_without_a_format_is_read_by_its_content_and_named_after_its_file() {
    let bench = Bench::flat();
    let send = |query: &str, body: Vec<u8>| {
        let request = axum::http::Request::post(format!("/api/v1/deployments/import{query}"));
        bench.send(request.body(axum::body::Body::from(body)).unwrap())
    };
    let way_points = "<gpx version=\"1.1\"><wpt lat=\"57\" lon=\"11\"><name>a</name></wpt>\
                      <wpt lat=\"57.1\" lon=\"11\"><name>b</name></wpt></gpx>";
    let example = |name: &str| -> Vec<u8> {
        match name {
            "towers.gpx" => way_points.into(),
            _ => std::fs::read(crate::support::root().join("examples").join(name)).unwrap(),
        }
    };
    for (file, nodes, name) in [
        ("towers.gpx", 2, "towers"),
        ("meshviewer.json", 3, "meshviewer"),
        ("masts.csv", 3, "masts"),
        ("walk.gpx", 1, "walk"),
    ] {
        let answer = send(&format!("?file_name={file}"), example(file));
        let summary = answer.json();
        assert_eq!(answer.status, 201, "{file}: {summary}");
        assert_eq!(summary["nodes"], nodes, "{file}");
        assert_eq!(summary["deployment"]["name"], name, "{file}");
    }
    let notes =
        send("?file_name=ridge.csv", b"name,lat,lon\na,57.0,11.0\n".to_vec()).json()["notes"]
            .clone();
    assert!(notes.to_string().contains("\\\"ridge\\\" is taken"), "{notes}");
    let long = format!("?file_name={}", "x".repeat(256));
    for (query, body, expected) in [
        ("?file_name=notes.pdf", b"a text".to_vec(), "unknown"),
        ("?file_name=trace.down", b"1\n2\n".to_vec(), "no node with a position"),
        (long.as_str(), Vec::new(), "found 256 bytes, allowed up to 255"),
    ] {
        let answer = send(query, body);
        let detail = answer.json()["detail"].to_string();
        assert!(answer.status == 400 && detail.contains(expected), "{query}: {detail}");
        assert!(!detail.contains("--"), "options of the command line: {detail}");
    }
}

#[test]
fn document_without_nodes_is_refused_unless_it_is_a_deployment() {
    let bench = Bench::flat();
    let send = |name: &str, body: Vec<u8>| {
        let path = format!("/api/v1/deployments/import?file_name={name}");
        bench.send(axum::http::Request::post(path).body(axum::body::Body::from(body)).unwrap())
    };
    let line = json!({ "type": "LineString", "coordinates": [[11.0, 57.0], [11.1, 57.0]] });
    let ring = json!([[[11.0, 57.0], [11.1, 57.0], [11.1, 57.1], [11.0, 57.0]]]);
    let area = json!({ "type": "Polygon", "coordinates": ring });
    let feature =
        |geometry: &Value| json!({ "type": "Feature", "properties": {}, "geometry": geometry });
    let collection = |features: Vec<Value>| {
        json!({ "type": "FeatureCollection", "features": features }).to_string()
    };
    for (name, body, expected) in [
        ("none.geojson", collection(Vec::new()), "found no node with a position, allowed"),
        (
            "roads.geojson",
            collection(vec![feature(&line), feature(&line)]),
            "found no node with a position (2 x LineString is not a node: dropped), allowed",
        ),
        (
            "lakes.geojson",
            collection(vec![feature(&area)]),
            "(1 x the first polygon is taken as the region)",
        ),
        ("empty.csv", "name,lat,lon\n".to_owned(), "csv: found no node with a position"),
    ] {
        let answer = send(name, body.into_bytes());
        let detail = answer.json()["detail"].to_string();
        assert!(answer.status == 400 && detail.contains(expected), "{name}: {detail}");
    }
    let all = || bench.call("GET", "/api/v1/deployments", &Value::Null).json();
    assert_eq!(all(), json!([]), "nothing is left of refused documents");

    let deployment = bench.call("POST", "/api/v1/deployments", &json!({ "name": "Nobody" })).json();
    let id = deployment["id"].as_str().unwrap();
    for format in ["geojson", "kml", "kmz", "csv", "scenario"] {
        let path = format!("/api/v1/deployments/{id}/export?format={format}");
        let document = bench.call("GET", &path, &Value::Null).body;
        let answer = send("", document);
        let summary = answer.json();
        assert_eq!(answer.status, 201, "{format}: {summary}");
        assert_eq!(
            (&summary["nodes"], &summary["deployment"]["name"]),
            (&json!(0), &json!("Nobody"))
        );
    }
}

#[test]
fn the_command_line_imports_exports_and_converts() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(text("masts.csv"), "name,lat,lon\na,57.0,11.0\nb,57.1,11.1\n").unwrap();
    let server = Process::start(&folder.path().join("plan.db"));
    let run = |args: &[&str]| {
        let out = command(args).current_dir(folder.path()).output().unwrap();
        let output = String::from_utf8_lossy(&out.stdout).into_owned();
        (out.status.code(), output + &String::from_utf8_lossy(&out.stderr))
    };
    let (code, output) = run(&["import", "--json", "--bind", &server.address, "masts.csv"]);
    assert_eq!(code, Some(0), "{output}");
    let document: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(document["nodes"], 2);
    let name = document["deployment"]["name"].as_str().unwrap();
    let (code, output) = run(&["export", "--bind", &server.address, name, "-o", "masts.toml"]);
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = run(&["validate", "masts.toml"]);
    assert_eq!(code, Some(0), "{output}");
    let (code, output) = run(&["convert", "masts.toml", "masts.kmz"]);
    assert_eq!(code, Some(0), "{output}");
    assert!(std::fs::read(text("masts.kmz")).unwrap().starts_with(b"PK"));
    let (code, output) = run(&["export", "--bind", &server.address, "nowhere", "-o", "x.kml"]);
    assert!(code == Some(2) && output.contains("nowhere"), "{output}");
    let (code, output) = run(&["convert", "masts.toml", "masts.docx"]);
    assert!(code == Some(2) && output.contains("geojson"), "{output}");
}
