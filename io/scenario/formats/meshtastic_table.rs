//! Lists of nodes of Meshtastic in other forms than that of `--info`: the table of `--nodes`, JSON of clients that keep
//! nodes by their numbers or in an array, and maps of the internet (meshmap.net, the API of liamcottle's map).

use serde_json::{Map, Value, json};

use super::json_values::{entries, number, text};

/// Mark between the cells of the table.
const MARK: char = '│';

/// Nodes looked at to recognise a list.
const SNIFFED: usize = 20;

/// Cells of a row.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let inner = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(MARK));
    inner.map(|inner| inner.split(MARK).map(str::trim).collect()).unwrap_or_default()
}

/// The names of the columns and the rows behind them; `None` for another text.
fn table(text: &str) -> Option<(Vec<&str>, impl Iterator<Item = Vec<&str>>)> {
    let mut rows = text.lines().map(cells);
    let is_header = |row: &Vec<&str>| ["ID", "User", "SNR"].iter().all(|name| row.contains(name));
    let header = rows.by_ref().find(is_header)?;
    Some((header, rows))
}

/// True for the output of `meshtastic --nodes`.
pub(super) fn is_table(text: &str) -> bool {
    text.contains(MARK) && table(text).is_some()
}

/// The nodes of the table by their ids, with the keys of `--info`.
pub(super) fn of_table(text: &str) -> Option<Value> {
    let (header, rows) = table(text)?;
    let mut nodes = Map::new();
    for row in rows {
        let cell = |name: &str| {
            let column = header.iter().position(|head| *head == name)?;
            row.get(column).copied().filter(|cell| !cell.is_empty() && *cell != "N/A")
        };
        // Units stand behind numbers: `57.7089°`, `34m`.
        let number = |name: &str| -> Option<f64> {
            cell(name)?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
        };
        let Some(id) = cell("ID").filter(|id| id.starts_with('!')) else { continue };
        // Instead of the SNR of nodes behind others some versions have the number of hops.
        let snr_db =
            cell("SNR").and_then(|cell| cell.strip_suffix("dB")?.trim().parse::<f64>().ok());
        let node = json!({
            "user": { "longName": cell("User"), "shortName": cell("AKA") },
            "position": {
                "latitude": number("Latitude"),
                "longitude": number("Longitude"),
                "altitude": number("Altitude"),
            },
            "snr": snr_db,
            "hopsAway": number("Hops"),
        });
        nodes.insert(id.to_owned(), node);
    }
    Some(Value::Object(nodes))
}

/// The id of a node, by itself, its number or its key.
fn id_of(key: Option<&String>, node: &Value) -> Option<String> {
    if let Some(id) = node["user"]["id"].as_str().filter(|id| id.starts_with('!')) {
        return Some(id.to_owned());
    }
    if let Some(key) = key.filter(|key| key.starts_with('!')) {
        return Some(key.clone());
    }
    let number = text(&node["num"]).or_else(|| text(&node["node_id"]));
    of_number(&number.or(key.cloned())?)
}

/// The id of a number.
fn of_number(text: &str) -> Option<String> {
    Some(format!("!{:08x}", text.parse::<u32>().ok()?))
}

/// The first of these keys of a node that has a value.
fn first<'v>(node: &'v Value, keys: [&str; 2]) -> &'v Value {
    let second = &node[keys[1]];
    Some(&node[keys[0]]).filter(|value| !value.is_null()).unwrap_or(second)
}

/// Units of degrees of a map, which has whole numbers of them.
fn units(node: &Value, key: &str) -> Option<i64> {
    node[key].as_i64().filter(|units| *units != 0)
}

/// True for a node of a map.
fn is_of_map(node: &Value) -> bool {
    first(node, ["longName", "long_name"]).is_string() && units(node, "latitude").is_some()
}

/// A node of a map with the keys of `--info`, its region and modem preset, and the SNR of its neighbours at it by their ids.
fn of_map(node: &Value) -> Value {
    let mut neighbours = Map::new();
    for (_, key, row) in entries(first(node, ["neighbors", "neighbours"]), "") {
        let id = key.cloned().or_else(|| text(&row["node_id"])).and_then(|text| of_number(&text));
        if let (Some(id), Some(snr_db)) = (id, number(&row["snr"])) {
            neighbours.insert(id, json!(snr_db));
        }
    }
    json!({
        "user": { "longName": first(node, ["longName", "long_name"]) },
        "position": {
            "latitudeI": units(node, "latitude"),
            "longitudeI": node["longitude"],
            "altitude": node["altitude"],
            "precisionBits": first(node, ["precision", "position_precision"]),
        },
        "region": first(node, ["region_name", "region"]),
        "modemPreset": first(node, ["modem_preset_name", "modemPreset"]),
        "neighbours": neighbours,
    })
}

/// Nodes of a document with their ids: of an object by ids or numbers, of an array, or of `nodes` in an object.
fn nodes(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = match &document["nodes"] {
        Value::Null => document,
        list => list,
    };
    let is_node =
        |node: &Value| node["user"].is_object() || node["num"].is_number() || is_of_map(node);
    let nodes = entries(list, "").filter(move |(.., node)| is_node(node));
    nodes.filter_map(|(_, key, node)| Some((id_of(key, node)?, node)))
}

/// True for a list of nodes in JSON.
pub(super) fn is_list(document: &Value) -> bool {
    let is_of_nodes = |node: &Value| {
        node["user"]["longName"].is_string() || !node["num"].is_null() || is_of_map(node)
    };
    let mut own = nodes(document).take(SNIFFED);
    own.any(|(id, node)| document[&id].is_object() || is_of_nodes(node))
}

/// True for a list by ids, as `--info` has it.
pub(super) fn is_by_id(document: &Value) -> bool {
    document.as_object().is_some_and(|nodes| nodes.keys().any(|key| key.starts_with('!')))
}

/// The nodes of a list by their ids.
pub(super) fn by_id(document: &Value) -> Value {
    let own = |node: &Value| if is_of_map(node) { of_map(node) } else { node.clone() };
    Value::Object(nodes(document).map(|(id, node)| (id, own(node))).collect())
}
