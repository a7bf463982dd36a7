//! The interface document, line by line: each case quotes the line it proves.

mod kernel;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use groundwave_kernel::Qdisc;
use serde_json::{Value, json};

use super::{Answer, Bench, INTERFACES};

/// A line of the document, a request, the status it asks for, and what must hold of the answer.
struct Case {
    line: &'static str,
    method: &'static str,
    path: &'static str,
    body: Value,
    status: u16,
    holds: fn(&Value) -> bool,
}

fn case(
    line: &'static str,
    method: &'static str,
    path: &'static str,
    body: Value,
    status: u16,
    holds: fn(&Value) -> bool,
) -> Case {
    Case { line, method, path, body, status, holds }
}

fn put(line: &'static str, body: Value, status: u16, holds: fn(&Value) -> bool) -> Case {
    case(line, "PUT", PORT1, body, status, holds)
}

fn prove(bench: &Bench, cases: Vec<Case>) {
    for case in cases {
        let Answer { status, headers, body } = bench.call(case.method, case.path, &case.body);
        let what = format!("{} {} {} ({})", case.method, case.path, case.body, case.line);
        let text = String::from_utf8_lossy(&body);
        assert_eq!(status.as_u16(), case.status, "{what}: {text}");
        let document = serde_json::from_slice(&body).unwrap_or(Value::Null);
        assert!((case.holds)(&document), "{what}: {text}");
        if !status.is_success() {
            let media = headers["content-type"].to_str().unwrap();
            assert_eq!(media, "application/problem+json", "{what}");
            assert_eq!(document["status"], status.as_u16(), "{what}");
            for field in ["type", "title", "detail"] {
                assert!(document[field].is_string(), "{what}: {field}");
            }
        }
    }
}

const PORT1: &str = "/v1/impairments/port1";
const PORT2: &str = "/v1/impairments/port2";
const ANY: fn(&Value) -> bool = |_| true;

fn has_detail(value: &Value, words: &str) -> bool {
    value["detail"].as_str().is_some_and(|detail| detail.contains(words))
}

#[test]
fn system_record() {
    prove(
        &Bench::new(),
        vec![
            case("version | string", "GET", "/v1/system", Value::Null, 200, |v| {
                v["version"] == env!("CARGO_PKG_VERSION")
            }),
            case(
                "ports | array of {direction, interface, bdf, mtu}",
                "GET",
                "/v1/system",
                Value::Null,
                200,
                |v| {
                    v["ports"]
                        == json!([
                            { "direction": "port1", "interface": "gw-east", "bdf": "0000:03:00.0", "mtu": 1500 },
                            { "direction": "port2", "interface": "gw-west", "bdf": "virtual", "mtu": 1500 },
                        ])
                },
            ),
            case(
                "Backend support: latency, Bernoulli loss, rate; uniform, normal, pareto",
                "GET",
                "/v1/system",
                Value::Null,
                200,
                |v| {
                    let can = &v["capabilities"];
                    can["supports_latency"] == true
                        && can["supports_loss_bernoulli"] == true
                        && can["supports_loss_gilbert_elliott"] == false
                        && can["supports_rate"] == true
                        && can["supports_distributions"]
                            == json!([{ "kind": "uniform" }, { "kind": "normal" }, { "kind": "pareto" }])
                        && can["backend_name"].is_string()
                        && can["backend_version"].is_string()
                },
            ),
        ],
    );
}

#[test]
fn every_kind_of_impairment_is_applied_and_read_back() {
    let bench = Bench::new();
    let wishes = [
        json!({}),
        json!({ "latency": { "kind": "constant", "duration": 50_000_000 } }),
        json!({ "latency": { "kind": "stochastic", "mean": 50_000_000, "jitter": 5_000_000,
                             "distribution": { "kind": "uniform" } } }),
        json!({ "loss": { "model": "bernoulli", "pct": 1.0, "correlation": 0.25 } }),
        json!({ "rate": { "bps": 10_000_000, "burst_bytes": 20_000 } }),
        json!({ "queue": { "limit": { "unit": "packets", "value": 100 } } }),
        json!({ "queue": { "limit": { "unit": "bytes", "value": 64_000 } } }),
        json!({ "duplication": { "pct": 0.5, "correlation": 0.5 } }),
        json!({ "latency": { "kind": "constant", "duration": 1_000_000 },
                "reordering": { "pct": 25.0, "gap": 5, "correlation": 0.5 } }),
        json!({ "corruption": { "pct": 0.01 } }),
        json!({ "latency": { "kind": "constant", "duration": 1 },
                "loss": { "model": "bernoulli", "pct": 100.0 },
                "rate": { "bps": 1_000_000_000, "burst_bytes": 2_000_000 },
                "queue": { "limit": { "unit": "packets", "value": 10 } },
                "duplication": { "pct": 1.0 }, "corruption": { "pct": 2.0 },
                "reordering": { "pct": 3.0, "gap": 2 } }),
    ];
    for requested in wishes {
        let put = bench.call("PUT", PORT1, &requested);
        let document = put.json();
        assert_eq!(put.status, StatusCode::OK, "{requested}: {document}");
        assert_eq!(
            (&document["direction"], &document["impairment"]),
            (&json!("port1"), &requested)
        );
        assert!(document["captured_at"].is_u64() && document["captured_at_wall"].is_u64());
        assert!(document.get("divergence").is_none(), "omitted when empty: {document}");
        let got = bench.call("GET", PORT1, &Value::Null).json();
        assert_eq!(got["impairment"], requested);
        assert!(got["captured_at"].as_u64() >= document["captured_at"].as_u64());
    }
    let untouched = bench.call("GET", PORT2, &Value::Null).json();
    assert_eq!(untouched["impairment"], json!({}), "configured independently");
    let cleared = bench.call("DELETE", PORT1, &Value::Null);
    assert_eq!((cleared.status, &cleared.json()["impairment"]), (StatusCode::OK, &json!({})));
    assert_eq!(bench.kernel.qdiscs(INTERFACES[0]), Vec::<Qdisc>::new());
}

