//! Bounds and turns of clients: long analyses, kept results, coverage jobs that are deleted, what a
//! request and the environment may hold.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Stdio;

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use serde_json::{Value, json};

use super::Bench;
use super::server::Process;
use crate::support::command;

/// A deployment with a line of nodes 3 km apart: its id and theirs.
fn line(bench: &Bench, count: u32) -> (String, Vec<String>) {
    let within = bench.make("/api/v1/deployments", &json!({ "name": "line" }));
    let path = format!("/api/v1/deployments/{within}/nodes");
    let node = |number: u32| {
        let lon = 11.0 + 0.05 * f64::from(number);
        let radio = json!({ "antenna": { "preset": "omni_5" } });
        json!({
            "name": format!("n{number}"), "lat": 57.0, "lon": lon, "height_agl_m": 15.0, "radio": radio,
        })
    };
    let nodes = (0..count).map(|number| bench.make(&path, &node(number))).collect();
    (within, nodes)
}

#[test]
fn all_links_of_a_deployment_come_in_one_answer() {
    let bench = Bench::flat();
    let (within, nodes) = line(&bench, 4);
    let path = format!("/api/v1/deployments/{within}/links");
    let answer = bench.call("GET", &path, &Value::Null);
    assert_eq!(answer.status, 200);
    let answer = answer.json();
    assert_eq!((&answer["deployment_id"], &answer["nodes"]), (&json!(within), &json!(4)));
    let links = answer["links"].as_array().unwrap();
    // Only neighbours are in reach of each other.
    assert_eq!(links.len(), 3);
    for link in links {
        for end in ["a_node_id", "b_node_id"] {
            assert!(nodes.iter().any(|node| link[end] == json!(node)));
        }
        // Equal stations: both directions lose the same.
        let loss = |direction: &str| link[direction]["path_loss_db"].as_f64().unwrap();
        assert!((loss("forward") - loss("reverse")).abs() < 1e-6);
    }
    let usable = bench.call("GET", &format!("{path}?usable=true"), &Value::Null).json();
    let usable = usable["links"].as_array().unwrap();
    assert!(!usable.is_empty() && usable.len() <= links.len());
    let nobody = "/api/v1/deployments/00000000-0000-0000-0000-000000000000/links";
    assert_eq!(bench.call("GET", nobody, &Value::Null).status, 404);
}

#[test]
fn kept_routes_are_those_of_the_present_plan() {
    let bench = Bench::flat();
    let (within, nodes) = line(&bench, 3);
    let body = json!({ "src_node_id": nodes[0], "dst_node_id": nodes[2], "metric": "hops" });
    let route = || bench.call("POST", "/api/v1/mesh/route", &body).json();
    let advice = || {
        let body = json!({ "deployment_id": within });
        bench.call("POST", "/api/v1/mesh/recommend-protocol", &body).json()
    };
    let (first, advised) = (route(), advice());
    assert_eq!((route(), advice()), (first.clone(), advised.clone()));
    let far = json!({ "lat": 58.0, "lon": 20.0 });
    let path = format!("/api/v1/nodes/{}/position", nodes[2]);
    assert_eq!(bench.call("PUT", &path, &far).status, 200);
    let moved = route();
    assert_eq!(moved["path"], json!([]));
    assert_ne!((moved, advice()), (first.clone(), advised.clone()));
    let back = json!({ "lat": 57.0, "lon": 11.1 });
    assert_eq!(bench.call("PUT", &path, &back).status, 200);
    assert_eq!((route(), advice()), (first, advised));
}

#[test]
fn a_coverage_job_can_be_deleted() {
    let bench = Bench::flat();
    let (_, nodes) = line(&bench, 1);
    let begin = || {
        let body = json!({ "source_node_id": nodes[0], "radius_km": 300.0, "resolution": 256,
            "samples": 4096, "rx_height_agl_m": 2.0 });
        let answer = bench.call("POST", "/api/v1/coverage", &body);
        assert_eq!(answer.status, 202);
        let job = answer.json()["job_id"].as_str().unwrap().to_owned();
        format!("/api/v1/coverage/{job}")
    };
    // Hours of work, one after the other: what is left of them ends with the test.
    for path in [begin(), begin()] {
        assert_eq!(bench.call("DELETE", &path, &Value::Null).status, 204);
        assert_eq!(bench.call("GET", &path, &Value::Null).status, 404);
        assert_eq!(bench.call("DELETE", &path, &Value::Null).status, 404);
    }
    let body = json!({ "source_node_id": nodes[0], "radius_km": 5.0, "resolution": 4, "rx_height_agl_m": 2.0 });
    let job = bench.call("POST", "/api/v1/coverage", &body).json()["job_id"].clone();
    let stream = format!("/api/v1/coverage/{}/stream", job.as_str().unwrap());
    let events = bench.call("GET", &stream, &Value::Null).body;
    assert!(String::from_utf8(events).unwrap().contains("event: done"));
}

#[test]
fn one_client_with_too_many_jobs_leaves_room_for_another() {
    let bench = Bench::flat();
    let (_, nodes) = line(&bench, 1);
    let begin = |last: u8, resolution: u32, samples: u32| {
        let body = json!({ "source_node_id": nodes[0], "radius_km": 300.0,
            "resolution": resolution, "samples": samples, "rx_height_agl_m": 2.0 });
        let peer = SocketAddr::from((Ipv4Addr::new(192, 0, 2, last), 40_000));
        let request = Request::post("/api/v1/coverage")
            .header(header::CONTENT_TYPE, "application/json")
            .extension(ConnectInfo(peer))
            .body(Body::from(body.to_string()));
        bench.send(request.unwrap())
    };
    // A long one, behind which the others wait.
    assert_eq!(begin(1, 256, 4096).status, 202);
    let answers = (0..256).map(|_| begin(1, 4, 8));
    let refused = answers.into_iter().find(|answers| answers.status != 202).unwrap();
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains_key(header::RETRY_AFTER));
    assert_eq!(begin(2, 4, 8).status, 202);
}

#[test]
fn a_compressed_body_is_refused_rather_than_read_as_plain() {
    let bench = Bench::flat();
    for (encoding, status) in [("gzip", 415), ("br", 415), ("identity", 201)] {
        let request = Request::post("/api/v1/deployments")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::CONTENT_ENCODING, encoding)
            .body(Body::from(json!({ "name": "d" }).to_string()));
        assert_eq!(bench.send(request.unwrap()).status, status, "{encoding}");
    }
}

#[test]
fn empty_variables_count_as_unset_and_a_host_name_is_an_address() {
    let folder = tempfile::tempdir().unwrap();
    let variables = [
        ("PLAN_BIND", "localhost:0"),
        ("PLAN_FRONTEND", ""),
        ("PLAN_BASEMAP", ""),
        ("PLAN_SRTM_DIR", ""),
        ("PLAN_GEOID", ""),
        ("RUST_LOG", ""),
    ];
    let mut command = command(&["serve", "planning", "--db"]);
    command.arg(folder.path().join("plan.db")).envs(variables);
    let server = Process::of(command);
    assert!(server.address.starts_with("127.0.0.1:") || server.address.starts_with("[::1]:"));
    let log = server.end();
    assert!(!log.contains('\u{1b}'), "{log}");
}

#[test]
fn an_unreadable_log_filter_stops_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(&["serve", "planning", "--db"])
        .arg(folder.path().join("plan.db"))
        .env("RUST_LOG", "groundwave=loud")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("invalid RUST_LOG") && error.contains("allowed"), "{error}");
}
