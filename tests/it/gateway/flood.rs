//! Floods of requests: what they leave in the audit log, the server's log and the readings.

use std::process::Stdio;
use std::time::Duration;

use axum::http::Method;
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_http::client::Client;
use groundwave_http::time::rfc3339;
use serde_json::{Value, json};

use super::Bench;
use super::process::start;

/// Requests of a flood, and one after it.
const FLOOD: u64 = 3_000;
/// More than the period in which the log admits a number of events of one place in the code.
const PERIOD: Duration = Duration::from_millis(1_100);
/// Events at DEBUG that it admits of one place in a period of a second.
const ADMITTED: u64 = 50;

#[test]
fn a_flood_without_a_token_leaves_a_few_lines_and_a_true_count() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info,groundwave=debug", Stdio::piped());
    let address = server.address.clone();
    let path = format!("/v1/nodes/{}/commands", "x".repeat(4_000));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let began_ns = monotonic_ns();
    runtime.block_on(async {
        let mut client = Client::tcp(&address).await.unwrap();
        for number in 0..=FLOOD {
            if number == FLOOD {
                // What was left out is written with the next event in another period.
                tokio::time::sleep(PERIOD).await;
            }
            let answer = client.call(Method::POST, &path, None, b"{}".to_vec()).await.unwrap();
            assert_eq!(answer.status, 401);
        }
    });
    let log = server.end();
    // However long it took on this machine.
    let seconds = (monotonic_ns() - began_ns) / 1_000_000_000 + 2;
    let lines: Vec<Value> = std::fs::read_to_string(folder.path().join("state/audit.jsonl"))
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let refused: Vec<_> = lines.iter().filter(|line| line["outcome"] == 401).collect();
    let counted: u64 = refused.iter().map(|line| 1 + line["repeated"].as_u64().unwrap_or(0)).sum();
    assert_eq!(counted, FLOOD + 1);
    // Five lines and a count for each minute it took.
    let allowed = 6 * (seconds / 60 + 2);
    assert!(refused.len() as u64 <= allowed, "{} lines", refused.len());
    let target = refused[0]["target"].as_str().unwrap();
    assert!(target.len() < 300 && target.starts_with("/v1/nodes/xxx"), "{target}");
    let longest = log.lines().map(str::len).max().unwrap();
    assert!(longest < 1_000, "a line of {longest} bytes");
    // Every event is written or counted.
    for (event, file) in [("answered", "layers.rs"), ("client error", "problem.rs")] {
        let lines = log.lines().filter(|line| line.contains("DEBUG"));
        let written = lines.filter(|line| line.contains(event)).count() as u64;
        assert!(
            (1..=ADMITTED * seconds).contains(&written),
            "{written} lines of {event:?} in {seconds} s"
        );
        let counts = log
            .lines()
            .filter(|line| line.contains("events were left out of the log") && line.contains(file));
        let left_out: u64 = counts
            .map(|line| {
                let (_, count) = line.split_once("events=").unwrap();
                count.split(' ').next().unwrap().parse::<u64>().unwrap()
            })
            .sum();
        assert_eq!(written + left_out, FLOOD + 1, "{event:?}: {log:.2000}");
    }
}

#[test]
fn readings_of_a_node_are_limited_and_the_usual_rate_is_far_below() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(61);
    let path = format!("/v1/nodes/{id}/telemetry");
    let ts = rfc3339(wall_ns());
    let sample = json!({ "ts": ts, "metric": "sys.load1", "value": 1.0 });
    let batch = json!({ "samples": vec![sample; 512] });
    let send = || bench.call(&token, "POST", &path, &batch);
    let answers: Vec<_> = (0..64).map(|_| send()).collect();
    // An hour of an agent's readings is taken at once.
    assert!(answers[..40].iter().all(|answer| answer.status == 202));
    let refused = answers.iter().find(|answer| answer.status != 202).unwrap();
    assert_eq!(refused.status, 429);
    assert!(refused.headers.contains_key("retry-after"));
    // Another node is not concerned.
    let (other, token, _) = bench.node(62);
    let path = format!("/v1/nodes/{other}/telemetry");
    bench.call(&token, "POST", &path, &batch).is(202);
}

#[test]
fn audit_entry_of_repeated_requests_has_their_count() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    for _ in 0..50 {
        bench.call("", "POST", "/v1/admin/users", &json!({})).problem(401);
    }
    let counts = bench.gateway.audit_sampling.due(0, true);
    assert_eq!(counts.len(), 1);
    for count in counts {
        bench.gateway.audit.add(count).unwrap();
    }
    let document = bench.get(&admin, "/v1/admin/audit?actor=anonymous").is(200);
    let items = document["items"].as_array().unwrap();
    let refused: Vec<_> = items.iter().filter(|item| item["outcome"] == 401).collect();
    let repeated: u64 = refused.iter().map(|item| item["repeated"].as_u64().unwrap()).sum();
    assert_eq!(refused.len() as u64 + repeated, 50);
}
