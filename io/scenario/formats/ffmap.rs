//! Maps of Freifunk communities: `graph.json` of ffmap, with the `nodes.json` beside it, and `nodelist.json`.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::NOT_RADIO;
use super::mesh::{self, Companion, MeshNode, MeshSnapshot, entries, number, rows, text};
use super::{Content, Format, meshviewer};

/// Documents beside a graph that have its nodes, with their positions.
static COMPANIONS: [Companion; 2] =
    [(&meshviewer::FORMAT, meshviewer::parse), (&NODELIST, nodelist)];

/// Links of batman-adv.
pub static GRAPH: Format = Format {
    name: "ffmap",
    label: "ffmap graph",
    description: "graph.json of ffmap: TQ of links",
    extensions: &["json"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let graph = &sample.json()["batadv"];
        graph["links"].is_array() && graph["nodes"].is_array()
    },
    read: Some(|source, options| mesh::read_with(&GRAPH, graph, &COMPANIONS, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Nodes with their positions.
pub static NODELIST: Format = Format {
    name: "nodelist",
    label: "nodelist",
    description: "nodelist.json of Freifunk communities: positions of nodes",
    extensions: &["json"],
    contents: &[Content::Positions],
    sniff: |sample| {
        let document = sample.json();
        let node = &document["nodes"][0];
        document["version"].is_string() && node["id"].is_string() && node["status"].is_object()
    },
    read: Some(|source, options| mesh::read(&NODELIST, nodelist, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Links name their nodes by position in the list; `tq` is 1 over the quality, at least 1.
fn graph(document: &Value, snapshot: &mut MeshSnapshot) {
    let graph = &document["batadv"];
    let nodes = rows(&graph["nodes"]);
    let keys: Vec<Option<String>> =
        nodes.map(|node| text(&node["node_id"]).or_else(|| text(&node["id"]))).collect();
    for key in keys.iter().flatten() {
        snapshot.nodes.push(MeshNode {
            key: key.clone(),
            name: Some(key.clone()),
            path: format!("node {key}"),
            ..MeshNode::default()
        });
    }
    for link in rows(&graph["links"]) {
        snapshot.listed_links += 1;
        let end = |name: &str| {
            let index = usize::try_from(link[name].as_u64()?).ok()?;
            keys.get(index).cloned().flatten()
        };
        let Some((source, target)) = end("source").zip(end("target")) else {
            snapshot.drop("a link without two nodes");
            continue;
        };
        if link["vpn"] == true {
            snapshot.drop(NOT_RADIO);
            continue;
        }
        let Some(cost) = number(&link["tq"]).filter(|cost| *cost >= 1.0) else {
            snapshot.drop("a link without its TQ");
            continue;
        };
        let values = Measured { quality: Some(1.0 / cost), ..Measured::default() };
        snapshot.link(&source, &target, values);
        if link["bidirect"] == true {
            snapshot.link(&target, &source, values);
        }
    }
}

fn nodelist(document: &Value, snapshot: &mut MeshSnapshot) {
    snapshot.date([&document["updated_at"]]);
    for (path, _, node) in entries(&document["nodes"], "nodes") {
        let Some(key) = text(&node["id"]) else {
            snapshot.drop("a node without an id");
            continue;
        };
        let place = &node["position"];
        let lon = number(&place["long"]).or_else(|| number(&place["lon"]));
        snapshot.nodes.push(MeshNode {
            name: text(&node["name"]).or_else(|| Some(key.clone())),
            key,
            at_deg: number(&place["lat"]).zip(lon).map(|(lat, lon)| [lat, lon]),
            is_offline: node["status"]["online"] == false,
            path,
            ..MeshNode::default()
        });
    }
}
