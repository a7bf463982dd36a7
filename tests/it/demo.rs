//! The demonstration: its page, its ground, its replay, its end.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use axum::http::StatusCode;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{command, get, groundwave, root, stdout};

/// Digest of the tile that `make data` fetches, as scripts/fetch-data.sh states it.
fn fetched_digest() -> String {
    let script = std::fs::read_to_string(root().join("scripts/fetch-data.sh")).unwrap();
    let line = script.lines().find(|line| line.starts_with("tile_sum="));
    line.unwrap().trim_start_matches("tile_sum=").to_owned()
}

/// A demonstration that ends with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn demo_serves_page_ground_and_storm_until_its_end() {
    let child = command(&["demo", "--no-browser", "--json"]).stdout(Stdio::piped()).spawn();
    let mut demo = Running(child.unwrap());
    let mut lines = BufReader::new(demo.0.stdout.take().unwrap()).lines();
    let mut line = String::new();
    while serde_json::from_str::<Value>(&line).is_err() {
        line += &lines.next().expect("a JSON document").unwrap();
    }
    let line: Value = serde_json::from_str(&line).unwrap();
    let api = line["api"].as_str().unwrap();
    let page = line["address"].as_str().unwrap();
    let (replay, deployment) = (&line["replay_id"], &line["deployment_id"]);
    let (replay, deployment) = (replay.as_str().unwrap(), deployment.as_str().unwrap());
    assert!(page.starts_with(&format!("{api}/#v=replay&r={replay}")), "{page}");
    let host = api.strip_prefix("http://").unwrap();
    assert!(host.starts_with("127.0.0.1:"), "{host}");
    let json = |path: &str| -> Value {
        let (status, body) = get(host, path);
        assert_eq!(status, StatusCode::OK, "{path}");
        serde_json::from_slice(&body).unwrap()
    };
    let area = json("/api/v1/terrain/area");
    assert_eq!(area["areas"][0]["south"], 57.0);
    let (status, relief) = get(host, "/api/v1/terrain/relief/9/272/155.png");
    assert!(status == StatusCode::OK && relief.len() > 1_000, "{status}");
    let frames = json(&format!("/api/v1/replays/{replay}/frames?step_s=60"));
    let frames = frames["frames"].as_array().unwrap();
    let up = |frame: &Value| {
        let links = frame["links"].as_array().unwrap().iter();
        links.filter(|link| link["up"] == true).count()
    };
    let rain = |frame: &Value| frame["rain_rate_mm_h"].as_f64().unwrap();
    let nodes = |frame: &Value| frame["nodes"].as_array().unwrap().len();
    let failed = |frame: &Value| {
        let nodes = frame["nodes"].as_array().unwrap().iter();
        nodes.filter(|node| node["operating"] == false).count()
    };
    // At 0 s, 180 s, in the core of the storm at 420 s, while a relay is down at 660 s, at the end.
    let (start, before, storm) = (&frames[0], &frames[3], &frames[7]);
    assert!(nodes(start) < nodes(before), "the mesh grows");
    assert!(rain(storm) > 100.0 && up(storm) < up(before), "the storm takes links");
    assert_eq!((failed(before), failed(&frames[11])), (0, 1));
    assert_eq!(rain(frames.last().unwrap()), 0.0);
    let planned = json(&format!("/api/v1/deployments/{deployment}/nodes"));
    assert_eq!(planned.as_array().unwrap().len(), nodes(frames.last().unwrap()));
    let sent = Command::new("kill").args(["-TERM", &demo.0.id().to_string()]).status();
    assert!(sent.unwrap().success());
    assert_eq!(demo.0.wait().unwrap().code(), Some(0));
}

#[test]
fn a_check_ends_by_itself_and_a_wrong_port_is_refused() {
    let output = stdout(&groundwave(&["demo", "--check"]));
    assert!(
        output.contains("http://127.0.0.1:") && output.contains("--check ends here"),
        "{output}"
    );
    for port in ["65536", "http", "-1"] {
        let refused = groundwave(&["demo", "--port", port, "--check"]);
        assert_eq!(refused.status.code(), Some(2), "{port}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let refused = groundwave(&["demo", "--port", &port, "--check"]);
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{text}");
    assert!(text.contains(&port), "{text}");
}

#[test]
fn the_ground_of_the_program_is_the_tile_that_is_fetched() {
    let packed = std::fs::File::open(root().join("scenarios/terrain/N57E011.hgt.gz")).unwrap();
    let mut tile = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed), &mut tile).unwrap();
    let digest = Sha256::digest(&tile);
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest, fetched_digest());
}
