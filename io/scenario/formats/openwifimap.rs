//! OpenWiFiMap: CouchDB rows with positions.

use groundwave_model::radio::Role;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, number, rows, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "openwifimap",
    label: "OpenWiFiMap",
    description: "OpenWiFiMap rows (CouchDB): positions",
    extensions: &["json"],
    contents: &[Content::Positions],
    sniff: |sample| {
        let mut rows = list(sample.json()).take(100);
        rows.any(|row| row["value"]["latlng"].is_array() || row["value"]["hostname"].is_string())
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// The rows, in the answer of a database or wrapped once more.
fn list(document: &Value) -> impl Iterator<Item = &Value> {
    let wrapped = &document["JSON"]["rows"];
    rows(if wrapped.is_array() { wrapped } else { &document["rows"] })
}

fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    for (index, row) in list(document).enumerate() {
        let path = format!("rows[{index}]");
        let value = &row["value"];
        snapshot.listed_links += rows(&value["links"]).count();
        let at = &value["latlng"];
        let id = text(&value["id"]);
        snapshot.nodes.push(MeshNode {
            key: id.clone().unwrap_or_else(|| path.clone()),
            name: text(&value["hostname"]).or(id),
            role: Role::default(),
            at_deg: number(&at[0]).zip(number(&at[1])).map(|(lat, lon)| [lat, lon]),
            path,
            ..MeshNode::default()
        });
    }
}