#[test]
fn latency_and_its_distributions() {
    let stochastic = |distribution: Value| {
        json!({ "latency": { "kind": "stochastic", "mean": 10_000_000, "jitter": 1_000_000,
                             "distribution": distribution } })
    };
    let bare = json!({ "latency": { "kind": "stochastic", "mean": 10_000_000, "jitter": 0 } });
    let plain = json!({ "latency": { "kind": "stochastic", "mean": 10, "jitter": 1 } });
    prove(
        &Bench::new(),
        vec![
            put("zero jitter is reported as constant on read-back", bare, 200, |v| {
                v["impairment"]["latency"] == json!({ "kind": "constant", "duration": 10_000_000 })
            }),
            put("distribution: default uniform", plain, 200, |v| {
                v["impairment"]["latency"]["distribution"]["kind"] == "uniform"
            }),
            put("normal | Supported", stochastic(json!({ "kind": "normal" })), 200, |v| {
                v["impairment"]["latency"]["distribution"]["kind"] == "normal"
            }),
            put("pareto | Supported", stochastic(json!({ "kind": "pareto" })), 200, ANY),
            put(
                "paretonormal | accepted by the parser, unsupported",
                stochastic(json!({ "kind": "paretonormal" })),
                422,
                |v| has_detail(v, "paretonormal"),
            ),
            put(
                "table | a file that is not there",
                stochastic(json!({ "kind": "table", "name": "nowhere" })),
                422,
                |v| has_detail(v, "nowhere"),
            ),
            put(
                "table | name: a-z, 0-9, _ and -",
                stochastic(json!({ "kind": "table", "name": "../etc/passwd" })),
                400,
                |v| has_detail(v, "latency.distribution.name"),
            ),
            put(
                "table | name: non-empty",
                stochastic(json!({ "kind": "table", "name": "" })),
                400,
                ANY,
            ),
            put(
                "table | name: at most 64 characters",
                stochastic(json!({ "kind": "table", "name": "x".repeat(65) })),
                400,
                ANY,
            ),
            put(
                "correlation | [0.0, 1.0]",
                json!({ "latency": { "kind": "stochastic", "mean": 1, "jitter": 1, "correlation": 1.5 } }),
                400,
                |v| has_detail(v, "latency.correlation"),
            ),
        ],
    );
}

#[test]
fn ranges_and_shapes_of_a_body() {
    let loss = |pct: Value| json!({ "loss": { "model": "bernoulli", "pct": pct } });
    let rate = |bps: Value, burst: Value| json!({ "rate": { "bps": bps, "burst_bytes": burst } });
    let reordering = |gap: Value| json!({ "reordering": { "pct": 1, "gap": gap } });
    let delay = |ns: Value| json!({ "latency": { "kind": "constant", "duration": ns } });
    let bad = "400 | malformed body";
    prove(
        &Bench::new(),
        vec![
            put("Percentages | [0, 100]", loss(json!(0)), 200, ANY),
            put("Percentages | [0, 100]", loss(json!(100.5)), 400, |v| has_detail(v, "loss.pct")),
            put("Percentages | [0, 100]", loss(json!(-1)), 400, |v| has_detail(v, "[0, 100]")),
            put(bad, loss(json!("1%")), 400, |v| has_detail(v, "loss")),
            put("Reordering gap | non-zero", reordering(json!(0)), 400, |v| has_detail(v, "gap")),
            put("gap is required", json!({ "reordering": { "pct": 1 } }), 400, |v| {
                has_detail(v, "gap")
            }),
            put("Durations | nanoseconds", delay(json!(-5)), 400, ANY),
            put("Durations | nanoseconds", delay(json!(0.5)), 400, ANY),
            put("Durations | nanoseconds", delay(json!(5.0)), 200, ANY),
            put(bad, rate(json!(0), json!(1514)), 400, |v| has_detail(v, "rate.bps")),
            put(bad, rate(json!(1_000_000), json!(0)), 400, |v| has_detail(v, "rate.burst_bytes")),
            put(bad, json!({ "rate": { "bps": 1_000_000 } }), 400, |v| {
                has_detail(v, "burst_bytes")
            }),
            put(bad, json!({ "speed": 1 }), 400, |v| has_detail(v, "unknown field `speed`")),
            put(bad, json!([1]), 400, |v| has_detail(v, "an array")),
            put(bad, json!({ "latency": { "kind": "guess" } }), 400, |v| has_detail(v, "guess")),
            put(bad, json!({ "loss": { "pct": 1 } }), 400, |v| has_detail(v, "model")),
            put(
                "queue | unit packets or bytes",
                json!({ "queue": { "limit": { "unit": "bits", "value": 1 } } }),
                400,
                |v| has_detail(v, "bits"),
            ),
            put("all fields optional", json!({ "loss": null }), 200, |v| {
                v["impairment"] == json!({})
            }),
        ],
    );
}

