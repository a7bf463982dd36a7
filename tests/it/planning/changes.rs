//! Changes of a deployment as events, links of nodes that are not stored, scans.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::Bench;

/// Longest wait for an event that must come.
const WAIT: Duration = Duration::from_secs(60);

/// Open stream of events.
pub struct Listener<'a> {
    bench: &'a Bench,
    body: Body,
    text: String,
}

/// Event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    pub id: String,
    pub name: String,
    pub data: Value,
}

impl<'a> Listener<'a> {
    /// Opens a stream, after the event `last` if there is one.
    pub fn open(bench: &'a Bench, path: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(path);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = bench.router.clone().oneshot(request);
        let answer = bench.runtime.block_on(answer).unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        Self { bench, body: answer.into_body(), text: String::new() }
    }

    /// The next event; `None` at the end.
    pub fn next(&mut self) -> Option<StreamEvent> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = block.lines();
                    let line = lines.find_map(|line| line.strip_prefix(name));
                    line.unwrap_or_default().trim().to_owned()
                };
                let event = StreamEvent {
                    id: field("id:"),
                    name: field("event:"),
                    data: serde_json::from_str(&field("data:")).unwrap_or_default(),
                };
                self.text = rest.to_owned();
                if !event.name.is_empty() {
                    return Some(event);
                }
                continue;
            }
            let frame = async { tokio::time::timeout(WAIT, self.body.frame()).await };
            let frame = self.bench.runtime.block_on(frame).expect("an event")?;
            let data = frame.unwrap().into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// Data of the next event, which has this name.
    fn expect(&mut self, name: &str) -> Value {
        let event = self.next().unwrap();
        assert_eq!(event.name, name, "{event:?}");
        event.data
    }
}

/// A deployment with nodes 1 km apart from west to east: its path and the ids.
fn row(bench: &Bench, count: usize) -> (String, Vec<String>) {
    let within = bench.make("/api/v1/deployments", &json!({ "name": "d" }));
    let path = format!("/api/v1/deployments/{within}");
    let node = |number: usize| {
        let lon = 11.5 + 0.0165 * number as f64;
        let body = json!({ "name": format!("n{number}"), "lat": 57.5, "lon": lon });
        bench.make(&format!("{path}/nodes"), &body)
    };
    let nodes = (0..count).map(node).collect();
    (path, nodes)
}

/// The stored links of a node.
fn links_of(bench: &Bench, path: &str, node: &str) -> Vec<Value> {
    let all = bench.call("GET", &format!("{path}/links"), &Value::Null).json();
    let links = all["links"].as_array().unwrap().iter();
    let own = links.filter(|link| link["a_node_id"] == node || link["b_node_id"] == node);
    own.cloned().collect()
}

fn relocate(bench: &Bench, node: &str, lat: f64) {
    let body = json!({ "lat": lat, "lon": 11.51 });
    let answer = bench.call("PUT", &format!("/api/v1/nodes/{node}/position"), &body);
    assert_eq!(answer.status, StatusCode::OK);
}

#[test]
fn changes_of_others_and_the_links_they_change_arrive() {
    let bench = Bench::flat();
    let (path, nodes) = row(&bench, 4);
    let mut listener = Listener::open(&bench, &format!("{path}/changes"), None);
    listener.expect("started");
    relocate(&bench, &nodes[0], 57.51);
    let node = listener.expect("node");
    assert_eq!((&node["id"], &node["lat"]), (&json!(nodes[0]), &json!(57.51)));
    let links = listener.expect("links");
    assert_eq!(links["node_id"], nodes[0].as_str());
    let stored = links_of(&bench, &path, &nodes[0]);
    assert_eq!(stored.len(), 3);
    assert_eq!(links["links"], json!(stored));
    assert!(stored[0]["fresnel_clearance_ratio"].is_number());
    // Another name changes no link.
    let name = json!({ "name": "renamed" });
    bench.call("PATCH", &format!("/api/v1/nodes/{}", nodes[1]), &name);
    assert_eq!(listener.expect("node")["name"], "renamed");
    bench.call("DELETE", &format!("/api/v1/nodes/{}", nodes[2]), &Value::Null);
    assert_eq!(listener.expect("node_removed"), json!({ "node_id": nodes[2] }));
    bench.call("PATCH", &path, &json!({ "name": "other" }));
    assert_eq!(listener.expect("deployment")["name"], "other");
    let rain = json!({ "environment": { "rain_rate_mm_h": 20.0 } });
    assert_eq!(bench.call("PATCH", &path, &rain).status, StatusCode::OK);
    assert_eq!(listener.expect("deployment")["environment"]["rain_rate_mm_h"], 20.0);
    assert_eq!(listener.expect("reset")["reason"], "the environment changed");
    bench.call("DELETE", &path, &Value::Null);
    while let Some(event) = listener.next() {
        assert!(["node_removed", "removed"].contains(&event.name.as_str()), "{event:?}");
    }
}

