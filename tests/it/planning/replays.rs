//! Recorded logs: upload, content, frames.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use serde_json::{Value, json};

use super::{Answer, Bench};
use crate::support::root;

fn upload(bench: &Bench, content: Vec<u8>) -> Answer {
    let request = Request::post("/api/v1/replays")
        .header(header::CONTENT_TYPE, "application/octet-stream")
        .body(Body::from(content));
    bench.send(request.unwrap())
}

fn failover() -> Vec<u8> {
    std::fs::read(root().join("tests/fixtures/compat/failover.gwlog")).unwrap()
}

#[test]
fn frames_show_failures_where_the_log_has_them() {
    let bench = Bench::flat();
    let made = upload(&bench, failover());
    let info = made.json();
    assert_eq!(made.status, StatusCode::CREATED, "{info}");
    let path = format!("/api/v1/replays/{}", info["id"].as_str().unwrap());
    assert_eq!(made.headers[header::LOCATION], path);
    assert_eq!(bench.call("GET", &path, &Value::Null).json(), info);
    let all = bench.call("GET", "/api/v1/replays", &Value::Null).json();
    assert_eq!(all, json!([info]));
    let events = info["events"].as_array().unwrap();
    let fail = events
        .iter()
        .find(|event| event["command"] == "node.fail")
        .unwrap();
    let (at_s, failed) = (fail["at_s"].as_f64().unwrap(), &fail["body"]["node"]);
    assert!(failed.is_string(), "{fail}");
    let frames = |query: &str| {
        let answer = bench.call("GET", &format!("{path}/frames?{query}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.json());
        answer.json()
    };
    let found = frames("step_s=0.5");
    let found = found["frames"].as_array().unwrap();
    let duration_s = info["duration_s"].as_f64().unwrap();
    assert_eq!(found[0]["at_s"], 0.0);
    assert_eq!(found.last().unwrap()["at_s"].as_f64(), Some(duration_s));
    assert_eq!(found.len() as f64, duration_s / 0.5 + 1.0);
    let operating = |frame: &Value| {
        let nodes = frame["nodes"].as_array().unwrap().iter();
        let own = nodes.filter(|node| node["node_id"] == *failed);
        own.map(|node| node["operating"].as_bool().unwrap()).next()
    };
    let at = |at_s: f64| {
        found
            .iter()
            .find(|frame| frame["at_s"].as_f64() == Some(at_s))
            .unwrap()
    };
    assert_eq!(
        (operating(at(at_s - 0.5)), operating(at(at_s))),
        (Some(true), Some(false))
    );
    let routes = |frame: &Value| frame["flows"][0]["path"].clone();
    assert_ne!(routes(at(at_s - 0.5)), routes(at(at_s)));
    // A part of them is the same part.
    let part = frames(&format!("from_s={at_s}&to_s={}&step_s=1", at_s + 3.0));
    let times: Vec<_> = part["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["at_s"].as_f64().unwrap())
        .collect();
    assert_eq!(times, [at_s, at_s + 1.0, at_s + 2.0, at_s + 3.0]);
    assert_eq!(part["frames"][0], *at(at_s));
    for bad in [
        "from_s=-1",
        "step_s=0",
        "to_s=-1",
        "step_s=0.0001",
        "from_s=1e9",
        "x=1",
    ] {
        let answer = bench.call("GET", &format!("{path}/frames?{bad}"), &Value::Null);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{bad}");
    }
    assert_eq!(
        bench.call("DELETE", &path, &Value::Null).status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        bench.call("GET", &path, &Value::Null).status,
        StatusCode::NOT_FOUND
    );
}

#[test]
fn what_is_no_log_is_refused_and_a_torn_one_is_shown() {
    let bench = Bench::flat();
    for bad in [Vec::new(), b"not a log at all".to_vec()] {
        assert_eq!(upload(&bench, bad).status, StatusCode::BAD_REQUEST);
    }
    let mut torn = failover();
    torn.truncate(torn.len() - 40);
    let made = upload(&bench, torn);
    assert_eq!(made.status, StatusCode::CREATED);
    assert!(made.json()["torn_bytes"].as_u64().unwrap() > 0);
    // Of more than eight the first one leaves.
    let ids: Vec<_> = (0..8)
        .map(|_| upload(&bench, failover()).json()["id"].clone())
        .collect();
    let all = bench.call("GET", "/api/v1/replays", &Value::Null).json();
    let kept: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|info| info["id"].clone())
        .collect();
    assert_eq!(kept, ids);
}
