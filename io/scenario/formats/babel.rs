//! Neighbours of babeld: the dump of its local interface (`dump`), and what it answers over ubus.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::{self, NOT_RADIO};
use super::mesh::{self, MeshNode, MeshSnapshot};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "babel",
    label: "babeld",
    description: "babeld: dump of its local interface, or get_neighbours of ubus: costs of neighbours",
    extensions: &["babel", "txt"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let is_dump = |line: &str| line == "BABEL 1.0" || line.starts_with("add neighbour ");
        let neighbours = sample.json()["IPv6"].as_object();
        sample.lines().take(200).any(is_dump)
            || neighbours.is_some_and(|all| all.values().any(|one| !one["rxcost"].is_null()))
    },
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Cost of a link without losses by ETX (RFC 8966, A.2.2).
const COST_OF_ONE: f64 = 256.0;
/// Cost of a link that carries nothing (RFC 8966, 2.1).
const COST_INFINITE: f64 = 65_535.0;

/// Adds the two directions of a link by its costs, which are 256 over the share of Hellos that arrives: that of
/// the node by `rxcost`, that of the neighbour by `txcost`.
pub(super) fn link(
    here: &str,
    neighbour: &str,
    rxcost: Option<f64>,
    txcost: Option<f64>,
    snapshot: &mut MeshSnapshot,
) {
    snapshot.listed_links += 1;
    for (from, to, cost) in [(neighbour, here, rxcost), (here, neighbour, txcost)] {
        let delivery_prob = match cost {
            Some(cost) if cost >= COST_INFINITE => Some(0.0),
            Some(cost) if cost >= COST_OF_ONE => Some(COST_OF_ONE / cost),
            Some(cost) if cost > 0.0 => {
                snapshot.drop("a cost below 256: that of a wired link, not of ETX");
                None
            }
            _ => {
                snapshot.drop("a neighbour without its cost");
                None
            }
        };
        if delivery_prob.is_some() {
            snapshot.link(from, to, Measured { delivery_prob, ..Measured::default() });
        }
    }
}

/// Reads a dump. The node is its router id, or the first address of its interfaces.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    if text.trim_start().starts_with('{') {
        return parse_json(text, snapshot);
    }
    let lines = || text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of = |key: &str| {
        lines().find_map(|words| (words.len() == 2 && words[0] == key).then(|| words[1].to_owned()))
    };
    let (mut interfaces, mut neighbours) = (Vec::new(), Vec::new());
    for words in lines() {
        match words.get(1).copied() {
            Some("interface") => change(&mut interfaces, words),
            Some("neighbour") => change(&mut neighbours, words),
            Some("route" | "xroute") if ["add", "change"].contains(&words[0]) => {
                snapshot.drop("a route, not a link");
            }
            _ => {}
        }
    }
    let addresses = interfaces.iter().filter_map(|words| value(words, "ipv6").map(str::to_owned));
    let addresses: Vec<String> = addresses.collect();
    let node = of("my-id").or_else(|| addresses.first().cloned());
    snapshot.observer = node.clone();
    let node = node.unwrap_or_else(|| "self".to_owned());
    snapshot.aliases = addresses.into_iter().map(|address| (address, node.clone())).collect();
    snapshot.nodes.push(MeshNode {
        name: of("host").or_else(|| Some(node.clone())),
        key: node.clone(),
        path: "my-id".to_owned(),
        ..MeshNode::default()
    });
    for words in neighbours {
        let cost = |key: &str| value(&words, key).and_then(|text| text.parse().ok());
        match value(&words, "address") {
            Some(_) if value(&words, "if").is_some_and(interfaces::is_wired) => {
                snapshot.listed_links += 1;
                snapshot.drop(NOT_RADIO);
            }
            Some(address) => link(&node, address, cost("rxcost"), cost("txcost"), snapshot),
            None => snapshot.drop("a neighbour without an address"),
        }
    }
}

/// Takes a line about an object of a kind, by its identifier: `add` and `change` replace what was there, of a dump or
/// of the changes that `monitor` prints behind it, and `flush` removes it.
fn change<'t>(objects: &mut Vec<Vec<&'t str>>, words: Vec<&'t str>) {
    let before = objects.iter().position(|object| object.get(2) == words.get(2));
    match (words[0], before) {
        ("add" | "change", Some(index)) => objects[index] = words,
        ("add" | "change", None) => objects.push(words),
        ("flush", Some(index)) => drop(objects.remove(index)),
        _ => {}
    }
}

/// The word after a key.
fn value<'w>(words: &[&'w str], key: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| *word == key)?;
    words.get(at + 1).copied()
}

/// Reads `ubus call babeld get_neighbours`, which does not name the node.
fn parse_json(text: &str, snapshot: &mut MeshSnapshot) {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    if document.is_null() {
        return snapshot.drop("a document of invalid JSON");
    }
    for family in ["IPv6", "IPv4"] {
        for (address, one) in document[family].as_object().into_iter().flatten() {
            if one["dev"].as_str().is_some_and(interfaces::is_wired) {
                snapshot.listed_links += 1;
                snapshot.drop(NOT_RADIO);
                continue;
            }
            let cost = |key: &str| mesh::number(&one[key]);
            link("self", address, cost("rxcost"), cost("txcost"), snapshot);
        }
    }
}
