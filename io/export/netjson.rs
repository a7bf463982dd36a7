//! NetJSON NetworkGraph (netjson.org, 0.1): nodes with places, links with ETX as their cost.

use std::io::{self, Write};

use groundwave_systems::Snapshot;
use groundwave_systems::route::Metric;
use serde_json::json;

pub(super) fn write(now: &Snapshot, out: &mut impl Write) -> io::Result<u64> {
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
    let runs = |id| now.node(id).filter(|node| node.operating);
    let mut links = Vec::new();
    for link in now.links.iter().filter(|link| !link.severed) {
        let (Some(a), Some(b), Some(etx)) = (runs(link.a), runs(link.b), link.budget.etx()) else {
            continue;
        };
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
        "nodes": nodes,
        "links": links,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(count as u64)
}
