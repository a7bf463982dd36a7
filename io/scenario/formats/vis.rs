//! The mesh of batman-adv as `batadv-vis` prints it: `dot`, `json` (an object a line), `jsondoc`.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, number, rows, text as string};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "batadv-vis",
    label: "batadv-vis",
    description: "batadv-vis of alfred (dot, json, jsondoc): TQ or throughput of links",
    extensions: &["vis", "dot"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        let is_edge = |line: &str| edge(line).is_some();
        document["vis"].is_array()
            || document["primary"].is_string() && document["neighbors"].is_null()
            || document["router"].is_string() && document["neighbor"].is_string()
            || sample.text().trim_start().starts_with("digraph")
                && sample.lines().take(50).any(is_edge)
    },
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Number of BATMAN V, whose metric is a throughput; that of BATMAN IV is 255 over the TQ.
const BATMAN_V: f64 = 5.0;

fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    if !text.trim_start().starts_with('{') {
        return text.lines().for_each(|line| dot(line, snapshot));
    }
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        let Ok(document) = document else {
            return snapshot.drop("a document of invalid JSON");
        };
        let is_rate = number(&document["algorithm"]) == Some(BATMAN_V);
        match document["vis"].as_array() {
            Some(all) => all.iter().for_each(|one| primary(one, is_rate, snapshot)),
            None => object(&document, is_rate, snapshot),
        }
    }
}

/// A node of `jsondoc` with its neighbours.
fn primary(one: &Value, is_rate: bool, snapshot: &mut MeshSnapshot) {
    object(one, is_rate, snapshot);
    let Some(key) = string(&one["primary"]) else { return };
    for address in rows(&one["secondary"]).filter_map(string) {
        snapshot.aliases.push((address, key.clone()));
    }
    for neighbour in rows(&one["neighbors"]) {
        object(neighbour, is_rate, snapshot);
    }
    for _ in rows(&one["clients"]) {
        snapshot.drop("a client, not a node");
    }
}

/// A node, an interface or a link; clients are none of them.
fn object(one: &Value, is_rate: bool, snapshot: &mut MeshSnapshot) {
    if let Some(key) = string(&one["primary"]) {
        return add(&key, snapshot);
    }
    if let Some((address, key)) = string(&one["secondary"]).zip(string(&one["of"])) {
        return snapshot.aliases.push((address, key));
    }
    let Some((from, to)) = string(&one["router"]).zip(string(&one["neighbor"])) else {
        if one["router"].is_string() && one["gateway"].is_string() {
            snapshot.drop("a client, not a node");
        }
        return;
    };
    let metric = number(&one["metric"]).or_else(|| number(&one["label"]));
    link(&from, &to, metric, is_rate, snapshot);
}

fn add(key: &str, snapshot: &mut MeshSnapshot) {
    snapshot.nodes.push(MeshNode {
        key: key.to_owned(),
        name: Some(key.to_owned()),
        path: format!("node {key}"),
        ..MeshNode::default()
    });
}

fn link(from: &str, to: &str, metric: Option<f64>, is_rate: bool, snapshot: &mut MeshSnapshot) {
    snapshot.listed_links += 1;
    let values = match metric {
        Some(mbit_s) if is_rate => Measured { rate_bps: Some(mbit_s * 1e6), ..Measured::default() },
        Some(metric) if metric >= 1.0 => mesh::quality(1.0 / metric),
        _ => return snapshot.drop("a link without its TQ"),
    };
    snapshot.link(from, to, values);
}

/// Ends and label of an edge of `dot`: `"a" -> "b" [label="1.016"]`.
fn edge(line: &str) -> Option<(&str, &str, &str)> {
    let mut parts = line.split('"');
    let (from, arrow, to) = (parts.nth(1)?, parts.next()?, parts.next()?);
    let label = parts.nth(1).unwrap_or_default();
    (arrow.trim() == "->").then_some((from, to, label))
}

fn dot(line: &str, snapshot: &mut MeshSnapshot) {
    match edge(line) {
        Some((_, _, "TT")) => snapshot.drop("a client, not a node"),
        Some((from, to, label)) => link(from, to, label.parse().ok(), false, snapshot),
        None => {}
    }
}
