//! The nodes of NYC Mesh, `nodes.json`; those that are installed.

use groundwave_model::radio::Role;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, entries, number, rows, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "nycmesh",
    label: "NYC Mesh",
    description: "NYC Mesh nodes.json: positions of installed nodes",
    extensions: &["json"],
    contents: &[Content::Positions],
    sniff: |sample| {
        let mut nodes = rows(sample.json()).take(100);
        nodes.any(|node| node["coordinates"].is_array() && !node["id"].is_null())
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    for (path, _, node) in entries(document, "") {
        let status = match node["status"].as_str() {
            Some("Installed") => None,
            Some(status) => Some(format!("status {status:?}, not installed: dropped")),
            None => Some("no status, not installed: dropped".to_owned()),
        };
        if let Some(what) = status {
            snapshot.dropped.push((what, path));
            continue;
        }
        let id = text(&node["id"]);
        let at = &node["coordinates"];
        snapshot.nodes.push(MeshNode {
            key: id.clone().unwrap_or_else(|| path.clone()),
            name: text(&node["name"]).or_else(|| id.map(|id| format!("nn{id}"))),
            role: Role::default(),
            at_deg: number(&at[1]).zip(number(&at[0])).map(|(lat, lon)| [lat, lon]),
            path,
            ..MeshNode::default()
        });
    }
}
