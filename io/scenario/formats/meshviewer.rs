//! Maps of Freifunk communities: meshviewer, hopglass versions 1 and 2, and the neighbours of nodes
//! in the form of respondd.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::Role;
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::{self, NOT_RADIO};
use super::mesh::{self, MeshNode, MeshSnapshot, entries, number, position, quality, rows, text};
use super::{Content, Format, signal};

/// The format.
pub static FORMAT: Format = Format {
    name: "meshviewer",
    label: "meshviewer",
    description: "meshviewer, hopglass, yanic or respondd: positions, TQ and signal of links",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| sniff(sample.json()),
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Format of the lines of yanic's output `raw-jsonl`, stated by the first of them; each of the others is
/// a node.
const YANIC_LINES: &str = "raw-nodes-jsonl";

/// Nodes looked at to recognise a document.
const SNIFFED: usize = 100;

fn sniff(document: &Value) -> bool {
    if document["format"] == YANIC_LINES {
        return true;
    }
    let has = |of: &Value, keys: &[&str]| keys.iter().any(|key| !of[*key].is_null());
    let has_neighbours = |node: &Value| has(node, &["neighbours", "neighbors"]);
    let is_node = |node: &Value| has(node, &["node_id", "hostname", "nodeinfo", "location"]);
    let is_answer = document["node_id"].is_string()
        && document["hostname"].is_string()
        && document["network"].is_object();
    let link = rows(&document["links"]).next();
    let nodes = entries(&document["nodes"], "").take(SNIFFED);
    !has(document, &["type"])
        && (nodes.map(|entry| entry.2).any(|node| has_neighbours(node) || is_node(node))
            || link.is_some_and(|link| has(link, &["source_tq", "source"]))
            || has_neighbours(&document[0])
            || has_neighbours(document)
            || is_answer)
}

/// Data that the node reports about itself: hopglass keeps it apart from observations by others.
fn nodeinfo(node: &Value) -> &Value {
    match &node["nodeinfo"] {
        Value::Object(_) => &node["nodeinfo"],
        _ => node,
    }
}

/// Parser of a document.
pub(super) fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    let stamps = [&document["timestamp"], &document["updated_at"], &document["meta"]["timestamp"]];
    snapshot.date(stamps);
    let list = &document["nodes"];
    let nodes: Vec<(String, Option<&String>, &Value)> = match (list, document) {
        (Value::Array(_) | Value::Object(_), _) => entries(list, "nodes").collect(),
        (_, Value::Array(_)) => entries(document, "").collect(),
        _ if document["format"] == YANIC_LINES => Vec::new(),
        _ => vec![("node".to_owned(), None, document)],
    };
    let is_answer = nodes.len() == 1 && !list.is_array() && !list.is_object();
    let mut hosts: BTreeMap<String, usize> = BTreeMap::new();
    for name in nodes.iter().filter_map(|(_, _, node)| text(&nodeinfo(node)["hostname"])) {
        *hosts.entry(name).or_default() += 1;
    }
    for (path, key, node) in &nodes {
        let info = nodeinfo(node);
        let hostname = text(&info["hostname"]);
        let id = text(&info["node_id"])
            .or_else(|| text(&node["neighbours"]["node_id"]))
            .or_else(|| key.map(String::to_owned));
        // Of nodes without an id, those of one name are different ones.
        let own_name = hostname.clone().filter(|name| hosts[name] == 1);
        let key = id.clone().or(own_name).unwrap_or_else(|| path.clone());
        if is_answer {
            snapshot.observer = Some(key.clone());
        }
        let aliases = &mut snapshot.aliases;
        addresses(&info["network"], &mut |mac| aliases.push((mac, key.clone())));
        for list in ["batadv", "wifi"] {
            for (mac, _) in node["neighbours"][list].as_object().into_iter().flatten() {
                aliases.push((mac.clone(), key.clone()));
            }
        }
        if number(&info["location"]["altitude"]).is_some_and(|altitude_m| altitude_m != 0.0) {
            snapshot.drop(mesh::ALTITUDE);
        }
        let gateway = node["is_gateway"] == true || node["flags"]["gateway"] == true;
        snapshot.nodes.push(MeshNode {
            key,
            name: hostname.or(id),
            role: if gateway { Role::Command } else { Role::default() },
            at_deg: position(&info["location"]),
            is_offline: [&node["is_online"], &node["flags"]["online"]]
                .contains(&&Value::Bool(false)),
            path: path.clone(),
            ..MeshNode::default()
        });
    }
    let wired = wired(nodes.iter().map(|(_, _, node)| nodeinfo(node)));
    for (_, _, node) in &nodes {
        neighbours(&node["neighbours"], &wired, snapshot);
    }
    for row in rows(&document["links"]) {
        snapshot.listed_links += 1;
        listed(row, snapshot);
    }
}

