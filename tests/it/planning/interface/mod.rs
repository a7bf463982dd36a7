//! The interface document, line by line: each case quotes the line it proves.

use serde_json::{Value, json};

use super::{Answer, Bench};

mod analyses;
mod lists;
mod plans;

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
    Case { line, method, path: path.into(), body, status, holds }
}

fn prove(bench: &Bench, cases: Vec<Case>) {
    for case in cases {
        let Answer { status, headers, body } = bench.call(case.method, &case.path, &case.body);
        let what = format!("{} {} ({})", case.method, case.path, case.line);
        let text = String::from_utf8_lossy(&body);
        assert_eq!(status.as_u16(), case.status, "{what}: {text}");
        let document = serde_json::from_slice(&body).unwrap_or(Value::Null);
        assert!((case.holds)(&document), "{what}: {text}");
        if status.is_client_error() {
            let media = headers["content-type"].to_str().unwrap();
            assert_eq!(media, "application/problem+json", "{what}");
            assert_eq!(document["status"], status.as_u16(), "{what}");
            for field in ["type", "title", "detail"] {
                assert!(document[field].is_string(), "{what}: {field}");
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