#[test]
fn directions_statistics_and_the_baseline() {
    let bench = Bench::new();
    let file = bench.folder.path().join("baseline.json");
    prove(
        &bench,
        vec![
            case(
                "any other value yields 400",
                "GET",
                "/v1/impairments/port3",
                Value::Null,
                400,
                |v| has_detail(v, "port3"),
            ),
            case("any other value yields 400", "PUT", "/v1/impairments/PORT1", json!({}), 400, ANY),
            case(
                "any other value yields 400",
                "DELETE",
                "/v1/impairments/%ff",
                Value::Null,
                400,
                ANY,
            ),
            case(
                "any other value yields 400",
                "GET",
                "/v1/impairments/0/stats",
                Value::Null,
                400,
                ANY,
            ),
            case(
                "Cumulative counters plus a monotonic and a wall-clock timestamp",
                "GET",
                "/v1/impairments/port1/stats",
                Value::Null,
                200,
                |v| {
                    v["captured_at"].as_u64().is_some_and(|at| at > 0)
                        && v["captured_at_wall"].as_u64().is_some_and(|at| at > 0)
                        && v["packets_total"].is_u64()
                        && v["drops_total"].is_u64()
                },
            ),
            case(
                "404 when none stored",
                "GET",
                "/v1/calibration/baseline",
                Value::Null,
                404,
                |v| has_detail(v, "baseline"),
            ),
            case("no such path", "GET", "/v2/system", Value::Null, 404, ANY),
            case("no such method", "PATCH", "/v1/system", Value::Null, 405, ANY),
        ],
    );
    std::fs::write(&file, "{ \"offsets_ns\": [1, 2] }").unwrap();
    let read = "stored baseline JSON";
    let stored = |status, holds: fn(&Value) -> bool| {
        vec![case(read, "GET", "/v1/calibration/baseline", Value::Null, status, holds)]
    };
    prove(&bench, stored(200, |v| *v == json!({ "offsets_ns": [1, 2] })));
    std::fs::write(&file, "17").unwrap();
    prove(&bench, stored(200, |v| *v == 17));
    // Opaque: digits and the order of keys are not those of a number or a map of this program.
    let opaque = "{\n  \"z\": 0.10000000000000000001, \"a\": 123456789012345678901234567890\n}\n";
    std::fs::write(&file, opaque).unwrap();
    let answer = bench.call("GET", "/v1/calibration/baseline", &Value::Null);
    assert_eq!(String::from_utf8(answer.body).unwrap(), opaque);
    std::fs::write(&file, "{ torn").unwrap();
    prove(&bench, stored(500, |v| has_detail(v, "invalid JSON document")));
}

#[test]
fn bodies_that_are_no_json() {
    let bench = Bench::new();
    let send = |media: Option<&str>, body: &[u8]| {
        let mut request = Request::put(PORT1);
        if let Some(media) = media {
            request = request.header(header::CONTENT_TYPE, media);
        }
        bench.send(request.body(Body::from(body.to_vec())).unwrap()).status
    };
    let json = Some("application/json");
    assert_eq!(send(json, b"{"), StatusCode::BAD_REQUEST);
    assert_eq!(send(json, b""), StatusCode::BAD_REQUEST);
    assert_eq!(send(json, b"\xff"), StatusCode::BAD_REQUEST);
    assert_eq!(send(Some("text/plain"), b"{}"), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    assert_eq!(send(None, b"{}"), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let long = format!("{{\"x\": \"{}\"}}", "y".repeat(2 << 20));
    assert_eq!(send(json, long.as_bytes()), StatusCode::PAYLOAD_TOO_LARGE);
}
