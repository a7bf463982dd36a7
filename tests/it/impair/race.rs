//! Clients that race.

use std::path::Path;

use axum::http::Method;
use groundwave_http::client::Client;
use serde_json::{Value, json};

use super::Bench;

/// Replaces the state of port1 `turns` times; every answer must be the read-back of that state.
async fn insist(socket: &Path, wish: Value, turns: usize) {
    let mut client = Client::unix(socket).await.unwrap();
    for _ in 0..turns {
        let answer = client.ask(Method::PUT, "/v1/impairments/port1", Some(&wish)).await;
        let (status, body) = answer.unwrap();
        let document: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status.as_u16(), 200, "{document}");
        assert_eq!(document["impairment"], wish, "answered with another's state");
    }
}

#[test]
fn everybody_is_answered_with_his_own_and_the_end_is_one_of_the_two() {
    let bench = Bench::new();
    let socket = bench.listen();
    let wishes = [
        json!({ "latency": { "kind": "constant", "duration": 20_000_000 },
                "rate": { "bps": 8_000_000, "burst_bytes": 16_000 } }),
        json!({ "loss": { "model": "bernoulli", "pct": 50.0 },
                "queue": { "limit": { "unit": "packets", "value": 77 } } }),
    ];
    bench.runtime.block_on(async {
        let [first, second] = &wishes;
        tokio::join!(insist(&socket, first.clone(), 100), insist(&socket, second.clone(), 100));
    });
    let end = bench.call("GET", "/v1/impairments/port1", &Value::Null).json();
    assert!(wishes.contains(&end["impairment"]), "a mix: {end}");
    assert!(end.get("divergence").is_none(), "{end}");
    let other = bench.call("GET", "/v1/impairments/port2", &Value::Null).json();
    assert_eq!(other["impairment"], json!({}), "the directions are independent");
}
