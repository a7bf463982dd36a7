//! Maps that are JSON.

use groundwave_systems::radio::Role;
use serde_json::Value;

use super::{Found, MapError, MapKind, Spot};

/// Reads a map, if this is one of a kind we know.
pub(super) fn read(bytes: &[u8]) -> Option<(MapKind, Result<Found, MapError>)> {
    // What is no JSON at all is left to whoever is asked next, who will say so.
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let kind = kind(&document)?;
    let mut found = Found::default();
    match kind {
        MapKind::NetJson => netjson(&document, "", &mut found),
        MapKind::Meshviewer => meshviewer(&document, &mut found),
        MapKind::OpenWifiMap => openwifimap(&document, &mut found),
        MapKind::NycMesh => nycmesh(&document, &mut found),
        MapKind::Core => {}
    }
    Some((kind, Ok(found)))
}

fn kind(document: &Value) -> Option<MapKind> {
    match document["type"].as_str() {
        Some("NetworkGraph" | "NetworkCollection") => return Some(MapKind::NetJson),
        Some(_) => return None,
        None => {}
    }
    if rows(document).is_some() {
        return Some(MapKind::OpenWifiMap);
    }
    if let Some(all) = document.as_array() {
        let ours = |node: &Value| node["coordinates"].is_array() && !node["id"].is_null();
        return all.iter().take(100).any(ours).then_some(MapKind::NycMesh);
    }
    let nodes = &document["nodes"];
    let ours = |node: &Value| {
        ["node_id", "hostname", "nodeinfo", "location"]
            .iter()
            .any(|key| !node[*key].is_null())
    };
    let some = match nodes {
        Value::Array(all) => all.iter().take(100).any(ours),
        Value::Object(all) => all.values().take(100).any(ours),
        _ => false,
    };
    some.then_some(MapKind::Meshviewer)
}

/// A number, also one in quotes.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Latitude and longitude under any of the names they go by.
fn place(of: &Value) -> Option<[f64; 2]> {
    let at = |names: [&str; 3]| names.into_iter().find_map(|name| number(&of[name]));
    let lat = at(["lat", "latitude", "Latitude"])?;
    let lon = at(["lng", "lon", "longitude"]).or_else(|| number(&of["Longitude"]))?;
    Some([lat, lon])
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn put(found: &mut Found, name: Option<String>, at: Option<[f64; 2]>, role: Role, path: String) {
    let Some([lat_deg, lon_deg]) = at else {
        found.drop("no place: dropped", &path);
        return;
    };
    let name = name.unwrap_or_else(|| {
        found.drop("no name: called by its place in the document", &path);
        path.clone()
    });
    found.spots.push(Spot {
        name,
        role,
        lat_deg,
        lon_deg,
        place: path,
    });
}

fn netjson(document: &Value, path: &str, found: &mut Found) {
    if let Some(all) = document["collection"].as_array() {
        for (index, graph) in all.iter().enumerate() {
            netjson(graph, &format!("{path}collection[{index}]."), found);
        }
        return;
    }
    found.title = found.title.take().or_else(|| text(&document["label"]));
    found.links += document["links"].as_array().map_or(0, Vec::len);
    for (index, node) in document["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let path = format!("{path}nodes[{index}]");
        let properties = &node["properties"];
        let places = [&node["location"], &properties["location"], properties, node];
        let at = places.into_iter().find_map(place);
        let name = text(&node["label"]).or_else(|| text(&properties["name"]));
        let name = name.or_else(|| text(&node["id"]));
        put(found, name, at, Role::default(), path);
    }
}

fn meshviewer(document: &Value, found: &mut Found) {
    found.links += document["links"].as_array().map_or(0, Vec::len);
    let nodes = &document["nodes"];
    let listed = nodes.as_array().into_iter().flatten().enumerate();
    let listed = listed.map(|(index, node)| (format!("nodes[{index}]"), node));
    let keyed = nodes.as_object().into_iter().flatten();
    let keyed = keyed.map(|(key, node)| (format!("nodes.{key}"), node));
    for (path, node) in listed.chain(keyed) {
        // hopglass keeps what a node says of itself apart from what others see of it.
        let said = if node["nodeinfo"].is_object() {
            &node["nodeinfo"]
        } else {
            node
        };
        let name = text(&said["hostname"]).or_else(|| text(&said["node_id"]));
        let gateway = node["is_gateway"] == true || node["flags"]["gateway"] == true;
        let role = if gateway {
            Role::Command
        } else {
            Role::default()
        };
        put(found, name, place(&said["location"]), role, path);
    }
}

fn rows(document: &Value) -> Option<&Vec<Value>> {
    let rows = document["JSON"]["rows"].as_array();
    let rows = rows.or_else(|| document["rows"].as_array())?;
    rows.iter()
        .take(100)
        .any(|row| row["value"]["latlng"].is_array() || row["value"]["hostname"].is_string())
        .then_some(rows)
}

fn openwifimap(document: &Value, found: &mut Found) {
    for (index, row) in rows(document).into_iter().flatten().enumerate() {
        let path = format!("rows[{index}]");
        let value = &row["value"];
        found.links += value["links"].as_array().map_or(0, Vec::len);
        let at = number(&value["latlng"][0]).zip(number(&value["latlng"][1]));
        let name = text(&value["hostname"]).or_else(|| text(&value["id"]));
        put(
            found,
            name,
            at.map(|(lat, lon)| [lat, lon]),
            Role::default(),
            path,
        );
    }
}

fn nycmesh(document: &Value, found: &mut Found) {
    for (index, node) in document.as_array().into_iter().flatten().enumerate() {
        let path = format!("[{index}]");
        match node["status"].as_str() {
            Some("Installed") => {}
            Some(status) => {
                let what = format!("status {status:?}, not installed: dropped");
                found.drop(&what, &path);
                continue;
            }
            None => {
                found.drop("no status, not installed: dropped", &path);
                continue;
            }
        }
        let at = number(&node["coordinates"][1]).zip(number(&node["coordinates"][0]));
        let name = text(&node["name"]).or_else(|| text(&node["id"]).map(|id| format!("nn{id}")));
        put(
            found,
            name,
            at.map(|(lat, lon)| [lat, lon]),
            Role::default(),
            path,
        );
    }
}
