//! NetJSON (netjson.org, 0.1): NetworkGraph and NetworkCollection, costs read and written as ETX.

use std::io::{self, Write};

use groundwave_model::route::Metric;
use groundwave_simulation::WorldView;
use groundwave_simulation::measure::Measured;
use serde_json::{Value, json};

use super::mesh::{self, MeshNode, MeshSnapshot, number, position, quality, rows, text};
use super::recording::{self, Output, RecordingWriter};
use super::{Content, Format, olsrd2};

/// The format.
pub static FORMAT: Format = Format {
    name: "netjson",
    label: "NetJSON",
    description: "NetJSON NetworkGraph or NetworkCollection: positions, link costs as ETX",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let kind = sample.json()["type"].as_str();
        matches!(kind, Some("NetworkGraph" | "NetworkCollection"))
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    write_recording: Some(write),
    is_series: true,
    ..Format::NONE
};

fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    graph(document, "", snapshot);
}

fn graph(document: &Value, path: &str, snapshot: &mut MeshSnapshot) {
    for (index, graph_) in rows(&document["collection"]).enumerate() {
        graph(graph_, &format!("{path}collection[{index}]."), snapshot);
    }
    snapshot.title = snapshot.title.take().or_else(|| text(&document["label"]));
    for (index, node) in rows(&document["nodes"]).enumerate() {
        let path = format!("{path}nodes[{index}]");
        let properties = &node["properties"];
        let places = [&node["location"], &properties["location"], properties, node];
        let name = text(&node["label"]).or_else(|| text(&properties["name"]));
        let id = text(&node["id"]);
        let key = id.clone().unwrap_or_else(|| path.clone());
        let addresses = rows(&node["local_addresses"]).filter_map(text);
        snapshot.aliases.extend(addresses.map(|address| (address, key.clone())));
        snapshot.nodes.push(MeshNode {
            key,
            name: name.or(id),
            at_deg: places.into_iter().find_map(position),
            path,
            ..MeshNode::default()
        });
    }
    let metric = text(&document["metric"]).unwrap_or_default().to_lowercase();
    let is_etx = metric.is_empty() || ETX_METRICS.iter().any(|own| metric.starts_with(own));
    let costs = rows(&document["links"]).filter_map(|row| number(&row["cost"]));
    let least = costs.fold(f64::INFINITY, f64::min);
    let is_in_units = metric.starts_with("etx") && least.is_finite() && least >= ETX_UNIT;
    for row in rows(&document["links"]) {
        snapshot.listed_links += 1;
        let ends = text(&row["source"]).zip(text(&row["target"]));
        let Some((from, to)) = ends else {
            snapshot.drop("a link without two ends");
            continue;
        };
        match number(&row["cost"]) {
            Some(cost) if metric == olsrd2::AIRTIME => match olsrd2::airtime_bps(cost) {
                Some(bps) => {
                    let values = Measured { rate_bps: Some(bps), ..Measured::default() };
                    snapshot.link(&from, &to, values);
                }
                None => snapshot.drop("a link without a metric yet"),
            },
            Some(cost) if is_in_units => {
                snapshot.drop("a cost in units of 1/1024 ETX, as older versions of OLSRd have it");
                snapshot.link(&from, &to, quality(ETX_UNIT / cost));
            }
            Some(etx) if etx >= 1.0 && etx.is_finite() => {
                if !is_etx {
                    let metric: String = metric.chars().take(40).collect();
                    snapshot.drop(&format!("a cost of the metric {metric:?}: taken as ETX"));
                }
                snapshot.link(&from, &to, quality(1.0 / etx));
            }
            _ => snapshot.drop("a link whose cost is not an ETX of 1 or more"),
        }
    }
}

/// Beginnings of metrics whose costs are ETX, or an ETX of TQ; `static` is that of what this program writes.
const ETX_METRICS: [&str; 3] = ["etx", "tq", "static"];

/// Cost of a link without losses in older versions of OLSRd. No link of a mesh has so many transmissions.
const ETX_UNIT: f64 = 1_024.0;

fn write<'w>(out: Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>> {
    Ok(recording::at_end(out, document))
}

/// Writes the mesh of a snapshot; returns the number of nodes and links.
fn document(now: &WorldView, out: &mut dyn Write) -> io::Result<u64> {
    let nodes = now.nodes.iter().map(|node| {
        json!({
            "id": node.name,
            "label": node.name,
            "properties": {
                "uuid": node.id,
                "operating": node.operating,
                "height_agl_m": node.station.height_agl_m,
                "location": { "lat": node.position.lat_deg(), "lng": node.position.lon_deg() },
            },
        })
    });
    let nodes: Vec<_> = nodes.collect();
    let mut links = Vec::new();
    for (link, a, b, etx) in recording::carrying(now) {
        links.push(json!({
            "source": a.name,
            "target": b.name,
            "cost": etx,
            "cost_text": format!("ETX {etx:.2}"),
            "properties": {
                "distance_m": link.budget.distance_m,
                "forward": link.budget.forward,
                "backward": link.budget.backward,
            },
        }));
    }
    let count = nodes.len() + links.len();
    let document = json!({
        "type": "NetworkGraph",
        "protocol": "static",
        "version": null,
        "metric": Metric::Etx,
        // Costs are predictions.
        "assumptions": now.environment.assumptions(None),
        "nodes": nodes,
        "links": links,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(count as u64)
}
