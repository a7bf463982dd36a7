//! What each kind of snapshot says of links.

use std::collections::BTreeMap;

use groundwave_systems::measure::Measured;
use groundwave_systems::terrain::GeoPoint;
use serde_json::Value;

use super::snapshots::{Found, SnapshotKind, time};

/// The node whose own table it is, where the table does not say.
const SELF: &str = "self";

pub(super) fn read(kind: SnapshotKind, document: &Value) -> Found {
    let mut found = Found::default();
    match kind {
        SnapshotKind::Batctl => batctl(document, &mut found),
        SnapshotKind::Olsrd => olsrd(document, &mut found),
        SnapshotKind::Respondd => respondd(document, &mut found),
        SnapshotKind::NetJson => netjson(document, &mut found),
    }
    found
}

fn rows(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Option<String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

fn quality(quality: f64) -> Measured {
    Measured {
        quality: Some(quality),
        ..Measured::default()
    }
}

fn delivery(prob: f64) -> Measured {
    Measured {
        delivery_prob: Some(prob),
        ..Measured::default()
    }
}

/// Originators and neighbours. TQ is of 255, throughput in kbit/s (linux/batman_adv.h).
fn batctl(document: &Value, found: &mut Found) {
    for row in rows(document) {
        let Some(neighbour) = text(&row["neigh_address"]) else {
            found.dropped.push("a row without a neighbour".to_owned());
            continue;
        };
        let routed = text(&row["orig_address"]).is_some_and(|origin| origin != neighbour);
        if routed {
            found
                .dropped
                .push("an originator behind others: a route, no link".to_owned());
            continue;
        }
        let values = Measured {
            quality: row["tq"].as_f64().map(|tq| tq / 255.0),
            rate_bps: row["throughput"].as_f64().map(|kbit| kbit * 1e3),
            ..Measured::default()
        };
        if values.is_empty() {
            let what = "a neighbour without TQ or throughput (BATMAN IV tells it of originators)";
            found.dropped.push(what.to_owned());
            continue;
        }
        found.links.push((SELF.to_owned(), neighbour, values));
    }
}

/// Links and topology. The link quality of a node is what arrives there from its neighbour.
fn olsrd(document: &Value, found: &mut Found) {
    found.at_unix_s = time(&document["systemTime"]);
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
    let called = |name: String| main.get(&name).cloned().unwrap_or(name);
    for (list, here, there) in [
        ("topology", "lastHopIP", "destinationIP"),
        ("links", "localIP", "remoteIP"),
    ] {
        for row in rows(&document[list]) {
            let ends = text(&row[here])
                .map(called)
                .zip(text(&row[there]).map(called));
            let Some((here, there)) = ends else {
                found
                    .dropped
                    .push("a link without two addresses".to_owned());
                continue;
            };
            for (from, to, value) in [
                (&there, &here, &row["linkQuality"]),
                (&here, &there, &row["neighborLinkQuality"]),
            ] {
                match value.as_f64() {
                    Some(share) => found
                        .links
                        .push((from.clone(), to.clone(), delivery(share))),
                    None => found.dropped.push("a link without its quality".to_owned()),
                }
            }
        }
    }
}

/// Neighbours of nodes, by their interfaces; or the links of a map.
fn respondd(document: &Value, found: &mut Found) {
    let stamp = [
        &document["timestamp"],
        &document["updated_at"],
        &document["meta"]["timestamp"],
    ];
    found.at_unix_s = stamp.into_iter().find_map(time);
    let nodes: Vec<(Option<&String>, &Value)> = match (&document["nodes"], document) {
        (Value::Array(all), _) | (_, Value::Array(all)) => {
            all.iter().map(|node| (None, node)).collect()
        }
        (Value::Object(all), _) => all.iter().map(|(key, node)| (Some(key), node)).collect(),
        _ => vec![(None, document)],
    };
    let mut names = BTreeMap::new();
    let mut owners = BTreeMap::new();
    for (key, node) in &nodes {
        let told = if node["nodeinfo"].is_object() {
            &node["nodeinfo"]
        } else {
            node
        };
        let id = text(&told["node_id"]).or_else(|| text(&node["neighbours"]["node_id"]));
        let Some(id) = id.or_else(|| key.map(|key| (*key).clone())) else {
            continue;
        };
        let name = text(&told["hostname"]).unwrap_or_else(|| id.clone());
        let at = &told["location"];
        let lon = at["longitude"].as_f64().or_else(|| at["lng"].as_f64());
        let lat = at["latitude"].as_f64().or_else(|| at["lat"].as_f64());
        match lat.zip(lon).map(|(lat, lon)| GeoPoint::new(lat, lon)) {
            Some(Ok(place)) => found.places.push((name.clone(), place)),
            Some(Err(_)) => found
                .dropped
                .push("no such latitude and longitude".to_owned()),
            None => {}
        }
        addresses(&told["network"], &mut |mac| {
            drop(owners.insert(mac, name.clone()))
        });
        for list in ["batadv", "wifi"] {
            let interfaces = node["neighbours"][list].as_object().into_iter().flatten();
            interfaces.for_each(|(mac, _)| drop(owners.insert(mac.clone(), name.clone())));
        }
        names.insert(id, name);
    }
    for (_, node) in &nodes {
        neighbours(&node["neighbours"], &owners, found);
    }
    for row in rows(&document["links"]) {
        listed(row, &names, found);
    }
}

/// All texts in `of` that are addresses of interfaces.
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

fn neighbours(of: &Value, owners: &BTreeMap<String, String>, found: &mut Found) {
    let called = |mac: &String| owners.get(mac).cloned().unwrap_or_else(|| mac.clone());
    for (list, radio) in [("batadv", false), ("wifi", true)] {
        for (mac, interface) in of[list].as_object().into_iter().flatten() {
            let peers = interface["neighbours"].as_object().into_iter().flatten();
            for (peer, told) in peers {
                let mut values = Measured::default();
                if radio {
                    values.rx_power_dbm = told["signal"].as_f64();
                    let noise_dbm = told["noise"].as_f64();
                    values.snr_db = values.rx_power_dbm.zip(noise_dbm).map(|(s, n)| s - n);
                } else {
                    values.quality = told["tq"].as_f64().map(|tq| tq / 255.0);
                }
                if values.is_empty() {
                    found
                        .dropped
                        .push("a neighbour without TQ or signal".to_owned());
                    continue;
                }
                found.links.push((called(peer), called(mac), values));
            }
        }
    }
}

/// A link of a map, whose ends are ids of nodes.
fn listed(row: &Value, names: &BTreeMap<String, String>, found: &mut Found) {
    let called = |id: String| names.get(&id).cloned().unwrap_or(id);
    let ends = text(&row["source"])
        .map(called)
        .zip(text(&row["target"]).map(called));
    let Some((source, target)) = ends else {
        found.dropped.push("a link without two ends".to_owned());
        return;
    };
    let kind = row["type"].as_str().unwrap_or_default();
    if kind.contains("vpn") || kind.contains("tunnel") || row["vpn"] == true {
        found.dropped.push("a tunnel, no link of radios".to_owned());
        return;
    }
    for (from, to, value) in [
        (&source, &target, &row["source_tq"]),
        (&target, &source, &row["target_tq"]),
    ] {
        match value.as_f64() {
            Some(tq) => found.links.push((from.clone(), to.clone(), quality(tq))),
            None => found.dropped.push("a link without its TQ".to_owned()),
        }
    }
}

/// Links with a cost, which is ETX where it is 1 or more.
fn netjson(document: &Value, found: &mut Found) {
    for node in rows(&document["nodes"]) {
        let places = [
            &node["location"],
            &node["properties"]["location"],
            &node["properties"],
        ];
        let place = places.into_iter().find_map(|at| {
            let lat = at["lat"].as_f64().or_else(|| at["latitude"].as_f64())?;
            let lon = ["lng", "lon", "longitude"]
                .into_iter()
                .find_map(|key| at[key].as_f64())?;
            GeoPoint::new(lat, lon).ok()
        });
        if let Some((name, place)) = text(&node["id"]).zip(place) {
            found.places.push((name, place));
        }
    }
    for row in rows(&document["links"]) {
        let ends = text(&row["source"]).zip(text(&row["target"]));
        let Some((source, target)) = ends else {
            found.dropped.push("a link without two ends".to_owned());
            continue;
        };
        match row["cost"].as_f64() {
            Some(etx) if etx >= 1.0 => found.links.push((source, target, quality(1.0 / etx))),
            _ => found.dropped.push("a link whose cost is no ETX".to_owned()),
        }
    }
}
