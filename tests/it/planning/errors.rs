//! Every error is a problem that states the field, the value found and the allowed ones.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::{Value, json};

use super::Bench;

#[test]
fn wrong_requests_are_problems() {
    let bench = Bench::flat();
    let deployment = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let nodes = format!("/api/v1/deployments/{deployment}/nodes");
    let post = |path: &str, body: Value| bench.call("POST", path, &body);
    let node = |extra: Value| {
        let mut body = json!({ "name": "n", "lat": 0.0, "lon": 0.0 });
        body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        body
    };
    let cases = [
        (post("/api/v1/deployments", json!({})), 400, "name"),
        (post("/api/v1/deployments", json!({ "name": 7 })), 400, "string"),
        (post("/api/v1/deployments", json!({ "name": "" })), 400, "1 to 64"),
        (
            post("/api/v1/deployments", json!({ "name": "d", "colour": 1 })),
            400,
            "unknown field `colour`",
        ),
        (post(&nodes, node(json!({ "lat": 91 }))), 400, "[-90, 90]"),
        (post(&nodes, node(json!({ "height_agl_m": -1 }))), 400, "height_agl_m"),
        (post(&nodes, node(json!({ "radio": { "preset": "wifi" } }))), 400, "wifi_5g_mesh"),
        (post(&nodes, node(json!({ "radio": { "frequency_mhz": 1 } }))), 400, "[10, 100000]"),
        (post(&nodes, node(json!({ "role": "king" }))), 400, "relay"),
        (bench.call("GET", "/api/v1/deployments/seven", &Value::Null), 400, "UUID"),
        (bench.call("PATCH", "/api/v1/nodes/seven", &json!({ "name": "x" })), 400, "UUID"),
        (bench.call("GET", "/api/v1/nowhere", &Value::Null), 404, "/api/v1/nowhere"),
        (bench.call("PUT", "/api/v1/deployments", &Value::Null), 405, "PUT"),
    ];
    for (answer, status, expected) in cases {
        let document = answer.json();
        assert_eq!(answer.status.as_u16(), status, "{document}");
        assert_eq!(answer.media(), "application/problem+json", "{document}");
        let detail = document["detail"].as_str().unwrap();
        assert!(detail.contains(expected), "{detail} does not contain {expected}");
    }
    let list = bench.call("GET", &nodes, &Value::Null).json();
    assert_eq!(list, json!([]), "a refused node is not there");
}

#[test]
fn bodies_that_are_no_json_or_too_long_are_problems() {
    let bench = Bench::flat();
    let send = |media: Option<&str>, body: Vec<u8>| {
        let mut request = Request::post("/api/v1/deployments");
        if let Some(media) = media {
            request = request.header(header::CONTENT_TYPE, media);
        }
        bench.send(request.body(Body::from(body)).unwrap())
    };
    let json = Some("application/json");
    let cases = [
        (send(json, b"{\"name\": ".to_vec()), StatusCode::BAD_REQUEST),
        (send(json, b"\xff\xfe".to_vec()), StatusCode::BAD_REQUEST),
        (send(None, b"{\"name\":\"d\"}".to_vec()), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (
            send(Some("text/plain"), b"{\"name\":\"d\"}".to_vec()),
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ),
        (
            send(json, format!("{{\"name\": \"{}\"}}", "x".repeat(2 << 20)).into_bytes()),
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        (
            send(json, [b"[".repeat(100_000), b"]".repeat(100_000)].concat()),
            StatusCode::BAD_REQUEST,
        ),
    ];
    for (answer, status) in cases {
        assert_eq!(answer.status, status);
        assert_eq!(answer.media(), "application/problem+json");
        assert_eq!(answer.json()["status"], status.as_u16());
    }
}

#[test]
fn a_method_not_taken_names_those_that_are() {
    let bench = Bench::flat();
    let answer = bench.call("DELETE", "/api/v1/deployments", &Value::Null);
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    let allow = answer.headers["allow"].to_str().unwrap();
    assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
}

#[test]
fn requests_of_other_origins_give_compressed_answers() {
    let bench = Bench::flat();
    let request = Request::get("/api/v1/presets/radios")
        .header(header::ORIGIN, "https://elsewhere.example")
        .header(header::ACCEPT_ENCODING, "gzip");
    let answer = bench.send(request.body(Body::empty()).unwrap());
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(answer.headers["content-encoding"], "gzip");
    let preflight = Request::options("/api/v1/nodes/x")
        .header(header::ORIGIN, "https://elsewhere.example")
        .header("access-control-request-method", "PATCH")
        .header("access-control-request-headers", "x-anything");
    let answer = bench.send(preflight.body(Body::empty()).unwrap());
    let methods = answer.headers["access-control-allow-methods"].to_str().unwrap();
    assert!(methods.contains("PATCH") && answer.status.is_success());
}

#[test]
fn the_page_is_never_cached() {
    let bench = Bench::flat();
    let answer = bench.call("GET", "/", &Value::Null);
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers["cache-control"], "no-cache");
    assert!(answer.media().starts_with("text/html"));
}
