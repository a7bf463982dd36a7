//! Links of bmx6 and bmx7: the tables that `--show=links` prints, and the JSON of their plugins.

use std::collections::BTreeMap;

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::{self, NOT_RADIO};
use super::mesh::{self, MeshNode, MeshSnapshot, rows};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "bmx",
    label: "bmx6 and bmx7",
    description: "bmx6 or bmx7, show=status show=links as text or JSON: quality of links",
    extensions: &["bmx", "txt"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let is_heads = |line: &str| is_heads(&line.split_whitespace().collect::<Vec<_>>());
        let link = &sample.json()["links"][0];
        sample.lines().take(200).any(is_heads)
            || sample.json()[0]["links"].is_array()
                && rows(sample.json()).take(200).any(|node| !node["links"][0]["rxRate"].is_null())
            || IDS.iter().any(|id| link[*id].is_string()) && !link["rxRate"].is_null()
    },
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Columns of the identifier of a node, the most exact one first. `globalId` of bmx6 is a name and a hash.
const IDS: [&str; 4] = ["nodeId", "globalId", "shortId", "name"];

/// Columns of the interface of a link, of bmx7 and bmx6.
const DEVICES: [&str; 2] = ["dev", "viaDev"];

/// True for the heads of the table of links.
fn is_heads(words: &[&str]) -> bool {
    words.contains(&"rxRate")
        && words.contains(&"txRate")
        && IDS.iter().any(|id| words.contains(id))
}

/// Reads the sections of a text, or the objects of JSON.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    let mut tables: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    if text.trim_start().starts_with('[') {
        return nodes(text, snapshot);
    }
    if text.trim_start().starts_with('{') {
        for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            let Ok(document) = document else {
                snapshot.drop("a document of invalid JSON");
                break;
            };
            tables.entry("links").or_default().extend(rows(&document["links"]).map(json));
            if document["status"].is_object() {
                tables.entry("status").or_default().push(json(&document["status"]));
            }
        }
    } else {
        let mut heads: Option<(&str, Vec<&str>)> = None;
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                [] => {}
                [section] if section.ends_with(':') => heads = None,
                _ if is_heads(&words) => heads = Some(("links", words)),
                words if words.contains(&"uptime") => heads = Some(("status", words.to_vec())),
                _ => {
                    let Some((table, heads)) = &heads else { continue };
                    let cells = heads.iter().zip(&words);
                    let row = cells.map(|(head, cell)| ((*head).to_owned(), (*cell).to_owned()));
                    tables.entry(table).or_default().push(row.collect());
                }
            }
        }
    }
    let status = tables.get("status").and_then(|rows| rows.first());
    snapshot.observer = status.and_then(id);
    let node = snapshot.observer.clone().unwrap_or_else(|| "self".to_owned());
    if let Some(status) = status {
        add(status, &node, "status", snapshot);
    }
    for row in tables.get("links").into_iter().flatten() {
        if let Some(neighbour) = id(row) {
            add(row, &neighbour, "link", snapshot);
        }
        links(row, &node, snapshot);
    }
}

/// Takes both directions of a link of a node.
fn links(row: &Row, node: &str, snapshot: &mut MeshSnapshot) {
    snapshot.listed_links += 1;
    let Some(neighbour) = id(row) else {
        return snapshot.drop("a link without its neighbour");
    };
    if DEVICES.iter().filter_map(|column| row.get(*column)).any(|name| interfaces::is_wired(name)) {
        return snapshot.drop(NOT_RADIO);
    }
    let directions =
        [(&*neighbour, node, "rq", "rxRate", true), (node, &*neighbour, "tq", "txRate", false)];
    for (from, to, share, rate, is_received) in directions {
        let values = measured(row, share, rate, is_received);
        match values.is_empty() {
            true => snapshot.drop("a link without its rates"),
            false => snapshot.link(from, to, values),
        }
    }
}

/// Reads the nodes of a network, each with its links.
fn nodes(text: &str, snapshot: &mut MeshSnapshot) {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    if !document.is_array() {
        return snapshot.drop("a document of invalid JSON");
    }
    for one in rows(&document) {
        let own = json(one);
        let Some(node) = id(&own) else {
            snapshot.drop("a node without an identifier");
            continue;
        };
        add(&own, &node, "node", snapshot);
        for row in rows(&one["links"]).map(json) {
            links(&row, &node, snapshot);
        }
    }
}

/// Cells of a row by their columns.
type Row = BTreeMap<String, String>;

fn json(row: &Value) -> Row {
    let cells = row.as_object().into_iter().flatten();
    cells.filter_map(|(key, cell)| Some((key.clone(), mesh::text(cell)?))).collect()
}

fn id(row: &Row) -> Option<String> {
    IDS.iter().find_map(|id| row.get(*id)).cloned()
}

fn add(row: &Row, key: &str, path: &str, snapshot: &mut MeshSnapshot) {
    snapshot.nodes.push(MeshNode {
        key: key.to_owned(),
        name: row.get("name").cloned().or_else(|| Some(key.to_owned())),
        path: path.to_owned(),
        ..MeshNode::default()
    });
}

/// Values of a direction. Where there is a share of its own, percent, the rate is one of bits per second
/// with a unit; otherwise the rate is the share.
fn measured(row: &Row, share: &str, rate: &str, is_received: bool) -> Measured {
    let percent = |key: &str| row.get(key)?.parse::<f64>().ok().map(|percent| percent / 100.0);
    let mut values = Measured::default();
    if row.contains_key(share) {
        values.delivery_prob = percent(share);
        values.rate_bps = row.get(rate).and_then(|text| bits(text));
        let snr_db = row.get("wSnr").and_then(|text| text.parse().ok());
        values.snr_db = snr_db.filter(|snr_db: &f64| is_received && *snr_db > 0.0);
    } else {
        values.delivery_prob = percent(rate);
    }
    values
}

/// A rate such as `54M`, bit/s; bmx7 prints numbers without a unit as they are.
fn bits(text: &str) -> Option<f64> {
    let (digits, factor) = match text.chars().last()? {
        'K' => (&text[..text.len() - 1], 1e3),
        'M' => (&text[..text.len() - 1], 1e6),
        'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    digits.parse::<f64>().ok().map(|number| number * factor).filter(|rate| *rate > 0.0)
}
