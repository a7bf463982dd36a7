//! Event stream: ids over restarts of the gateway, registrations that wait.

use std::time::Duration;

use axum::http::HeaderValue;
use futures_util::StreamExt as _;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{Bench, REGISTER, ask, request};

/// The first `count` events after `last`: ids and data.
pub fn events(bench: &Bench, token: &str, last: &str, count: usize) -> Vec<(String, Value)> {
    let mut stream_request = request(token, "GET", "/v1/events", &Value::Null);
    let id = HeaderValue::from_str(last).unwrap();
    stream_request.headers_mut().insert("last-event-id", id);
    bench.runtime.block_on(async {
        let opened = bench.router.clone().oneshot(stream_request).await.unwrap();
        assert_eq!(opened.status().as_u16(), 200);
        let mut body = opened.into_body().into_data_stream();
        let mut text = String::new();
        let read = async {
            while text.matches("\n\n").count() < count {
                text += std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap();
            }
        };
        tokio::time::timeout(Duration::from_secs(30), read).await.expect("events come");
        let fields = |event: &str, name: &str| {
            let mut lines = event.lines().filter_map(|line| line.strip_prefix(name));
            lines.next().unwrap_or_default().trim().to_owned()
        };
        let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
        let event = |block: &str| {
            (fields(block, "id:"), serde_json::from_str(&fields(block, "data:")).unwrap())
        };
        blocks.map(event).take(count).collect()
    })
}

#[test]
fn stream_goes_on_over_a_restart_without_a_gap() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    for number in 1..=2 {
        bench
            .send_from([10, 41, 0, number].into(), request("", "POST", REGISTER, &ask(number)))
            .is(202);
    }
    let first = events(&bench, &viewer, "0", 2);
    assert_eq!(first[0].1["state"], "pending");
    assert_eq!(first[0].1["hostname"], "node-1");
    // Within a run of the gateway the stream goes on after the id.
    assert_eq!(events(&bench, &viewer, &first[0].0, 1), first[1..]);

    // Of another run, the same number is another event.
    let again = Bench::open(bench.close(), Settings::default());
    let viewer = again.login("viewer");
    for number in 3..=5 {
        again
            .send_from([10, 41, 0, number].into(), request("", "POST", REGISTER, &ask(number)))
            .is(202);
    }
    for last in [&first[1].0, "2", "garbage"] {
        let next = events(&again, &viewer, last, 3);
        let names: Vec<_> = next.iter().map(|(_, data)| data["hostname"].clone()).collect();
        assert_eq!(json!(names), json!(["node-3", "node-4", "node-5"]), "{last}");
    }
}
