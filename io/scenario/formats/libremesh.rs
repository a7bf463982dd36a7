//! Data that the nodes of LibreMesh share (`shared-state`): links by Wi-Fi, batman-adv and Babel, and nodes.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, entries, number, text};
use super::{Content, Format, babel, batctl, interfaces};

/// The format.
pub static FORMAT: Format = Format {
    name: "libremesh",
    label: "LibreMesh shared-state",
    description: "LibreMesh shared-state (wifi_links_info, bat_links_info, babel_links_info, node_info): \
                  positions, signal, rates and TQ of links",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let nodes = sample.json().as_object();
        nodes.is_some_and(|nodes| nodes.values().take(SNIFFED).any(is_node))
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Nodes looked at to recognise a document.
const SNIFFED: usize = 20;

/// The data of a node; older versions store it with a time to live.
fn data(node: &Value) -> &Value {
    match &node["data"] {
        Value::Null => node,
        data => data,
    }
}

/// Links of a node: those of `links`, the node itself, or a list.
fn links(node: &Value) -> &Value {
    match &node["links"] {
        Value::Null => node,
        links => links,
    }
}

fn is_link(link: &Value) -> bool {
    [("src_mac", "dst_mac"), ("src_ip", "dst_ip")]
        .into_iter()
        .any(|(from, to)| link[from].is_string() && link[to].is_string())
}

fn is_node(node: &Value) -> bool {
    let node = data(node);
    let is_info = !node["board"].is_null()
        && (node["coordinates"].is_object() || !node["firmware_version"].is_null());
    is_info
        || node["src_loc"].is_object() && node["links"].is_object()
        || entries(links(node), "").next().is_some_and(|(.., link)| is_link(link))
}

/// Nodes are their host names, which LibreMesh makes of hardware addresses; links are between addresses.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    for (host, node) in document.as_object().into_iter().flatten() {
        let node = data(node);
        if !node.is_object() && !node.is_array() {
            snapshot.drop("a member that is not a node");
            continue;
        }
        let place = [&node["src_loc"], &node["coordinates"], node].into_iter().find_map(place);
        snapshot.nodes.push(MeshNode {
            key: host.clone(),
            name: Some(host.clone()),
            at_deg: place,
            path: host.clone(),
            ..MeshNode::default()
        });
        for (_, _, row) in entries(links(node), host).filter(|(.., row)| is_link(row)) {
            link(host, row, snapshot);
        }
    }
}

/// A position; nodes without one state texts such as `FIXME`.
fn place(of: &Value) -> Option<[f64; 2]> {
    let lon = number(&of["long"]).or_else(|| number(&of["lon"]));
    Some([number(&of["lat"])?, lon?])
}

/// A link as a node has it: signal and rates of Wi-Fi, the TQ of batman-adv, costs of Babel.
fn link(host: &str, row: &Value, snapshot: &mut MeshSnapshot) {
    let end = |mac: &str, ip: &str| text(&row[mac]).or_else(|| text(&row[ip]));
    let ends = end("src_mac", "src_ip").zip(end("dst_mac", "dst_ip"));
    let Some((here, there)) = ends else { return };
    snapshot.aliases.push((here.clone(), host.to_owned()));
    if row["iface"].as_str().is_some_and(interfaces::is_wired) {
        snapshot.listed_links += 1;
        return snapshot.drop(interfaces::NOT_RADIO);
    }
    if !row["rxcost"].is_null() || !row["txcost"].is_null() {
        let cost = |key: &str| number(&row[key]);
        return babel::link(&here, &there, cost("rxcost"), cost("txcost"), snapshot);
    }
    snapshot.listed_links += 1;
    // Rates are kbit/s, frequencies MHz.
    let rate_bps =
        |key: &str| number(&row[key]).map(|kbit_s| kbit_s * 1e3).filter(|bps| *bps > 0.0);
    let frequency_mhz = number(&row["freq"]).filter(|mhz| *mhz > 0.0);
    let rx_power_dbm = number(&row["signal"]).filter(|dbm| *dbm < 0.0);
    let frequency_mhz = frequency_mhz.filter(|_| rx_power_dbm.is_some());
    let towards = Measured {
        rx_power_dbm,
        frequency_mhz,
        rate_bps: rate_bps("rx_rate"),
        ..Measured::default()
    };
    let back = Measured {
        quality: number(&row["tq"]).map(|tq| tq / batctl::TQ_MAX),
        rate_bps: rate_bps("tx_rate"),
        ..Measured::default()
    };
    if towards.is_empty() && back.is_empty() {
        snapshot.drop("a link without signal, rate and TQ");
    }
    for (from, to, values) in [(&there, &here, towards), (&here, &there, back)] {
        if !values.is_empty() {
            snapshot.link(from, to, values);
        }
    }
}