#[test]
fn a_stream_goes_on_where_it_was_cut_off() {
    let bench = Bench::flat();
    let (path, nodes) = row(&bench, 2);
    let changes = format!("{path}/changes");
    let mut listener = Listener::open(&bench, &changes, None);
    listener.expect("started");
    relocate(&bench, &nodes[0], 57.51);
    let node = listener.next().unwrap();
    let links = listener.next().unwrap();
    relocate(&bench, &nodes[1], 57.52);
    let after = [listener.next().unwrap(), listener.next().unwrap()];
    drop(listener);
    let mut again = Listener::open(&bench, &changes, Some(&node.id));
    assert_eq!(again.next().unwrap(), links);
    assert_eq!([again.next().unwrap(), again.next().unwrap()], after);
    let mut stranger = Listener::open(&bench, &changes, Some("0-17"));
    assert_eq!(stranger.next().unwrap().name, "reset");
    let missing = format!("/api/v1/deployments/{}/changes", nodes[0]);
    let missing = bench.call("GET", &missing, &Value::Null);
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_dragged_node_has_the_links_it_would_have_and_nothing_is_stored() {
    let bench = Bench::flat();
    let (path, nodes) = row(&bench, 3);
    let before = links_of(&bench, &path, &nodes[0]);
    let request = json!({ "node_id": nodes[0], "lat": 57.53, "lon": 11.51 });
    let preview = bench.call("POST", &format!("{path}/links/preview"), &request).json();
    assert_eq!(preview["node_id"], nodes[0].as_str());
    assert_eq!(links_of(&bench, &path, &nodes[0]), before);
    assert_ne!(preview["links"], json!(before));
    relocate(&bench, &nodes[0], 57.53);
    assert_eq!(preview["links"], json!(links_of(&bench, &path, &nodes[0])));
    let strange = json!({ "node_id": path.rsplit('/').next(), "lat": 57.5, "lon": 11.5 });
    let strange = bench.call("POST", &format!("{path}/links/preview"), &strange);
    assert_eq!(strange.status, StatusCode::NOT_FOUND);
    let bad = json!({ "lat": 57.5, "lon": 11.5, "height_agl_m": -1.0 });
    let bad = bench.call("POST", &format!("{path}/links/preview"), &bad);
    assert_eq!(bad.status, StatusCode::BAD_REQUEST);
}

#[test]
fn a_scan_ranks_the_nodes_by_their_margin() {
    let bench = Bench::flat();
    let (path, nodes) = row(&bench, 3);
    // West of all of them.
    let request = json!({ "lat": 57.5, "lon": 11.49, "height_agl_m": 20.0 });
    let document = bench.call("POST", &format!("{path}/scan"), &request).json();
    let candidates = document["candidates"].as_array().unwrap();
    let ids: Vec<_> = candidates.iter().map(|document| &document["node_id"]).collect();
    assert_eq!(json!(ids), json!(nodes));
    let mut before_db = f64::INFINITY;
    for candidate in candidates {
        let link = &candidate["link"];
        let margin = |direction: &str| link[direction]["link_margin_db"].as_f64().unwrap();
        let worse_db = margin("forward").min(margin("reverse"));
        assert_eq!(candidate["link_margin_db"].as_f64(), Some(worse_db));
        assert!(worse_db <= before_db);
        before_db = worse_db;
        let azimuth_deg = candidate["azimuth_deg"].as_f64().unwrap();
        assert!((azimuth_deg - 90.0).abs() < 0.1, "{azimuth_deg}");
        assert_eq!(link["a_node_id"], uuid::Uuid::nil().to_string());
    }
}
