//! `sysinfo.json` of AREDN nodes: position, and signal and link quality of neighbours.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, number, position, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "aredn",
    label: "AREDN",
    description: "AREDN sysinfo.json with link_info=1: position, signal and quality of neighbours",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        document["node"].is_string()
            && (document["meshrf"].is_object() || document["link_info"].is_object())
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Nodes are their names, which are call signs and unique. Signals are those that the node receives.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    let Some(node) = text(&document["node"]) else {
        return snapshot.drop("a document without the name of its node");
    };
    snapshot.nodes.push(MeshNode {
        key: node.to_ascii_uppercase(),
        name: Some(node.clone()),
        at_deg: position(document),
        path: "node".to_owned(),
        ..MeshNode::default()
    });
    let node = node.to_ascii_uppercase();
    snapshot.observer = Some(node.clone());
    for (address, link) in document["link_info"].as_object().into_iter().flatten() {
        snapshot.listed_links += 1;
        if link["linkType"].as_str().is_some_and(|kind| !kind.is_empty() && kind != "RF") {
            snapshot.drop("a tunnel or cable, not a radio link");
            continue;
        }
        let name = text(&link["hostname"]).unwrap_or_else(|| address.clone());
        let neighbour = name.trim_end_matches(".local.mesh").to_ascii_uppercase();
        let rx_power_dbm = number(&link["signal"]).filter(|dbm| *dbm < 0.0);
        let noise_dbm = number(&link["noise"]).filter(|dbm| *dbm < 0.0);
        let towards = Measured {
            rx_power_dbm,
            snr_db: rx_power_dbm.zip(noise_dbm).map(|(signal, noise)| signal - noise),
            delivery_prob: number(&link["linkQuality"]),
            ..Measured::default()
        };
        let back = Measured {
            delivery_prob: number(&link["neighborLinkQuality"]),
            rate_bps: number(&link["tx_rate"]).map(|mbit_s| mbit_s * 1e6),
            ..Measured::default()
        };
        if towards.is_empty() && back.is_empty() {
            snapshot.drop("a neighbour without signal and quality");
        }
        for (from, to, values) in [(&neighbour, &node, towards), (&node, &neighbour, back)] {
            if !values.is_empty() {
                snapshot.link(from, to, values);
            }
        }
    }
}