/// All texts in `of` that are MAC addresses.
fn addresses(of: &Value, each: &mut impl FnMut(String)) {
    match of {
        Value::String(text) if text.len() == 17 && text.matches(':').count() == 5 => {
            each(text.clone());
        }
        Value::Array(all) => all.iter().for_each(|one| addresses(one, each)),
        Value::Object(all) => all.values().for_each(|one| addresses(one, each)),
        _ => {}
    }
}

/// Addresses of the tunnels and cables of nodes, but those that a radio has as well.
fn wired<'v>(nodes: impl Iterator<Item = &'v Value>) -> BTreeSet<String> {
    let (mut wired, mut wireless) = (BTreeSet::new(), BTreeSet::new());
    for info in nodes {
        for mesh in info["network"]["mesh"].as_object().into_iter().flat_map(|all| all.values()) {
            for kind in ["tunnel", "other"] {
                addresses(&mesh["interfaces"][kind], &mut |mac| wired.extend([mac]));
            }
            addresses(&mesh["interfaces"]["wireless"], &mut |mac| wireless.extend([mac]));
        }
    }
    wired.retain(|mac| !wireless.contains(mac));
    wired
}

/// Neighbours of a node, by its interfaces. Those at an address of `wired` are not radio links.
fn neighbours(of: &Value, wired: &BTreeSet<String>, snapshot: &mut MeshSnapshot) {
    for (list, radio) in [("batadv", false), ("wifi", true)] {
        for (mac, interface) in of[list].as_object().into_iter().flatten() {
            let peers = interface["neighbours"].as_object().into_iter().flatten();
            for (peer, values_of_peer) in peers {
                if !radio && (wired.contains(mac) || wired.contains(peer)) {
                    snapshot.drop(NOT_RADIO);
                    continue;
                }
                let value = |key: &str| values_of_peer[key].as_f64();
                let mut values = Measured::default();
                if radio {
                    let drop = |what: &str| snapshot.drop(what);
                    values = signal::measured(value("signal"), value("noise"), drop);
                    let frequency_mhz = interface["frequency"].as_f64().filter(|mhz| *mhz > 0.0);
                    values.frequency_mhz = frequency_mhz.filter(|_| values.rx_power_dbm.is_some());
                } else {
                    values.quality = value("tq").map(|tq| tq / 255.0);
                }
                match values.is_empty() {
                    // The note on its signal counts it.
                    true if radio && value("signal").is_some() => {}
                    true => snapshot.drop("a neighbour without TQ or signal"),
                    false => snapshot.link(peer, mac, values),
                }
            }
        }
    }
}

/// A link of a map, whose ends are ids of nodes.
fn listed(row: &Value, snapshot: &mut MeshSnapshot) {
    let Some((source, target)) = text(&row["source"]).zip(text(&row["target"])) else {
        return snapshot.drop("a link without two ends");
    };
    let kind = row["type"].as_str().unwrap_or_default();
    if interfaces::is_wired(kind) || row["vpn"] == true {
        return snapshot.drop(NOT_RADIO);
    }
    for (from, to, value) in
        [(&source, &target, &row["source_tq"]), (&target, &source, &row["target_tq"])]
    {
        match value.as_f64() {
            Some(tq) => snapshot.link(from, to, quality(tq)),
            None => snapshot.drop("a link without its TQ"),
        }
    }
}
