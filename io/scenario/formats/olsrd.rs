//! Links and topology as OLSRd's jsoninfo plugin prints them, of both generations.

use std::collections::BTreeMap;

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshSnapshot, rows, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "olsrd",
    label: "OLSRd",
    description: "OLSRd jsoninfo: link quality of links and topology",
    extensions: &["json"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        let list = document["topology"].as_array().or(document["links"].as_array());
        let first = list.and_then(|rows| rows.first());
        first.is_some_and(|row| !row["lastHopIP"].is_null() || !row["remoteIP"].is_null())
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// The link quality of a node is the share that arrives there from its neighbour.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    snapshot.date([&document["systemTime"]]);
    let mut main = BTreeMap::new();
    for row in rows(&document["mid"]) {
        let address = text(&row["ipAddress"]).or_else(|| text(&row["main"]["ipAddress"]));
        let Some(address) = address else { continue };
        for alias in rows(&row["aliases"]) {
            if let Some(alias) = text(&alias["ipAddress"]) {
                main.insert(alias, address.clone());
            }
        }
    }
    let main_address = |value: &Value| {
        let address = text(value)?;
        Some(main.get(&address).cloned().unwrap_or(address))
    };
    for (list, here, there) in
        [("topology", "lastHopIP", "destinationIP"), ("links", "localIP", "remoteIP")]
    {
        for row in rows(&document[list]) {
            let ends = main_address(&row[here]).zip(main_address(&row[there]));
            let Some((here, there)) = ends else {
                snapshot.drop("a link without two addresses");
                continue;
            };
            for (from, to, value) in
                [(&there, &here, &row["linkQuality"]), (&here, &there, &row["neighborLinkQuality"])]
            {
                let delivery_prob = value.as_f64();
                if delivery_prob.is_none() {
                    snapshot.drop("a link without its quality");
                    continue;
                }
                let values = Measured { delivery_prob, ..Measured::default() };
                snapshot.link(from, to, values);
            }
        }
    }
}
